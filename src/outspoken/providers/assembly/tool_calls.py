"""Tool calls that a provider sends apart from the text: their arguments as they arrive, and how they are read."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.json.decoder import NotJsonError, decode
from outspoken.json.edits import with_paths
from outspoken.json.repair import repair_region
from outspoken.json.scanner import JsonScanner
from outspoken.notations.coerce import escape
from outspoken.results.codes import NAMELESS, NO_OBJECT
from outspoken.results.diagnostics import Repair
from outspoken.results.edits import Edit, RepairLimit
from outspoken.results.events import ToolCallDelta, ToolCallStart
from outspoken.results.replies import Status, ToolCall
from outspoken.results.schemas.schema import Schema, is_object
from outspoken.results.settings import Settings
from outspoken.semantics.schema_objections import misfits

from .blocks import Block, Key
from .recorder import Recorder


class ParsedArguments(NamedTuple):
    """The arguments of a call. `text` is their JSON if it differs from the text that was sent."""

    value: dict[str, Any]
    status: Status
    edits: tuple[Edit, ...] = ()
    text: str | None = None


def parse_arguments(
    text: str, complete: bool, repair_limit: RepairLimit, schema: dict[str, Any] | None, settings: Settings
) -> ParsedArguments:
    """Parse the arguments of a call: an object in strict JSON, or one that repairs up to `repair_limit` make of it.

    If the text is not known to be `complete`, it is not repaired: the status is "truncated", and the value has the
    fields that are complete.
    """
    try:
        return _from_value(decode(text, settings.max_depth), text, settings)
    except NotJsonError:
        pass
    if not complete:
        regions = repair_region(text, 0, len(text), closed=False, repair_limit="notation", settings=settings)
        return ParsedArguments(regions[0].value if regions and is_object(regions[0].value) else {}, "truncated")
    arguments_schema = None if schema is None else Schema(schema)
    regions = repair_region(
        text, 0, len(text), closed=True, repair_limit=repair_limit, schema=arguments_schema, settings=settings
    )
    if len(regions) != 1 or not is_object(value := regions[0].value):
        return ParsedArguments({}, "invalid")
    return ParsedArguments(value, "repaired", with_paths(regions[0]).edits, regions[0].text)


def _from_value(value: Any, text: str, settings: Settings) -> ParsedArguments:
    """Use a JSON value as arguments: an object, `null` for no arguments, or a string with the JSON of an object."""
    if is_object(value):
        return ParsedArguments(value, "ok")
    edit = Edit(0, len(text), "{}", "other-arguments", "notation")
    if value is None:
        return ParsedArguments({}, "repaired", (edit,), edit.after)
    if isinstance(value, str):
        try:
            decoded: Any = decode(value, settings.max_depth)
        except NotJsonError:
            decoded = None if value.strip() else {}
        if is_object(decoded):
            edit = edit._replace(after=value.strip() or "{}")
            return ParsedArguments(decoded, "repaired", (edit,), edit.after)
    return ParsedArguments({}, "invalid")


class JsonPrefix:
    """Returns the part of a streamed text that is the beginning of a valid JSON object."""

    __slots__ = ("_scanner", "_begun", "_ended", "_held")

    def __init__(self) -> None:
        self._scanner = JsonScanner()
        self._begun = self._ended = False
        #: text that was read but may still turn out damaged
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that this piece makes certain."""
        if self._ended:
            return ""
        first = piece.lstrip(" \t\r\n")[:1]
        if not self._begun and first not in ("", "{"):
            self._ended = True
            return ""
        self._begun = self._begun or bool(first)
        scanner = self._scanner
        end, done = scanner.feed(piece, 0)
        self._ended = done or scanner.broken
        read = self._held + piece[:end]
        certain = max(len(read) - scanner.held, 0)
        self._held = read[certain:]
        return read[:certain]


