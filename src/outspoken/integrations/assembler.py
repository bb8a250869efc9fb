"""One assembler for all frameworks: text of a response in, the parts of its message out, whole or as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypedDict

from pydantic import BaseModel
from pydantic_core import to_json

from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.processing.answers import read_answer
from outspoken.providers.events import StreamEvent
from outspoken.providers.requested import choice_of, value_of
from outspoken.providers.stream import ProviderStream
from outspoken.providers.wire.replay import replay
from outspoken.rendering.history import rendered_messages
from outspoken.results import events as results
from outspoken.results.call_ids import CallIds
from outspoken.results.edits import RepairLimit
from outspoken.results.finish_reasons import to_finish_reason
from outspoken.results.replies import Reply, ToolCall
from outspoken.results.settings import Settings

from .messages import REASONS, chat_message, format_of, noted, object_of, refusal_of, refused_calls


@dataclass(frozen=True)
class CallEnd:
    """A call ends: it is complete, or it has a problem and must not be run, whatever was sent of it.

    `index` counts the calls of the response. A call with a problem may have no start. `refusal` is that of
    `refusal_of`, "" for a complete call.
    """

    index: int
    id: str
    call: ToolCall
    refusal: str = ""

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.call.name

    @property
    def arguments(self) -> str:
        """The arguments as JSON text; for a call with a problem, its refusal, which is no JSON."""
        return self.refusal or self.call.arguments_text


#: What a message is made of. The ids of calls are unique in the response, and those of its history.
MessagePart: TypeAlias = (
    results.TextDelta | results.ReasoningDelta | results.ReasoningEnd | results.ToolCallStart | results.ToolCallDelta
    | CallEnd
)  # fmt: skip


class ReaderOptions(TypedDict, total=False):
    """The options of models that read text; see `Assembler`."""

    prefix: str | None
    repair: RepairLimit | None
    settings: Settings | None
    finish_reason: str | None
    render_history: bool


class Assembler:
    """Assembles the message of one response: all of it with `whole`, or pieces with `feed` and `close`.

    `format` is the name of a format or the id of a model, or "auto"; without it, the name of the `model` says the
    format, or it is "auto" if that is not known. `tools` and `choice` are those of the request, `history` its messages
    as chat completions have them, and `stop` the texts at which it lets the model stop. A call that stands in a message
    of the history is refused, unless it is the assistant's. With `render_history`, `to_send` makes text in the format
    of calls, reasoning and results; it needs the name of a format. `prefix` is that of `Parser.parse`, and the other
    options are those of `Parser`. If the framework does not say why a response ended, it ended by `finish_reason`: by
    default, a call whose end is missing is cut. Pass "stop" if the server removes the marker that ends a call. Raises
    what `Parser` raises.

    `text`, `reasoning` and `calls` are what has arrived; `calls` has those with a problem, too. A complete response has
    a `reply`. With `joins_reasoning`, a blank line stands before each block of reasoning but the first, as in
    `Reply.reasoning`. `source` reads responses of a provider instead; `ids` are for what writes their calls.
    """

    reply: Reply
    joins_reasoning = True

    def __init__(
        self, format: str | None, model: Any = None, tools: Tools | Sequence[Any] | None = None,
        choice: Any = None, *, history: Sequence[dict[str, Any]] = (), stop: Any = None, prefix: str | None = None,
        finish_reason: str | None = None, render_history: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        self._format = format_of(format, model)
        self._options: dict[str, Any] = {"tools": tools, "context": history or None, **options}
        self.choice = choice_of(choice, tools)
        calls: dict[str, Any] = {"calls": self.choice != "none"}
        self._parser = Parser(self._format, **{**calls, **self._options})
        self._rendered = registry.resolve(self._parser.format) if render_history else None
        self._history, self._prefix = history, prefix
        taken = [call["id"] for said in history for call in said.get("tool_calls") or ()]
        self.ids = CallIds(taken=[*taken, *[said["tool_call_id"] for said in history if "tool_call_id" in said]])
        self.finish_reason, self._stop = finish_reason, None if finish_reason else stop
        self._begin()

    @classmethod
    def maker(cls, *given: Any, **options: Any) -> Callable[..., Assembler]:
        """What makes the assembler for each request, with options that are checked now."""
        begin = partial(cls, *given, **options)
        begin()
        return begin

    def _begin(self) -> None:
        self._session: Session | None = None
        self._needs_break = False
        self._calls: dict[int, CallEnd] = {}
        self._begun: dict[int, str] = {}  # the ids of calls, by their index
        self.text = self.reasoning = ""

    def another(self) -> Assembler:
        """The assembler of another choice or text of the response."""
        other = copy(self)
        other._begin()
        return other

    def source(self, *provider: Any, **asked: Any) -> ProviderStream:
        """What reads a response of a provider, in the place of this assembler."""
        options = {**self._options, "prefix": self._prefix, "stops": bool(self._stop), **asked}
        return ProviderStream(*provider, format=self._format, **options)

    def to_send(
        self, messages: Iterable[Any], keep: Callable[[Any], Any] = lambda message: message,
        write: Callable[[str, str, list[Any]], Any] = chat_message,
    ) -> list[Any]:  # fmt: skip
        """The messages of the history for the server: as `keep` makes them, or as text in the format.

        `write` makes the message that stands in the place of one or more: of its role, which is "assistant" or "user",
        its text, and other parts. In the place of the others is None.
        """
        if self._rendered is None:
            return [*map(keep, messages)]

        def sent(message: Any, old: Any, new: Any) -> Any:
            if new is old or new is None:
                return new and keep(message)
            parts: list[Any] = [{"text": content}] if isinstance(content := new["content"], str) else content
            return write(new["role"], parts[0]["text"], [part.get("other", part) for part in parts[1:]])

        rendered = rendered_messages(self._history, self._rendered, self._parser.tools)
        return [*map(sent, messages, self._history, rendered)]

    @property
    def calls(self) -> list[CallEnd]:
        """The calls that have ended, in the order of the response."""
        return [call for _, call in sorted(self._calls.items())]

    @property
    def has_begun(self) -> bool:
        """True if text has arrived."""
        return self._session is not None

    def add_own_reasoning(self, text: str = "") -> None:
        """Add reasoning that the model itself has returned: before any text, it ends that which the prompt opens."""
        self.reasoning += text
        if self._session is None:
            self._prefix, self._needs_break = "", True

    def whole(self, text: str, *places: Any) -> list[MessagePart]:
        """Read a whole response; return its parts. `places` say why it ended: see `reason`."""
        self.reply = self._parser.parse(text, prefix=self._prefix, finish_reason=self.reason(*places))
        return self._parts(replay(self.reply, unfinished=True))

    def feed(self, chunk: str | None) -> list[MessagePart]:
        """Read a chunk; return what has become certain. Raises LimitError, as `Session.feed` does."""
        return self._parts(self._opened.feed(chunk)) if chunk else []

    def close(self, *places: Any) -> list[MessagePart]:
        """End the response; return the rest. Every call that has begun has ended then."""
        return self._parts(self._opened.close(self.reason(*places)))

    def answer(self, tool: str, schema: Any) -> CallEnd | None:
        """A call of a tool whose arguments the text is, of a response without calls; None if it is not."""
        is_answer = not self.calls and self.text.strip()
        answer = read_answer(self.text, schema, tool=tool, format="text") if is_answer else None
        arguments = object_of(answer.data) if answer and answer.is_valid and answer.data is not None else None
        if arguments is None:
            return None
        call = ToolCall(name=tool, arguments=arguments, arguments_text=to_json(arguments).decode())
        return CallEnd(0, self.ids.next(), call)

    def called(self, reason: Any) -> Any:
        """The `reason` of a server that did not see the calls."""
        is_called = reason == "stop" and any(not call.refusal for call in self.calls)
        return "tool_calls" if is_called else reason

    def metadata(self, known: dict[str, Any]) -> dict[str, Any]:
        """The metadata of a response, as the server has sent it, with what is known of the reply."""
        reason = {"finish_reason": self.called(known["finish_reason"])} if "finish_reason" in known else {}
        return {**known, **reason, **noted(self.reply)}

    def reason(self, *places: Any) -> str | None:
        """Why the response ended, as one of the places says: dicts or objects, which may be chat completions.

        If the request has texts at which the model stops, "stop" does not prove that it was done.
        """
        chosen = [choices[0] for place in places if (choices := value_of(place, "choices"))]
        reasons = [value_of(place, key) for place in (*chosen, *places) for key in REASONS]
        first, *others = [*filter(lambda word: isinstance(word, str), reasons), self.finish_reason]
        is_stopped = bool(self._stop) or any(to_finish_reason(word) == "other" for word in others if word)
        return "stop_sequence" if first and is_stopped and to_finish_reason(first) == "stop" else first

    @property
    def _opened(self) -> Session:
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
                lead = "\n\n" if self._needs_break else ""
                self.reasoning += (lead if self.reasoning else "") + text
                self._needs_break = False
                yield results.ReasoningDelta(lead + text) if lead and self.joins_reasoning else event
            case results.ReasoningEnd():
                self._needs_break = True
                yield event
            case results.ToolCallStart(index, id, name):
                self._begun[index] = id = self.ids.next(id)
                yield results.ToolCallStart(index, id, name)
            case results.ToolCallDelta() if event.arguments:
                yield event
            case results.ToolCallEnd(index, call):
                yield self._end(index, call)
            case results.ToolCallUnfinished(index, call) if self._session is None:  # of a stream, the reply tells why
                yield self._end(index, call, refusal_of(call, self.reply))
            case results.Done(reply=reply):
                self.reply = reply
                for index, call, refusal in refused_calls(reply):
                    if index not in self._calls:
                        yield self._end(index, call, refusal)
            case _:
                pass

    def _end(self, index: int, call: ToolCall, refusal: str = "") -> CallEnd:
        id = self._begun.get(index) or self.ids.next(call.id)
        self._calls[index] = ended = CallEnd(index, id, call, refusal)
        return ended


class AssemblerFields(BaseModel):
    """The options of `Assembler` as fields of a framework's class, which may wrap a model: its `model` or `llm`."""

    format: str | None = None
    prefix: str | None = None
    parser_options: dict[str, Any] = {}  # a field of pydantic, which copies its default

    def model_post_init(self, context: Any, /) -> None:
        """Check the options. The ValueErrors of `outspoken.Parser` are in pydantic's ValidationError."""
        super().model_post_init(context)
        self._begin()

    def _begin(self, tools: Any = None, choice: Any = None, **request: Any) -> Assembler:
        """The assembler for the response to a request."""
        wrapped = getattr(self, "model", None) or getattr(self, "llm", None)
        own: dict[str, Any] = {"prefix": self.prefix, "render_history": getattr(self, "render_history", False)}
        return Assembler(self.format, wrapped, tools, choice, **{**own, **request, **self.parser_options})


def joined(parts: Iterable[MessagePart], kind: type[results.TextDelta | results.ReasoningDelta]) -> str:
    """The text, or the reasoning, of some parts."""
    return "".join([part.text for part in parts if isinstance(part, kind)])
