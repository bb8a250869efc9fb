"""The parse tree of a response: nested rules with their tokens.

The tokens are parsed once more, by the tables of their grammar. Where reading went on in another configuration than the
one that the tokens lead to, since something was damaged, what is open there is a rule that was not completed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from outspoken.grammar.automaton import Config
from outspoken.grammar.tables import Tables
from outspoken.grammar.vocabulary import is_meaningful

from .steps import Step


@dataclass(slots=True)
class Node:
    """A rule of a grammar, and what stands in it: other rules, and tokens by their number.

    `complete` is false where it was not read to its end; the name is then all that it might have become.
    """

    name: str
    children: list[Node | int] = field(default_factory=list["Node | int"])
    complete: bool = True

    @property
    def is_meaningful(self) -> bool:
        """Whether the name is one of the vocabulary."""
        return is_meaningful(self.name.partition(" ")[0])


@dataclass(slots=True)
class _Entry:
    """A state of the parser, and what stands for the symbol that led to it."""

    state: int
    nodes: list[Node | int]


def tree(tokens: Iterable[Step]) -> list[Node | int]:
    """The rules and tokens outside of every rule but the start, in the order of the text."""
    parser = _Parser()
    for number, token in enumerate(tokens):
        parser.read(token, number)
    return parser.end()


class _Parser:
    def __init__(self) -> None:
        self._done: list[Node | int] = []
        self._tables: Tables | None = None
        self._stack: list[_Entry] = []

    def read(self, token: Step, number: int) -> None:
        """The next token. One that no rule has a place for stands in the rule that is open."""
        tables = token.config.automaton.tables
        if tables is not self._tables:
            self.end()
            self._tables = tables
            self._stack = [_Entry(tables.start, self._done)]
        self._go_to(token.config)
        if token.transition is None or token.mark == "cut":
            self._stack[-1].nodes.append(number)
        else:
            shown = token.end > token.start or token.mark or token.transition.terminal.short != "TEXT"
            self._shift(tables, token.transition.terminal.name.rstrip("~^"), [number] if shown else [])

    def end(self) -> list[Node | int]:
        """The text has ended, or another grammar goes on."""
        if self._tables is not None:
            self._leave(self._tables, 1)
        return self._done

    def _go_to(self, config: Config) -> None:
        """Make the stack that of a configuration: end what is open that it does not have, add what it has besides."""
        same = 0
        for entry, state in zip(self._stack, config.stack, strict=False):
            if entry.state != state:
                break
            same += 1
        self._leave(config.automaton.tables, max(same, 1))
        self._stack += [_Entry(state, []) for state in config.stack[same:]]

    def _leave(self, tables: Tables, depth: int) -> None:
        """End everything on the stack above a depth."""
        nodes: list[Node | int] = []
        while len(self._stack) > depth:
            entry = self._stack.pop()
            kinds = tables.nodes[entry.state]
            nodes = entry.nodes + nodes
            if kinds and nodes:
                nodes = [Node(" or ".join(kinds.split()), nodes, complete=False)]
        self._stack[-1].nodes += nodes

    def _shift(self, tables: Tables, name: str, leaves: list[Node | int]) -> None:
        states = tables.states
        while (action := states[self._stack[-1].state][name]) < 0:
            self._reduce(tables, -1 - action)
        self._stack.append(_Entry(action, leaves))
        while len(actions := set(states[self._stack[-1].state].values())) == 1 and (action := actions.pop()) < 0:
            self._reduce(tables, -1 - action)

    def _reduce(self, tables: Tables, number: int) -> None:
        rule = tables.rules[number]
        nodes: list[Node | int] = []
        if rule.size:
            entries = self._stack[-rule.size :]
            del self._stack[-rule.size :]
            nodes = entries[0].nodes  # of a list, this is all that stands before its last item: it is not copied
            for entry in entries[1:]:
                nodes += entry.nodes
        if not rule.short.startswith("_"):
            nodes = [Node(rule.short, nodes)]
        self._stack.append(_Entry(tables.states[self._stack[-1].state][rule.name], nodes))
