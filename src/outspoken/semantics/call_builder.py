"""Tool calls: from names and arguments, in any order and notation, to one typed call and its deltas."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, cast

from outspoken.json.scanner import NotJsonError, decode
from outspoken.notations.coerce import escape, fits, may_be_other_than_text, read_bare, to_json
from outspoken.notations.schema import SchemaView, schema_view_of
from outspoken.results.construct import given, make, set_extra, set_given, set_private, set_values
from outspoken.results.events import ToolCallDelta, ToolCallEnd, ToolCallStart
from outspoken.results.replies import ToolCall

from .block_builder import Builder
from .open_node import Frame

_GIVEN = given(ToolCall)
_TEXT_ONLY = frozenset({"string"})
#: With so many characters of a bare value it is known whether it may be anything but text.
_DECIDED = 8


class CallBuilder(Builder):
    """The part of the builder that makes tool calls.

    A call is announced (`ToolCallStart`) when its name is known and an argument of it begins, or when it ends.
    """

    def announce(self, frame: Frame, *, ended: bool = False) -> None:
        """Say that a call has begun, if its name is known and it was not said before.

        What may be an action is no call before it has `ended`.
        """
        if frame.index >= 0 or not frame.name:
            return
        if not ended and self._holds_back(frame):
            return
        if self.known is not None and frame.name not in self.known:
            frame.name = self._meant(frame.name)
        frame.index = self.calls
        self.calls += 1
        if self.events is not None:
            self.flush()
            self.events.append(ToolCallStart(frame.index, frame.id, frame.name))
            held = "".join(frame.parts or ())
            if held:
                self.events.append(ToolCallDelta(frame.index, held))

    def _holds_back(self, frame: Frame) -> bool:
        """Is what is read no call yet, since it may be an action?"""
        if not self._may_be_deed(frame):
            return False
        frame.begun = "action" not in frame.kinds
        return True

    def _may_be_deed(self, frame: Frame) -> bool:
        return self.acts is not None and self.may_act(frame)

    def may_act(self, frame: Frame) -> bool:
        """May what is being read be an action?"""
        raise NotImplementedError

    def act(self, frame: Frame, end: int) -> bool:
        """A call is complete: take it for an action, if it is one."""
        raise NotImplementedError

    def typing(self, piece: str, *, quoted: bool) -> None:
        """More of the text that an action types."""
        raise NotImplementedError

    def name_argument(self, frame: Frame) -> None:
        """An argument of what may be an action begins."""
        raise NotImplementedError

    def _meant(self, name: str) -> str:
        """The tool that a name means: `search.search`, where the tool is called as its own namespace, is `search`."""
        half = name[: len(name) // 2]
        return half if self.known is not None and half in self.known and name == f"{half}.{half}" else name

    def send(self, frame: Frame, text: str) -> None:
        """More of the arguments, as JSON text. Held until the call is announced."""
        if frame.parts is None:
            frame.parts = []
        frame.parts.append(text)
        if frame.index >= 0 and self.events is not None and frame.typed is None:
            self.events.append(ToolCallDelta(frame.index, text))

    # arguments that are one JSON object

    def island_piece(self, role: str, text: str) -> None:
        """A piece of an island that is still being read."""
        if role == "arguments":
            frame = self.frames[-1]
            if frame.index < 0:
                self.announce(frame)
            self.send(frame, text)
            frame.sending = True

    def field_arguments(self, arg: str, m: Any, g: int, base: int) -> None:
        """The arguments as a whole: an object, a string that holds one, or null."""
        frame, value, text = self.frames[-1], self.last, self.last_text
        if type(value) is not dict:
            value, text = self._odd_arguments(frame, value, text)
        frame.arguments = value
        if self.events is None:
            if frame.index < 0 and frame.name and not self._holds_back(frame):
                frame.index = self.calls
                self.calls += 1
            frame.parts = [text]
            frame.sending = False
            return
        self.announce(frame)
        if frame.sending:
            frame.sending = False
        else:
            self.send(frame, text)

    def _odd_arguments(self, frame: Frame, value: Any, text: str) -> tuple[Any, str]:
        """Arguments that are no object: the object in a string, no arguments for null, else a problem."""
        if isinstance(value, str):
            text = value
            try:
                value = decode(text, self.settings.max_depth) if text.strip() else None
            except NotJsonError:
                value = ""
        if value is None:
            return {}, "{}"
        if isinstance(value, dict):
            return cast("dict[str, Any]", value), text
        frame.problem = f"the arguments of `{frame.name or ''}` are not a JSON object"
        return value, text

    # arguments one by one

    def argument_name(self, arg: str, m: Any, g: int, base: int) -> None:
        """An argument begins."""
        frame = self.frames[-1]
        frame.key = m[g]
        frame.key_start = base + m.start(g)
        if frame.index < 0 and not self.header.repeated:
            self.announce(frame)
        if self.acts is not None:
            self.name_argument(frame)

    def value(self, piece: str, start: int, end: int) -> None:
        """More of an argument's bare text."""
        frame = self.frames[-1]
        if frame.bare is None:
            frame.bare = []
            if frame.key is None and "tool_call" in frame.kinds:
                frame.key = f"${len(frame.arguments or ()) + 1}"
                self.announce(frame)
        frame.bare.append(piece)
        if frame.typed is not None:
            self.typing(piece, quoted=False)
            return
        events = self.events
        if events is None:
            return
        if frame.sending:
            parts: Any = frame.parts
            text = encode_basestring(piece)[1:-1]
            parts.append(text)
            events.append(ToolCallDelta(frame.index, text))
            return
        if frame.index < 0 or len(frame.head) == _DECIDED:
            return
        frame.head = (frame.head + piece).lstrip()[:_DECIDED]
        self._decide(frame)

    def value_on(self) -> Callable[[str, int, int], None] | None:
        """What takes more of an argument's bare text: without asking again how, where that is sent as it comes.

        None where that is still open.
        """
        frame, events, sent = self.frames[-1], self.events, ToolCallDelta
        if events is None or frame.typed is not None or self.header.answer or frame.index < 0:
            return self.value
        if frame.bare is None or not frame.sending:
            return self.value if len(frame.head) == _DECIDED else None
        parts: Any = frame.parts
        keep, send, tell, index = frame.bare.append, parts.append, events.append, frame.index

        def more(piece: str, start: int, end: int) -> None:
            keep(piece)
            text = encode_basestring(piece)[1:-1]
            send(text)
            tell(sent(index, text))

        return more

    def no_value(self) -> None:
        """A bare value has ended; it is the empty text if nothing stood there."""
        frame = self.frames[-1]
        if frame.bare is None:
            frame.bare = [""]

    def _decide(self, frame: Frame) -> None:
        """Send an argument's bare text as a string, once it can be nothing else."""
        if frame.head and not may_be_other_than_text(frame.head, self._types(frame), self.header.values):
            self.send(frame, f'{self._lead(frame)}"{escape("".join(frame.bare or ()))}')
            frame.sending = True

    def complete_text(self, frame: Frame) -> None:
        """Add to the text of a call's arguments what is not in it yet, as of an argument that never ended."""
        if frame.again:
            frame.parts = [to_json(frame.arguments)[:-1]]
        if frame.bare is not None and not frame.sending and frame.index >= 0 and frame.typed is None:
            frame.head = "".join(frame.bare).lstrip()[:_DECIDED]
            self._decide(frame)

    def field_argument(self, arg: str, m: Any, g: int, base: int) -> None:
        """An argument is complete: its name, and its value as bare text or as an island."""
        frame = self.frames[-1]
        key = frame.key = frame.key or f"${len(frame.arguments or ()) + 1}"
        if frame.bare is not None:
            value = self._bare(frame, key, base + m.start(g))
            text = None
        else:
            value, text = self.last, self.last_text
        if frame.arguments is None:
            frame.arguments = {}
            frame.keyed = True
        elif key in frame.arguments and self.header.repeated:
            self._again(frame, key, value)
            return
        elif key in frame.arguments:
            span = (frame.key_start, base + m.start(g))
            self.note(
                "repeated-argument", f"the argument `{key}` is given twice; the last one is taken", span, "warning"
            )
        if frame.sending:
            self.send(frame, '"')
        elif self.events is not None:
            self.send(frame, f"{self._lead(frame)}{text or to_json(value)}")
        else:
            lead = ", " if frame.arguments else "{"
            (frame.parts or self._parts(frame)).append(f"{lead}{encode_basestring(key)}: {text or to_json(value)}")
        frame.arguments[key] = value
        frame.key = frame.bare = None
        frame.head = ""
        frame.sending = False

    def _again(self, frame: Frame, key: str, value: Any) -> None:
        """An argument that was given before, where all its values are a list. Nothing was sent of the call yet."""
        if frame.again is None:
            frame.again = set()
        if key in frame.again:
            frame.arguments[key].append(value)
        else:
            frame.arguments[key] = [frame.arguments[key], value]
        frame.again.add(key)
        frame.key = frame.bare = None
        frame.head = ""

    def _parts(self, frame: Frame) -> list[str]:
        frame.parts = []
        return frame.parts

    def expects(self, key: str) -> bool:
        """May the call that is being read have another argument of this name?"""
        frame = self.frames[-1]
        if key == frame.key or key in (frame.arguments or ()):
            return False
        if self.tools is None or frame.name is None or frame.name not in self.tools:
            return True
        properties: Any = (self.tools.schema(frame.name) or {}).get("properties")
        return not isinstance(properties, dict) or key in properties

    def _bare(self, frame: Frame, key: str, end: int) -> Any:
        """The value of an argument that was written as bare text."""
        parts: Any = frame.bare
        text = parts[0] if len(parts) == 1 else "".join(parts)
        types = self._types(frame)
        if types == _TEXT_ONLY or frame.typed is not None or (types is None and self._may_be_deed(frame)):
            return text  # what a field of an action takes says how its text is read
        value = text if frame.sending else read_bare(text, types, self.header.values)
        if types is not None and not fits(value, types):
            kinds = " or ".join(sorted(types))
            message = f"the argument `{key}` of `{frame.name}` should be {kinds}, and is kept as text"
            self.note("mistyped-argument", message, (end - len(text), end), "warning")
        return value

    def _types(self, frame: Frame) -> frozenset[str] | None:
        if self.tools is None or frame.name is None or frame.key is None:
            return None
        return self.tools.types(frame.name, frame.key)

    def schema_view(self, role: str) -> SchemaView:
        """What the tool's schema says of an island that begins here."""
        frame = self.frames[-1] if self.frames else Frame()
        key = None if role == "arguments" else frame.key
        return schema_view_of(self.tools, frame.name, key, self.header.values)

    def _lead(self, frame: Frame) -> str:
        """What stands before an argument's value in the JSON text."""
        return f"{', ' if frame.arguments else '{'}{to_json(frame.key or '')}: "

    def field_tool_name(self, arg: str, m: Any, g: int, base: int) -> None:
        """The name of the tool, as a string."""
        self.frames[-1].name = self.last if isinstance(self.last, str) else None

    def field_id(self, arg: str, m: Any, g: int, base: int) -> None:
        """The id of a call, as a string."""
        self.frames[-1].id = self.last if isinstance(self.last, str) else None

    # operations that often follow each other, as one

    def begin_named(self, arg: str, m: Any, g: tuple[int, ...], base: int) -> None:
        """`begin` and `name`."""
        frame = Frame()
        frame.kinds = arg
        frame.start = base + m.start(g[0])
        frame.name = m[g[1]]
        self.frames.append(frame)

    def begin_identified(self, arg: str, m: Any, g: tuple[int, ...], base: int) -> None:
        """`begin`, and `begin`, `name` and `end_call_id` of its id."""
        frame = Frame()
        frame.kinds = arg
        frame.start = base + m.start(g[0])
        frame.name = m[g[2]]
        frame.id = m.string[m.start(g[1]) : m.end(g[-1])]
        self.frames.append(frame)

    def begin_quoted(self, arg: str, m: Any, g: tuple[int, ...], base: int) -> None:
        """`begin`, `island` and `field_tool_name`."""
        frame = Frame()
        frame.kinds = arg
        frame.start = base + m.start(g[0])
        self.last_text = text = m[g[1]]
        self.last = frame.name = text[1:-1]
        self.frames.append(frame)

    # the end of a call

    def end_tool_call(self, arg: str, m: Any, g: int, base: int) -> None:
        """A call is complete."""
        frame, end = self.frames.pop(), base + m.end(g)
        name, arguments = frame.name, frame.arguments
        if not name or frame.problem or self.doubt:
            frame.problem = frame.problem or self.doubt or "a tool call has no name"
            self.doubt = ""
            self.unfinished(frame, end, "invalid")
            return
        if self.acts is not None and self.act(frame, end):
            return
        if frame.again:
            self.complete_text(frame)
        if frame.index < 0:
            self.announce(frame, ended=True)
        if self.known is not None and name not in self.known:
            name = self._meant(name)
        if arguments is None:
            arguments = {}
            self.send(frame, "{}")
        elif frame.keyed:
            self.send(frame, "}")
        parts = frame.parts
        repairs = self.take_repairs() if self.edits else ()
        values: dict[str, Any] = {
            "kind": "tool_call",
            "name": name,
            "arguments": arguments,
            "arguments_text": parts[0] if parts and len(parts) == 1 else "".join(parts or ()),
            "id": frame.id,
            "status": "repaired" if repairs else "ok",
            "span": (frame.start if frame.start > 0 else 0, end),
            "repairs": repairs,
        }
        if self._run_model is not None:
            self.flush()
        call = make(ToolCall)
        set_values(call, values)
        set_given(call, _GIVEN)
        set_extra(call, None)
        set_private(call, None)
        self.segments.append(call)
        if self.known is not None and name not in self.known:
            self.note("unknown-tool", f"there is no tool `{name}`", values["span"], "warning", label="called here")
        if self.events is not None:
            self.events.append(ToolCallEnd(frame.index, call))
        self.safe, self.after_text, self._ended_at = end, False, frame.start