class ToolCallBlock(Block):
    """A call, announced when its name is certain: a tool has it, or its arguments begin, or it ends.

    With `free_text`, its input is text and not JSON. With `name_may_grow`, its name may arrive in pieces.

    Deltas are sent as far as the arguments are sound JSON. The text behind the first damage waits for the end, when
    it is known how the arguments are repaired.
    """

    kind = "call"

    def __init__(
        self, recorder: Recorder, key: Key, id: str | None, name: str | None, *, free_text: bool, name_may_grow: bool
    ) -> None:
        super().__init__(recorder, key)
        self.id, self.name, self._name_may_grow = id, name, name_may_grow
        self._is_cut = False
        #: a piece of the name that came too late, or contradicts it
        self._late_name = ""
        self._free_text = free_text
        #: its index in the events; None until it is announced
        self._call_index: int | None = None
        self._sound = JsonPrefix()
        #: the sound text, and how many pieces of it were sent
        self._certain: list[str] = []
        self._sent_count = 0

    def identify(self, id: str | None, name: str | None) -> None:
        """Add an id or a name that arrived late, or more of the name. The id it has stays."""
        self.id = self.id or id
        if name and name != self.name:
            if self._call_index is not None:
                self._late_name = "" if (self.name or "").startswith(name) else name
            elif not self.name or (self._name_may_grow and name.startswith(self.name)):
                self.name = name  # a server that sends the name so far
            elif not self._name_may_grow:
                pass
            else:
                self.name += name
        self._announce()

    def settle_name(self) -> None:
        """Take the name as it is: something else has begun."""
        self._name_may_grow = False
        self._announce()

    def cut(self) -> None:
        """Note that the provider says that it is incomplete."""
        self._is_cut = True

    def _open(self) -> None:
        if self._free_text:
            self._add('{"input": "')
        self._announce()

    def _read(self, piece: str) -> None:
        self._add(escape(piece) if self._free_text else piece)
        self._announce()

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        if sound := self._sound.feed(piece):
            self._certain.append(sound)

    def _announce(self) -> None:
        """Announce it if its name is certain, and send what waits."""
        if not self.name or not self.active or not (self._call_index is not None or self._is_name_certain()):
            return
        if self._call_index is None:
            self._start(self.name)
        self._send_certain()

    def _start(self, name: str) -> None:
        self._call_index = self.recorder.next_call_index()
        self.id = self.recorder.unique_call_id(self.id, self.offset)
        self.recorder.send(ToolCallStart(self._call_index, self.id, name))

    def _is_name_certain(self) -> bool:
        """May no more of the name arrive?"""
        if not self._name_may_grow or self.length:
            return True
        tools, name = self.recorder.options.read.tools, self.name or ""
        if tools is None or name not in tools:
            return False
        return not any(other.startswith(name) and other != name for other in tools.names)

    def _send_certain(self) -> None:
        if self._call_index is not None:
            for piece in self._certain[self._sent_count :]:
                self.recorder.send(ToolCallDelta(self._call_index, piece))
            self._sent_count = len(self._certain)

    def has_complete_json(self) -> bool:
        """Are the arguments complete JSON, or free text?"""
        try:
            decode(self.text, self.recorder.options.read.settings.max_depth)
        except NotJsonError:
            return self._free_text
        return True

    def _end(self, reason: str | None) -> None:
        complete = reason is not None and not self._is_cut
        if self.name and self._call_index is None:
            self._start(self.name)
        text = self.text
        if complete and (self._free_text or not text.strip()):
            last = '"}' if self._free_text else "{}"
            self._add(last)
            text += last
        recorder, name = self.recorder, self.name or ""
        options = recorder.options.read
        tools = options.tools
        schema = tools.schema(name) if tools is not None and name in tools else None
        parsed = parse_arguments(text, complete, options.repair, schema, options.settings)
        if not name or self._late_name:
            parsed = parsed._replace(status="invalid")
        self._send_certain()
        sent = "".join(self._certain[: self._sent_count])
        if parsed.text is not None and not parsed.text.startswith(sent):
            parsed = ParsedArguments({}, "truncated")  # the repair would change a delta that was sent
        self._finish_call(name, text, parsed, sent)
        if tools is not None and name and name not in tools:
            message = f"there is no tool `{name}`"
            recorder.add_diagnostic("unknown-tool", message, self.offset, "warning", label="called here")

    def _finish_call(self, name: str, text: str, parsed: ParsedArguments, sent: str) -> None:
        """Send the rest of the arguments, the call, and its diagnostics."""
        recorder = self.recorder
        arguments_text = text if parsed.text is None else parsed.text
        if rest := arguments_text[len(sent) :]:
            self._certain.append(rest)
            self._send_certain()
        repairs = tuple([self._to_repair(edit, text) for edit in parsed.edits])
        call = ToolCall(
            name=name, arguments=parsed.value, arguments_text=arguments_text, id=self.id, status=parsed.status,
            span=self._span, repairs=repairs,
        )  # fmt: skip
        tools = recorder.options.read.tools
        if tools is not None:
            tools.attach_type(call)
        index = recorder.next_call_index() if self._call_index is None else self._call_index
        if parsed.status in ("ok", "repaired"):
            recorder.add_argument_repairs(repairs, self.offset, name)
            call = recorder.allowed(call)
            recorder.end_call(index, call)
            self.segments.append(call)
            for code, message, _ in misfits(tools, name, call.arguments) if tools is not None else ():
                recorder.add_diagnostic(code, message, self.offset, "warning", label="in this call")
            return
        self.segments.append(call)
        if parsed.status == "truncated":
            recorder.add_diagnostic("unclosed-call", f"the call of `{name}` never ends", self.offset)
        else:
            message = NO_OBJECT.format(name=name) if name else NAMELESS
            if self._late_name:
                message = f"the call of `{name}` was given another name, `{self._late_name}`, behind its arguments"
            helps = ("the arguments are kept as they were sent; nothing was guessed",)
            recorder.add_diagnostic("invalid-call", message, self.offset, helps=helps)
        recorder.end_call(index, call)

    def _to_repair(self, edit: Edit, text: str) -> Repair:
        lines, columns = self.recorder.content.place(self.offset)
        return edit.as_repair(self._span, text[edit.start : edit.end], lines + 1, columns + 1)
