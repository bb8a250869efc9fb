"""`ReplyColumns`: replies to columns of Arrow, by flat lists.

No dict is made for a row or a segment: that is what costs the time elsewhere. One list holds the fields of all segments
of all rows, and another the rows that they belong to. The offsets of a list column are counted from that, and the
complete calls, actions and payloads are taken from the segments by Arrow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from outspoken.results.actions.base import PROVENANCE, BaseAction
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Text, ToolCall

from .arrow import Array, integers, lists, pa, strings, structs
from .errors import RowError
from .schema import COLUMNS, ERROR_TYPE, RESPONSE_TYPE
from .summary import Counts

#: What the JSON of an action leaves out: fields that are columns, or that say where it is from.
_LEFT_OUT = set(PROVENANCE - {"extra", "metadata"})
_COMPLETE = ("ok", "repaired")
#: The fields of a row that could not be read.
_NO_ROW = (None,) * 7


class ReplyColumns:
    """Collects replies, one for each row, and makes columns of them."""

    def __init__(self) -> None:
        self._count = 0
        #: the fields of each row: format, status, text, reasoning, needs_more_work, unread, chars
        self._rows: list[tuple[Any, ...]] = []
        #: the fields of each segment, in the order of the schema; and the row of each
        self._segments: list[tuple[Any, ...]] = []
        self._segment_rows: list[int] = []
        #: the complete calls, actions and payloads, as places in the list of segments
        self._calls: list[int] = []
        self._actions: list[int] = []
        self._action_types: list[str] = []
        self._payloads: list[int] = []
        self._diagnostics: list[tuple[int, Diagnostic]] = []
        self._repairs: list[tuple[int, Repair]] = []
        self._responses: list[tuple[int, tuple[Any, ...]]] = []
        self._errors: list[tuple[int, RowError]] = []
        self._adders: dict[type[Any], Callable[[Any], None]] = {
            Text: self._add_text,
            Reasoning: self._add_reasoning,
            ToolCall: self._add_call,
            Payload: self._add_payload,
            JsonValue: self._add_json,
        }

    # rows

    def add(self, reply: Reply) -> None:
        """Add a row that was read. If a part of it cannot be written, nothing of it is added."""
        before = len(self._segments)
        try:
            self._add(reply)
        except BaseException:
            self._undo(before)
            raise

    def _add(self, reply: Reply) -> None:
        adders, segments = self._adders, reply.segments
        texts = thoughts = 0
        for segment in segments:
            made: type[Any] = segment.__class__
            if made is Reasoning:
                thoughts += 1
            elif made is Text or made is JsonValue:
                texts += 1
            adders.get(made, self._add_action)(segment)
        self._segment_rows += [self._count] * len(segments)
        shown = reply.text if texts else ""
        thought = reply.reasoning if thoughts else None
        unread = json_text(reply.unread) if reply.unread else None
        row = (reply.format, reply.status, shown, thought, reply.needs_more_work, unread, len(reply.raw))
        self._rows.append(row)
        if reply.diagnostics:
            self.add_diagnostics(reply.diagnostics)
        if reply.repairs:
            self._repairs += [(self._count, repair) for repair in reply.repairs]
        self._count += 1

    def _undo(self, before: int) -> None:
        """Take away what was added of the row, behind the segments that were there before."""
        count = self._count
        del self._segments[before:]
        del self._segment_rows[before:]
        for places in (self._calls, self._actions, self._payloads):
            places[:] = [place for place in places if place < before]
        del self._action_types[len(self._actions) :]
        del self._rows[count:]
        self._diagnostics = [one for one in self._diagnostics if one[0] < count]
        self._repairs = [one for one in self._repairs if one[0] < count]
        self._responses = [one for one in self._responses if one[0] < count]

    def add_diagnostics(self, found: Iterable[Diagnostic]) -> None:
        """Add diagnostics to the row that is added next."""
        self._diagnostics += [(self._count, diagnostic) for diagnostic in found]

    def add_response(self, values: tuple[Any, ...]) -> None:
        """Give the row that is added next the fields of its column `response`."""
        self._responses.append((self._count, values))

    def add_error(self, error: RowError) -> None:
        """Add a row that could not be read."""
        self._rows.append(_NO_ROW)
        self._errors.append((self._count, error))
        self._count += 1

    # segments

    def _add_text(self, segment: Text) -> None:
        self._segments.append(("text", None, segment.text, None, None, "ok", *segment.span))

    def _add_reasoning(self, segment: Reasoning) -> None:
        self._segments.append(("reasoning", None, segment.text, None, None, segment.status, *segment.span))

    def _add_json(self, segment: JsonValue) -> None:
        self._segments.append(("json", None, None, segment.raw, None, "ok", *segment.span))

    def _add_call(self, segment: ToolCall) -> None:
        status, written, shown = segment.status, segment.arguments_text, None
        if status in _COMPLETE:
            self._calls.append(len(self._segments))
        else:
            shown, written = written, json_text(segment.arguments)
        self._segments.append(("tool_call", segment.name, shown, written, segment.id, status, *segment.span))

    def _add_payload(self, segment: Payload) -> None:
        status = segment.status
        if status in _COMPLETE:
            self._payloads.append(len(self._segments))
        data = json_text(segment.data)
        self._segments.append(("payload", segment.type, None, data, None, status, *segment.span))

    def _add_action(self, segment: BaseAction) -> None:
        # Actions within an action have their own `type`, which is a default: so defaults are not left out.
        fields = segment.model_dump(mode="json", exclude=_LEFT_OUT, exclude_none=True)
        type, status = fields.pop("type"), segment.status
        shown = {"type": type, **{name: value for name, value in fields.items() if value != {}}}
        if status in _COMPLETE:
            self._actions.append(len(self._segments))
            self._action_types.append(type)
        data = json_text(shown)
        self._segments.append(("action", segment.name, None, data, segment.id, status, *segment.span))

    # columns

    def arrays(self, *, has_response: bool) -> list[Array]:
        """The columns from `format` to `response`, in the order of the schema."""
        formats, statuses, texts, thoughts, wishes, unread, chars = _transposed(self._rows, 7)
        made = [strings(formats), strings(statuses), strings(texts), strings(thoughts)]
        made += self._segment_arrays()
        made.append(self._diagnostic_array())
        made.append(self._repair_array())
        made += [pa.array(wishes, pa.bool_()), strings(unread), integers(chars, 64)]
        if has_response:
            made.append(_sparse(self._responses, self._count, RESPONSE_TYPE))
        return made

    def error_array(self) -> Array:
        """The column `error`."""
        return _sparse(self._errors, self._count, ERROR_TYPE)

    def errors(self) -> list[tuple[int, RowError]]:
        """The rows that could not be read, by their places."""
        return self._errors

    def count(self, counts: Counts) -> None:
        """Add the rows to some counts."""
        formats, statuses, *_, chars = _transposed(self._rows, 7)
        counts.count_rows(formats, statuses)
        counts.chars += sum([length for length in chars if length is not None])
        counts.tool_calls += len(self._calls)
        counts.actions += len(self._actions)
        counts.payloads += len(self._payloads)
        counts.diagnostics += len(self._diagnostics)
        counts.repairs += len(self._repairs)
        for _, error in self._errors:
            counts.quarantine[error.code] = counts.quarantine.get(error.code, 0) + 1

    def _segment_arrays(self) -> list[Array]:
        """The columns of all segments, and of complete calls, actions and payloads."""
        type = COLUMNS["segments"]
        found = _transposed(self._segments, 8)
        fields = [*[strings(values) for values in found[:6]], *[integers(values) for values in found[6:]]]
        made = [self._list(self._segment_rows, fields, type)]
        _, names, _, data, ids, *_ = fields
        rows = self._segment_rows
        for column, places, taken in (
            ("tool_calls", self._calls, [names, data, ids]),
            ("actions", self._actions, [names, data, ids]),
            ("payloads", self._payloads, [names, data]),
        ):
            if len(places) == len(rows):
                some = taken
            else:
                wanted = integers(places)
                some = [array.take(wanted) for array in taken]
            if column == "actions":
                some = [strings(self._action_types), *some]
            made.append(self._list([rows[place] for place in places], some, COLUMNS[column]))
        return made

    def _diagnostic_array(self) -> Array:
        found = [one for _, one in self._diagnostics]
        fields = [
            *[strings([getattr(one, name) for one in found]) for name in ("code", "severity", "message", "format")],
            *_places(found),
            strings([one.label for one in found]),
            _texts([one.notes for one in found]),
            _texts([one.helps for one in found]),
            strings([one.excerpt for one in found]),
            integers([one.excerpt_start for one in found]),
        ]
        return self._list([row for row, _ in self._diagnostics], fields, COLUMNS["diagnostics"])

    def _repair_array(self) -> Array:
        found = [one for _, one in self._repairs]
        fields = [
            strings([one.code for one in found]),
            strings([one.level for one in found]),
            strings([json_text(one.path) for one in found]),
            strings([one.before for one in found]),
            strings([one.after for one in found]),
            *_places(found),
        ]
        return self._list([row for row, _ in self._repairs], fields, COLUMNS["repairs"])

    def _list(self, rows: Sequence[int], fields: Sequence[Array], type: Any) -> Array:
        """A list column of structs, from their fields and the row of each."""
        counts = [0] * self._count
        for row in rows:
            counts[row] += 1
        return lists([0, *accumulate(counts)], structs(fields, type.value_type), type)


def _transposed(rows: Sequence[tuple[Any, ...]], count: int) -> Sequence[Sequence[Any]]:
    """The columns of rows of so many fields."""
    return list(zip(*rows, strict=True)) or [()] * count


def _places(found: Sequence[Diagnostic | Repair]) -> list[Array]:
    """The columns start, end, line and column."""
    spans = [one.span for one in found]
    return [
        integers([span[0] for span in spans]),
        integers([span[1] for span in spans]),
        integers([one.line for one in found]),
        integers([one.column for one in found]),
    ]


def _texts(values: Sequence[Sequence[str]]) -> Array:
    """A column of lists of text."""
    offsets = [0, *accumulate([len(value) for value in values])]
    return lists(offsets, strings([text for value in values for text in value]), pa.list_(pa.string()))


def _sparse(found: Sequence[tuple[int, tuple[Any, ...]]], count: int, type: Any) -> Array:
    """A column of structs that is null in all but some rows."""
    if not found:
        return pa.nulls(count, type)
    fields: list[list[Any]] = [[None] * count for _ in type]
    missing = [True] * count
    for row, values in found:
        missing[row] = False
        for field, value in zip(fields, values, strict=True):
            field[row] = value
    children = [
        strings(values) if part.type == pa.string() else integers(values, 64)
        for values, part in zip(fields, type, strict=True)
    ]
    return structs(children, type, missing)


def json_text(value: object) -> str:
    """A value as JSON; what JSON has no word for is its text."""
    return json.dumps(value, ensure_ascii=False, default=str)
