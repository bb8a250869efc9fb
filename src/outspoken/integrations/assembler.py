"""One assembler for all frameworks: text of a response in, the parts of its message out, whole or as they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, cast

from pydantic_core import to_json

from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.providers.export.replay import without
from outspoken.results import events as results
from outspoken.results.edits import RepairLimit
from outspoken.results.replies import Reply, ToolCall
from outspoken.results.settings import Settings

from .framework import allows_calls, format_of
from .messages import CallIds, IdentifiedCall, finish_reason, typed_answer

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class CallStart:
    """A call begins. `position` counts the calls of the response from 0, those with a problem too."""

    position: int
    id: str
    name: str


@dataclass(frozen=True)
class CallDelta:
    """More of a call's arguments, as JSON text."""

    position: int
    id: str
    arguments: str


@dataclass(frozen=True)
class CallEnd:
    """A call ends: it is complete, or it has a problem and must not be run, whatever was sent of it.

    Of a call that has a problem, a whole response has no `CallStart`, nor has a stream that learns of the call at its
    end.
    """

    position: int
    call: IdentifiedCall


MessagePart: TypeAlias = (
    "results.TextDelta | results.ReasoningDelta | results.ReasoningEnd | CallStart | CallDelta | CallEnd"
)


class ReaderOptions(TypedDict, total=False):
    """The options of models that read text: `prefix` is that of `Parser.parse`, the others are those of `Parser`."""

    prefix: str | None
    repair: RepairLimit | None
    settings: Settings | None


class FormatReader:
    """Reads the responses of a model in a format.

    `format` is the name of a format or the id of a model, or "auto"; without it, the name of the `model` says the
    format, or it is "auto" if that is not known. Raises what `Parser` raises.
    """

    def __init__(self, format: str | None, model: Any = None, **options: Unpack[ReaderOptions]) -> None:
        self._format, self._model = format, model
        self._prefix = options.pop("prefix", None)
        self._options: dict[str, Any] = {**options}
        self.parser()  # wrong options fail here

    def parser(self, tools: Any = (), choice: Any = None, model: Any = None, **more: Any) -> Parser:
        """The parser for a request with these tools and this `tool_choice`; `model` overrides that of the reader."""
        tools = [*tools]
        options: dict[str, Any] = {"calls": allows_calls(tools, choice), **self._options, **more}
        return Parser(format_of(self._format, model or self._model), tools=tools, **options)

    def begin(
        self, tools: Any = (), choice: Any = None, *, taken: Iterable[str] = (), stop: Any = None, **more: Any
    ) -> Assembler:
        """Begin to read the response to a request, with a `parser`.

        `taken` are the ids of calls in its history, and `stop` are the texts at which it lets the model stop.
        """
        return Assembler(self.parser(tools, choice, **more), self._prefix, CallIds(taken=taken), stop)


