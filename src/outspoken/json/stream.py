"""`stream_json`: the value of a type while its JSON arrives."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Generic, TypeVar, cast, overload

from pydantic import TypeAdapter

from outspoken.results.arguments import check_choice, check_optional, check_repair_limit, check_type
from outspoken.results.edits import RepairLimit
from outspoken.results.errors import StreamClosedError
from outspoken.results.schemas.fitting import ConvertMode, target_of
from outspoken.results.schemas.schema import Schema
from outspoken.results.settings import DEFAULT, Settings

from .document import DATA, REASONING_END, REASONING_OPENERS, JsonReading, is_evidently_json
from .growing import GrowingValue, JsonEvent, State, differences
from .read import JsonLimitError, read_json
from .shapes import ANY, shape_of
from .typed import Reading

T = TypeVar("T")

_BRACKET = re.compile(r"[{\[]")
#: A bracket of which it cannot be told yet whether it begins JSON.
_UNDECIDED = re.compile(r"[{\[]\s{0,200}(?:[\w$.\-]{0,64}\s{0,64}|/)\Z")
#: More than the longest end of reasoning.
_LONGEST_END = max(map(len, REASONING_OPENERS)) + 2


class Snapshot(Generic[T]):
    """What has arrived of a value, after one chunk.

    `partial` is the value so far; None before it begins. A model or a dataclass is a `Partial`, an object with the same
    fields, of which those that are absent are None; a TypedDict or a dict is a dict of the keys that have arrived.
    Texts and lists grow; a number, a date, an enumeration or a union is there once it is complete and valid. The same
    objects grow from snapshot to snapshot: copy what you keep.

    `events` are what this chunk did. In the last snapshot, `reading` is what `read_json` says of the complete text, and
    `value` is its value; both are None before.
    """

    __slots__ = ("_partial", "_states", "events", "reading")

    def __init__(
        self, partial: Any, events: list[JsonEvent], states: Mapping[str, State], reading: JsonReading | None = None
    ) -> None:
        self._partial, self.events, self._states, self.reading = partial, events, states, reading

    @property
    def partial(self) -> T | None:
        """The value so far. For type checkers it is the type, though any of its fields may be None."""
        return cast("T | None", self._partial)

    @property
    def value(self) -> T | None:
        """The complete value, if it is valid."""
        return None if self.reading is None else cast("T | None", self.reading.value)

    def state(self, path: str = "") -> State:
        """The state of the part at a path, a JSON Pointer of keys as in the schema: `/items/3/name`.

        A part is complete once the text behind it shows that it has ended.
        """
        return self._states.get(path, "absent")

    def __repr__(self) -> str:
        return f"Snapshot({self.partial!r})"


class _Beginning:
    """Finds where a value begins in text that arrives. Reasoning before it is passed over."""

    def __init__(self, brackets: str, *, in_reasoning: bool | None = None) -> None:
        self._brackets, self._text = brackets, ""
        #: None if it is not known yet whether the text begins with reasoning
        self.in_reasoning = in_reasoning
        self.had_reasoning = False

    def feed(self, chunk: str) -> str | None:
        """Read a chunk. Returns the text from where the value begins on; None if none has begun."""
        self._text += chunk
        if self.in_reasoning is None:
            begun = self._text.lstrip()[:_LONGEST_END].lower()
            if not begun or any(opener.startswith(begun) for opener in REASONING_OPENERS):
                return None
            self.in_reasoning = self.had_reasoning = begun.startswith(REASONING_OPENERS)
        if self.in_reasoning:
            end = REASONING_END.search(self._text)
            if end is None:
                self._text = self._text[-_LONGEST_END:]
                return None
            self._text, self.in_reasoning = self._text[end.end() :], False
        return self._begun()

    def _begun(self) -> str | None:
        for bracket in _BRACKET.finditer(self._text):
            start = bracket.start()
            if _UNDECIDED.match(self._text, start):
                self._text = self._text[start:]
                return None
            if bracket[0] in self._brackets and DATA.match(self._text, start):
                return self._text[start:]
        self._text = ""
        return None


class JsonStream(Generic[T]):
    """Reads JSON that arrives in chunks as a type: `feed` takes a chunk, `close` ends the text. See `stream_json`."""

    def __init__(
        self,
        schema: type[T] | TypeAdapter[T] | Mapping[str, Any] | None = None,
        *,
        repair: RepairLimit = "heuristic",
        convert: ConvertMode = "on",
        settings: Settings | None = None,
    ) -> None:
        self._settings = check_optional(settings, Settings, "settings") or DEFAULT
        check_repair_limit(repair)
        check_choice(convert, ("on", "off"), "convert")
        target = None if schema is None else target_of(schema)
        read = partial(read_json, repair=repair, settings=settings)
        self._read: Callable[[str], JsonReading] = (
            read if schema is None else partial(read, schema=schema, convert=convert)
        )
        self._is_typed = schema is not None
        self._schema = Schema(target.schema if target is not None and convert == "on" else {})
        hint: Any = cast("Any", schema)._type if isinstance(schema, TypeAdapter) else schema
        self._shape = ANY if target is None or target.adapter is None else shape_of(hint)
        types = None if target is None else Schema(target.schema).types
        self._brackets = "{[" if types is None or types.isdisjoint(("object",)) or "array" in types else "{"
        self._chunks: list[str] = []
        self._length = 0
        self._beginning: _Beginning | None = _Beginning(self._brackets)
        self._had_reasoning = False
        self._growing = self._new()
        self._has_begun = False
        #: the text of the value that is read
        self._text: list[str] = []
        self._last: Snapshot[T] | None = None

    def feed(self, chunk: str) -> Snapshot[T]:
        """Read a chunk. Raises JsonLimitError over the limit of the settings, and StreamClosedError after `close`."""
        if self._last is not None:
            raise StreamClosedError
        check_type(chunk, str, "chunk")
        self._chunks.append(chunk)
        self._length += len(chunk)
        if self._length > self._settings.max_chars:
            raise JsonLimitError(self._settings.max_chars, self._length)
        events: list[JsonEvent] = []
        rest: str | None = chunk
        while rest:
            if self._beginning is not None:
                rest = self._beginning.feed(rest)
                if rest is None:
                    break
                self._begin(events)
            rest = self._grow(rest, events)
        return Snapshot(self._growing.value, events, self._growing.states)

    def close(self) -> Snapshot[T]:
        """End the text. Returns the last snapshot, with the reading of the complete text; see `read_json`."""
        if self._last is None:
            self._last = self._finish()
        return self._last

    def _new(self) -> GrowingValue:
        return GrowingValue(self._shape, self._schema, self._settings.max_depth)

    def _begin(self, events: list[JsonEvent]) -> None:
        """A value begins: the first one, or one instead of a value that is not the one that is meant."""
        assert self._beginning is not None
        self._had_reasoning = self._had_reasoning or self._beginning.had_reasoning
        self._beginning, self._text = None, []
        if self._has_begun:
            events.append(JsonEvent("", "restart"))
            self._growing = self._new()
        self._has_begun = True

    def _grow(self, text: str, events: list[JsonEvent]) -> str:
        """Read more of the value. Returns what stands behind it."""
        growing = self._growing
        if growing.broken:
            return ""
        pos, done = growing.feed(text, 0)
        self._text.append(text[:pos])
        events += growing.events
        growing.events = []
        if not done:
            return ""
        is_meant = self._is_meant("".join(self._text))
        if is_meant and self._had_reasoning:
            growing.broken = True  # nothing behind it counts
        else:
            # behind reasoning that the prompt opened, another value is meant
            self._beginning = _Beginning(self._brackets, in_reasoning=is_meant)
        return text[pos:]

    def _is_meant(self, text: str) -> bool:
        """Is a complete value the one that is meant, whatever follows?"""
        reading = self._read(text)
        if not self._is_typed:
            return is_evidently_json(text)
        typed = cast("Reading[Any]", reading)
        return typed.is_valid and not typed.conversions

    def _finish(self) -> Snapshot[T]:
        reading = self._read("".join(self._chunks))
        data = cast("Reading[Any]", reading).data if self._is_typed else reading.value
        if reading.status == "truncated" or not reading.values:
            return Snapshot(self._growing.value, [], self._growing.states, reading)
        if not isinstance(data, (dict, list)):
            event = JsonEvent("", "corrected" if self._has_begun else "end", reading.value)
            return Snapshot(reading.value, [event], {"": "complete"}, reading)
        return self.corrected(data, reading)

    def corrected(self, data: Any, reading: JsonReading | None = None) -> Snapshot[T]:
        """The snapshot of the complete value, which was read elsewhere: its events tell what was shown otherwise."""
        whole = self._new()
        whole.feed(json.dumps(data, ensure_ascii=False), 0)
        return Snapshot(whole.value, [*differences(self._growing, whole)], whole.states, reading)


@overload
def stream_json(
    chunks: Iterable[str],
    schema: type[T] | TypeAdapter[T],
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> Iterator[Snapshot[T]]: ...
@overload
def stream_json(
    chunks: Iterable[str],
    schema: Any = None,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> Iterator[Snapshot[Any]]: ...
def stream_json(
    chunks: Iterable[str],
    schema: Any = None,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> Iterator[Snapshot[Any]]:
    """Read the JSON of a text that arrives in chunks as a type, and return a snapshot after each chunk and at the end.

    The arguments and the last snapshot are those of `read_json`. A chunk costs what it brings, however long the text
    is. Reasoning and prose before the value are passed over. Where the text is damaged, what is shown stays as it is
    until the text ends: what repairs would make of it is certain only then. The events of the last snapshot tell each
    change of what was shown.

    Raises what `read_json` raises, and TypeError for a chunk that is no str.
    """
    stream = JsonStream[Any](schema, repair=repair, convert=convert, settings=settings)
    return _snapshots(stream, chunks)


def _snapshots(stream: JsonStream[Any], chunks: Iterable[str]) -> Iterator[Snapshot[Any]]:
    for chunk in chunks:
        yield stream.feed(chunk)
    yield stream.close()


@overload
def astream_json(
    chunks: AsyncIterable[str],
    schema: type[T] | TypeAdapter[T],
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> AsyncIterator[Snapshot[T]]: ...
@overload
def astream_json(
    chunks: AsyncIterable[str],
    schema: Any = None,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> AsyncIterator[Snapshot[Any]]: ...
def astream_json(
    chunks: AsyncIterable[str],
    schema: Any = None,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> AsyncIterator[Snapshot[Any]]:
    """`stream_json` for chunks that arrive asynchronously."""
    stream = JsonStream[Any](schema, repair=repair, convert=convert, settings=settings)
    return _asnapshots(stream, chunks)


async def _asnapshots(stream: JsonStream[Any], chunks: AsyncIterable[str]) -> AsyncIterator[Snapshot[Any]]:
    async for chunk in chunks:
        yield stream.feed(chunk)
    yield stream.close()
