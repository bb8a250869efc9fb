"""The LALR automaton of a grammar with all its actions, conflicting ones included, as plain data."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lark.common import ParserConf
from lark.parsers.lalr_analysis import LALR_Analyzer

from outspoken.grammar.tables import END
from outspoken.grammar.vocabulary import short

_REPETITION = re.compile(r"__(\w+?)_(?:star|plus|repeat_\w+?)_\d+")

#: Of one text and one look ahead, at most this many stacks are followed: rules that are empty may have no end of them.
_MOST_STACKS = 64

Stack = tuple[int, ...]


class Production(NamedTuple):
    """One alternative of a rule: its name and its symbols, as Lark spells them."""

    name: str
    symbols: tuple[str, ...]
    alias: str = ""

    @property
    def is_repetition(self) -> bool:
        """Whether it was made for a `*` or a `+` of the author's."""
        return self.name.startswith("__")

    @property
    def owner(self) -> str:
        """The name of the rule in which it was written."""
        match = _REPETITION.fullmatch(self.name)
        return match[1] if match else self.name


class Item(NamedTuple):
    """A production of which a part was read: its number, and how many of its symbols."""

    production: int
    read: int


class TableConflict(NamedTuple):
    """A state with more than one action for a terminal.

    `shifts` are the items that shift it, `ends` the productions that it reduces. There are at least two actions.
    """

    state: int
    terminal: str
    shifts: tuple[Item, ...]
    ends: tuple[int, ...]


class Step(NamedTuple):
    """A terminal that was read: the productions that ended before it, each with the stack then, and the stack after.

    The stack after the end of the text is empty.
    """

    ended: tuple[int, ...]
    stack: Stack


@dataclass(frozen=True)
class LalrAutomaton:
    """All states of a parser: where each symbol leads to, and which productions may end before which terminal.

    `accepting` are the states in which the text may end.
    """

    productions: tuple[Production, ...]
    shifts: tuple[dict[str, int], ...]
    ends: tuple[dict[str, tuple[int, ...]], ...]
    items: tuple[tuple[Item, ...], ...]
    accepting: frozenset[int]
    terminals: frozenset[str] = field(default_factory=frozenset[str])

    @cached_property
    def table_conflicts(self) -> list[TableConflict]:
        """All states and terminals with more than one way to go on, in the order of the states."""
        found: list[TableConflict] = []
        for state, ends in enumerate(self.ends):
            for terminal, productions in sorted(ends.items()):
                shifts = self.items_before(state, terminal) if terminal in self.shifts[state] else ()
                if len(productions) + bool(shifts) > 1:
                    found.append(TableConflict(state, terminal, shifts, productions))
        return found

    def items_before(self, state: int, symbol: str) -> tuple[Item, ...]:
        """The items of a state that have a symbol next."""
        return tuple([item for item in self.items[state] if self.next_symbol(item) == symbol])

    def next_symbol(self, item: Item) -> str:
        """The symbol that an item has next; "" at its end."""
        symbols = self.productions[item.production].symbols
        return symbols[item.read] if item.read < len(symbols) else ""

    def reduced(self, stack: Stack, production: int) -> Stack | None:
        """The stack after a production has ended; None if it cannot end there."""
        size = len(self.productions[production].symbols)
        rest = stack[: len(stack) - size]
        target = self.shifts[rest[-1]].get(self.productions[production].name) if rest else None
        return None if target is None else (*rest, target)

    def closures(self, stack: Stack, terminal: str) -> list[tuple[tuple[int, ...], Stack]]:
        """The stacks that a look ahead can lead to before it is read, each with the productions that ended."""
        found: list[tuple[tuple[int, ...], Stack]] = [((), stack)]
        seen = {stack}
        for ended, reached in found:
            for production in self.ends[reached[-1]].get(terminal, ()):
                target = self.reduced(reached, production)
                if target is not None and target not in seen and len(found) < _MOST_STACKS:
                    seen.add(target)
                    found.append(((*ended, production), target))
        return found

    def steps(self, stack: Stack, terminal: str) -> list[Step]:
        """All ways to read a terminal."""
        return [
            Step(ended, target)
            for ended, reached in self.closures(stack, terminal)
            for target in [self._shifted(reached, terminal)]
            if target is not None
        ]

    def _shifted(self, stack: Stack, terminal: str) -> Stack | None:
        if terminal == END:
            return () if stack[-1] in self.accepting else None
        target = self.shifts[stack[-1]].get(terminal)
        return None if target is None else (*stack, target)

    def expected(self, stack: Stack) -> list[str]:
        """The terminals that may be next, and the end of the text, as far as the last state tells."""
        state = stack[-1]
        found = {name for name in self.shifts[state] if name in self.terminals} | set(self.ends[state])
        return sorted(found | ({END} if state in self.accepting else set[str]()))


def lalr_automaton(rules: list[Any], start: str) -> LalrAutomaton:
    """The parser of rules that Lark has made, from one of its start rules."""
    analysis: Any = LALR_Analyzer(ParserConf(rules, {}, [start]))
    analysis.compute_lr0_states()
    analysis.compute_reads_relations()
    analysis.compute_includes_lookback()
    analysis.compute_lookaheads()
    numbers: dict[Any, int] = {rule: i for i, rule in enumerate(rules)}
    root = analysis.lr0_start_states[start]
    states = _in_order(root)
    places = {id(state): i for i, state in enumerate(states)}
    return LalrAutomaton(
        productions=tuple([_production(rule) for rule in rules]),
        shifts=tuple(
            [{str(symbol.name): places[id(target)] for symbol, target in s.transitions.items()} for s in states]
        ),
        ends=tuple([_ends(state, numbers) for state in states]),
        items=tuple(
            [
                tuple(sorted(Item(numbers[p.rule], p.index) for p in state.closure if p.rule in numbers))
                for state in states
            ]
        ),
        accepting=frozenset([places[id(root.transitions[s])] for s in root.transitions if s.name == start]),
        terminals=frozenset([str(s.name) for state in states for s in state.transitions if s.is_term]),
    )


def _production(rule: Any) -> Production:
    return Production(str(rule.origin.name), tuple([str(s.name) for s in rule.expansion]), short(str(rule.alias or "")))


def _in_order(root: Any) -> list[Any]:
    """The states, in the order in which they are met from the start."""
    found, queue, seen = [root], deque([root]), {id(root)}
    while queue:
        transitions = queue.popleft().transitions
        for symbol in sorted(transitions, key=lambda s: str(s.name)):
            target = transitions[symbol]
            if id(target) not in seen:
                seen.add(id(target))
                found.append(target)
                queue.append(target)
    return found


def _ends(state: Any, numbers: dict[Any, int]) -> dict[str, tuple[int, ...]]:
    """The productions that may end before each terminal; of those with different priorities, the first counts."""
    found: dict[str, tuple[int, ...]] = {}
    for symbol, rules in state.lookaheads.items():
        best = max([rule.options.priority or 0 for rule in rules])
        first = [numbers[rule] for rule in rules if (rule.options.priority or 0) == best]
        found[str(symbol.name)] = tuple(sorted(first))
    return found
