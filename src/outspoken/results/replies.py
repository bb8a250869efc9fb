"""The result of reading one response: typed segments, and the reply that contains them.

Every span is a pair `(start, end)` of offsets, in characters, into the raw text of the response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, overload

from pydantic import BaseModel, Field

from .construct import FrozenModel
from .diagnostics import Diagnostic, Repair, retry_message
from .envelope import Conventions, default_conventions
from .message_text import text_pieces

if TYPE_CHECKING:
    from inspect import BoundArguments

    from .actions.union import Action
    from .running import OnToolError, ResultWire
    from .schemas.convert import Conversion
else:

    class _Action:
        """Delays the import of the fifty action models until pydantic builds the schema of a reply."""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            from .actions.union import Action

            return handler.generate_schema(Action)

    Action = Annotated[object, _Action]

_T = TypeVar("_T")

Span = tuple[int, int]
Status = Literal["ok", "repaired", "truncated", "invalid"]

#: From best to worst.
STATUSES: tuple[Status, ...] = ("ok", "repaired", "truncated", "invalid")


class Text(FrozenModel):
    """Text to show to the user."""

    kind: Literal["text"] = "text"
    text: str
    span: Span = Field(repr=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield None, self.text


class Reasoning(FrozenModel):
    """A reasoning block of the model."""

    kind: Literal["reasoning"] = "reasoning"
    text: str
    span: Span = Field(repr=False)
    status: Status = "ok"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield from _with_first(self.text, "text", super().__repr_args__())


class ToolCall(FrozenModel):
    """One tool call.

    `arguments` are the parsed arguments, and `arguments_text` is their JSON text: byte for byte what the model wrote
    if it wrote JSON, and the concatenation of the deltas of a stream.
    """

    #: the name of what holds the type or the function that the tool was given as
    TYPE: ClassVar = "_tool_type"

    kind: Literal["tool_call"] = "tool_call"
    name: str
    arguments: dict[str, Any]
    arguments_text: str = Field(default="{}", repr=False)
    id: str | None = None
    status: Status = "ok"
    span: Span = Field(default=(0, 0), repr=False)
    repairs: tuple[Repair, ...] = Field(default=(), repr=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The name, the arguments as keywords, and the other fields that differ from their defaults."""
        from .printing import Word

        for name, value in _with_first(Word(self.name), "name", super().__repr_args__()):
            if name == "arguments" and all(map(_is_keyword, self.arguments)):
                yield from self.arguments.items()
            else:
                yield name, value

    @overload
    def into(self, type_: type[_T]) -> _T: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def into(self, type_: Callable[..., Any]) -> BoundArguments: ...
    @overload
    def into(self, type_: object) -> Any: ...
    def into(self, type_: Any) -> Any:
        """The arguments as a value of a type, validated by pydantic after conversions.

        The type is a pydantic model, a dataclass, a TypedDict, or anything else that a `TypeAdapter` takes. For a
        function, they are its bound arguments, validated by its annotations; call it with their `args` and `kwargs`.
        Raises CallError, a ValueError, if they do not fit, and for a call that is neither ok nor repaired.
        """
        from .typed_calls import into

        return into(self, type_)

    @property
    def value(self) -> Any:
        """The arguments as the tool takes them, if it was given as a type or a function: what `into` returns for it.

        None if they do not fit, which a diagnostic of the reply says, for a call that is neither ok nor repaired, and
        for one that was pickled: a pickle does not hold the types of tools.
        """
        from .typed_calls import problems

        if self._type is None or self.status not in ("ok", "repaired"):
            return None
        return None if problems(self.name, self.arguments, self._type) else self.into(self._type)

    @property
    def _type(self) -> Any:
        holder = self.__dict__.get(self.TYPE)
        return None if holder is None else holder.type

    def conversions(self, type_: Any = None) -> tuple[Conversion, ...]:
        """What `into` converts so that the arguments fit the type; nothing if they fit as they are. Raises CallError.

        Without a type, it is what `value` converts.

        They are those of `read_json`: `"12"` is 12, `Full board` is the listed `full_board`, `seatCount` is
        `seat_count`, where there is one way to read it that loses nothing.
        """
        from .typed_calls import conversions

        type_ = self._type if type_ is None else type_
        return () if type_ is None else conversions(self, type_)


