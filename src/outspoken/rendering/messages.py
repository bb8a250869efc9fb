"""`parse_message`: the chat message that a response template of Hugging Face makes of a response.

The shape of messages follows `parse_response` of transformers 5 (`utils/chat_parsing`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, NoReturn, cast

from outspoken.grammar import registry
from outspoken.grammar.template_fields import Field, Template, filled
from outspoken.json.read import read_json
from outspoken.notations.tools import ToolLike, Tools
from outspoken.parsing.functions import parse
from outspoken.parsing.prompt_prefix import after_anchor
from outspoken.results.arguments import text_of
from outspoken.results.errors import MessageError, ResponseError
from outspoken.results.message_text import MessageText
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Payload, Reasoning, Reply, Span, Text, ToolCall


@by_keyword
def parse_message(
    text: str | bytes | None,
    format: str,
    *,
    prefix: str = "",
    finish_reason: str | None = None,
    tools: Tools | Sequence[ToolLike] | None = None,
) -> dict[str, Any]:
    """The message of a response, in a format that `load_format` made of a response template.

    Returns a dict with the template's `defaults` and its fields by name, each in the shape of its `transform`. It is
    what transformers' `parse_response` returns, even if the reply of `parse` holds more: an opener that the template
    offers behind `^` is a part of what it opens, and a value that the template's own parser reads as a number stays one
    if the tool's schema asks for text. Text outside of all regions is not in the message. A field that occurs several
    times is a list with `repeats`, and joined with `join`. Without both, texts are joined and other values become a
    list, where transformers keeps only the last one.

    `prefix` is the prompt; what stands in it behind the last anchor belongs to the message. `tools` and `finish_reason`
    are as for `parse`.

    Raises MessageError, a ValueError that holds the reply, if the response has an error that cannot be repaired (such
    as a call that never ends), if a field that is not optional is missing, or if a value is not what the template says;
    ValueError if the format has no template; UnknownFormatError, ToolError and LimitError as `parse` does.
    """
    name = registry.resolve(format)
    template = registry.template(name)
    if template is None:
        raise ValueError(f"`{name}` was not loaded from a response template, so it has no messages")
    turn = after_anchor(text_of(prefix, "prefix"), registry.header(name).anchor) + text_of(text, "text")
    try:
        reply = parse(turn, format=name, tools=tools, on_error="raise", repair="strings", finish_reason=finish_reason)
    except ResponseError as error:
        raise MessageError("", error.diagnostic.message, error.reply) from error
    return _MessageBuilder(template, reply).build()


class _MessageBuilder:
    """Builds the message of one reply."""

    def __init__(self, template: Template, reply: Reply) -> None:
        self._template, self._reply = template, reply
        self._fields = {field.key: field for field in template.fields}
        self._found: dict[str, list[tuple[Any, Span]]] = {}

    def build(self) -> dict[str, Any]:
        """The message."""
        for field, value, span in self._values():
            self._found.setdefault(field.key, []).append((value, span))
        for key, field in self._fields.items():
            if field.data.get("optional") is False and key not in self._found:
                self._fail(key, "it is not optional, and is missing")
        defaults = deepcopy(self._template.data.get("defaults", {}))
        made = {key: self._one(self._fields[key], values) for key, values in self._found.items()}
        return {**defaults, **{k: v for k, v in made.items() if k in defaults or v not in (None, "", [], {})}}

    def _fail(self, key: str, why: str) -> NoReturn:
        raise MessageError(key, why, self._reply)

    def _values(self) -> Iterator[tuple[Field, Any, Span]]:
        """The fields in order, each with its value and its span."""
        by_kind = {field.kind: field for field in self._fields.values() if field.kind in ("thinking", "tool_calls")}
        end, explicit = 0, False
        for segment in self._reply.segments:
            explicit = self._is_explicit(end, segment.span[0], explicit)
            after, end = end, segment.span[1]
            if isinstance(segment, ToolCall):
                yield by_kind["tool_calls"], self._call(by_kind["tool_calls"], segment), segment.span
            elif isinstance(segment, Payload):
                field = self._fields[segment.type]
                yield field, self._payload(field, segment), segment.span
            elif isinstance(segment, Reasoning):
                yield by_kind["thinking"], self._reasoning(by_kind["thinking"], segment, after), segment.span
            elif isinstance(segment, Text) and (field := self._content(explicit)) is not None:
                yield field, _stripped(field, segment.text), segment.span

    def _reasoning(self, field: Field, block: Reasoning, after: int) -> str:
        """The text of a block of reasoning from the end of the template's opener, which may match nothing (`^`)."""
        start, end = block.span
        given = self._template.data["fields"][field.key].get("open_pattern")
        opener = re.compile(given, re.DOTALL).search(self._reply.raw, after, start) if given else None
        return _stripped(field, self._reply.raw[opener.end() if opener else start : end])

    # text: the delimiters before it tell which field it belongs to

    def _content(self, explicit: bool) -> Field | None:
        contents = [field for field in self._fields.values() if field.kind == "content"]
        return next((field for field in contents if field.is_implicit is not explicit), None)

    def _is_explicit(self, start: int, end: int, before: bool) -> bool:
        """Does the text behind `raw[start:end]` stand between the delimiters of a content field?"""
        field = self._content(True)
        if field is None:
            return False
        last = max([m.end() for m in self._finds(field, "open", start, end)], default=-1)
        closed = max([m.end() for m in self._finds(field, "close", start, end)], default=-1)
        return last > closed or (before and closed < 0)

    def _finds(self, field: Field, side: str, start: int, end: int) -> Iterator[re.Match[str]]:
        source = field.source(side) if side == "open" or field.is_closed else ""
        return re.compile(source, re.DOTALL).finditer(self._reply.raw, start, end) if source else iter(())

    # values

    def _payload(self, field: Field, payload: Payload) -> Any:
        match = re.compile(field.source("open"), re.DOTALL).match(self._reply.raw, payload.span[0])
        captures = match.groupdict() if match is not None else {}
        try:
            value = read_value(field.parser, field.args, payload.data)
            if field.transform is None:
                return value
            if not field.is_each:
                return filled(field.transform, {**captures, "content": value})
            return [filled(field.transform, {**captures, **item}) for item in _objects(value)]
        except (LookupError, TypeError, ValueError) as error:
            self._fail(field.key, str(error))

    def _call(self, field: Field, call: ToolCall) -> Any:
        """One call, with the template's own names in place of ours."""
        if field.has_name:
            arguments = {**deepcopy(call.arguments), **self._typed(field, call)}
            if field.transform is None:
                return arguments
            return filled(field.transform, {"name": call.name, "content": arguments})
        value = self._written(field, call)
        if field.transform is None:
            return value
        try:
            return filled(field.transform, value if field.is_each else {"content": value})
        except LookupError as error:
            self._fail(field.key, str(error))

    def _typed(self, field: Field, call: ToolCall) -> dict[str, Any]:
        """The arguments that the template's own parser reads as other types, while the tool's schema asks for text."""
        with suppress(LookupError, TypeError, ValueError):
            read = read_value(field.parser, field.args, self._reply.raw[slice(*call.span)])
            if isinstance(read, dict):
                pairs = cast("dict[str, Any]", read).items()
                return {k: v for k, v in pairs if isinstance(call.arguments.get(k), str) and not isinstance(v, str)}
        return {}

    def _written(self, field: Field, call: ToolCall) -> dict[str, Any]:
        """The JSON object of a call, with the name and the arguments as they were read."""
        paths = self._template.shape(field)
        name, arguments = [path if field.is_each else path[1:] for path in paths] if paths[0] else (["name"], [])
        read = read_json(self._reply.raw[slice(*call.span)]).values
        value = next((cast("dict[str, Any]", part) for part in read if isinstance(part, dict)), dict[str, Any]())
        if not arguments:
            arguments = [next((key for key in ("arguments", "parameters", "args") if key in value), "arguments")]
        for path, part in ((name, call.name), (arguments, deepcopy(call.arguments))):
            holder = value
            for key in path[:-1]:
                holder[key] = holder[key] if isinstance(holder.get(key), dict) else {}
                holder = holder[key]
            holder[path[-1]] = part
        return value

    def _one(self, field: Field, found: list[tuple[Any, Span]]) -> Any:
        """The value of a field from all its occurrences."""
        values, join, repeats = [value for value, _ in found], field.data.get("join"), field.data.get("repeats")
        if join is not None:
            return join.join(values)
        if field.parser == "text" and field.transform is None and not repeats:
            return "\n\n".join(values) if field.kind == "thinking" else self._joined(found)
        is_list = repeats or len(values) > 1 or (field.kind == "tool_calls" and field.is_each)
        return values if is_list else values[0]

    def _joined(self, found: list[tuple[str, Span]]) -> str:
        """Texts joined as those of a reply are."""
        raw = self._reply.raw
        message = MessageText(lambda start, end: raw[start:end], found[0][1][0])
        return "".join([*[message.add(piece, *span) for piece, span in found], message.end(found[-1][1][1])])


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects for `transform_each`. Raises ValueError if the value is not a list of objects."""
    if not isinstance(value, list):
        raise ValueError("it is not a list")
    for item in cast("list[Any]", value):
        if not isinstance(item, dict):
            raise ValueError("what it lists is no object")
    return cast("list[dict[str, Any]]", value)


def _stripped(field: Field, text: str) -> str:
    return text.strip() if field.is_stripped else text


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_value(parser: str, args: dict[str, Any], data: Any) -> Any:
    """The value of a region by its content parser. `data` is its text, or a value that was read from JSON.

    Raises ValueError if the text is not what the template says, LookupError if an expression lacks its groups.
    """
    if not isinstance(data, str):
        return data
    text = data.strip() if args.get("strip", True) else data
    if parser == "int":
        return int(text)
    if parser == "float":
        return float(text)
    if parser == "bool":
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"`{text}` is neither true nor false")
        return _BOOLEANS[text.lower()]
    if parser == "json":
        try:
            return json.loads(text)
        except ValueError:
            if args.get("allow_non_json"):
                return text
            raise
    if parser == "xml-inline":
        return _tags(data, args)
    return _lines(data, args) if parser == "kv-lines" else text


def _held(text: str, args: dict[str, Any]) -> Any:
    """A value in a region by the `value_parser`; text if there is none."""
    given: Any = args.get("value_parser")
    if given is None:
        return text
    known = cast("dict[str, Any]", given) if isinstance(given, dict) else {"name": given}
    return read_value(str(known.get("name", "text")), known.get("args") or {}, text)


def _tags(text: str, args: dict[str, Any]) -> dict[str, Any]:
    """Pairs by the groups `key` and `value` of an expression; `merge_duplicates` lists all values of a key."""
    pairs: dict[str, Any] = {}
    merged: set[str] = set()
    for match in re.finditer(str(args.get("tag_pattern")), text, re.DOTALL):
        key, value = match["key"], _held(match["value"], args)
        if key not in pairs or not args.get("merge_duplicates"):
            pairs[key] = value
        elif key in merged:
            pairs[key].append(value)
        else:
            pairs[key] = [pairs[key], value]
            merged.add(key)
    return pairs


def _lines(text: str, args: dict[str, Any]) -> dict[str, Any]:
    """A pair on each line; lines without a separator are ignored."""
    colon, strip = args.get("kv_sep", ":"), args.get("strip", True)
    found: dict[str, Any] = {}
    for line in text.split(args.get("line_sep", "\n")):
        key, middle, value = line.partition(colon)
        if middle:
            found[key.strip() if strip else key] = _held(value.strip() if strip else value, args)
    return found
