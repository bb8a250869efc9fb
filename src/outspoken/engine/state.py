"""Where a parser is: its configuration, what it is in the middle of, the ways on, and the work it may still do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.results.edits import RepairBudget
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import EmbeddedValue

from .text_buffer import TextBuffer

if TYPE_CHECKING:
    from .damaged_segment import DamagedSegment


class ParserState:
    """The position of a parser in the automaton, and what is open there.

    `config` is the configuration. `embedded` is the embedded value that is being read, `damage` the damaged segment
    that is held until its end. `missing_closer_at` is the offset where a value seems to end without its closing marker;
    the text from there on is held.
    """

    __slots__ = (
        "after_marker", "before_text", "config", "damage", "embedded", "end_is_proven", "leading_trims",
        "missing_closer_at", "opener", "opener_at", "skips_blank", "trims",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, config: Config, opener_at: int) -> None:
        self.config = config
        self.embedded: EmbeddedValue | None = None
        self.damage: DamagedSegment | None = None
        self.missing_closer_at: int | None = None
        #: the offset of the marker that led out of plain text
        self.opener_at = opener_at
        #: the transition over it; None if another parser has read it
        self.opener: Transition | None = None
        #: the parser is before the text of this configuration: nothing of it was read yet
        self.before_text = True
        #: a marker was read: white space at the start of the text belongs to it
        self.after_marker = False
        #: white space that comes next belongs to the marker before it
        self.skips_blank = False
        #: the end of the text is proven from outside, as by a finish reason
        self.end_is_proven = False
        #: the free text that is trimmed. Plain text at its start is trimmed as the format of the last segment says
        self.trims = self.leading_trims = automaton.trims

    def continue_from(self, other: ParserState) -> None:
        """Take the place of another state in which nothing but free text is open."""
        self.config, self.opener_at, self.opener = other.config, other.opener_at, other.opener
        self.before_text, self.after_marker, self.skips_blank = other.before_text, other.after_marker, other.skips_blank
        self.trims, self.leading_trims = other.trims, other.leading_trims

    @property
    def is_within_text(self) -> bool:
        """Is all that is open free text, or nothing?"""
        return self.embedded is None and self.damage is None and self.missing_closer_at is None


def follow(builder: Builder, text: TextBuffer, state: ParserState, branch: matchers.Branch, match: Any) -> None:
    """Follow a branch of a matcher: carry out its operations, and go on behind its match."""
    base = text.base
    for function, arg, group in branch.operations:
        function(builder, arg, match, group, base)
    state.config = branch.target
    text.pos = match.end()
    state.after_marker = True


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
