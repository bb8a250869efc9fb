"""The parser configurations of a response, numbered in order, with what each accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.results.snippet import visible

from .trace import Step

#: A regular expression is shown up to here.
_LONGEST = 60


@dataclass(frozen=True)
class Expected:
    """A terminal that is acceptable, by its name, and how it is spelled: "" for free text and embedded values."""

    name: str
    spelled: str

    def __str__(self) -> str:
        return f"`{self.name}`" + (f" {self.spelled}" if self.spelled else "")


@dataclass(frozen=True)
class ConfigView:
    """A configuration: its number, the vocabulary rules that are open, what it accepts, the parser's stack of states.

    `free` is the acceptable free text, if any; the markers are then those that can end it.
    """

    number: int
    inside: str
    free: str
    expected: tuple[Expected, ...]
    may_end: bool
    stack: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name by which the configuration is spoken of."""
        return f"c{self.number}"

    def __str__(self) -> str:
        where = f"in {self.inside}" if self.inside else "outside"
        marks = ", ".join([str(e) for e in self.expected])
        if self.free:
            marks = f"`{self.free}` up to {marks or 'the end'}"
        return f"{where}: {marks or 'nothing'}"


class Configs:
    """Numbers configurations in the order in which they occur."""

    def __init__(self) -> None:
        self._numbers: dict[Config, int] = {}
        self.views: list[ConfigView] = []

    def number(self, config: Config) -> int:
        """The number of a configuration."""
        if config not in self._numbers:
            self._numbers[config] = len(self.views)
            self.views.append(described(config, len(self.views)))
        return self._numbers[config]

    def kind(self, step: Step) -> str:
        """Whether a token is a "marker", "free" text, a "value", or "none" of these."""
        if step.transition is None:
            return "none"
        short = step.transition.terminal.short
        return "free" if short in FREE_TEXT else "value" if short in EMBEDDED_VALUES | TOKENS else "marker"


def described(config: Config, number: int = 0) -> ConfigView:
    """What a configuration accepts."""
    nodes = config.automaton.tables.nodes
    inside = " > ".join([" or ".join(nodes[state].split()) for state in config.stack if nodes[state]])
    free = config.free.terminal.short if config.free else ""
    expected = tuple(dict.fromkeys([Expected(t.terminal.short, _spelled(t)) for t in acceptable(config)]))
    return ConfigView(number, inside, free, expected, config.end_operations() is not None, config.stack)


def acceptable(config: Config) -> Iterator[Transition]:
    """What may stand in a configuration: markers and embedded values, and those that may end its free text."""
    yield from config.embedded
    yield from [step for step in config.markers if not step.inserted]
    if config.free is not None:
        yield from [step for step in (*config.free.target.embedded, *config.free.target.markers) if not step.inserted]


def _spelled(step: Transition) -> str:
    terminal = step.terminal
    if terminal.short in EMBEDDED_VALUES or terminal.short in TOKENS:
        return ""
    if terminal.canonical:
        return '"{}"'.format(visible(terminal.canonical).replace('"', r"\""))
    regex = visible(terminal.regex)
    return f"/{regex if len(regex) <= _LONGEST else regex[:_LONGEST] + '...'}/"
