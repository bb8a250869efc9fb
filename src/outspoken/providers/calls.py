"""Calls that a provider sends apart from the text: their arguments as they come, and what they are in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.json.repair import repair_region
from outspoken.json.scanner import JsonScanner, NotJsonError, decode
from outspoken.notations.coerce import escape
from outspoken.results.diagnostics import Repair
from outspoken.results.edits import Edit, RepairLimit
from outspoken.results.events import ToolCallDelta, ToolCallEnd, ToolCallStart, ToolCallUnfinished
from outspoken.results.pending_diagnostics import describe_repair
from outspoken.results.replies import Status, ToolCall

from .blocks import Block

if TYPE_CHECKING:
    from outspoken.results.settings import Settings

    from .assembly import Assembly


class Read(NamedTuple):
    """The arguments of a call, read. `text` is their JSON where it is not the text that was sent."""

    value: dict[str, Any]
    status: Status
    edits: tuple[Edit, ...] = ()
    text: str | None = None


def read_arguments(
    text: str, proven: bool, repair_limit: RepairLimit, schema: dict[str, Any] | None, settings: Settings
) -> Read:
    """The arguments that a text is: an object, strictly read, or one that the ladder of repairs makes of it.

    `proven` says that the text is all of them. A text that is not whole is `truncated`, with what is complete in it.
    """
    try:
        return _odd(decode(text, settings.max_depth), text, settings)
    except NotJsonError:
        pass
    if not proven:
        read = repair_region(text, 0, len(text), closed=False, repair_limit="notation", settings=settings)
        return Read(_object(read[0].value if read else None) or {}, "truncated")
    found = repair_region(text, 0, len(text), closed=True, repair_limit=repair_limit, schema=schema, settings=settings)
    value = _object(found[0].value) if len(found) == 1 and found[0].complete else None
    return Read({}, "invalid") if value is None else Read(value, "repaired", found[0].edits, found[0].text)


def _object(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _odd(value: Any, text: str, settings: Settings) -> Read:
    """Sound JSON: an object, or `null` for no arguments, or a string that holds an object."""
    found = _object(value)
    if found is not None:
        return Read(found, "ok")
    edit = Edit(0, len(text), "{}", "other-arguments", "notation")
    if value is None:
        return Read({}, "repaired", (edit,), edit.after)
    if isinstance(value, str):
        try:
            found = _object(decode(value, settings.max_depth))
        except NotJsonError:
            found = None if value.strip() else dict[str, Any]()
        if found is not None:
            edit = edit._replace(after=value.strip() or "{}")
            return Read(found, "repaired", (edit,), edit.after)
    return Read({}, "invalid")


class Sound:
    """How much of a text that comes in pieces is the beginning of a JSON object, whatever comes behind it."""

    __slots__ = ("_scanner", "_begun", "_ended", "_rest")

    def __init__(self) -> None:
        self._scanner = JsonScanner()
        self._begun = self._ended = False
        #: what was read of it and may not stand
        self._rest = ""

    def feed(self, piece: str) -> str:
        """What is certain by now."""
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
        read = self._rest + piece[:end]
        certain = max(len(read) - scanner.held, 0)
        self._rest = read[certain:]
        return read[:certain]


class Call(Block):
    """One call. It is announced when its name is known. With `free` its input is text, not JSON.

    What is sent of its arguments is JSON, as far as it is sound; what comes behind the first damage waits until it is
    known how it is repaired, or that it cannot be.
    """

    kind = "call"

    def __init__(self, owner: Assembly, id: str | None, name: str | None, *, free: bool = False) -> None:
        super().__init__(owner)
        self.id, self.name = id, name
        self.free = free
        self._pieces: list[str] = []
        self._number = -1
        self._sound = Sound()
        #: what is certain and was not sent, and how much was
        self._queue: list[str] = []
        self._sent: list[str] = []

    def named(self, id: str | None, name: str | None) -> None:
        """More of what is known of it. A name that was announced stays."""
        self.id = self.id or id
        self.name = self.name or name
        self._announce()

    def open(self) -> None:
        if self.free:
            self._add('{"input": "')
        self._announce()

    def read(self, piece: str) -> None:
        self._add(escape(piece) if self.free else piece)
        self._announce()

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        if certain := self._sound.feed(piece):
            self._queue.append(certain)

    def _announce(self) -> None:
        """Send what can be sent of it."""
        if not self.name or not self.live:
            return
        if self._number < 0:
            self._number = self.owner.number()
            self.owner.send(ToolCallStart(self._number, self.id, self.name))
        self._send()

    def _send(self) -> None:
        if self._number < 0:
            return
        for piece in self._queue:
            self.owner.send(ToolCallDelta(self._number, piece))
        self._sent += self._queue
        self._queue.clear()

    def sound(self) -> bool:
        """Are the arguments complete, by what they say?"""
        try:
            decode("".join(self._pieces), self.owner.settings.max_depth)
        except NotJsonError:
            return self.free
        return True

    def end(self, reason: str | None) -> None:
        proven = reason is not None
        text = "".join(self._pieces)
        if proven and (self.free or not text.strip()):
            last = '"}' if self.free else "{}"
            self._add(last)
            text += last
        owner, name = self.owner, self.name or ""
        tools = owner.tools
        schema = tools.schema(name) if tools is not None and name in tools else None
        read = read_arguments(text, proven, owner.repair_limit, schema, owner.settings)
        if not name:
            read = read._replace(status="invalid")
        self._send()
        if read.text is not None and not read.text.startswith("".join(self._sent)):
            read = Read({}, "truncated")  # it breaks off in something that was sent, and cannot be taken back
        self._make(name, text, read, self._rest(text, read))
        if tools is not None and name and name not in tools:
            owner.note("unknown-tool", f"there is no tool `{name}`", self.at, "warning", label="called here")

    def _rest(self, text: str, read: Read) -> str:
        """Send what is left, and return the arguments as JSON, or as they came where they are none."""
        sent = "".join(self._sent)
        whole = text if read.text is None else read.text
        if len(whole) > len(sent):
            self._queue.append(whole[len(sent) :])
            self._send()
        return whole

    def _make(self, name: str, text: str, read: Read, whole: str) -> None:
        """The call, and what is to be said of it."""
        owner, span = self.owner, (self.at, self.at)
        repairs = tuple([self._repair(edit, text) for edit in read.edits])
        call = ToolCall(
            name=name, arguments=read.value, arguments_text=whole, id=self.id, status=read.status, span=span,
            repairs=repairs,
        )  # fmt: skip
        self.segments.append(call)
        if read.status in ("ok", "repaired"):
            owner.repaired(repairs, self.at, name)
            owner.called = True
            owner.send(ToolCallEnd(self._number, call))
            return
        if read.status == "truncated":
            owner.note("unclosed-call", f"the call of `{name}` never ends", self.at)
        else:
            message = f"the arguments of `{name}` are not a JSON object" if name else "a tool call has no name"
            helps = ("the arguments are kept as they were sent; nothing was guessed",)
            owner.note("invalid-call", message, self.at, helps=helps)
        owner.send(ToolCallUnfinished(self._number if self._number >= 0 else owner.number(), call))

    def _repair(self, edit: Edit, text: str) -> Repair:
        line, column = self.here.lines + 1, self.here.columns + 1
        return Repair(
            code=edit.code, rung=edit.level, span=(self.at, self.at), path=edit.path, line=line, column=column,
            before=text[edit.start : edit.end], after=edit.after,
        )  # fmt: skip


def message_of(repair: Repair) -> str:
    """What a repair of arguments says to a person."""
    if repair.code == "other-arguments":
        return "arguments that are no object were read as one: `null` as none, a string as the JSON in it"
    return describe_repair(repair)
