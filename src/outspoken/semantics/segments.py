"""What a complete node adds to the output. The builder and the fast path both call these functions.

They take what is known of the node: offsets in the raw text, its name, its arguments. Whether something is wrong with
it was decided before.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any

from outspoken.json.decoder import NotJsonError, decode
from outspoken.notations.coerce import read_bare, to_json
from outspoken.notations.tools import Tools
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.construct import construct, given, make, set_extra, set_given, set_private, set_values
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Status, Text, ToolCall
from outspoken.results.schemas.schema import fits

from .output import Outcome, Output

_TEXT_ONLY = frozenset({"string"})
_CALL = given(ToolCall)
#: The key of an empty list of calls in `Reply.unread`.
NO_CALLS = "tool_calls"

Span = tuple[int, int]

# text


def end_think(output: Output, start: int, end: int, content: str | None = None, span: Span = (0, 0)) -> None:
    """Reasoning is complete: free text, or the text of a JSON string, `content`."""
    if content is None:
        output.flush()
        output.end_node(start, end)
    elif content:
        values = {"kind": "reasoning", "text": content, "span": span, "status": "ok"}
        output.thoughts.append(construct(Reasoning, values))


def end_code(output: Output, start: int, end: int) -> None:
    """A code sample is complete."""
    output.show(end)
    output.node_start = start


def end_answer(output: Output, start: int, end: int) -> None:
    """A block of text is complete that is the answer to the user."""
    output.flush()
    output.outcome.answered = True
    output.end_node(start, end)
    output.after_text = True


def end_json(output: Output, raw: str, start: int, end: int, max_depth: int) -> None:
    """A JSON value is complete that is no call. It is shown as it was written."""
    try:
        value = decode(raw, max_depth)
    except NotJsonError:
        output.show(end)
        return
    output.show(start)
    output.flush()
    add_json(output, value, raw, (start, end))
    output.end_node(start, end)
    output.after_text = True


def add_json(output: Output, value: Any, raw: str, span: Span) -> None:
    """Add a JSON value."""
    output.segments.append(construct(JsonValue, {"kind": "json", "value": value, "raw": raw, "span": span}))
    output.send_text(raw, span)


def end_envelope(
    output: Output, content: str | None, content_span: Span, needs_more_work: bool | None, start: int, end: int
) -> None:
    """An object that holds the whole answer is complete."""
    outcome = output.outcome
    outcome.envelope = True
    if needs_more_work is not None:
        outcome.needs_more_work = needs_more_work
    outcome.add_content(content)
    if content:
        output.flush()
        place = len(output.segments)
        while place and output.segments[place - 1].span[0] > content_span[0]:
            place -= 1
        output.segments.insert(place, construct(Text, {"kind": "text", "text": content, "span": content_span}))
        output.send_text(content, content_span, exact=True)
    output.end_node(start, end)


def end_payload(
    output: Output,
    type: str,
    data: Any,
    start: int,
    end: int,
    repairs: tuple[Repair, ...] = (),
    status: Status | None = None,
) -> None:
    """A payload is complete. It may be used, unless its status says otherwise."""
    output.flush()
    values: dict[str, Any] = {
        "kind": "payload",
        "type": type,
        "data": data,
        "status": status or ("repaired" if repairs else "ok"),
        "span": (max(start, 0), end),
        "repairs": repairs,
    }
    payload = construct(Payload, values)
    output.segments.append(payload)
    if output.events is not None:
        models = output.models
        output.send(models.PayloadUnfinished(payload) if status else models.PayloadParsed(payload))
    output.end_node(start, end)


# calls


def object_of(value: Any, text: str, max_depth: int) -> tuple[Any, str]:
    """The object that arguments stand for, and its JSON text: they may be a string that holds one, or null.

    Arguments that stand for no object are returned as they are.
    """
    if isinstance(value, str):
        text = value
        try:
            value = decode(text, max_depth) if text.strip() else None
        except NotJsonError:
            value = ""
    return ({}, "{}") if value is None else (value, text)


def place_name(arguments: dict[str, Any] | None, tools: Tools | None, name: str | None, first: str = "") -> str:
    """The name of the next argument if it is known by its place: that of the tool's only one, else the place.

    The `first` one may have a name.
    """
    only = tools.only_argument(name) if tools is not None and name is not None and not arguments else None
    return only or (not arguments and first) or f"${len(arguments or ()) + 1}"


def lacks_bracket(text: str) -> bool:
    """Does text without a name begin with a key and its colon, so that the bracket of the arguments is missing?"""
    from outspoken.json.structure import KEY_FIRST  # few formats have such a text

    return KEY_FIRST.match(text.lstrip()) is not None


def types_of(tools: Tools | None, name: str | None, key: str | None) -> frozenset[str] | None:
    """The JSON types of an argument of a tool; None if they are not known."""
    return None if tools is None or name is None or key is None else tools.types(name, key)


def as_text(types: frozenset[str] | None) -> frozenset[str] | None:
    """The types of an argument that the markup calls a string."""
    return _TEXT_ONLY if types is None or "string" in types else types


def bare_value(text: str, types: frozenset[str] | None, fallback: str) -> tuple[Any, bool]:
    """The value of an argument that is written as bare text, and whether it is of one of the types.

    `fallback` says how text without types is read; see `read_bare`.
    """
    if types == _TEXT_ONLY:
        return text, True
    value = read_bare(text, types, fallback)
    return value, types is None or fits(value, types)


def argument_text(arguments: dict[str, Any] | None, key: str, text: str) -> str:
    """What an argument adds to the JSON text of the arguments before it; `text` is that of its value."""
    return f"{', ' if arguments else '{'}{encode_basestring(key)}: {text}"


def add_value(arguments: dict[str, Any], parts: list[str], key: str, value: Any, text: str) -> None:
    """Add an argument to those of a call, and its JSON text to the `parts` of theirs."""
    parts.append(f"{', ' if arguments else '{'}{encode_basestring(key)}: {text}")
    arguments[key] = value


def add_bare(
    arguments: dict[str, Any], parts: list[str], key: str, text: str, types: frozenset[str] | None, fallback: str
) -> bool:
    """The same for one that is written as bare text. Returns False, and adds nothing, if it is of none of the types."""
    if types == _TEXT_ONLY:  # what follows is `add_value`, written out, since this is hot
        parts.append(f"{', ' if arguments else '{'}{encode_basestring(key)}: {encode_basestring(text)}")
        arguments[key] = text
        return True
    value, is_typed = bare_value(text, types, fallback)
    if is_typed:
        add_value(arguments, parts, key, value, to_json(value))
    return is_typed


def closing_text(arguments: dict[str, Any] | None, *, keyed: bool) -> str:
    """What the end of a call adds to the JSON text of its arguments, which came one by one if they are `keyed`."""
    return "{}" if arguments is None else "}" if keyed else ""


def end_call(
    output: Output,
    name: str,
    arguments: dict[str, Any],
    text: str,
    id: str | None,
    start: int,
    end: int,
    status: Status = "ok",
    repairs: tuple[Repair, ...] = (),
) -> ToolCall:
    """A call has ended. `text` is the JSON text of its arguments."""
    if output.run_model is not None or output.thoughts:
        output.flush()
    call = make(ToolCall)  # what follows is `construct`, written out, since this is hot
    values: dict[str, Any] = {
        "kind": "tool_call",
        "name": name,
        "arguments": arguments,
        "arguments_text": text,
        "id": id,
        "status": status,
        "span": (start if start > 0 else 0, end),
        "repairs": repairs,
    }
    if output.types and name in output.types:
        values[ToolCall.TYPE] = output.types[name]
    set_values(call, values)
    set_given(call, _CALL)
    set_extra(call, None)
    set_private(call, None)
    output.segments.append(call)
    output.consumed, output.after_text, output.node_start = end, False, start  # as `end_node` does
    return call


# calls that answer the user

#: an escape; its group is half a pair of surrogates without the other half
_ESCAPE = lazy_pattern(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


@lru_cache(maxsize=64)
def answer_names(names: tuple[str, ...]) -> frozenset[str]:
    """What `is_answer` compares with, for the names of calls that answer the user."""
    return frozenset([name.lower() for name in names])


def is_answer(name: str | None, names: frozenset[str]) -> bool:
    """Does a call of this name answer the user?"""
    return name is not None and name.strip().lower() in names


def find_lone_surrogate(raw: str) -> re.Match[str] | None:
    """The first escape in a JSON string that is half a character."""
    return next((m for m in _ESCAPE.finditer(raw) if m[1]), None) if "\\" in raw else None


def answer_of(arguments: dict[str, Any] | None) -> Any:
    """The answer in the arguments of a call: the only one, if that has no name, else all of them."""
    return arguments["$1"] if arguments is not None and list(arguments) == ["$1"] else arguments


def add_answer(output: Output, value: Any, raw: str, span: Span) -> None:
    """An answer is complete: text if it is a string, else a JSON value."""
    output.flush()
    output.outcome.answered = True
    if isinstance(value, str):
        if value:
            output.segments.append(construct(Text, {"kind": "text", "text": value, "span": span}))
            output.send_text("", span)  # the text was sent; this is where it ends
    elif value not in (None, {}):
        add_json(output, value, raw, span)


# actions


def action_fields(output: Output, id: str | None, raw: str, start: int, end: int) -> dict[str, Any]:
    """The fields of an action that say where it comes from."""
    span = (start if start > 0 else 0, end)
    return {"raw": raw, "span": span, "id": id, "order": output.action_count}


def add_action(output: Output, action: Any) -> None:
    """Add an action."""
    output.flush()
    output.segments.append(action)
    output.action_count += 1


def nest_action(output: Output, arguments: dict[str, Any] | None) -> dict[str, Any]:
    """Make the action that was just added the argument `*` of the action round it; returns the arguments of that."""
    from outspoken.actions.mapping import PARTS

    arguments = arguments or {}
    parts = [*arguments.get(PARTS, ()), output.segments.pop()]  # a new list: forks share the old one
    output.action_count -= 1
    return {**arguments, PARTS: parts}


# the reply

#: What a response says of itself that is nothing but text.
_SAYS_NOTHING = Outcome()


def reply_of(
    raw: str,
    format: str | None,
    output: Output,
    status: Status = "ok",
    diagnostics: list[Diagnostic] | None = None,
    repairs: list[Repair] | None = None,
) -> Reply:
    """The reply to a text."""
    borders = ()
    if output.begins:
        texts = [segment.span for segment in output.segments if segment.kind in ("text", "json")]
        borders = tuple([start for (_, end), (start, _) in pairwise(texts) if start in output.begins and start > end])
    return _reply(raw, format, output.segments, output.outcome, status, diagnostics, repairs, borders)


def text_reply(raw: str, format: str) -> Reply:
    """The reply to a response that is nothing but one text."""
    text = construct(Text, {"kind": "text", "text": raw, "span": (0, len(raw))})
    return _reply(raw, format, [text], _SAYS_NOTHING)


def _reply(
    raw: str,
    format: str | None,
    segments: list[Any],
    outcome: Outcome,
    status: Status = "ok",
    diagnostics: list[Diagnostic] | None = None,
    repairs: list[Repair] | None = None,
    borders: tuple[int, ...] = (),
) -> Reply:
    values: dict[str, Any] = {
        "raw": raw,
        "format": format,
        "segments": segments,
        "status": status,
        "diagnostics": diagnostics or [],
        "repairs": repairs or [],
        "envelope": outcome.envelope,
        "envelope_content": outcome.envelope_content,
        "needs_more_work": outcome.needs_more_work,
        "unread": outcome.unread or {},
        "final_answer_streamed": outcome.answered,
        "borders": borders,
    }
    return construct(Reply, values)
