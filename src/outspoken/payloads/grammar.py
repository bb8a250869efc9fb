"""The grammar of a registry: `shared/payloads.lark` with the markers of the registry."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.compiler import compile_text
from outspoken.grammar.lenient_rules import LenientAutomaton
from outspoken.grammar.sources import own_folder
from outspoken.grammar.tables import Tables

from .types import PayloadType

#: The name of the format in diagnostics.
FORMAT = "payloads"

_HEADER = """// format:  {format}
// title:   Payloads of an application
// models:  any, prompted for it
// trim:    reasoning
// payloads:
{payloads}

"""
#: The terminals for markers, and the wrappings that each accepts.
_TERMINALS = {
    "_MARKERS": ("plain", "emphasis", "tolerant"),
    "_EMPHASISED": ("emphasis", "tolerant"),
    "_TOLERANT": ("tolerant",),
}

#: An expression that never matches but is not empty, as Lark requires.
_NOTHING = "(?!)x"

#: The alternatives for code samples, in which markers do not count.
_CODE = "code | tildes | "

#: A marker: its text, its wrapping, and whether it is case-insensitive.
Marker = tuple[str, str, bool]

_compiling = Lock()


def markers_of(types: Iterable[PayloadType]) -> tuple[Marker, ...]:
    """The markers of some types, sorted, so that equal sets of markers share a grammar."""
    return tuple(sorted({(one.marker, one.wrapping, one.any_case) for one in types}))


def automaton_of(markers: tuple[Marker, ...], *, lenient: bool, in_code: bool = False) -> Automaton:
    """The automaton for some markers, compiled once per process. With `in_code`, markers count in code samples.

    Thread-safe.
    """
    with _compiling:
        return _automaton(markers, lenient, in_code)


@lru_cache(maxsize=128)
def _automaton(markers: tuple[Marker, ...], lenient: bool, in_code: bool) -> Automaton:
    return (LenientAutomaton if lenient else Automaton)(_tables(markers, in_code))


@lru_cache(maxsize=64)
def _tables(markers: tuple[Marker, ...], in_code: bool) -> Tables:
    return compile_text(grammar_text(markers, in_code=in_code), own_folder() / "shared" / "payloads.lark")


def grammar_text(markers: tuple[Marker, ...], *, in_code: bool = False) -> str:
    """The text of the grammar for some markers."""
    text = (own_folder() / "shared" / "payloads.lark").read_text("utf-8")
    for terminal, wrappings in _TERMINALS.items():
        pattern = _alternatives([marker for marker in markers if marker[1] in wrappings])
        text = text.replace(f'{terminal}: "MARKER"', f"{terminal}: /(?:{pattern})/")
    if in_code:
        text = text.replace(_CODE, "")
    payloads = "\n".join(
        [f"//   {name} = {_source((name, wrapping, any_case))}" for name, wrapping, any_case in markers]
    )
    return _HEADER.format(format=FORMAT, payloads=payloads) + text


@lru_cache(maxsize=64)
def line_marker(markers: tuple[Marker, ...]) -> re.Pattern[str]:
    """Matches a line that begins like a payload, up to the colon; the marker is the group `name`."""
    return re.compile(rf"[^\n]{{0,80}}?(?P<name>{_alternatives(markers)})[*_`]{{0,3}}\s{{0,8}}[:：]")


def _alternatives(markers: Iterable[Marker]) -> str:
    # a marker may be a prefix of another
    longest_first = sorted(markers, key=lambda marker: (-len(marker[0]), marker))
    return "|".join([_source(marker) for marker in longest_first]) or _NOTHING


def _source(marker: Marker) -> str:
    name, _, any_case = marker
    return f"(?i:{re.escape(name)})" if any_case else re.escape(name)
