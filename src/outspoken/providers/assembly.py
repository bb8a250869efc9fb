"""The reply while its parts come: which of them are open, the events of each, and in the end the whole of it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from outspoken.notations.tools import Tools
from outspoken.parsing.session import StreamParser
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Repair, Severity
from outspoken.results.edits import RepairLimit
from outspoken.results.errors import LimitError
from outspoken.results.events import Done
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.replies import STATUSES, Reply, Status
from outspoken.results.settings import Settings

from .blocks import Block, Halves, Other, Thoughts, Verbatim, Written
from .calls import Call, message_of
from .events import Failed, Finished, ProviderEvent, ReasoningSigned, RefusalDelta, Started, UsageReported
from .parts import Key, Parts
from .replies import FinishReason, ProviderError, ProviderReply, Signature, Usage
from .shift import Shift, note_of
from .stops import reason_of


class Options(NamedTuple):
    """How the content is read. See `outspoken.parse`; with None as the format, it is text, whatever stands in it."""

    provider: str
    format: str | None
    tools: Tools | None
    prefix: str | None
    repair_limit: RepairLimit
    settings: Settings


class Assembly(Parts):
    """Takes what a provider says, part by part, and makes the events and the reply.

    See `Parts` for how they go on and end.
    """

    def __init__(self, options: Options) -> None:
        super().__init__()
        self._options = options
        self.tools, self.settings = options.tools, options.settings
        self.repair_limit: RepairLimit = options.repair_limit
        self.events: list[ProviderEvent] = []
        #: how much came in all, in characters
        self._received = 0
        self._calls = self.acted = 0
        #: a call was read that may be run
        self.called = False
        self._first_text = True
        self._notes: list[PendingDiagnostic] = []
        self._repairs: list[Repair] = []
        self._replies: list[Reply] = []
        self._status: Status = "ok"
        self._started = False
        self.id: str | None = None
        self.model: str | None = None
        self._refusal: list[str] = []
        self._refused = Halves()
        self._signatures: dict[Key, tuple[Block | int, str, bool]] = {}
        self._finish: tuple[FinishReason, str] | None = None
        self._usage: Usage | None = None
        self.error: ProviderError | None = None

    # what blocks ask for

    def send(self, event: Any) -> None:
        """Say something."""
        self.events.append(event)

    def number(self) -> int:
        """The number of a call that is announced."""
        self._calls += 1
        return self._calls - 1

    def parser(self) -> StreamParser:
        """A reader for a part of the content. Where reasoning came apart before it, the prompt has opened none."""
        prefix = self._options.prefix if self._first_text else ""
        if prefix is None and any(block.kind == "reasoning" for block in self._blocks):
            prefix = ""
        self._first_text = False
        format = self._options.format or "text"
        return StreamParser(format, tools=self.tools, prefix=prefix, repair=self.repair_limit, settings=self.settings)

    def note(self, code: str, message: str, at: int, severity: Severity = "error", **more: Any) -> None:
        """A diagnostic of something that stands at a place of the content, but is no part of it."""
        self._notes.append(PendingDiagnostic(code, message, (at, at), severity, self._options.provider, **more))

    def repaired(self, repairs: tuple[Repair, ...], at: int, name: str) -> None:
        """Changes that made the arguments of a call readable."""
        self._repairs += repairs
        first: dict[str, Repair] = {}
        for repair in repairs:
            first.setdefault(repair.code, repair)
        for repair in first.values():
            self.note(repair.code, f"in the arguments of `{name}`: {message_of(repair)}", at, "warning")

    def add(self, reply: Reply, shift: Shift | None) -> None:
        """What was noticed in a part of the content."""
        self._replies.append(reply)
        self._notes += [note_of(diagnostic, shift) for diagnostic in reply.diagnostics]
        self._repairs += [shift.repair(repair) if shift else repair for repair in reply.repairs]
        self._worsen(reply.status)

    def _worsen(self, status: Status) -> None:
        if STATUSES.index(status) > STATUSES.index(self._status):
            self._status = status

    # what a reader says

    def started(self, id: str | None = None, model: str | None = None) -> None:
        """The response has begun."""
        self.id = id or self.id
        self.model = model or self.model
        if not self._started:
            self._started = True
            self.send(Started(self.id, self.model))

    def text(self, piece: str | None, key: Key | None = None) -> None:
        """More of the content."""
        if piece:
            self.part("text", key).feed(self._counted(piece))

    def reasoning(self, piece: str | None, key: Key | None = None) -> None:
        """More of what the model thinks."""
        if piece:
            self.part("reasoning", key).feed(self._counted(piece))

    def _complete_thoughts(self) -> None:
        """An encrypted block begins, so that those which ended before it are complete."""
        for block in list(self._ending.values()):
            if block.kind == "reasoning" and (block.ended or not block.keyed):
                self._complete(block)

    def break_thought(self) -> None:
        """What the model thinks from here on is another block."""
        block = self.last_thought
        if block is not None and block.live and not block.keyed:
            self.finish(block, None)

    def opens(self, kind: Literal["text", "reasoning"], key: Key) -> None:
        """A part begins, of which nothing may have come: its place is here."""
        self.part(kind, key)

    def rest(self, kind: Literal["text", "reasoning"], key: Key, whole: str | None) -> None:
        """All of a part, of which some may have come before."""
        block = self._keyed.get((kind, *key))
        known = block.length if block is not None else 0
        if whole and len(whole) > known:
            self.part(kind, key).feed(self._counted(whole[known:]))

    def call(self, key: Key, id: str | None, name: str | None, *, free: bool = False) -> Call:
        """The call with this key; it begins here where there is none."""
        found = self._keyed.get(("call", *key))
        if isinstance(found, Call):
            found.named(id, name)
            return found
        return self.begin(Call(self, id, name, free=free), ("call", *key))

    def arguments(self, call: Call, piece: str | None) -> None:
        """More of the arguments of a call."""
        if piece:
            call.feed(self._counted(piece))

    def other(self, type: str, data: Any, *, aside: bool = False, status: Status = "ok") -> None:
        """Something whole that is no text, reasoning or call. What is said `aside` ends nothing."""
        self.begin(Other(self, type, data, aside=aside, status=status), None)

    def end(self, kind: str, key: Key) -> None:
        """The provider says that a part has ended. Whether the response ends with it is open."""
        block = self._keyed.get((kind, *key))
        if block is not None and not block.done:
            self.ends(block)
            if isinstance(block, Call) and block.sound():
                self.finish(block, "stop")

    def sign(self, signature: str | None, key: Key | None = None, *, redacted: bool = False) -> None:
        """The signature of a reasoning part, or of the part that comes next."""
        if not signature:
            return
        found: Block | None = None
        if key is not None:
            found = self._keyed.get(("reasoning", *key))
        elif not redacted:
            found = self.last_thought
        if redacted:
            self._complete_thoughts()
        place = key if key is not None else ("at", len(self._signatures))
        self._signatures[place] = (found or len(self._blocks), signature, redacted)
        if isinstance(found, Thoughts) and not found.live and not found.done:
            found.signatures.append(signature)  # which is said in its turn
            return
        self.send(ReasoningSigned(signature, redacted))
        if found is not None and key is None:
            self.break_thought()  # what comes without a key ends with its signature

    def sign_last(self, signature: str | None) -> None:
        """The signature of the part that came last."""
        if signature and self._blocks:
            self._signatures["last", len(self._signatures)] = (self._blocks[-1], signature, False)
            self.send(ReasoningSigned(signature))
        else:
            self.sign(signature)

    def refuse(self, piece: str | None) -> None:
        """More of a refusal."""
        piece = self._refused.feed(piece) if piece else ""
        if piece:
            self._refusal.append(self._counted(piece))
            self.send(RefusalDelta(piece))

    def usage(self, usage: Usage) -> None:
        """The tokens so far."""
        if usage != self._usage:
            self._usage = usage
            self.send(UsageReported(usage))

    def failed(self, error: ProviderError) -> None:
        """The provider reports an error."""
        self.started()
        if error != self.error:
            self.error = self.error or error
            self.send(Failed(error))

    def finished(self, word: str | None, reason: FinishReason | None = None) -> None:
        """The provider says why the response ends. It says so once."""
        if word is None or self._finish is not None:
            return
        reason = reason or reason_of(word)
        self.settle("stop" if reason in ("stop", "tool_calls") else None, told=True)
        if reason == "stop" and self.called:
            reason = "tool_calls"
        self._finish = (reason, word)
        self.send(Finished(reason, word))

    def made(self, kind: str) -> Block:
        """A new part of a kind."""
        return Thoughts(self) if kind == "reasoning" else (Written if self._options.format else Verbatim)(self)

    def _counted(self, piece: str) -> str:
        self._received += len(piece)
        if self._received > self.settings.max_chars:
            raise LimitError(self.settings.max_chars, self.close())
        return piece

    # the end

    def cut(self, left: str) -> None:
        """The stream ended inside a chunk, of which this is left over."""
        if left:
            message = "the stream ends inside a chunk, which is left out"
            self.note("cut-chunk", message, self.length, notes=(f"it begins with {left[:40]!r}",))
            self._worsen("truncated")

    def close(self) -> ProviderReply:
        """The response has ended; this is all of it."""
        self.started()
        self.settle(None)
        self.refuse(self._refused.close())
        reply = self._reply()
        self.send(Done(reply))
        return reply

    def _reply(self) -> ProviderReply:
        segments: list[Any] = []
        begins: list[int] = []
        for block in self._blocks:
            begins.append(len(segments))
            segments += block.segments
        begins.append(len(segments))
        for segment in segments:
            self._worsen(getattr(segment, "status", "ok"))
        raw, reason = self.raw, self._finish or (None, None)
        replies, named = self._replies, self._options.format
        envelopes = [reply for reply in replies if reply.envelope]
        contents = [reply.envelope_content for reply in envelopes if reply.envelope_content is not None]
        return _built(
            raw=raw,
            format=next((reply.format for reply in replies if reply.format), None if named == "auto" else named),
            segments=segments,
            status=self._status,
            diagnostics=place_diagnostics(sorted(self._notes, key=lambda note: note.span[0]), raw),
            repairs=sorted(self._repairs, key=lambda repair: repair.span[0]),
            envelope=bool(envelopes),
            envelope_content="".join(contents) if contents else None,
            final_answer_streamed=any(reply.final_answer_streamed for reply in replies),
            needs_more_work=next((reply.needs_more_work for reply in reversed(envelopes)), None),
            provider=self._options.provider,
            id=self.id,
            model=self.model,
            finish_reason=reason[0],
            stop_reason=reason[1],
            usage=self._usage,
            refusal="".join(self._refusal) if self._refusal else None,
            error=self.error,
            signatures=[self._signature(*found, begins) for found in self._signatures.values()],
        )

    def _signature(self, block: Block | int, data: str, redacted: bool, begins: list[int]) -> Signature:
        if isinstance(block, int):
            return Signature(segment=begins[block], data=data, redacted=redacted)
        place = begins[block.place] + max(len(block.segments) - 1, 0)
        return Signature(segment=place, data=data, redacted=redacted)


def _built(**values: Any) -> ProviderReply:
    """A reply of parts that are right by construction."""
    return construct(ProviderReply, {name: values[name] for name in ProviderReply.model_fields})
