"""What a stream says while it is read. Events are light; the reply at the end is the whole result.

An event is never contradicted by a later one: a call that was announced either ends (`ToolCallEnd`) or is said to be
unfinished (`ToolCallUnfinished`), and text that was sent stays text.
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
    """More of what the model thinks: of the block that is open, or else of a new one."""

    text: str


@dataclass(slots=True)
class ReasoningEnd:
    """A block of reasoning is complete; the deltas before it, joined, are the text of the block."""


@dataclass(slots=True)
class ToolCallStart:
    """A call has begun and its name is known. `index` counts the calls of the response from 0."""

    index: int
    id: str | None
    name: str


@dataclass(slots=True)
class ToolCallDelta:
    """More of a call's arguments, as JSON text; all deltas of a call, joined, are its `arguments_text`."""

    index: int
    arguments: str


@dataclass(slots=True)
class ToolCallEnd:
    """A call is complete; this is the call."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class ToolCallUnfinished:
    """A call that was announced never ended, or cannot be read; `call.status` says which. It must not be run."""

    index: int
    call: ToolCall


@dataclass(slots=True)
class ActionText:
    """More of the text that a GUI action types, before it is complete. `index` is the `order` of the action.

    All of them, joined, are the `text` of the action that `ActionParsed` brings. Nothing is to be typed before that has
    come: where the action never ends or cannot be read, `ActionUnfinished` comes instead.
    """

    index: int
    text: str


@dataclass(slots=True)
class ActionParsed:
    """A GUI action is complete."""

    action: Action


@dataclass(slots=True)
class ActionUnfinished:
    """A GUI action never ended, or cannot be read; `action.status` says which. It must not be carried out."""

    action: Action


@dataclass(slots=True)
class PayloadParsed:
    """A marker payload is complete."""

    payload: Payload


@dataclass(slots=True)
class PayloadPreview:
    """What is there so far of a marker payload that is still coming; not validated, and the next one replaces it.

    A registry's stream sends these where they are asked for. Nothing is to be done with it but show it: the payload may
    still break off, or turn out to be none.
    """

    type: str
    data: Any


@dataclass(slots=True)
class PayloadUnfinished:
    """A marker payload never ended, or cannot be read; `payload.status` says which. It must not be used."""

    payload: Payload


@dataclass(slots=True)
class Done:
    """The response has ended; this is all of it."""

    reply: Reply


Event = (
    TextDelta
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | ToolCallUnfinished
    | ActionText
    | ActionParsed
    | ActionUnfinished
    | PayloadParsed
    | PayloadPreview
    | PayloadUnfinished
    | Done
)
