"""`GrowingValue`: a JSON value as far as it has arrived, at a cost that depends on what arrives alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from outspoken.results.schemas.schema import Schema, pointer_of
from outspoken.results.schemas.words import key_meant

from .decoder import UNSOUND, scan_once
from .scanner import KEYS, JsonScanner
from .shapes import ANY, INVALID, Shape

State = Literal["absent", "growing", "complete"]
#: What happened at a path; see `JsonEvent`.
EventKind = Literal["start", "text", "end", "restart", "corrected"]


class JsonEvent(NamedTuple):
    """What happened at a path, a JSON Pointer (RFC 6901; "" is the whole value).

    - `start`: an object, a list or a text begins; `value` is an empty one
    - `text`: more of a text; `value` is that piece
    - `end`: a part is complete; `value` is what is shown of it, None if it does not fit its type
    - `restart`: what was shown is not the value that the answer means; another one begins
    - `corrected`: the complete answer has another value there than was shown, as it had to be repaired; `value` is it
    """

    path: str
    kind: EventKind
    value: Any = None


class _Slot(NamedTuple):
    """Where a part stands, and what is due there."""

    path: str
    shape: Shape
    schema: Schema


class _Frame:
    """An object or a list that is open; `slot` is the part of it that is read, and `shown` is what shows it."""

    __slots__ = ("_at", "_seen", "is_list", "name", "parts", "path", "schema", "shape", "shown", "slot")

    def __init__(self, path: str, shape: Shape, schema: Schema, bracket: str) -> None:
        self.path, self.shape, self.schema, self.is_list = path, shape, schema, bracket == "["
        holder = shape.opened(bracket)
        if holder is None:
            self.shape = ANY  # what is shown when it is complete is read as plain JSON first
            holder = ANY.opened(bracket)
        self.parts, self.shown = holder
        #: the name under which the part is held; None if it is not shown
        self.name: str | None = ""
        self._seen: set[str] = set()
        self._at = -1
        self.slot = _Slot(path, self.shape, schema)
        if self.is_list:
            self.next()

    def next(self) -> None:
        """The next item of a list begins."""
        self._at += 1
        self.name, shape = self.shape.child(self._at)
        self.slot = _Slot(f"{self.path}/{self._at}", shape, self.schema.item)

    def at(self, key: str) -> bool:
        """The part of a key begins. Returns False if the key is repeated."""
        if key not in self.schema.properties:
            absent = [one for one in self.schema.properties if one not in self._seen]
            key = key_meant(key, self.schema, absent) or key
        if key in self._seen:
            return False
        self._seen.add(key)
        self.name, shape = self.shape.child(key)
        self.slot = _Slot(self.path + pointer_of((key,)), shape, self.schema.member(key))
        return True

    def put(self, value: Any) -> None:
        """Set the part that is read."""
        if isinstance(self.parts, dict):
            if self.name is not None:
                self.parts[str(self.name)] = value
        elif self._at == len(self.parts):
            self.parts.append(value)
        else:
            self.parts[-1] = value

    def grow(self, piece: str) -> None:
        """Add to the text that is read, in place: while nobody else refers to it, Python extends it."""
        parts: Any = self.parts
        name: Any = -1 if self.is_list else self.name
        if name is not None:
            text = parts[name]
            parts[name] = None
            text += piece
            parts[name] = text


class _Part(NamedTuple):
    """A part that has been read, but what follows it has not: what it is, if it is to be set."""

    path: str
    value: Any
    shape: Shape | None
    schema: Schema


class GrowingValue(JsonScanner):
    """An object or a list that arrives in pieces, shown as a type as far as it is sound.

    `value` grows in place. `events` are what happened since they were taken last. `states` has the state of each part
    that has begun, by its path. A part is complete once what follows it is read: until then, damage could change it.
    """

    __slots__ = (
        "_depth", "_frames", "_high", "_is_key", "_parts", "_read", "_root", "events", "leaves",
        "states", "value",
    )  # fmt: skip

    def __init__(self, shape: Shape, schema: Schema, max_depth: int) -> None:
        super().__init__()
        self.allow_controls = True
        self._root, self._depth = _Slot("", shape, schema), max_depth
        self._frames: list[_Frame] = []
        self._parts: list[str] = []
        self._read: _Part | None = None
        self._is_key = False
        self._high = ""
        self.value: Any = None
        self.events: list[JsonEvent] = []
        self.states: dict[str, State] = {}
        #: the complete parts that hold no others, and the texts that grow, by path
        self.leaves: dict[str, Any] = {}

    def _token(self, text: str, pos: int) -> tuple[int, bool]:
        want = self._want
        end, done = super()._token(text, pos)
        char = text[pos]
        if self.broken or end == pos:
            return end, done
        if char == '"':
            self._is_key = want in KEYS
            self._parts = []
            if not self._is_key:
                self._begin_text()
        elif char in "{[":
            self._open(char)
        elif char in "}]":
            self._settle()
            self._close()
            if done:
                self._settle()
        elif char == ",":
            self._settle()
            if self._frames[-1].is_list:
                self._frames[-1].next()
        return end, done

    def _in_scalar(self, text: str, pos: int) -> tuple[int, bool]:
        begun = self._scalar
        end, done = super()._in_scalar(text, pos)
        if self._scalar is None and not self.broken:
            try:
                value = scan_once(f"{begun}{text[pos:end]}", 0)[0]
            except UNSOUND:
                self.broken = True
            else:
                path, shape, schema = self._slot
                self._read = _Part(path, value, shape, schema)
        return end, done

    def _in_string(self, text: str, pos: int) -> tuple[int, bool]:
        escape = self._escape
        end, done = super()._in_string(text, pos)
        if self.broken:
            return end, done
        if escape:
            if not self._escape:
                self._take(_unescaped(escape + text[pos:end]))
            return end, done
        is_over = not self._string
        self._take(text[pos : end - 1 if is_over or self._escape else end])
        if is_over:
            self._take("", is_over=True)
            self._end_string()
        return end, done

    def _take(self, piece: str, *, is_over: bool = False) -> None:
        """More of a string. The first half of a surrogate pair waits for the second; half a pair is U+FFFD."""
        if self._high and (piece or is_over):
            is_pair = "\udc00" <= piece < "\ue000"
            code = 0x10000 + ((ord(self._high) - 0xD800) << 10) + ord(piece) - 0xDC00 if is_pair else 0
            piece, self._high = chr(code) if is_pair else "\ufffd" + piece, ""
        if piece[-1:] >= "\ud800" and "\ud800" <= piece[-1:] < "\udc00":
            piece, self._high = piece[:-1], piece[-1]
        if "\udc00" <= piece < "\ue000":
            piece = "\ufffd"
        if not piece:
            return
        self._parts.append(piece)
        if not self._is_key:
            path, shape, schema = self._slot
            if shape.shows_text(schema):
                self._frames[-1].grow(piece)
            if self.events and self.events[-1][:2] == (path, "text"):
                piece = self.events.pop().value + piece
            self.events.append(JsonEvent(path, "text", piece))

    @property
    def _slot(self) -> _Slot:
        """The part that is read."""
        return self._frames[-1].slot if self._frames else self._root

    def _begin_text(self) -> None:
        path, shape, schema = self._slot
        self._begin(path, "")
        if shape.shows_text(schema):
            self._frames[-1].put("")

    def _begin(self, path: str, empty: Any) -> None:
        self.states[path] = "growing"
        self.events.append(JsonEvent(path, "start", empty))

    def _end_string(self) -> None:
        whole = "".join(self._parts)
        if self._is_key:
            # which of two values counts is known at the end
            self.broken = not self._frames[-1].at(whole)
            return
        path, shape, schema = self._slot
        self._read = _Part(path, whole, shape, schema)

    def _open(self, bracket: str) -> None:
        path, shape, schema = self._slot
        frame = _Frame(path, shape, schema, bracket)
        self._begin(path, {} if bracket == "{" else [])
        if frame.shape is shape:
            if self._frames:
                self._frames[-1].put(frame.shown)
            else:
                self.value = frame.shown
        self._frames.append(frame)
        self.broken = len(self._frames) > self._depth

    def _close(self) -> None:
        frame = self._frames.pop()
        path, shape, schema = self._slot
        self._read = _Part(path, frame.shown, None if frame.shape is shape else shape, schema)

    def _settle(self) -> None:
        """What follows a part is read: the part is complete."""
        if self._read is None:
            return
        path, value, shape, schema = self._read
        self._read = None
        if shape is not None:
            value = shape.complete(value, schema)
            is_shown, value = value is not INVALID, None if value is INVALID else value
            self.leaves[path] = value
            if not self._frames:
                self.value = value
            elif is_shown or self._frames[-1].is_list:
                self._frames[-1].put(value)
        self.states[path] = "complete"
        self.events.append(JsonEvent(path, "end", value))

    @property
    def open_text(self) -> str:
        """The text that is read, as far as it has arrived."""
        return "".join(self._parts)


def differences(shown: GrowingValue, whole: GrowingValue) -> Iterator[JsonEvent]:
    """What happens when the complete value takes the place of what was shown of it."""
    for event in whole.events:
        state = shown.states.get(event.path)
        if state is None:
            yield event
        elif event.kind != "end":
            continue
        elif event.path in shown.leaves:
            if shown.leaves[event.path] != event.value:
                yield JsonEvent(event.path, "corrected", event.value)
        elif state == "growing" and isinstance(event.value, str):
            if not event.value.startswith(shown.open_text):
                yield JsonEvent(event.path, "corrected", event.value)
                continue
            if rest := event.value[len(shown.open_text) :]:
                yield JsonEvent(event.path, "text", rest)
            yield event
        elif state == "growing":
            yield event
    yield from (JsonEvent(path, "corrected") for path in shown.states if path not in whole.states)


def _unescaped(escape: str) -> str:
    return json.loads(f'"{escape}"')