class Assembler:
    """Assembles the message of one response: all of it with `whole`, or pieces with `feed` and `close`.

    `text` and `calls` are what has arrived; `calls` has those with a problem, too. A complete response has a `reply`.
    With `joins_reasoning`, a blank line stands before each block of reasoning but the first, as in `Reply.reasoning`.
    """

    def __init__(self, parser: Parser, prefix: str | None = None, ids: CallIds | None = None, stop: Any = None) -> None:
        self._parser, self._prefix, self._ids, self._stop = parser, prefix, ids or CallIds(), stop
        self._session: Session | None = None
        self.joins_reasoning = self._needs_break = False
        self._reply: Reply | None = None
        self._calls: dict[int, IdentifiedCall] = {}
        self._starts: dict[int, CallStart] = {}  # by the index of the call among the events
        self._cut: list[tuple[CallStart, ToolCall]] = []
        self._count = 0
        self.text, self._own_reasoning, self._reasoning = "", "", ""

    def another(self) -> Assembler:
        """The assembler of another choice or text of the response."""
        made = Assembler(self._parser, self._prefix, self._ids, self._stop)
        made.joins_reasoning = self.joins_reasoning
        return made

    @property
    def reply(self) -> Reply:
        """The complete response, after its end."""
        assert self._reply is not None
        return self._reply

    @property
    def calls(self) -> list[IdentifiedCall]:
        """The calls that have ended, in the order of the response."""
        return [call for _, call in sorted(self._calls.items())]

    @property
    def sound_calls(self) -> list[IdentifiedCall]:
        """Those that may run."""
        return [call for call in self.calls if call.problem is None]

    @property
    def reasoning(self) -> str:
        """The reasoning so far, first that which the model has returned itself."""
        read = self._reasoning if self._reply is None else self._reply.reasoning
        return "\n\n".join(filter(None, [self._own_reasoning, read]))

    @property
    def has_begun(self) -> bool:
        """True if text has arrived."""
        return self._session is not None

    def add_own_reasoning(self, text: str = "") -> None:
        """Add reasoning that the model itself has returned: before any text, it ends that which the prompt opens."""
        self._own_reasoning += text
        if self._session is None:
            self._prefix, self._needs_break = "", True

    def whole(self, text: str, *places: Any) -> list[MessagePart]:
        """Read a whole response; return its parts in order. `places` say why it ended: see `finish_reason`."""
        self._reply = self._parser.parse(text, prefix=self._prefix, finish_reason=self.reason(*places))
        return [self._noted(part) for part in self._replayed(self._reply)]

    def feed(self, chunk: str | None) -> list[MessagePart]:
        """Read a chunk; return what has become certain. Raises LimitError, as `Session.feed` does."""
        return self._parts(self._open().feed(chunk)) if chunk else []

    def close(self, *places: Any) -> list[MessagePart]:
        """End the response; return the rest. Every call that has begun has ended then."""
        return self._parts(self._open().close(self.reason(*places)))

    def answer(self, tool: str, schema: Any) -> IdentifiedCall | None:
        """A call of a tool whose arguments the text is, of a response without calls; None if it is not."""
        if self.calls or not self.text.strip():
            return None
        found = typed_answer(self.text, (), schema, tool)
        data: Any = found.data if found.is_valid else None
        if not isinstance(data, dict):
            return None
        arguments = cast("dict[str, Any]", data)
        call = ToolCall(name=tool, arguments=arguments, arguments_text=to_json(arguments).decode())
        return IdentifiedCall(self._ids.next(), call)

    def called(self, reason: Any) -> Any:
        """The `reason` of a server that did not see the calls."""
        return "tool_calls" if self.sound_calls and reason == "stop" else reason

    def reason(self, *places: Any) -> str | None:
        """Why the response ended."""
        return finish_reason(*places, stop=self._stop)

    def _open(self) -> Session:
        self._session = self._session or self._parser.session(prefix=self._prefix)
        return self._session

    def _parts(self, events: Iterable[results.Event]) -> list[MessagePart]:
        return [self._noted(part) for event in events for part in self._parts_of(event)]

    def _noted(self, part: MessagePart) -> MessagePart:
        """Add a part to what has arrived."""
        match part:
            case results.TextDelta():
                self.text += part.text
            case results.ReasoningDelta():
                if self._needs_break:
                    self._needs_break = False
                    self._reasoning += "\n\n" if self._reasoning else ""
                    part = results.ReasoningDelta(f"\n\n{part.text}") if self.joins_reasoning else part
                self._reasoning += part.text
            case results.ReasoningEnd():
                self._needs_break = True
            case CallEnd():
                self._calls[part.position] = part.call
            case _:
                pass
        return part

    def _replayed(self, reply: Reply) -> Iterator[MessagePart]:
        for segment, text in zip(reply.segments, reply.text_pieces(), strict=True):
            if segment.kind == "tool_call":
                call = IdentifiedCall.of(self._ids.next(segment.id), segment, reply)
                if call.problem is None:
                    yield CallStart(self._count, call.id, call.name)
                    yield CallDelta(self._count, call.id, call.arguments_text)
                yield CallEnd(self._count, call)
                self._count += 1
            elif segment.kind == "reasoning":
                yield results.ReasoningDelta(segment.text)
                yield results.ReasoningEnd()
            elif text:
                yield results.TextDelta(text)

    def _parts_of(self, event: results.Event) -> Iterable[MessagePart]:
        match event:
            case results.TextDelta() | results.ReasoningDelta() | results.ReasoningEnd():
                yield event
            case results.ToolCallStart():
                yield self._start(event.index, event.id, event.name)
            case results.ToolCallDelta() if event.arguments:
                start = self._starts[event.index]
                yield CallDelta(start.position, start.id, event.arguments)
            case results.ToolCallEnd(call=call):
                start = self._starts.get(event.index)
                if start is None:
                    yield (start := self._start(event.index, call.id, call.name))
                    yield CallDelta(start.position, start.id, call.arguments_text)
                yield CallEnd(start.position, IdentifiedCall(start.id, call))
            case results.ToolCallUnfinished() if event.index in self._starts:
                self._cut.append((self._starts[event.index], event.call))  # `Done` has its diagnostics
            case results.Done(reply=reply):
                self._reply = reply
                for start, call in self._cut:
                    yield CallEnd(start.position, IdentifiedCall.of(start.id, call, reply))
                for call in without(reply.unfinished_tool_calls, [call for _, call in self._cut]):
                    yield CallEnd(self._count, IdentifiedCall.of(self._ids.next(call.id), call, reply))
                    self._count += 1
            case _:
                pass

    def _start(self, index: int, id: str | None, name: str) -> CallStart:
        start = self._starts[index] = CallStart(self._count, self._ids.next(id), name)
        self._count += 1
        return start


def joined(parts: Iterable[MessagePart], kind: type[results.TextDelta | results.ReasoningDelta]) -> str:
    """The text, or the reasoning, of some parts."""
    return "".join([part.text for part in parts if isinstance(part, kind)])


class ChunkReader(Protocol):
    """Reads the chunks of a framework, and makes those that its user gets."""

    def feed(self, chunk: Any, /) -> list[Any]:
        """Read a chunk."""
        ...

    def close(self) -> list[Any]:
        """End the response."""
        ...


def read_chunks(chunks: Iterable[Any], reader: ChunkReader) -> Iterator[Any]:
    """What is made of the chunks of a response."""
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


async def aread_chunks(chunks: AsyncIterable[Any], reader: ChunkReader) -> AsyncIterator[Any]:
    """What is made of the chunks of a response."""
    async for chunk in chunks:
        for made in reader.feed(chunk):
            yield made
    for made in reader.close():
        yield made
