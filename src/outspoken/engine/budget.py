"""What a response may spend on repairs."""

from __future__ import annotations

from outspoken.results.edits import RepairBudget

#: How many characters may be read again: at the start, and more for each character of the response. A refused place
#: counts as `TRY` characters, and a search for a recovery path as `SEARCH`.
START, SHARE, TRY, SEARCH = 40_000, 8, 400, 1_200


class RecoveryBudget:
    """What may still be spent on damage. It grows with the text, so that time stays linear.

    `nodes` is how many places and configurations the search for a recovery path may still look at, `tokens` how many
    tokens Lark's Earley parser may still read.
    """

    #: how many characters were read again so far
    spent = 0
    nodes = 2000
    tokens = 360
    _granted = 0
    _repairs: RepairBudget | None = None

    def copy(self) -> RecoveryBudget:
        """A budget of the same size for another reader."""
        made = RecoveryBudget()
        made.continue_from(self)
        return made

    def continue_from(self, other: RecoveryBudget) -> None:
        """Continue with what another reader has left."""
        self.spent, self.nodes, self.tokens = other.spent, other.nodes, other.tokens
        self._granted = other._granted
        self._repairs = other._repairs and other._repairs.copy()

    def allows(self, offset: int) -> bool:
        """May more be spent, at an offset of the response?"""
        return self.spent <= START + SHARE * max(offset, 0)

    def grant(self, end: int) -> RepairBudget:
        """What may be spent on the repair of values, once the response has come to an offset."""
        grown = max(end - self._granted, 0)
        self._granted += grown
        self.nodes += grown // 16
        self.tokens += grown // 2048
        repairs = self._repairs = self._repairs or RepairBudget.of(0)
        repairs.steps += grown
        repairs.search += grown // 2
        return repairs
