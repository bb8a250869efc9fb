"""What the generated functions of `grammars/compiled/<format>.py` use of the library."""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import Any

from outspoken.engine.text_buffer import BLANKS
from outspoken.grammar.marker_search import Find, search_by_chars
from outspoken.json.scanner import encodable_value, read_at, scan_once, too_deep
from outspoken.notations.coerce import fits, read_bare, to_json
from outspoken.notations.interface import notation
from outspoken.notations.schema import ANY
from outspoken.notations.tools import schema_view_of
from outspoken.results.construct import given, make, set_extra, set_given, set_private, set_values
from outspoken.results.replies import Reasoning, Text, ToolCall

__all__ = [
    "ANY",
    "SEGMENT",
    "TEXT_ONLY",
    "UNSOUND",
    "ToolCall",
    "blanks",
    "encodable_value",
    "fits",
    "given_call",
    "lazy",
    "lazy_search",
    "make",
    "notation",
    "quoted",
    "read_at",
    "read_bare",
    "scan",
    "schema_view_of",
    "segment",
    "set_extra",
    "set_given",
    "set_private",
    "set_values",
    "to_json",
    "too_deep",
]

#: What is read: a complete text, one segment, or one segment in text that is known to be of the format.
WHOLE, SEGMENT, INSIDE = 0, 1, 2
#: The types of an argument that can only be a string.
TEXT_ONLY = frozenset({"string"})
#: What reading a JSON value may raise.
UNSOUND = (StopIteration, ValueError, RecursionError)

blanks, quoted, scan = BLANKS.match, encode_basestring, scan_once
_TEXT, _REASONING, given_call = given(Text), given(Reasoning), given(ToolCall)


def segment(kind: int, text: str, start: int, end: int) -> Any:
    """A segment of text (1) or of reasoning (2)."""
    if kind == 1:
        made = make(Text)
        set_values(made, {"kind": "text", "text": text, "span": (start, end)})
        set_given(made, _TEXT)
    else:
        made = make(Reasoning)
        set_values(made, {"kind": "reasoning", "text": text, "span": (start, end), "status": "ok"})
        set_given(made, _REASONING)
    set_extra(made, None)
    set_private(made, None)
    return made


# Regular expressions are compiled when they are first used, since that takes most of the time of a cold start. Each
# function then takes its own place among the globals of its module.


def lazy(scope: dict[str, Any], name: str, pattern: str, method: str = "match") -> Find:
    """The method of a regular expression."""

    def first(text: str, *places: int) -> Any:
        found = scope[name] = getattr(re.compile(pattern), method)
        return found(text, *places)

    return first


def lazy_search(scope: dict[str, Any], name: str, pattern: str, spaces: str, chars: str) -> Find:
    """The search for an expression at places with one of `chars`, and from the `spaces` before them."""

    def first(text: str, pos: int) -> Any:
        found = scope[name] = search_by_chars(re.compile(pattern).match, spaces, chars)
        return found(text, pos)

    return first
