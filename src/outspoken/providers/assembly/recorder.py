"""What the blocks of a response write to: the events, the content, the diagnostics and the status."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from outspoken.parsing.options import ReadOptions
from outspoken.parsing.parser import Parser
from outspoken.parsing.session import UnjoinedSession
from outspoken.providers.events import ProviderEvent, Started
from outspoken.results.codes import describe_repair
from outspoken.results.construct import construct
from outspoken.results.diagnostics import PendingDiagnostic, Repair, Severity
from outspoken.results.events import Event, PlacedText, TextDelta, ToolCallEnd, ToolCallUnfinished
from outspoken.results.message_text import ForwardText, MessageText
from outspoken.results.replies import STATUSES, Reply, Segment, Status, ToolCall

#: One kind of segment.
SegmentT = TypeVar("SegmentT", bound=Segment)


class Content:
    """The content so far, and how long it is."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0

    def append(self, piece: str) -> None:
        """Add a piece."""
        self.pieces.append(piece)
        self.length += len(piece)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def place(self, offset: int) -> tuple[int, int]:
        """The number of line breaks before an offset, and of characters since the last one."""
        before = self.text[:offset]
        return before.count("\n"), offset - before.rfind("\n") - 1

    def repair(self, repair: Repair, offset: int) -> Repair:
        """A repair in a part of the content that begins at an offset."""
        lines, columns = self.place(offset)
        column = repair.column + (columns if repair.line == 1 else 0)
        update = {"span": _moved(repair.span, offset), "line": repair.line + lines, "column": column}
        return repair.model_copy(update=update)

    def segment(self, segment: SegmentT, offset: int) -> SegmentT:
        """A segment, with its repairs, in a part of the content that begins at an offset."""
        update: dict[str, Any] = {"span": _moved(segment.span, offset)}
        if repairs := getattr(segment, "repairs", ()):
            update["repairs"] = tuple([self.repair(repair, offset) for repair in repairs])
        return segment.model_copy(update=update)


def _moved(span: tuple[int, int], offset: int) -> tuple[int, int]:
    return span[0] + offset, span[1] + offset


class ContentOptions(NamedTuple):
    """How the content of one choice is read, and what its request allows and wants.

    With the `format` None, all of it is text, whatever `read` says. Of a response with several choices, the one with
    the index `choice` is read. `tool_choice` says which calls are wanted, and `parallel` whether several are. If the
    model was to stop at texts of the request (`stops`), no finish reason proves that it ended its answer. With
    `shows_invalid`, the text of a call that is invalid is a part of the text, too.
    """

    provider: str
    format: str | None
    read: ReadOptions
    prefix: str | None
    choice: int
    tool_choice: str
    parallel: bool
    stops: bool
    shows_invalid: bool

    @property
    def tool(self) -> str | None:
        """The only tool that may be called; None if others may."""
        return None if self.tool_choice in ("auto", "none", "required") else self.tool_choice

    def objection(self, name: str, *, is_first: bool) -> str:
        """Why a call of a tool is not wanted; "" if it is."""
        if self.tool_choice == "none":
            return "and the request allows no calls"
        if self.tool not in (None, name):
            return f"and the request allows only calls of `{self.tool}`"
        return "" if self.parallel or is_first else "behind another call, and the request allows one"


