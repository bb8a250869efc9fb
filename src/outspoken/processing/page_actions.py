"""`parse_actions` and `parse_action`: the actions of a response, checked against the page that they are for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from outspoken.actions.codec import unknown_action
from outspoken.actions.mapping import mapping_of
from outspoken.actions.page import PageContext
from outspoken.actions.page_rules import PageChecker
from outspoken.grammar import registry
from outspoken.json.read import read_json
from outspoken.json.scanner import NotJsonError, decode
from outspoken.parsing.functions import parse
from outspoken.results.actions.union import Action
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.edits import RepairLimit
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT, Settings

#: How deep in JSON that holds no actions where they should be they are looked for.
_DEEP = 3


def parse_actions(
    response: Any,
    format: str,
    page: PageContext | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    finish_reason: str | None = None,
    repair: RepairLimit | None = None,
    settings: Settings | None = None,
) -> Reply:
    """The actions of a response, checked against the page that they are for.

    `response` is the text, or a dict or list that was already decoded from it. `format` is one whose actions are known.
    The reply is that of `parse`; `actions` are those that may be carried out, `unfinished_actions` those that break off
    or cannot be read. One that is bad takes none of the others with it, and `order` counts all of them. Spans count in
    `raw`, which for a decoded value is its JSON text.

    With a `page`, elements that actions name get its hash, kind and text, and `metadata["element"]` its data. Actions
    that do not go with their element are changed as the `checks` of the format's grammar say. `given` are arguments
    that the model need not write, as the goal of a task. Diagnostics say what was found and changed:

    - `unknown-element`: the page has no such element; the action is kept
    - `wrong-element`: the action does not go with its element; it was changed, or is kept where no change is known
    - `default-value`: something was not said, and its default is taken
    - `moved-actions`: the actions stood elsewhere than the format has them, and were found
    - `invalid-action`: what the format needs is not there or is of the wrong kind; the action is an `unknown` one

    Nothing that a model can write raises. Raises UnknownFormatError, LimitError for text over the limit, and TypeError
    for a `response` that is no text and cannot be written as JSON.
    """
    name = registry.resolve(format)
    header = registry.header(name)
    naming = _naming(header)
    if isinstance(response, (list, tuple)):
        reply = _of_list(cast("Any", response), name, naming, settings)
    else:
        text = response if isinstance(response, str) else _written(_ordered(response, naming))
        reply = parse(text, name, repair=repair, finish_reason=finish_reason, settings=settings)
        if not any(_is_action(segment) for segment in reply.segments):
            reply = _found_inside(response, name, naming, reply, repair, settings)
    checker = PageChecker(header, page, given or {}, settings or DEFAULT)
    return _checked(reply, checker, name)


def parse_action(
    response: Any,
    format: str,
    page: PageContext | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    repair: RepairLimit | None = None,
    settings: Settings | None = None,
) -> Action:
    """One action, checked against the page that it is for: the first of `parse_actions`, which takes the same.

    What is no action at all is an `unknown` one with the status "invalid". `parse_actions` has the diagnostics.
    """
    reply = parse_actions(response, format, page, given=given, repair=repair, settings=settings)
    found = [segment for segment in reply.segments if segment.kind == "action"]
    if found:
        return found[0]
    extra: dict[str, Any] = dict(cast("Any", response)) if isinstance(response, Mapping) else {}
    return unknown_action("", extra, {"raw": reply.raw, "span": (0, len(reply.raw))})


def _checked(reply: Reply, checker: PageChecker, name: str) -> Reply:
    """The reply with its actions checked."""
    notes: list[PendingDiagnostic] = []
    segments: list[Any] = []
    for segment in reply.segments:
        checked: Any = segment
        if segment.kind == "action" and segment.status in ("ok", "repaired"):
            checked, found = checker.check(segment)
            notes += [PendingDiagnostic(f.code, f.message, segment.span, f.severity, name) for f in found]
        segments.append(checked)
    worse = reply.status == "ok" and any(s.kind == "action" and s.status == "invalid" for s in segments)
    return _with(reply, segments, place_diagnostics(notes, reply.raw), "invalid" if worse else reply.status)


def _with(reply: Reply, segments: list[Any], diagnostics: list[Diagnostic], status: str) -> Reply:
    every = sorted([*reply.diagnostics, *diagnostics], key=lambda note: note.span[0])
    return construct(Reply, {**_values(reply), "segments": segments, "diagnostics": every, "status": status})


def _values(reply: Reply) -> dict[str, Any]:
    return {field: getattr(reply, field) for field in Reply.model_fields}


# decoded values


def _naming(header: Any) -> tuple[str, ...]:
    mapping = mapping_of(header)
    return mapping.naming if mapping is not None else ()


def _written(value: Any) -> str:
    """A decoded value as JSON text. Raises TypeError."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the response cannot be written as JSON: {error}") from None


