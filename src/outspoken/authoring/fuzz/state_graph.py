"""The graph of the states that a format can reach, with distances between them."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Transition
from outspoken.results.errors import GrammarError

from .lexer import Position

#: A deeper stack than any sound grammar has: one of its rules nests in itself.
_DEEP = 300


class Step(NamedTuple):
    """An entry of the parse table: in this state, over this terminal."""

    state: int
    terminal: str


class StateGraph:
    """The places of a format that a text can reach, and the ways between them.

    Raises GrammarError if a rule nests in itself, so that there is no end to them.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.positions = [Position(automaton.start)]
        self._numbers = {self.positions[0].key: 0}
        self._arrivals: list[list[int]] = [[]]
        self._where: dict[Step, list[int]] = {}
        for number, position in enumerate(self.positions):
            for transition in position.steps:
                self._arrivals[self._add(position.after(transition))].append(number)
                self._where.setdefault(step_of(position, transition), []).append(number)
        ends = [
            number for number, position in enumerate(self.positions) if position.config.end_operations() is not None
        ]
        #: how many steps a place, by its number, is from one where the text may end
        self.to_end = self._distances(ends)
        self.steps = sorted(self._where)

    def _add(self, position: Position) -> int:
        number = self._numbers.setdefault(position.key, len(self.positions))
        if number == len(self.positions):
            if len(position.config.stack) > _DEEP:
                name = position.config.automaton.tables.header.format
                raise GrammarError(f"{name}.lark", "a rule nests in itself without end")
            self.positions.append(position)
            self._arrivals.append([])
        return number

    def number(self, position: Position) -> int:
        """The number of a place."""
        return self._numbers[position.key]

    @lru_cache(maxsize=512)  # noqa: B019 a map lives as long as the process
    def distances_to(self, step: Step) -> dict[int, int]:
        """How many steps a place, by its number, is from one where the step can be taken."""
        return self._distances(self._where[step])

    def _distances(self, goals: list[int]) -> dict[int, int]:
        found = dict.fromkeys(goals, 0)
        queue = deque(goals)
        while queue:
            at = queue.popleft()
            for before in self._arrivals[at]:
                if before not in found:
                    found[before] = found[at] + 1
                    queue.append(before)
        return found


def step_of(position: Position, transition: Transition) -> Step:
    """The entry of the parse table that a transition begins with."""
    return Step(position.config.stack[-1], transition.terminal.name)
