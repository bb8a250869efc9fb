"""Coarse tokens: where a format's markers stand in damaged text, sound or nearly so.

Recovery reads a damaged segment over these and the text between them, so that it deals with tens of tokens and not with
thousands of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.lenient_rules import begins_with_newline
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, JSON_FIRST

#: A marker as short as this is punctuation: too common to say anything by itself.
_PUNCTUATION = 2
#: A marker of which one character is missing is known by the rest, if that is as long as this.
_TELLING = 5


class Token(NamedTuple):
    """A place where a marker of the format stands, or one of which a character is missing."""

    start: int
    end: int


class Matcher(NamedTuple):
    """How a terminal is recognised: as the grammar reads it, as it is written, or with a character missing."""

    regex: Any
    written: str
    damaged: tuple[str, ...]


def matcher(step: Transition) -> Matcher:
    """The ways to recognise the terminal of a transition."""
    if step.recovery_matcher is None:
        step.recovery_matcher = _matcher(step.terminal)
    return step.recovery_matcher


@lru_cache(maxsize=4096)
def _matcher(terminal: Terminal) -> Matcher:
    written = terminal.canonical.strip()
    damaged = (written[1:], written[:-1]) if len(written) > 1 else ()
    if begins_with_newline(terminal):
        damaged = (*damaged, *[f"\n{variant}" for variant in damaged])
    return Matcher(re.compile(terminal.regex), written, damaged)


class Coarse(NamedTuple):
    """What recovery must know of a format as a whole."""

    find: Any
    #: the grammar knows the keys of JSON objects: their punctuation is not supplied one by one
    has_json: bool
    #: finds a key of JSON that is a call, however it is quoted
    says_call: Any
    #: the keys that the grammar knows of JSON objects, and whether the arguments of a call are their value
    keys: dict[str, bool]


@lru_cache(maxsize=256)
def coarse(automaton: Automaton) -> Coarse:
    """The expression that finds the tokens of a format."""
    outside = {t.terminal.name for t in automaton.top_level_markers}
    sources: dict[str, int] = {}
    terminals = automaton.tables.terminals.values()
    for terminal in terminals:
        written = terminal.canonical.strip()
        lead = r"(?:\n|)" if begins_with_newline(terminal) else ""
        if terminal.short in FREE_TEXT | EMBEDDED_VALUES or not terminal.short.startswith("_"):
            continue
        if len(written or terminal.regex) <= _PUNCTUATION and terminal.name not in outside:
            continue
        if (written or terminal.regex).startswith('"') and any(t.short in JSON_FIRST for t in terminals):
            continue  # a key of a JSON object
        if re.fullmatch(terminal.regex, "word") is None:
            sources[terminal.regex] = 1000 + len(terminal.regex)
        if len(written) > _PUNCTUATION:
            sources.setdefault(lead + re.escape(written), 500 + len(written))
        if len(written) > _TELLING:
            sources.setdefault(re.escape(written[1:]), len(written))
            sources.setdefault(lead + re.escape(written[:-1]), len(written))
    keys = _keys(automaton)
    ordered = sorted(sources, key=lambda source: -sources[source])
    return Coarse(
        re.compile("|".join([f"(?:{source})" for source in ordered]) or "(?!)"),
        any(t.short in JSON_FIRST for t in terminals),
        re.compile(rf"""["'“＂`]?(?:{"|".join(map(re.escape, keys)) or "(?!)"})["'”＂`]?\s{{0,9}}[:：=]"""),
        keys,
    )


def _keys(automaton: Automaton) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for step in [step for config in automaton.configs for step in config.markers]:
        written = step.terminal.canonical.strip()
        if written.startswith('"') and written.endswith('":'):
            key, told = written[1:-2], any(island.role == "arguments" for island in step.target.embedded)
            found[key] = found.get(key, False) or told
    return dict(sorted(found.items()))


def starts(found: list[Token], text: str) -> dict[int, Token]:
    """Where tokens start; a line break before a marker may be a part of it."""
    return {token.start + (text[token.start] == "\n") * n: token for token in found for n in (0, 1)}


def tokens(automaton: Automaton, text: str, limit: int) -> list[Token] | None:
    """The tokens of a text; None where there are more than `limit`."""
    found: list[Token] = []
    for match in coarse(automaton).find.finditer(text):
        if match.end() > match.start():
            if len(found) == limit:
                return None
            found.append(Token(match.start(), match.end()))
    return found


def is_closed(config: Config) -> bool:
    """Is nothing open in a configuration but, perhaps, a section of calls?"""
    frames = config.automaton.tables.frames
    return not any(frames[state] for state in config.stack)