def _ordered(value: Any, naming: tuple[str, ...]) -> Any:
    """A value with the key first that says which action an object is, in the object itself or in those of a list."""
    if isinstance(value, list):
        return [_ordered(item, naming) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return {**{key: items[key] for key in naming if key in items}, **items}
    return value


def _of_list(items: Sequence[Any], name: str, naming: tuple[str, ...], settings: Settings | None) -> Reply:
    """The reply to a decoded list, of which each item is an action, if only one that cannot be read."""
    texts = [_written(_ordered(item, naming)) for item in items]
    raw = f"[{', '.join(texts)}]"
    segments: list[Any] = []
    notes: list[PendingDiagnostic] = []
    start = 1
    for order, text in enumerate(texts):
        end = start + len(text)
        found, said = _of_item(text, start, name, settings)
        if found is None:
            item: Any = items[order]
            extra = dict(cast("dict[str, Any]", item)) if isinstance(item, dict) else {"$1": item}
            found = unknown_action("", extra, {})
            said = [
                PendingDiagnostic("invalid-action", "this does not say which action it is", (start, end), "error", name)
            ]
        segments.append(found.model_copy(update={"order": order, "raw": text, "span": (start, end)}))
        notes += said
        start = end + 2
    status = "invalid" if any(segment.status == "invalid" for segment in segments) else "ok"
    empty = parse("", name, settings=settings)
    return _with(construct(Reply, {**_values(empty), "raw": raw}), segments, place_diagnostics(notes, raw), status)


def _of_item(text: str, start: int, name: str, settings: Settings | None) -> tuple[Any, list[PendingDiagnostic]]:
    """The action that an item of a list is, and what is said of it."""
    for before, after in (("[", "]"), ("", "")):
        reply = parse(f"{before}{text}{after}", name, settings=settings)
        found = next((segment for segment in reply.segments if segment.kind == "action"), None)
        if found is not None:
            shift = start - len(before)
            notes = [_moved(note, shift, start, start + len(text)) for note in reply.diagnostics]
            return found, notes
    return None, []


def _moved(note: Diagnostic, shift: int, start: int, end: int) -> PendingDiagnostic:
    """A diagnostic of a part of a text as one of the whole."""
    begin, over = [min(max(place + shift, start), end) for place in note.span]
    return PendingDiagnostic(
        note.code, note.message, (begin, over), note.severity, note.format, note.label, note.notes, note.helps
    )


def _found_inside(
    response: Any,
    name: str,
    naming: tuple[str, ...],
    reply: Reply,
    repair: RepairLimit | None,
    settings: Settings | None,
) -> Reply:
    """The reply of the first value in the response that holds actions, be it in a string; else the reply as it is."""
    values: Any = [response]
    if isinstance(response, str):
        values = list(read_json(response, repair=repair or "strings", settings=settings).values)
    for value in _inside(values, _DEEP):
        if isinstance(value, list):
            found = _of_list(cast("list[Any]", value), name, naming, settings)
        else:
            found = parse(_written(_ordered(value, naming)), name, settings=settings)
        text = found.raw
        if any(segment.kind == "action" and segment.status == "ok" for segment in found.segments):
            message = f"the actions stand where `{name}` has none; their places are counted in the JSON text of these"
            note = PendingDiagnostic("moved-actions", message, (0, len(text)), "warning", name)
            return _with(found, found.segments, place_diagnostics([note], text), found.status)
    return reply


def _is_action(segment: Any) -> bool:
    """Is this an action of which at least the word is known?"""
    return segment.kind == "action" and (segment.type != "unknown" or bool(segment.name))


def _inside(value: Any, depth: int) -> Iterator[Any]:
    """The lists and objects in a value, and those that strings in it hold, the outer ones first."""
    level: list[Any] = [value]
    for _ in range(depth):
        inner: list[Any] = []
        for item in level:
            parts = list(cast("Any", item).values()) if isinstance(item, Mapping) else item
            inner += [found for found in map(_decoded, parts) if isinstance(found, (dict, list))]
        yield from inner
        level = inner


def _decoded(value: Any) -> Any:
    """What a string holds, if that is JSON."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value, DEFAULT.max_depth)
    except NotJsonError:
        return None
