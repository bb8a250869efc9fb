"""The configurations of the parsers of a response, and what each accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, TOKENS
from outspoken.patterns.spellings import without_conditions
from outspoken.results.snippet import visible

#: A regular expression is shown up to here: one that is expected, and one whose conditions are not met.
_LONGEST, _LONGEST_UNMET = 60, 200
#: Of so many markers it is said that they stand there without what their patterns ask for.
_MOST_UNMET = 3


@dataclass(frozen=True)
class ConfigView:
    """A configuration: its name, the vocabulary rules that are open, what it accepts, and whether the text may end.

    `free` is the acceptable free text, if any; the terminals that are `expected` are then those that can end it.
    """

    name: str
    inside: str
    free: str
    expected: tuple[str, ...]
    may_end: bool

    def __str__(self) -> str:
        marks = ", ".join(self.expected)
        if self.free:
            marks = f"`{self.free}` up to {marks or 'the end'}"
        return f"{f'in {self.inside}' if self.inside else 'outside'}: {marks or 'nothing'}"


class Configs:
    """Numbers configurations in the order in which they are asked for."""

    def __init__(self) -> None:
        self._numbers: dict[Config, int] = {}
        self.views: list[ConfigView] = []

    def number(self, config: Config) -> int:
        """The number of a configuration."""
        if config not in self._numbers:
            self._numbers[config] = len(self.views)
            self.views.append(described(config, f"c{len(self.views)}"))
        return self._numbers[config]


def described(config: Config, name: str = "") -> ConfigView:
    """What a configuration accepts."""
    nodes = config.automaton.tables.nodes
    inside = " > ".join([" or ".join(nodes[state].split()) for state in config.stack if nodes[state]])
    expected = tuple(dict.fromkeys([_spelled(step) for step in acceptable(config)]))
    free = config.free.terminal.short if config.free else ""
    return ConfigView(name, inside, free, expected, config.end_operations() is not None)


def acceptable(config: Config) -> Iterator[Transition]:
    """What may stand in a configuration: markers and embedded values, and those that may end its free text."""
    yield from config.embedded
    behind = (*config.free.target.embedded, *config.free.target.markers) if config.free is not None else ()
    yield from [step for step in (*config.markers, *behind) if not step.inserted]


def unmet(steps: Iterable[Transition], text: str, at: int) -> list[str]:
    """Notes on the markers that would stand at a place if their patterns did not ask for more round them."""
    found: list[str] = []
    for terminal in dict.fromkeys([step.terminal for step in steps if not step.inserted]):
        bare = without_conditions(terminal.regex)
        match = re.compile(bare).match(text, at) if bare != terminal.regex else None
        if match is not None and match[0] and re.compile(terminal.regex).match(text, at) is None:
            asked = f"stands here, without what its pattern asks for: /{_short(terminal.regex, _LONGEST_UNMET)}/"
            found.append(f"`{terminal.short}` {_quoted(match[0])} {asked}")
    return found[:_MOST_UNMET]


def _spelled(step: Transition) -> str:
    """The name of a terminal and how it is spelled, which is left out for free text and embedded values."""
    terminal = step.terminal
    if terminal.short in EMBEDDED_VALUES or terminal.short in TOKENS:
        return f"`{terminal.short}`"
    spelled = _quoted(terminal.canonical) if terminal.canonical else f"/{_short(terminal.regex, _LONGEST)}/"
    return f"`{terminal.short}` {spelled}"


def _short(regex: str, most: int) -> str:
    shown = visible(regex)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _quoted(text: str) -> str:
    return '"{}"'.format(visible(text).replace('"', r"\""))
