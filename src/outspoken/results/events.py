"""The events of a stream. The last one, `Done`, carries the complete reply.

Events are final: every call that starts ends with `ToolCallEnd` or `ToolCallUnfinished`, and text that was sent is
never taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actions.union import Action
    from .replies import Payload, Reply, ToolCall


@dataclass(slots=True)
class TextDelta:
    """More text to show to the user."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """More reasoning text, of the open block or of a new one."""

    text: str


@dataclass(slots=True)
class ReasoningEnd:
    """A reasoning block is complete; its text is the concatenation of the deltas before."""


@dataclass(slots=True)
class ToolCallStart:
    """A call has started and its name is known. `index` counts the calls of the response from 0."""

    index: int
    id: str | None
    name: str


@dataclass(slots=True)
class ToolCallDelta:
    """More of a call's arguments as JSON text; the concatenation of all deltas is its `arguments_text`."""

    index: int
    arguments: str


@dataclass(slots=True)
class ToolCallEnd:
    """A call is complete."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class ToolCallUnfinished:
    """A call that started is truncated or invalid, see `call.status`. Do not run it."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class ActionText:
    """More of the text that a GUI action types, before the action is complete. `index` is the action's `order`.

    The concatenation of all deltas is the `text` of the action. Wait for `ActionParsed` before you type anything: if
    the action is truncated or invalid, `ActionUnfinished` follows instead.
    """

    index: int
    text: str


@dataclass(slots=True)
class ActionParsed:
    """A GUI action is complete."""

    action: Action


@dataclass(slots=True)
class ActionUnfinished:
    """A GUI action is truncated or invalid, see `action.status`. Do not carry it out."""

    action: Action


@dataclass(slots=True)
class PayloadParsed:
    """A payload is complete."""

    payload: Payload


@dataclass(slots=True)
class PayloadPreview:
    """The part of an incomplete payload that has arrived, not validated; the next preview replaces it.

    The stream of a registry sends previews on request. Only display them: the payload may still turn out truncated or
    invalid.
    """

    type: str
    data: Any


@dataclass(slots=True)
class PayloadUnfinished:
    """A payload is truncated or invalid, see `payload.status`. Do not use it."""

    payload: Payload


@dataclass(slots=True)
class Done:
    """The response has ended; `reply` is the complete result."""

    reply: Reply


Event = (
    TextDelta | ReasoningDelta | ReasoningEnd | ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished
    | ActionText | ActionParsed | ActionUnfinished | PayloadParsed | PayloadPreview | PayloadUnfinished | Done
)  # fmt: skip
