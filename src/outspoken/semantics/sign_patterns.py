"""Collects the signs of calls (see `call_signs`) from the automata of formats, ahead of time."""

from __future__ import annotations

import re
from collections.abc import Iterable

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.format_index import BRACKETS
from outspoken.patterns.prefilter import any_of
from outspoken.patterns.prefixes import prefixes
from outspoken.patterns.spellings import spellings, without_conditions

from .think_markers import think_markers

#: A shorter marker is in much text that holds no call.
_SHORTEST_SIGN = 6
#: What precedes the first bracket of a marker.
_BEFORE_BRACKET = re.compile(f"[^{re.escape(BRACKETS)}]*")


def sign_patterns(automata: Iterable[tuple[str, Automaton]]) -> list[str]:
    """The patterns of the signs of calls in formats, and of what closes their reasoning, one for each bracket."""
    beginnings, wide = set[str](), set[str]()
    for _, automaton in automata:
        thinks = think_markers(automaton)
        closers = [thinks.closer.pattern] if thinks is not None and not thinks.is_shared else []
        for bare in [without_conditions(regex) for regex in [*_distinct_openers(automaton), *closers]]:
            beginnings |= {_BEFORE_BRACKET.sub("", text, count=1).rstrip() for text in _beginnings(bare)}
            wide |= {bare} if _is_wide(bare) else set()
    long = {text for text in beginnings if len(text) >= _SHORTEST_SIGN}
    signs = {text for text in long if not any(text != shorter and shorter in text for shorter in long)}
    patterns: list[str] = []
    for bracket in BRACKETS:
        rests = {text[1:] for text in signs if text[0] == bracket}
        wider = sorted([bare.replace(bracket, "", 1) for bare in wide if spellings(bare)[0][0] == bracket])
        patterns.append(f"{re.escape(bracket)}(?:{'|'.join([any_of(rests)] * bool(rests) + wider) or '(?!)'})")
    return patterns


def _distinct_openers(automaton: Automaton) -> list[str]:
    """The patterns of the opening markers that something must follow, and that count wherever they stand."""
    header = automaton.tables.header
    return [
        step.terminal.regex
        for step in automaton.top_level_markers
        if not step.inserted and step.target.free is None and not header.needs_format(step.terminal.short)
    ]


def _is_wide(bare: str) -> bool:
    """Does a bracket begin a pattern that spells long markers, and something that is not known follow it?"""
    spelled = spellings(bare)
    starts = {text[0] for text in spelled}
    return (
        len(starts) == 1
        and starts <= {*BRACKETS}
        and any(text.rstrip() in BRACKETS for text in prefixes(bare))
        and all(len(text) >= _SHORTEST_SIGN for text in spelled)
        and all(re.match(bare.replace(text[0], "", 1), text[1:]) for text in spelled)
    )


def _beginnings(bare: str) -> Iterable[str]:
    """How what a pattern matches begins; in lower case if the pattern ignores case."""
    return (spellings(bare) if "(?i" in bare else ()) or prefixes(bare)
