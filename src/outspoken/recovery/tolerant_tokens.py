"""The tokens of the tolerant grammar, and the kinds of configurations in which they are looked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config
from outspoken.semantics.steps import RecoveryStep

_BAR = "|"


class Kinds(str):
    """The type of a token that may be several terminals: it equals the name of each."""

    names: frozenset[str]
    __slots__ = ("names",)

    def __new__(cls, names: Iterable[str]) -> Kinds:
        """Make the type of a token that may be each of some terminals."""
        known = sorted(set(names))
        made = super().__new__(cls, _BAR.join(known))
        made.names = frozenset(known)
        return made

    @classmethod
    def parse(cls, kinds: str) -> Kinds:
        """Make the type again from its text, `str(kinds)`."""
        return cls(kinds.split(_BAR))

    def __eq__(self, other: object) -> bool:
        return other in self.names if type(other) is str else self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class Lexeme(NamedTuple):
    """A token of a damaged region: where it stands, and the steps that read it, by the names of terminals."""

    kinds: Kinds
    start: int
    end: int
    steps: dict[str, RecoveryStep]


@lru_cache(maxsize=256)
def places(automaton: Automaton) -> tuple[Config, ...]:
    """One configuration for each set of terminals that configurations accept."""
    found: dict[frozenset[str], Config] = {}
    for config in automaton.configs:
        found.setdefault(frozenset([t.terminal.name for t in config.steps]), config)
    return tuple(found.values())


@lru_cache(maxsize=256)
def behind(automaton: Automaton) -> dict[str, tuple[Config, ...]]:
    """The configurations behind each terminal, one of each kind."""
    found: dict[str, dict[frozenset[str], Config]] = {}
    for config in places(automaton):
        for step in config.steps:
            accepts = frozenset([t.terminal.name for t in step.target.steps])
            found.setdefault(step.terminal.name, {}).setdefault(accepts, step.target)
    return {name: tuple(configs.values()) for name, configs in found.items()}
