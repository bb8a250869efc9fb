"""A plain lexer, independent of the engine: one terminal at a time, with `re` alone.

It knows no chunks, damage or batched matching. The parser must find the same terminals.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.vocabulary import FREE_TEXT
from outspoken.notations.interface import notation_of
from outspoken.results.settings import DEFAULT


class Token(NamedTuple):
    """A terminal as it stands in a text: its transition, where it starts and ends, and its value if it is embedded."""

    step: Transition
    start: int
    end: int
    value: Any = None


class Position(NamedTuple):
    """A position in a text: the configuration, and whether it follows free text, which only a marker can end."""

    config: Config
    after_text: bool = False

    @property
    def steps(self) -> list[Transition]:
        """The transitions from here. Where free text is acceptable, most markers follow it."""
        config = self.config
        if config.free is None or self.after_text:
            return [*config.markers, *config.embedded]
        return [config.free, *config.leading_markers]

    @property
    def key(self) -> tuple[Any, bool]:
        """A key that equal positions share."""
        return self.config.stack, self.after_text

    def after(self, step: Transition) -> Position:
        """The position after a transition."""
        return Position(step.target, step.terminal.short in FREE_TEXT)


def tokens(automaton: Automaton, text: str) -> tuple[list[Token], bool]:
    """The terminals of a text, as far as the grammar accepts it, and whether it accepts all of it."""
    found: list[Token] = []
    search = _Search(text)
    config, at = automaton.start, 0
    while True:
        if config.free is not None:
            token = _marker(config.leading_markers, automaton, text, at) or _free(config.free, search, at)
        elif at == len(text):
            return found, config.end_operations() is not None
        else:
            token = _marker(config.markers, automaton, text, at) or _embedded(config, automaton, text, at)
        if token is None:
            blank = not text[_past_blanks(automaton, text, at) :]
            return found, blank and config.end_operations() is not None
        found.append(token)
        config, at = token.step.target, token.end
        if token.step.terminal.short in FREE_TEXT:
            if at == len(text):
                return found, config.end_operations() is not None
            found.append(search.nearest(config.markers, at)[1])
            config, at = found[-1].step.target, found[-1].end


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _past_blanks(automaton: Automaton, text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip(BLANK)) if automaton.tables.ignore else at


def _marker(steps: list[Transition], automaton: Automaton, text: str, at: int) -> Token | None:
    """The marker that stands at a place, behind white space or not."""
    for start in dict.fromkeys([_past_blanks(automaton, text, at), at]):
        for step in steps:
            match = _compiled(step.terminal.regex).match(text, start)
            if match is not None:
                return Token(step, *match.span())
    return None


class _Search:
    """Searches a text for markers, from places that follow each other, and remembers where each of them stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._spans: dict[str, tuple[int, int] | None] = {}

    def nearest(self, steps: list[Transition], at: int) -> tuple[int, Token]:
        """The nearest marker from a place on, the first of several there. Raises ValueError if there is none."""
        found = [(s[0], i, s[1]) for i, step in enumerate(steps) if (s := self._span(step.terminal.regex, at))]
        start, which, end = min(found)
        return start, Token(steps[which], start, end)

    def _span(self, regex: str, at: int) -> tuple[int, int] | None:
        """Where the nearest match of an expression stands: where it was found before, if that is not passed yet."""
        if regex in self._spans:
            known = self._spans[regex]
            if known is None or known[0] >= at:
                return known
        match = _compiled(regex).search(self.text, at)
        found = self._spans[regex] = match.span() if match is not None else None
        return found


def _free(step: Transition, search: _Search, at: int) -> Token | None:
    """Free text up to the nearest marker that may follow it, or to the end."""
    try:
        return Token(step, at, search.nearest(step.target.markers, at)[0])
    except ValueError:
        return Token(step, at, len(search.text)) if step.target.end_operations() is not None else None


def _embedded(config: Config, automaton: Automaton, text: str, at: int) -> Token | None:
    start = _past_blanks(automaton, text, at)
    for step in config.embedded:
        notation = notation_of(step.terminal)
        if notation.may_begin(text[start : start + 1]):
            found = notation.read_at(text, start, DEFAULT.max_depth, True)
            return Token(step, start, found[1], found[0]) if found else None
    return None
