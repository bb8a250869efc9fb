"""What the generated functions of `grammars/compiled/<format>.py` use of the library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from outspoken.engine.text_buffer import BLANKS
from outspoken.grammar.marker_search import Find, search_before, search_by_chars
from outspoken.json.decoder import UNSOUND, checked, read_at, scan_once
from outspoken.notations.coerce import ANY, to_json
from outspoken.notations.interface import notation
from outspoken.notations.tools import schema_view_of
from outspoken.patterns.loose_markup import ValueCheck
from outspoken.results.settings import Settings
from outspoken.semantics.output import Output
from outspoken.semantics.segments import (
    NO_CALLS,
    Span,
    action_fields,
    add_action,
    add_answer,
    add_bare,
    add_value,
    answer_names,
    answer_of,
    as_text,
    closing_text,
    end_answer,
    end_call,
    end_code,
    end_envelope,
    end_json,
    end_payload,
    end_think,
    find_lone_surrogate,
    is_answer,
    lacks_bracket,
    nest_action,
    object_of,
    place_name,
)

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping
    from outspoken.grammar.header import Header

__all__ = [
    "ANY", "DAMAGED", "NO_CALLS", "NO_CONTENT", "SEGMENT", "ValueCheck", "UNSOUND", "Header", "add_bare", "add_value",
    "answer_names", "as_text", "blanks", "checked", "closing_text", "doubt", "end_action", "end_answer",
    "end_answer_call", "end_call", "end_code", "end_envelope", "end_json", "end_payload", "end_think", "is_answer",
    "lacks_bracket", "lazy", "mapping_of", "nest_action", "notation", "object_of", "place_name", "read_at", "scan",
    "schema_view_of", "to_json",
]  # fmt: skip

#: One segment is read, in text that may be of another format.
SEGMENT = 1
#: What is read is not sound: it needs a repair, or the text ends within it.
DAMAGED = "damaged"
#: The content of an envelope that has none, and its span.
NO_CONTENT = None, (0, 0)

blanks, scan = BLANKS.match, scan_once


def __getattr__(name: str) -> Any:
    """Import what few formats need and takes long to import."""
    if name != "Header":
        raise AttributeError(name)
    from outspoken.grammar.header import Header

    return Header


def doubt(text: str, at: int) -> int:
    """See `keys.doubt`."""
    from outspoken.semantics import keys  # few texts have a key that their grammar does not know

    return keys.doubt(text, at)


# actions, and calls that answer the user


def mapping_of(header: Header) -> ActionMapping | None:
    """The mapping of a format's actions."""
    from outspoken.actions import mapping  # few formats need it, and it takes long to import

    return mapping.mapping_of(header)


def end_action(
    output: Output,
    header: Header,
    settings: Settings,
    name: str | None,
    arguments: dict[str, Any] | None,
    id: str | None,
    raw: str,
    start: int,
    end: int,
) -> bool:
    """An action is complete; returns False, and adds nothing, if something is wrong with it."""
    from outspoken.actions.page_rules import read_action

    made = read_action(header, name or "", arguments or {}, action_fields(output, id, raw, start, end), settings)
    if made is None or made.problem or made.outside or made.findings:
        return False
    add_action(output, made.action)
    output.end_node(start, end)
    return True


def end_answer_call(
    output: Output, arguments: dict[str, Any] | None, raw: str, span: Span, start: int, end: int
) -> bool:
    """A call that answers the user is complete; returns False, and adds nothing, if something is wrong with it."""
    value = answer_of(arguments)
    if isinstance(value, str) and find_lone_surrogate(raw):
        return False
    add_answer(output, value, raw, span)
    output.end_node(start, end)
    return True


# Regular expressions are compiled when they are first used, since that takes most of the time of a cold start. Each
# function then takes its own place among the globals of its module.


def lazy(scope: dict[str, Any], name: str, pattern: str, method: str = "match", *chars: str) -> Find:
    """The method of a regular expression, or the search for it at places with some `chars` (see `search_by_chars`).

    The method `search` is for markers that have one of the `chars` (see `search_before`).
    """

    def first(text: str, *places: int) -> Any:
        compiled = re.compile(pattern)
        find_in = getattr(compiled, method)
        if chars:
            is_search = method == "search"
            find_in = search_before(find_in, compiled.match, *chars) if is_search else search_by_chars(find_in, *chars)
        scope[name] = find_in
        return find_in(text, *places)

    return first
