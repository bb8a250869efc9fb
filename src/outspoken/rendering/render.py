"""`render`: replies, calls and actions back to text, in a format's own spelling."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from outspoken.actions.encoding import convert_points, effect_of, encode_action, lacks
from outspoken.actions.mapping import PARTS
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.template_fields import written
from outspoken.notations.coerce import to_json
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.actions.base import BaseAction
from outspoken.results.arguments import check_choice, check_optional, check_type, kind_of
from outspoken.results.edits import RepairLimit
from outspoken.results.errors import RenderError
from outspoken.results.geometry import Screen, Space
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
from outspoken.results.schemas.schema import KINDS
from outspoken.results.settings import Settings, with_screen

from .joining import join_texts
from .writer import Item, Written, text_of, with_index, write_all

#: How many ways through a state of the grammar are tried if what was written first reads back as something else.
_WAYS = 4
#: So much of what was written is shown in an error.
_LONG = 160

#: What `render` writes: a reply, a segment of one, or a dict with `name` and `arguments`.
Renderable: TypeAlias = "Reply | Segment | BaseAction | Mapping[str, Any]"
#: What becomes of calls, actions and payloads that are truncated or invalid.
Unfinished: TypeAlias = Literal["refuse", "skip"]


@by_keyword
def render(
    what: Renderable | Iterable[Renderable],
    format: str,
    *,
    tools: Tools | Sequence[ToolLike] | None = None,
    screen: Screen | None = None,
    settings: Settings | None = None,
    unfinished: Unfinished = "refuse",
) -> str:
    """Write calls, or a whole reply, as the format's models write them.

    `what` is a Reply, one of its segments or a list of them, or of dicts with `name` and `arguments`. Formats that
    write arguments as bare text need the schemas of the tools to tell `"5"` from `5`; without `tools`, the schemas are
    taken from the values. Ids are written if the format has a place for them.

    GUI actions are written in the format's own words, with points in its own space or in `Settings.coordinates`;
    converting points from another space takes the `screen`. What the model said about an action (its reasoning, its
    confidence) is left out if the format has no words for it.

    What is truncated or invalid would look complete. It raises RenderError, or is left out if `unfinished` is "skip".

    The text is read back and compared. Raises RenderError if the format cannot carry a value (without escapes, a string
    that contains the format's closing marker), a segment, or what an action says, and for values that are no JSON (NaN,
    a set, what is nested too deep); TypeError if `what` is none of the above; UnknownFormatError and ToolError as
    `parse` does.
    """
    check_optional(screen, Screen, "screen")
    check_choice(unfinished, get_args(Unfinished), "unfinished")
    used = with_screen(check_optional(settings, Settings, "settings"), screen)
    segments = _segments(what)
    if unfinished == "skip":
        segments = [segment for segment in segments if not _is_unfinished(segment)]
    return render_path(segments, check_type(format, str, "format"), Tools.of(tools), used).text


class Rendered(NamedTuple):
    """What was rendered: the text, the items of it, and the path of the terminals that were written.

    The text lacks the beginning of the path's text if the prompt ends with it, and line breaks before the first markup.
    """

    text: str
    items: list[Item]
    path: Written | None


def render_path(
    what: Renderable | Iterable[Renderable],
    format: str,
    tools: Tools | None,
    used: Settings,
    repair: RepairLimit = "heuristic",
) -> Rendered:
    """As `render`, with the path of the terminals. What is written is read back with repairs up to a limit."""
    coordinates = used.coordinates
    name = registry.resolve(format)
    tables = registry.automaton(name).tables
    header = tables.header
    to_write = _segments(what)
    for segment in to_write:
        if isinstance(segment, (ToolCall, Payload)):
            _json_of(segment)
        if _is_unfinished(segment):
            raise RenderError(f"the {_kind_of(segment)} is {segment.status}: written as text, it would look complete")
    segments = [_in_format_space(segment, header, coordinates, used.screen) for segment in to_write]
    kinds = {kind for kinds in tables.nodes for kind in kinds.split()}
    # If a format has both, actions are written as calls, unless that fails.
    modes = [mode for mode in (False, True) if ("action" if mode else "tool_call") in kinds] or [False]
    if not any(isinstance(segment, BaseAction) for segment in segments):
        del modes[1:]
    used_tools = tools or _tools_of_values(segments)
    refused: list[RenderError] = []
    for as_actions in modes:
        for attempt in _variants(_items_of(segments, header, as_actions=as_actions), header):
            try:
                return _write_checked(name, segments, attempt, used_tools, coordinates, repair)
            except RenderError as error:
                refused.append(error)
    raise refused[0]


def _items_of(segments: list[Any], header: Header, *, as_actions: bool) -> list[Item]:
    """The items of all segments."""
    items: list[Item] = []
    for segment in segments:
        acted = isinstance(segment, BaseAction)
        for item in _action_items(segment, header, as_actions=as_actions) if acted else [_item_of(segment, header)]:
            calls = sum([known.kind == "tool_call" for known in items])
            items.append(with_index(item, calls) if item.kind == "tool_call" else item)
    return items


def _action_items(action: BaseAction, header: Header, *, as_actions: bool) -> list[Item]:
    """The items of an action; if it contains others, its beginning, theirs, and its end."""
    named = encode_action(header, action)
    if named is None:
        raise RenderError(f"`{header.format}` has {lacks(header, action)}")
    parts: list[BaseAction] = named[1].pop(PARTS, [])
    kind, id_ = ("action", None) if as_actions else ("tool_call", action.id)
    arguments, text = tuple(named[1].items()), to_json(named[1])
    whole = Item(kind, "", named[0], id_, 0, arguments, text, spelled=header.written, encloses=bool(parts))
    inner = [item for part in parts for item in _action_items(part, header, as_actions=as_actions)]
    return [whole, *inner, Item(kind)] if parts else [whole]


def _in_format_space(segment: Any, header: Header, coordinates: Space | None, screen: Screen | None) -> Any:
    """A segment with its points in the space of the format. Raises RenderError if they cannot be converted."""
    if not isinstance(segment, BaseAction):
        return segment
    try:
        return convert_points(segment, coordinates or header.space, screen)
    except ValueError as error:
        raise RenderError(f"`{header.format}` cannot say where `{segment.name}` is: {error}") from error


def _variants(items: list[Item], header: Header) -> Iterator[list[Item]]:
    """The items as the format usually writes them, and variants for what cannot be written so."""
    yield items
    if header.opened and items and items[0].kind != "think":
        # The prompt may have opened reasoning, which must be closed first.
        yield [Item("think"), *items]
    if any(item.spelled != "json" and item.arguments for item in items):
        # If the schema admits a string as well, only JSON's own words are read as other types.
        yield [replace(item, spelled="json") for item in items]
    if any(isinstance(v, str) and v.strip("\n") != v for item in items for _, v in item.arguments):
        yield [replace(item, padded=True) for item in items]


def _write_checked(
    name: str,
    segments: list[Any],
    items: list[Item],
    tools: Tools | None,
    coordinates: Space | None,
    repair: RepairLimit,
) -> Rendered:
    """Write the items and read the text back; if that fails, in the other ways that the grammar has.

    Raises RenderError, which shows the first text and how it is read.
    """
    automaton = registry.automaton(name)
    tried: dict[str, RenderError] = {}
    for ways in (1, _WAYS):
        for path in islice(write_all(automaton, tuple(items), ways), ways * _WAYS):
            text = _without_prefix(text_of(path), items, automaton.tables.header.opened)
            if text in tried:
                continue
            try:
                _compare(text, name, segments, tools, coordinates, repair)
            except RenderError as error:
                tried[text] = error
            else:
                return Rendered(text, items, path)
        if not tried:
            raise RenderError(f"`{name}` has no way to write {_listed(segments)}")
    raise next(iter(tried.values()))


def _without_prefix(text: str, items: list[Item], opened: str) -> str:
    """What a response is of a text: without the end of the prompt, and without line breaks before the first markup."""
    if not items:
        return text
    text = text.removeprefix(opened)
    return text if items[0].kind == "text" else text.lstrip("\n")


def _segments(what: Any) -> list[Any]:
    if isinstance(what, Reply):
        return join_texts(what)
    if isinstance(what, (Mapping, Text, Reasoning, ToolCall, Payload, JsonValue, BaseAction)):
        return [_segment(what)]
    if isinstance(what, Iterable) and not isinstance(what, (str, bytes)):
        return join_texts([_segment(part) for part in cast("Iterable[Any]", what)])
    raise TypeError(f"`what` is {kind_of(what)}; expected a Reply, segments, or dicts with `name` and `arguments`")


def _segment(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    call = cast("Mapping[str, Any]", part)
    if not isinstance(call.get("name"), str) or not isinstance(call.get("arguments", {}), Mapping):
        raise TypeError("a call in `what` has no `name` that is a str, or `arguments` that are no dict")
    arguments: dict[str, Any] = dict(call.get("arguments", {}))
    made = ToolCall.model_construct(name=call["name"], arguments=arguments)
    return ToolCall(name=made.name, arguments=arguments, arguments_text=_json_of(made), id=call.get("id"))


def _json_of(segment: ToolCall | Payload) -> str:
    """The arguments of a call, or the data of a payload, as JSON text. Raises RenderError if they are no JSON."""
    data: Any = segment.arguments if isinstance(segment, ToolCall) else segment.data
    keys: list[Any] = list(cast("dict[Any, Any]", data)) if isinstance(data, dict) else []
    odd = next((key for key in keys if not isinstance(key, str)), None)
    if odd is not None:
        raise RenderError(f"the {_kind_of(segment)} has a key that is {kind_of(odd)}")
    try:
        return to_json(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise RenderError(f"the {_kind_of(segment)} has values that are no JSON: {error}") from error


def _kind_of(segment: Any) -> str:
    """A segment in words."""
    if isinstance(segment, ToolCall):
        return f"call of `{segment.name}`"
    return "action" if isinstance(segment, BaseAction) else "payload"


def _item_of(segment: Any, header: Header) -> Item:
    if isinstance(segment, Text):
        return Item("text", text=segment.text)
    if isinstance(segment, Reasoning):
        return Item("think", text=segment.text)
    if isinstance(segment, ToolCall):
        arguments = tuple(segment.arguments.items())
        text = segment.arguments_text if _is_text_of(segment) else to_json(segment.arguments)
        if header.indent and text == to_json(segment.arguments):
            text = json.dumps(segment.arguments, ensure_ascii=False, indent=4).replace("\n", "\n" + " " * header.indent)
        return Item(
            "tool_call", "", segment.name, segment.id, 0, arguments, arguments_text=text, spelled=header.written
        )
    if isinstance(segment, Payload):
        source = header.payloads.get(segment.type)
        name = segment.type.upper() if source is None else written(source) or ""
        return Item("payload", name=name, data=segment.data)
    if isinstance(segment, JsonValue):
        return Item("text", text=segment.raw)
    raise TypeError(f"render cannot write a {type(segment).__name__}")


def _is_text_of(call: ToolCall) -> bool:
    """Is the arguments text of a call the JSON of its arguments? It may differ in a call made by hand."""
    try:
        return json.loads(call.arguments_text) == call.arguments
    except ValueError:
        return False


def _tools_of_values(segments: list[Any]) -> Tools | None:
    """Tools with schemas that give every argument, and every value in it, the type that it has."""
    schemas: dict[str, dict[str, Any]] = {}
    for call in segments:
        if isinstance(call, ToolCall) and call.name:
            _describe(call.arguments, schemas.setdefault(call.name, {}))
    listed = [{"name": name, "parameters": schema} for name, schema in schemas.items()]
    return Tools.of(listed) if listed else None


def _describe(value: Any, schema: dict[str, Any]) -> None:
    """Extend a schema so that it admits a value."""
    kind = KINDS.get(cast("type[Any]", type(value)), "null")
    types: list[str] = schema.setdefault("type", [])
    if kind not in types:
        types.append(kind)
    if kind == "object":
        for key, inner in value.items():
            _describe(inner, schema.setdefault("properties", {}).setdefault(key, {}))
    elif kind == "array":
        for inner in value:
            _describe(inner, schema.setdefault("items", {}))


def _compare(
    text: str, name: str, segments: list[Any], tools: Tools | None, coordinates: Space | None, repair: RepairLimit
) -> None:
    """Read a text back. Raises RenderError if it means something else than the segments."""
    from outspoken.parsing.functions import parse

    reply = parse(text, format=name, tools=tools, settings=Settings(coordinates=coordinates), repair=repair)
    # what may not run is not what was meant, whatever it says
    read = _merged([_meaning(s) if _is_usable(s) else ("unfinished",) for s in join_texts(reply)])
    meant = _merged([_meaning(s) for s in segments])
    if read == meant:
        return
    at = next((i for i, (a, b) in enumerate(zip(read, meant, strict=False)) if a != b), len(read))
    part = _difference(read[at] if at < len(read) else (), meant[at]) if at < len(meant) else "nothing more"
    other = _read_as(reply, at, read)
    raise RenderError(f"`{name}` cannot carry {part}: what it would write reads back as {other}: {_excerpt(text)!r}")


def _is_usable(segment: Any) -> bool:
    """May a segment that was read be used: is it no call, action or payload that is truncated or invalid?"""
    return getattr(segment, "status", "ok") in ("ok", "repaired")


def _is_unfinished(segment: Any) -> bool:
    """Is a segment a call, action or payload that is truncated or invalid?"""
    return isinstance(segment, (ToolCall, Payload, BaseAction)) and not _is_usable(segment)


def _excerpt(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= _LONG else f"{text[: _LONG - 50]}...{text[-40:]}"


def _read_as(reply: Reply, at: int, read: list[tuple[Any, ...]]) -> str:
    """What a text was read as where it differs, in a few words."""
    if reply.diagnostics:
        first = reply.diagnostics[0]
        return f"something else ({first.code} at offset {first.span[0]}: {first.message})"
    if at >= len(read):
        return "nothing more"
    kind, *rest = read[at]
    names = {"text": "a text", "think": "reasoning", "payload": "a payload", "action": "another action"}
    return f"a call of `{rest[0]}`" if kind == "tool_call" else names[kind]


def _difference(read: tuple[Any, ...], meant: tuple[Any, ...]) -> str:
    """What of a segment was read as something else, in words."""
    if meant[0] != "tool_call":
        return {"text": "a text", "think": "a reasoning", "payload": "a payload"}.get(meant[0], "an action")
    keys = [key for key in meant[2] if read[:2] == meant[:2] and read[2].get(key, read) != meant[2][key]]
    call = f"the call of `{meant[1]}`"
    return f"{' and '.join([f'`{key}`' for key in keys[:3]])} of {call}" if keys else call


def _meaning(segment: Any) -> tuple[Any, ...]:
    """What a segment means, without its place."""
    if isinstance(segment, Text):
        return "text", segment.text
    if isinstance(segment, JsonValue):
        return "text", segment.raw
    if isinstance(segment, Reasoning):
        return "think", segment.text.strip()
    if isinstance(segment, ToolCall):
        return "tool_call", segment.name, segment.arguments
    if isinstance(segment, Payload):
        return "payload", segment.type, segment.data
    return "action", effect_of(segment)


def _merged(essences: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Join neighbouring texts, strip them, and drop empty ones."""
    merged: list[tuple[Any, ...]] = []
    for essence in essences:
        if essence[0] == "text" and merged and merged[-1][0] == "text":
            merged[-1] = ("text", merged[-1][1] + essence[1])
        else:
            merged.append(essence)
    stripped = [("text", e[1].strip()) if e[0] == "text" else e for e in merged]
    return [e for e in stripped if e != ("text", "")]


def _listed(segments: list[Any]) -> str:
    names = [
        f"the call of `{s.name}`" if isinstance(s, ToolCall) else f"a {getattr(s, 'kind', 'segment')}" for s in segments
    ]
    return " and ".join(names[:3]) or "nothing"
