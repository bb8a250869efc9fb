"""The events of a stream. The last one, `Done`, has the complete reply.

Events are final: every call that starts ends with `ToolCallEnd` or `ToolCallUnfinished`, and text that was sent is
never taken back. Events are immutable. Each has a `type`, by which `pydantic.TypeAdapter(Event)` serialises and
validates them.

`Held` is what a stream has read without an event, as it cannot decide yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, TypeAlias

from pydantic import BaseModel, Field, PlainSerializer, SerializationInfo
from typing_extensions import TypeVar

# pydantic resolves the annotations when it first builds the schema of an event
from .replies import Action, Payload, Reply, ToolCall


def _dump(model: BaseModel, info: SerializationInfo) -> dict[str, Any]:
    return model.model_dump(mode=info.mode)


#: Serialises a model with the fields of its own class, such as those of a `ProviderReply`. In older versions of
#: pydantic, `SerializeAsAny` fails for a class whose schema is not built yet.
_AS_ITSELF = PlainSerializer(_dump)


_E = TypeVar("_E")
#: The payloads and the reply of a stream, which have more fields for registries and providers.
_P = TypeVar("_P", bound=Payload, covariant=True, default=Payload)
_R = TypeVar("_R", bound=Reply, covariant=True, default=Reply)


class Unfrozen:
    """What gets the class of an event when its fields are set: `__init__` of a frozen class takes twice as long."""


def event_of(kind: type[_E], fields: dict[str, Any]) -> _E:
    """An event with these fields, all of them."""
    event: Any = Unfrozen()
    event.__dict__ = fields
    event.__class__ = kind
    return event


@dataclass(frozen=True)
class TextDelta:
    """More text to show to the user."""

    type: Literal["text_delta"] = field(default="text_delta", init=False, repr=False)
    text: str


@dataclass(frozen=True)
class PlacedText(TextDelta):
    """More text, before the white space around it is known, and where it stands: offsets in the raw text.

    The white space of text that is `exact` is its own, as that of a JSON string is. `begins` says that it is another
    message than the text before; see `Reply.borders`.
    """

    start: int
    end: int
    exact: bool = False
    begins: bool = False


@dataclass(frozen=True)
class ReasoningDelta:
    """More reasoning text, of the open block or of a new one."""

    type: Literal["reasoning_delta"] = field(default="reasoning_delta", init=False, repr=False)
    text: str


@dataclass(frozen=True)
class ReasoningEnd:
    """A reasoning block is complete; its text is the concatenation of the deltas before."""

    type: Literal["reasoning_end"] = field(default="reasoning_end", init=False, repr=False)


@dataclass(frozen=True)
class ToolCallStart:
    """A call has started and its name is known. `index` counts the calls of the response from 0."""

    type: Literal["tool_call_start"] = field(default="tool_call_start", init=False, repr=False)
    index: int
    id: str | None
    name: str


@dataclass(frozen=True)
class PlacedCallStart(ToolCallStart):
    """A call has started, at the offset `start` of the raw text. It is still open whether it was made or only said."""

    start: int


@dataclass(frozen=True)
class ToolCallDelta:
    """More of a call's arguments as JSON text; the concatenation of all deltas is its `arguments_text`."""

    type: Literal["tool_call_delta"] = field(default="tool_call_delta", init=False, repr=False)
    index: int
    arguments: str


@dataclass(frozen=True)
class ToolCallEnd:
    """A call is complete."""

    type: Literal["tool_call_end"] = field(default="tool_call_end", init=False, repr=False)
    index: int
    call: ToolCall


@dataclass(frozen=True)
class ToolCallUnfinished:
    """A call that started is truncated or invalid, see `call.status`. Do not run it."""

    type: Literal["tool_call_unfinished"] = field(default="tool_call_unfinished", init=False, repr=False)
    index: int
    call: ToolCall


@dataclass(frozen=True)
class ActionText:
    """More of the text that a GUI action types, before the action is complete. `index` is the action's `order`.

    The concatenation of all deltas is the `text` of the action. Wait for `ActionParsed` before you type anything: if
    the action is truncated or invalid, `ActionUnfinished` follows instead.
    """

    type: Literal["action_text"] = field(default="action_text", init=False, repr=False)
    index: int
    text: str


@dataclass(frozen=True)
class PlacedActionText(ActionText):
    """More of the text of an action that starts at the offset `start`. It is still open whether it was made or said."""

    start: int


@dataclass(frozen=True)
class ActionParsed:
    """A GUI action is complete."""

    type: Literal["action_parsed"] = field(default="action_parsed", init=False, repr=False)
    action: Action


@dataclass(frozen=True)
class ActionUnfinished:
    """A GUI action is truncated or invalid, see `action.status`. Do not carry it out."""

    type: Literal["action_unfinished"] = field(default="action_unfinished", init=False, repr=False)
    action: Action


@dataclass(frozen=True)
class PayloadParsed(Generic[_P]):
    """A payload is complete."""

    type: Literal["payload_parsed"] = field(default="payload_parsed", init=False, repr=False)
    payload: Annotated[_P, _AS_ITSELF]


@dataclass(frozen=True)
class PayloadPreview:
    """The part of an incomplete payload that has arrived, not validated; the next preview replaces it.

    The stream of a registry sends previews on request. Only display them: the payload may still turn out truncated or
    invalid. `data` is JSON. `snapshot` shows it as the model of the payload, as `stream_json` does; that of the last
    preview, before `PayloadParsed`, is complete. JSON has no snapshot.
    """

    type: Literal["payload_preview"] = field(default="payload_preview", init=False, repr=False)
    payload_type: str
    data: Any
    snapshot: Annotated[Any, Field(exclude=True)] = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class PayloadUnfinished(Generic[_P]):
    """A payload is truncated or invalid, see `payload.status`. Do not use it."""

    type: Literal["payload_unfinished"] = field(default="payload_unfinished", init=False, repr=False)
    payload: Annotated[_P, _AS_ITSELF]


@dataclass(frozen=True)
class Done(Generic[_R]):
    """The response has ended; `reply` is the complete result."""

    type: Literal["done"] = field(default="done", init=False, repr=False)
    reply: Annotated[_R, _AS_ITSELF]


#: The events that are the same for all streams.
CommonEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ReasoningEnd | ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished
    | ActionText | ActionParsed | ActionUnfinished
)  # fmt: skip
Event = Annotated[
    CommonEvent | PayloadParsed[Payload] | PayloadPreview | PayloadUnfinished[Payload] | Done[Reply],
    Field(discriminator="type"),
]

#: From these events on, it may have to be decided whether a call, action or payload was made.
IN_DOUBT = frozenset(
    {PlacedCallStart, PlacedActionText, ActionParsed, ActionUnfinished, PayloadParsed, PayloadUnfinished, ReasoningEnd}
)


HeldReason = Literal["prompt", "format", "marker", "damage", "quotation", "reasoning"]


@dataclass(frozen=True)
class Held:
    """What a stream has read and cannot decide yet: the `text` from the offset `start` on, for a `reason`.

    - `prompt`: the response may begin by repeating the end of its prompt
    - `format`: several formats are tried
    - `marker`: the end of the text may become a marker, or belongs to one
    - `damage`: the grammar refuses a segment, which is read again when its end has come
    - `quotation`: a call or action may be quoted
    - `reasoning`: a call or action may stand in reasoning that goes on behind it

    The events of the text before `start` were sent, and perhaps some of what follows. White space at the end of text
    is held without being mentioned here.
    """

    reason: HeldReason
    start: int
    text: str
