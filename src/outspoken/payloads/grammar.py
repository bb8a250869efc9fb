"""The grammar of a registry's payloads: the shared one, with the registry's own markers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.compiler import compile_text
from outspoken.grammar.lenient_rules import LENIENT_RULES
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
#: The terminals that stand for the markers, and which of them each takes.
_TAKES = {
    "_MARKERS": ("plain", "emphasis", "tolerant"),
    "_EMPHASISED": ("emphasis", "tolerant"),
    "_TOLERANT": ("tolerant",),
}

#: An expression that matches nothing, and yet has a width.
_NOTHING = "(?!)x"

#: The rules of what markers do not count in.
_CODE = "code | tildes | "

#: A marker as the grammar needs it: what is written, how it may be wrapped, whether its case counts.
Marker = tuple[str, str, bool]

_compiling = Lock()


def markers_of(types: Iterable[PayloadType]) -> tuple[Marker, ...]:
    """The markers of some types, in an order that says nothing of theirs: the same markers share a grammar."""
    return tuple(sorted({(one.marker, one.wrapping, one.any_case) for one in types}))


def automaton_of(markers: tuple[Marker, ...], *, lenient: bool, in_code: bool = False) -> Automaton:
    """The automaton for some markers, made once in a process; with `in_code` they count in code samples, too.

    Any thread may ask.
    """
    with _compiling:
        return _automaton(markers, lenient, in_code)


@lru_cache(maxsize=128)
def _automaton(markers: tuple[Marker, ...], lenient: bool, in_code: bool) -> Automaton:
    return Automaton(_tables(markers, in_code), LENIENT_RULES if lenient else None)


@lru_cache(maxsize=64)
def _tables(markers: tuple[Marker, ...], in_code: bool) -> Tables:
    return compile_text(grammar_text(markers, in_code=in_code), own_folder() / "shared" / "payloads.lark")


def grammar_text(markers: tuple[Marker, ...], *, in_code: bool = False) -> str:
    """The text of the grammar for some markers."""
    text = (own_folder() / "shared" / "payloads.lark").read_text("utf-8")
    for terminal, wrappings in _TAKES.items():
        # the longest first, so that none is cut short by one that it begins with
        taken = sorted([m for m in markers if m[1] in wrappings], key=lambda m: (-len(m[0]), m))
        written = "|".join([_source(m) for m in taken])
        text = text.replace(f'{terminal}: "MARKER"', f"{terminal}: /(?:{written or _NOTHING})/")
    if in_code:
        text = text.replace(_CODE, "")
    payloads = "\n".join(
        [f"//   {name} = {_source((name, wrapping, any_case))}" for name, wrapping, any_case in markers]
    )
    return _HEADER.format(format=FORMAT, payloads=payloads) + text


@lru_cache(maxsize=64)
def named(markers: tuple[Marker, ...]) -> re.Pattern[str]:
    """Finds the `name` in a line that begins as a payload does, up to the colon."""
    taken = sorted(markers, key=lambda m: (-len(m[0]), m))
    written = "|".join([_source(m) for m in taken]) or _NOTHING
    return re.compile(rf"[^\n]{{0,80}}?(?P<name>{written})[*_`]{{0,3}}\s{{0,8}}[:：]")


def _source(marker: Marker) -> str:
    name, _, any_case = marker
    return f"(?i:{re.escape(name)})" if any_case else re.escape(name)