class WholeSession:
    """A session of a response that is whole: all text is read at the end, which the reader of whole texts does."""

    def __init__(self, options: ReadOptions, prefix: str | None) -> None:
        self._parser, self._prefix, self._pieces = Parser.of(options), prefix, list[str]()
        self.reply: Reply | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Keep a piece of the text."""
        self._pieces.append(chunk)
        return []

    def close(self, finish_reason: str | None) -> list[Event]:
        """Read the text. Of its events, only those are returned on which the reply of the response depends."""
        text = "".join(self._pieces)
        self.reply = reply = self._parser.parse(text, prefix=self._prefix, finish_reason=finish_reason)
        borders = [PlacedText("", at, at, begins=True) for at in reply.borders]
        return [*borders, *[ToolCallEnd(index, call) for index, call in enumerate(reply.tool_calls)]]


class Recorder:
    """Collects what the blocks send and report. Each response has one."""

    def __init__(self, options: ContentOptions) -> None:
        self.options = options
        self.events: list[ProviderEvent] = []
        self.content = Content()
        #: where a block of text begins that something else separates from the text before it
        self.borders: list[int] = []
        #: joins the text of all blocks
        self.message = MessageText(ForwardText(self.content.pieces).read)
        self.id: str | None = None
        self.model: str | None = None
        self._started = False
        #: how many calls were announced, and how many actions were read
        self._calls = self.actions = 0
        #: a call was read that may be run
        self.has_complete_call = False
        #: a text of the request ended the response, or may have, so that its end is not proven
        self.is_stopped = options.stops
        #: a block of reasoning has begun
        self.has_reasoning = False
        self._has_parser = False
        #: all of the response is there, and only the reply is wanted
        self.is_whole = False
        #: the ids of calls so far
        self._call_ids: set[str] = set()
        self.status: Status = "ok"
        self.diagnostics: list[PendingDiagnostic] = []
        self.repairs: list[Repair] = []
        #: the replies of the parsed blocks of content
        self.replies: list[Reply] = []

    def start(self, id: str | None = None, model: str | None = None) -> None:
        """Send `Started`, once; a later id or model counts for the reply."""
        self.id = id or self.id
        self.model = model or self.model
        if not self._started:
            self._started = True
            self.send(Started(self.id, self.model))

    def send(self, event: ProviderEvent) -> None:
        """Send an event."""
        self.events.append(event)

    def send_text(self, text: str, start: int, end: int, exact: bool = False) -> None:
        """Send text that stands between two offsets in the content, joined with the text before it."""
        if joined := self.message.add(text, start, end, exact=exact):
            self.events.append(TextDelta(joined))

    def add_border(self, offset: int) -> None:
        """A text begins at an offset behind another one and something else."""
        self.borders.append(offset)
        self.message.border()

    def end_text(self) -> None:
        """Send the rest of the text."""
        if rest := self.message.end(self.content.length):
            self.send(TextDelta(rest))

    def next_call_index(self) -> int:
        """Return the index of a call that is about to be announced."""
        self._calls += 1
        return self._calls - 1

    def unique_call_id(self, id: str | None, offset: int) -> str | None:
        """Return the id of a call; another one, with a diagnostic, if an earlier call has the same."""
        if id is None or id not in self._call_ids:
            self._call_ids.update([id] if id else [])
            return id
        number = 2
        while f"{id}_{number}" in self._call_ids:
            number += 1
        unique_id = f"{id}_{number}"
        self._call_ids.add(unique_id)
        message = f"two calls have the id `{id}`; this one becomes `{unique_id}`"
        self.add_diagnostic("repeated-id", message, offset, "warning")
        return unique_id

    def end_call(self, index: int, call: ToolCall) -> None:
        """Send the end of a call."""
        is_complete = call.status in ("ok", "repaired")
        self.send(ToolCallEnd(index, call) if is_complete else ToolCallUnfinished(index, call))

    def allowed(self, call: ToolCall) -> ToolCall:
        """A call as it is, or refused if it is complete and the request does not allow it."""
        if call.status not in ("ok", "repaired"):
            return call
        why = self.options.objection(call.name, is_first=not self.has_complete_call)
        if not why:
            self.has_complete_call = True
            return call
        message = f"`{call.name}` is called, {why}"
        self.diagnostics.append(
            PendingDiagnostic("unwanted-call", message, call.span, "error", self.options.provider, "called here")
        )
        return construct(ToolCall, {**vars(call), "status": "invalid"})

    def add_missing_call(self) -> None:
        """Report that the request wants a call and the response has none."""
        tool = self.options.tool
        if self.options.tool_choice == "required" or tool is not None:
            wanted = f"of `{tool}`" if tool else "of one of its tools"
            message = f"the request wants a call {wanted}, and the response has none"
            self.add_diagnostic("missing-call", message, self.content.length)

    def make_session(self) -> UnjoinedSession | WholeSession:
        """Start to read a block of content.

        The prefix of the prompt counts for the first block. It opens no reasoning if reasoning came in its own field.
        """
        prefix = "" if self._has_parser else self.options.prefix
        if prefix is None and self.has_reasoning:
            prefix = ""
        self._has_parser = True
        options = self.options.read._replace(on_error="keep")
        return WholeSession(options, prefix) if self.is_whole else UnjoinedSession.of(options, prefix)

    def add_diagnostic(
        self, code: str, message: str, offset: int, severity: Severity = "error", label: str = "", *,
        notes: tuple[str, ...] = (), helps: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Report something that is not part of the content, at its offset in the content."""
        span, provider = (offset, offset), self.options.provider
        self.diagnostics.append(PendingDiagnostic(code, message, span, severity, provider, label, notes, helps))

    def add_argument_repairs(self, repairs: tuple[Repair, ...], offset: int, name: str) -> None:
        """Report the repairs of a call's arguments, each code once."""
        self.repairs += repairs
        first: dict[str, Repair] = {}
        for repair in repairs:
            first.setdefault(repair.code, repair)
        for repair in first.values():
            message = f"in the arguments of `{name}`: {describe_repair(repair)}"
            self.add_diagnostic(repair.code, message, offset, "warning")

    def add_reply(self, reply: Reply, offset: int) -> None:
        """Add the diagnostics, repairs and status of a block of content that begins at an offset."""
        self.replies.append(reply)
        for diagnostic in reply.diagnostics:
            self.diagnostics.append(PendingDiagnostic.moved(diagnostic, _moved(diagnostic.span, offset)))
        self.repairs += [self.content.repair(repair, offset) for repair in reply.repairs]
        self.lower_status(reply.status)

    def lower_status(self, status: Status) -> None:
        """Take over a status if it is worse than the one so far."""
        if STATUSES.index(status) > STATUSES.index(self.status):
            self.status = status
