"""One assembler for all frameworks: text of a response in, the parts of its message out, whole or as they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, cast

from pydantic_core import to_json

from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.providers.events import StreamEvent
from outspoken.providers.export.replay import replay
from outspoken.results import events as results
from outspoken.results.edits import RepairLimit
from outspoken.results.replies import Reply, ToolCall
from outspoken.results.settings import Settings

from .framework import allows_calls, format_of
from .messages import CallIds, IdentifiedCall, finish_reason, typed_answer

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class CallEnd:
    """A call ends: it is complete, or it has a problem and must not be run, whatever was sent of it.

    `index` counts the calls of the response. A call that is known only at the end of a stream has no start.
    """

    index: int
    call: IdentifiedCall


#: What a message is made of. The ids of calls are unique in the response, and those of its history.
MessagePart: TypeAlias = (
    results.TextDelta
    | results.ReasoningDelta
    | results.ReasoningEnd
    | results.ToolCallStart
    | results.ToolCallDelta
    | CallEnd
)


class ReaderOptions(TypedDict, total=False):
    """The options of models that read text; see `FormatReader`."""

    prefix: str | None
    repair: RepairLimit | None
    settings: Settings | None
    finish_reason: str | None


class FormatReader:
    """Reads the responses of a model in a format.

    `format` is the name of a format or the id of a model, or "auto"; without it, the name of the `model` says the
    format, or it is "auto" if that is not known. `prefix` is that of `Parser.parse`; `repair` and `settings` are those
    of `Parser`. If the framework does not say why a response ended, it ended by `finish_reason`: by default, a call
    whose end is missing is cut. Pass "stop" if the server removes the marker that ends a call. Raises what `Parser`
    raises.
    """

    def __init__(self, format: str | None, model: Any = None, **options: Unpack[ReaderOptions]) -> None:
        self._format, self._model = format, model
        self.prefix, self.finish_reason = options.pop("prefix", None), options.pop("finish_reason", None)
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
        return Assembler(self, self.parser(tools, choice, **more), CallIds(taken=taken), stop)


class Assembler:
    """Assembles the message of one response: all of it with `whole`, or pieces with `feed` and `close`.

    `text` and `calls` are what has arrived; `calls` has those with a problem, too. A complete response has a `reply`.
    With `joins_reasoning`, a blank line stands before each block of reasoning but the first, as in `Reply.reasoning`.
    """

    def __init__(self, reader: FormatReader, parser: Parser, ids: CallIds, stop: Any) -> None:
        self._reader, self._parser, self._ids, self._stop = reader, parser, ids, stop
        self._prefix = reader.prefix
        self._session: Session | None = None
        self.joins_reasoning = self._needs_break = False
        self._reply: Reply | None = None
        self._calls: dict[int, IdentifiedCall] = {}
        self._begun: dict[int, str] = {}  # the ids of calls, by their index
        self.text, self._own_reasoning, self._reasoning = "", "", ""

    def another(self) -> Assembler:
        """The assembler of another choice or text of the response."""
        other = Assembler(self._reader, self._parser, self._ids, self._stop)
        other._prefix, other.joins_reasoning = self._prefix, self.joins_reasoning
        return other

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
        """Read a whole response; return its parts. `places` say why it ended: see `finish_reason`."""
        reply = self._parser.parse(text, prefix=self._prefix, finish_reason=self.reason(*places))
        return self._parts(replay(reply))

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
        default = self._reader.finish_reason
        return finish_reason(*places, {"finish_reason": default}, stop=None if default else self._stop)

    def _open(self) -> Session:
        self._session = self._session or self._parser.session(prefix=self._prefix)
        return self._session

    def _parts(self, events: Iterable[StreamEvent]) -> list[MessagePart]:
        return [part for event in events for part in self._parts_of(event)]

    def _parts_of(self, event: StreamEvent) -> Iterator[MessagePart]:
        match event:
            case results.TextDelta(text) if text:
                self.text += text
                yield event
            case results.ReasoningDelta(text):
                if self._needs_break and self.joins_reasoning:
                    event = results.ReasoningDelta(f"\n\n{text}")
                self._reasoning += f"\n\n{text}" if self._needs_break and self._reasoning else text
                self._needs_break = False
                yield event
            case results.ReasoningEnd():
                self._needs_break = True
                yield event
            case results.ToolCallStart(index, id, name):
                yield self._start(index, id, name)
            case results.ToolCallDelta() if event.arguments:
                yield event
            case results.ToolCallEnd(index, call):
                if index not in self._begun:
                    yield self._start(index, call.id, call.name)
                    yield results.ToolCallDelta(index, call.arguments_text)
                yield self._end(index, IdentifiedCall(self._begun[index], call))
            case results.Done(reply=reply):
                self._reply = reply
                for index, call in enumerate([one for one in reply.segments if one.kind == "tool_call"]):
                    if index not in self._calls:  # it is truncated or invalid
                        id = self._begun.get(index) or self._ids.next(call.id)
                        yield self._end(index, IdentifiedCall.of(id, call, reply))
            case _:
                pass

    def _start(self, index: int, id: str | None, name: str) -> results.ToolCallStart:
        self._begun[index] = id = self._ids.next(id)
        return results.ToolCallStart(index, id, name)

    def _end(self, index: int, call: IdentifiedCall) -> CallEnd:
        self._calls[index] = call
        return CallEnd(index, call)


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
