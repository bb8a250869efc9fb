"""`ReadRow`: a row that was read, in the columns of the schema; and rows as columns of Arrow.

No dict is made for a row or a segment, which would take more time than to parse: both are tuples, in the order of the
schema.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from outspoken.results.actions.base import PROVENANCE, BaseAction
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Text, ToolCall

from .arrow import Array, Schema, make_column
from .errors import RowError
from .summary import Counts

#: What the JSON of an action leaves out: fields that are columns, or that say where it is from.
_LEFT_OUT = set(PROVENANCE - {"extra", "metadata"})
_COMPLETE = ("ok", "repaired")

#: The fields of an item of a list column, in the order of the schema.
Item = tuple[Any, ...]


class ReadRow(NamedTuple):
    """The columns of a row that come from its response, by their names; without an `error`, all are known."""

    format: str | None = None
    status: str | None = None
    text: str | None = None
    reasoning: str | None = None
    segments: Sequence[Item] = ()
    tool_calls: Sequence[Item] = ()
    actions: Sequence[Item] = ()
    payloads: Sequence[Item] = ()
    diagnostics: Sequence[Item] = ()
    repairs: Sequence[Item] = ()
    needs_more_work: bool | None = None
    unread: str | None = None
    chars: int | None = None
    response: Item | None = None
    error: RowError | None = None


def row_of(reply: Reply, diagnostics: Sequence[Diagnostic] = (), response: Item | None = None) -> ReadRow:
    """The row of a reply, with diagnostics before its own, and the fields of the column `response`."""
    segments: list[Item] = []
    calls: list[Item] = []
    actions: list[Item] = []
    payloads: list[Item] = []
    has_text = has_thoughts = False
    for segment in reply.segments:
        kind = segment.__class__
        item = _WRITERS.get(kind, _action)(segment)
        segments.append(item)
        if kind is Reasoning:
            has_thoughts = True
        elif kind is Text or kind is JsonValue:
            has_text = True
        elif item[5] not in _COMPLETE:
            continue
        elif kind is ToolCall:
            calls.append((item[1], *item[3:5]))
        elif kind is Payload:
            payloads.append((item[1], item[3]))
        else:
            actions.append((cast("Any", segment).type, item[1], *item[3:5]))
    return ReadRow(
        reply.format,
        reply.status,
        reply.text if has_text else "",
        reply.reasoning if has_thoughts else None,
        segments,
        calls,
        actions,
        payloads,
        [_diagnostic(remark) for remark in (*diagnostics, *reply.diagnostics)]
        if diagnostics or reply.diagnostics
        else (),
        [_repair(remark) for remark in reply.repairs] if reply.repairs else (),
        reply.needs_more_work,
        json_text(reply.unread) if reply.unread else None,
        len(reply.raw),
        response,
    )


def columns_of(rows: Sequence[ReadRow], schema: Schema) -> dict[str, Array]:
    """The columns of rows that are in a schema, by their names."""
    values = zip(*rows, strict=True) if rows else [()] * len(ReadRow._fields)
    found = zip(ReadRow._fields, values, strict=True)
    return {name: make_column(own, schema.field(name).type) for name, own in found if name in schema.names}


def count_rows(rows: Sequence[ReadRow]) -> Counts:
    """The counts of rows."""
    counts = Counts(quarantine=dict(Counter([row.error.code for row in rows if row.error is not None])))
    read = [(row.format or "", row.status) for row in rows if row.status is not None]
    counts.rows = len(read)
    for (format, status), count in Counter(read).items():
        counts.statuses.setdefault(format, {})[status] = count
    counts.chars = sum([row.chars or 0 for row in rows])
    for name in ("tool_calls", "actions", "payloads", "diagnostics", "repairs"):
        setattr(counts, name, sum([len(getattr(row, name)) for row in rows]))
    return counts


# segments, in the fields of the schema: kind, name, text, data, id, status, start, end


def _text(segment: Text) -> Item:
    return "text", None, segment.text, None, None, "ok", *segment.span


def _reasoning(segment: Reasoning) -> Item:
    return "reasoning", None, segment.text, None, None, segment.status, *segment.span


def _json(segment: JsonValue) -> Item:
    return "json", None, None, segment.raw, None, "ok", *segment.span


def _call(segment: ToolCall) -> Item:
    status, written, shown = segment.status, segment.arguments_text, None
    if status not in _COMPLETE:
        shown, written = written, json_text(segment.arguments)
    return "tool_call", segment.name, shown, written, segment.id, status, *segment.span


def _payload(segment: Payload) -> Item:
    return "payload", segment.type, None, json_text(segment.data), None, segment.status, *segment.span


def _action(segment: BaseAction) -> Item:
    # Actions within an action have their own `type`, which is a default: so defaults are not left out.
    fields = segment.model_dump(mode="json", exclude=_LEFT_OUT, exclude_none=True)
    shown = {"type": fields.pop("type"), **{name: value for name, value in fields.items() if value != {}}}
    return "action", segment.name, None, json_text(shown), segment.id, segment.status, *segment.span


_WRITERS: dict[type[Any], Callable[[Any], Item]] = {
    Text: _text,
    Reasoning: _reasoning,
    ToolCall: _call,
    Payload: _payload,
    JsonValue: _json,
}


def _diagnostic(one: Diagnostic) -> Item:
    place = (one.code, one.severity, one.message, one.format, *one.span, one.line, one.column)
    return *place, one.label, one.notes, one.helps, one.excerpt, one.excerpt_start


def _repair(one: Repair) -> Item:
    return one.code, one.level, json_text(one.path), one.before, one.after, *one.span, one.line, one.column


def json_text(value: object) -> str:
    """A value as JSON; what JSON has no word for is its text."""
    return json.dumps(value, ensure_ascii=False, default=str)
