"""What a caller receives: the typed segments of one response and the reply that holds them.

Every span is a pair `(start, end)` of offsets, in characters, into the raw text of the response.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from .conventions import Conventions, default_conventions
from .diagnostics import Diagnostic, Repair

if TYPE_CHECKING:
    from .actions.union import Action
else:

    class _Action:
        """Stands for `Action` until a schema of it is needed: its fifty models cost time to import."""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            from .actions.union import Action

            return handler.generate_schema(Action)

    Action = Annotated[object, _Action]

Span = tuple[int, int]
Status = Literal["ok", "repaired", "truncated", "invalid"]

#: From best to worst: a reply has the worst status of its segments.
STATUSES: tuple[Status, ...] = ("ok", "repaired", "truncated", "invalid")

_FROZEN = ConfigDict(frozen=True, defer_build=True)


class Text(BaseModel):
    """Text to show to the user."""

    model_config = _FROZEN

    kind: Literal["text"] = "text"
    text: str
    span: Span


class Reasoning(BaseModel):
    """What the model thought before or between its answers."""

    model_config = _FROZEN

    kind: Literal["reasoning"] = "reasoning"
    text: str
    span: Span
    status: Status = "ok"


class ToolCall(BaseModel):
    """One call of a tool.

    `arguments_text` is the arguments as JSON text; joined, the deltas of a stream are exactly this text, and
    where the model itself wrote JSON it is the model's own, to the byte. `arguments` is its value.
    """

    model_config = _FROZEN

    kind: Literal["tool_call"] = "tool_call"
    name: str
    arguments: dict[str, Any]
    arguments_text: str = "{}"
    id: str | None = None
    status: Status = "ok"
    span: Span = (0, 0)
    repairs: tuple[Repair, ...] = ()


class Payload(BaseModel):
    """A structured element that an application asked for by its marker (`SUGGESTED_VALUES:`).

    In a format that was made of a response template, also each field that is not text, reasoning or calls: `type` is
    its name, `data` its text, or its value where its content is JSON.
    """

    model_config = _FROZEN

    kind: Literal["payload"] = "payload"
    type: str
    data: Any
    status: Status = "ok"
    span: Span
    repairs: tuple[Repair, ...] = ()


class JsonValue(BaseModel):
    """A JSON value that stands in the text and is no call. `raw` is what the model wrote, and part of `Reply.text`."""

    model_config = _FROZEN

    kind: Literal["json"] = "json"
    value: Any
    raw: str
    span: Span


Segment = Annotated[Text | Reasoning | ToolCall | Action | Payload | JsonValue, Field(discriminator="kind")]

_S = TypeVar("_S", bound=BaseModel)


class Reply(BaseModel):
    """One response, read.

    `repairs` are all changes that made damaged text readable, in the order of the text; those of a call are in the
    call, too. `segments` holds everything in document order; the properties below pick from it. The spans of the
    segments and the markup between them tile `raw`, so nothing of the response is lost. `status` is the worst of the
    segments', "repaired" where something else was, and "truncated" where the text ends inside markup.

    `envelope` says that the model itself wrote an object with the calls or with its wish for another turn;
    `envelope_content` and `needs_more_work` are what that object says, None where it does not.

    `final_answer_streamed` says that the model answered by a call of the format's own (ReAct's `Final Answer`). The
    answer is in `text`; of a stream, its text was sent in deltas while it came, and need not be shown again.
    """

    model_config = _FROZEN

    raw: str
    format: str | None
    segments: list[Segment]
    status: Status = "ok"
    diagnostics: list[Diagnostic] = Field(default_factory=list[Diagnostic])
    repairs: list[Repair] = Field(default_factory=list[Repair])
    envelope: bool = False
    envelope_content: str | None = None
    needs_more_work: bool | None = None
    final_answer_streamed: bool = False

    @cached_property
    def text(self) -> str:
        """What to show to the user: all text, in order, with plain JSON values as they were written."""
        return "".join([_shown(s) for s in self.segments])

    @cached_property
    def reasoning(self) -> str | None:
        """All reasoning blocks, joined by a blank line; None where the model wrote none."""
        blocks = [s.text for s in self._of(Reasoning)]
        return "\n\n".join(blocks) if blocks else None

    @cached_property
    def tool_calls(self) -> list[ToolCall]:
        """The finished calls (`ok` or `repaired`), in order. Only these may be run."""
        return [c for c in self._of(ToolCall) if c.status in ("ok", "repaired")]

    @cached_property
    def unfinished(self) -> list[ToolCall]:
        """Calls that never ended (`truncated`) or could not be read (`invalid`). Never run these."""
        return [c for c in self._of(ToolCall) if c.status not in ("ok", "repaired")]

    @cached_property
    def actions(self) -> list[Action]:
        """The finished GUI actions (`ok` or `repaired`), in order. Only these may be carried out."""
        return [s for s in self.segments if s.kind == "action" and s.status in ("ok", "repaired")]

    @cached_property
    def unfinished_actions(self) -> list[Action]:
        """GUI actions that never ended (`truncated`) or cannot be read (`invalid`). Never carry these out."""
        return [s for s in self.segments if s.kind == "action" and s.status not in ("ok", "repaired")]

    @cached_property
    def payloads(self) -> list[Payload]:
        """The payloads, in order."""
        return [s for s in self.segments if s.kind == "payload"]

    def _of(self, kind: type[_S]) -> list[_S]:
        return [s for s in self.segments if type(s) is kind]

    def message_keys(self) -> tuple[str, ...]:
        """The payloads that have keys of their own in a message."""
        return default_conventions().message_keys

    def message_text(self) -> str:
        """What a message has for text."""
        from .message_text import message_of

        return message_of(self)

    def to_message(self) -> dict[str, Any]:
        """The reply as one plain object for the application that asked for payloads.

        `message` is the text, without white space at its ends; where something was taken out of it, the white space of
        either side is one blank line, one line break or one space. Each payload of `message_keys` has its data under
        its own name, or None; `custom_payload` is the first of all others, as an object with its `type` and `data`,
        or None.
        """
        keys = self.message_keys()
        message: dict[str, Any] = {"message": self.message_text(), **dict.fromkeys(keys), "custom_payload": None}
        for payload in reversed(self.payloads):
            if payload.type in keys:
                message[payload.type] = payload.data
            else:
                message["custom_payload"] = {"type": payload.type, "data": payload.data}
        return message

    def to_envelope(self, conventions: Conventions | None = None) -> dict[str, Any]:
        """Return the reply as one plain object: text, calls, and whether the model wants another turn.

        The keys are `content`, `toolCalls` and `needsMoreWork`, unless `conventions` has other names. A key is absent
        if the response does not determine it. If the model wrote such an object itself, `content` is that object's
        content; otherwise it is the text around the calls, or a placeholder (`Executing tools`) if there is none. For
        a response that ends inside its only call, `content` is the raw text.
        """
        from .envelope import to_envelope

        return to_envelope(self, conventions or default_conventions())


def _shown(segment: Segment) -> str:
    if segment.kind == "text":
        return segment.text
    return segment.raw if segment.kind == "json" else ""