class Payload(FrozenModel):
    """A structured element in the text, introduced by a marker that the application defined (`CARD: {...}`).

    In a format made from a response template, also each field other than text, reasoning and calls: `type` is the name
    of the field, and `data` its text or its JSON value.
    """

    kind: Literal["payload"] = "payload"
    type: str
    data: Any
    status: Status = "ok"
    span: Span = Field(repr=False)
    repairs: tuple[Repair, ...] = Field(default=(), repr=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        from .printing import Word

        for name, value in _with_first(Word(self.type), "type", super().__repr_args__()):
            yield None if name == "data" else name, value


class JsonValue(FrozenModel):
    """A JSON value in the text that is not a call. `raw` is what the model wrote; it is part of `Reply.text`."""

    kind: Literal["json"] = "json"
    value: Any
    raw: str = Field(repr=False)
    span: Span = Field(repr=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield None, self.value


Segment = Annotated[Text | Reasoning | ToolCall | Action | Payload | JsonValue, Field(discriminator="kind")]

_S = TypeVar("_S", bound=BaseModel)


class Reply(FrozenModel):
    """The result of reading one response.

    `segments` contains everything in document order; the properties below select from it. The spans of the segments
    and the markup between them cover `raw` completely. `repairs` are all changes that made damaged text readable, in
    document order, including those of calls. `status` is the worst status of the segments; it is at least "repaired" if
    anything else was repaired, and "truncated" if the text ends inside markup.

    `envelope` is True if the model itself wrote an object with its calls or its wish for another turn.
    `envelope_content` and `needs_more_work` are the values of that object, or None. `unread` are its entries that no
    other field holds: those under other keys, content that is no text, and an empty list of calls as `tool_calls`.

    `final_answer_streamed` is True if the model answered through a call of the format (ReAct's `Final Answer`). The
    answer is part of `text`; a stream has already sent it in deltas.
    """

    raw: str = Field(repr=False)
    format: str | None
    segments: list[Segment]
    status: Status = "ok"
    diagnostics: list[Diagnostic] = Field(default_factory=list[Diagnostic])
    repairs: list[Repair] = Field(default_factory=list[Repair], repr=False)
    envelope: bool = False
    envelope_content: str | None = None
    needs_more_work: bool | None = None
    unread: dict[str, Any] = Field(default_factory=dict[str, Any])
    final_answer_streamed: bool = False
    borders: tuple[int, ...] = Field(default=(), repr=False)

    def __repr__(self) -> str:
        from .printing import reply_lines

        return reply_lines(self, self.segments, self.diagnostics)

    @property
    def text(self) -> str:
        """The text to show to the user, with JSON values as the model wrote them.

        It is what remains without calls, reasoning and other markup, as the model wrote it, with the white space on
        both sides of them. At `borders`, which are offsets, another message begins: where no white space separates
        it, a space does. Where one of them begins or ends the response, the text has no white space at that end. The
        deltas of a stream add up to the same text.
        """
        return "".join(self.text_pieces())

    def text_pieces(self) -> list[str]:
        """What each segment adds to `text`, with the white space that separates it from the text before it."""
        return text_pieces(self.segments, self.raw, self.borders)

    @property
    def reasoning(self) -> str | None:
        """All reasoning blocks, joined by blank lines; None if there are none."""
        blocks = [s.text for s in self._of(Reasoning)]
        return "\n\n".join(blocks) if blocks else None

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The complete calls (`ok` or `repaired`), in order. Run only these."""
        return [c for c in self._of(ToolCall) if c.status in ("ok", "repaired")]

    @property
    def unfinished_tool_calls(self) -> list[ToolCall]:
        """The `truncated` and `invalid` calls. Never run these."""
        return [c for c in self._of(ToolCall) if c.status not in ("ok", "repaired")]

    @property
    def actions(self) -> list[Action]:
        """The complete GUI actions (`ok` or `repaired`), in order. Carry out only these."""
        return [s for s in self.segments if s.kind == "action" and s.status in ("ok", "repaired")]

    @property
    def unfinished_actions(self) -> list[Action]:
        """The `truncated` and `invalid` GUI actions. Never carry these out."""
        return [s for s in self.segments if s.kind == "action" and s.status not in ("ok", "repaired")]

    @property
    def payloads(self) -> list[Payload]:
        """The complete payloads (`ok` or `repaired`), in order. Use only these."""
        return [s for s in self.segments if s.kind == "payload" and s.status in ("ok", "repaired")]

    @property
    def unfinished_payloads(self) -> list[Payload]:
        """The `truncated` and `invalid` payloads. Never use these."""
        return [s for s in self.segments if s.kind == "payload" and s.status not in ("ok", "repaired")]

    @property
    def looks_like_failed_tool_call(self) -> bool:
        """True if the model tried to call a tool or to act, and nothing that can be used came of it.

        There is no complete call, action or payload, but an unfinished one, markup of a call that stayed text, or a
        call in another format; or the text ends reasoning that never began. You may ask the model again, unless the
        diagnostics are `other-format` and `orphan-closer`, which say what to pass to `parse`.
        """
        if self.tool_calls or self.actions or self.payloads:
            return False
        if self.unfinished_tool_calls or self.unfinished_actions or self.unfinished_payloads:
            return True
        from .codes import FAILED_CALLS

        return any(d.code in FAILED_CALLS and d.severity != "note" for d in self.diagnostics)

    def _of(self, kind: type[_S]) -> list[_S]:
        return [s for s in self.segments if type(s) is kind]

    def message_keys(self) -> tuple[str, ...]:
        """The types of the payloads that have their own key in `to_message`."""
        return default_conventions().message_keys

    def to_message(self) -> dict[str, Any]:
        """Return the reply as one plain object for a client that displays text and payloads.

        `message` is `text`. The data of each payload type in `message_keys` is under its own key, or None.
        `custom_payload` is the first of all other payloads, as an object with `type` and `data`, or None.
        """
        keys = self.message_keys()
        message: dict[str, Any] = {"message": self.text, **dict.fromkeys(keys), "custom_payload": None}
        for payload in reversed(self.payloads):
            if payload.type in keys:
                message[payload.type] = payload.data
            else:
                message["custom_payload"] = {"type": payload.type, "data": payload.data}
        return message

    def run(
        self,
        tools: Sequence[Any] | Mapping[str, Any],
        *,
        provider: ResultWire = "openai",
        on_error: OnToolError = "keep",
        id: str | None = None,
    ) -> list[dict[str, Any]]:
        """Run `tool_calls` in order, and return the messages for the next turn, as the provider's API takes them.

        `tools` are functions, classes with fields and tool objects with `invoke`, or a dict with their names. The
        arguments are validated as in `ToolCall.into`. An error (arguments that do not fit, an unknown tool, an
        exception of a tool) is a result that says so; with `on_error="raise"` it is raised. A call that must not run
        is answered with the reason: under its id if the provider sent it as a call, otherwise in a user message.

        A result that is no text is JSON. Ids are those of the calls, or those that `to_wire` makes from the same `id`.
        Raises ToolError for a tool that cannot be run, and TypeError for an asynchronous one.
        """
        from .running import Runner

        return Runner(tools, provider, on_error).run(self, id)

    async def arun(
        self,
        tools: Sequence[Any] | Mapping[str, Any],
        *,
        provider: ResultWire = "openai",
        on_error: OnToolError = "keep",
        id: str | None = None,
        concurrent: bool = False,
    ) -> list[dict[str, Any]]:
        """The same as `run` for tools of which some are asynchronous; others run in a thread.

        With `concurrent`, all calls run at once. The messages are in the order of the calls.
        """
        from .running import Runner

        return await Runner(tools, provider, on_error).arun(self, id, concurrent=concurrent)

    def to_envelope(self, conventions: Conventions | None = None) -> dict[str, Any]:
        """Return the reply as one plain object: text, calls, and whether the model wants another turn.

        The keys are `content`, `toolCalls` and `needsMoreWork`, unless `conventions` has other names. A key is absent
        if the response does not determine it. If the model wrote such an object itself, `content` is that object's
        content, and its other entries are kept under their keys. Otherwise `content` is the text around the calls, or a
        placeholder (`Executing tools`) if there is none. For a response that ends inside its only call, `content` is
        the raw text.
        """
        from .envelope import to_envelope

        return to_envelope(self, conventions or default_conventions())


def _with_first(first: Any, field: str, args: Iterable[tuple[str | None, Any]]) -> Iterator[tuple[str | None, Any]]:
    """The arguments of a `repr` with a field of the model first, and without its name."""
    yield None, first
    yield from [(name, value) for name, value in args if name != field]


def _is_keyword(name: str) -> bool:
    """True if an argument of a call can be shown as a keyword that is no field of the call."""
    return name.isidentifier() and not iskeyword(name) and name not in ToolCall.model_fields


def is_failed_call(reply: Reply) -> bool:
    """Does a reply look like a failed call that the model may write again? It cannot mend a prefix that is missing."""
    lacks_prefix = any(d.code == "orphan-closer" for d in reply.diagnostics)
    return reply.looks_like_failed_tool_call and not lacks_prefix


def has_failed_call(reply: Reply) -> bool:
    """True if the model should be asked again: a call is truncated or invalid, or its markup could not be read."""
    return bool(reply.unfinished_tool_calls) or is_failed_call(reply)


def retry_of(reply: Reply) -> str:
    """A message for the model: what is wrong with its response, and a request to write the call again."""
    opening = "Your last response could not be used, and no tool was run:"
    return retry_message(opening, reply.diagnostics, is_truncated=reply.status == "truncated")
