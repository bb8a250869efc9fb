"""What a provider's stream says beside the text, reasoning and calls that every stream has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from outspoken.results.events import Event

if TYPE_CHECKING:
    from .replies import FinishReason, ProviderError, Usage


@dataclass(slots=True)
class Started:
    """The response has begun. `id` and `model` are the provider's; None where it does not say."""

    id: str | None
    model: str | None


@dataclass(slots=True)
class RefusalDelta:
    """More of the text with which the model or the provider refuses."""

    text: str


@dataclass(slots=True)
class ReasoningSigned:
    """The signature of the reasoning block that is open or was the last, or a block that came encrypted (`redacted`).

    With Gemini also that of a text or a call, right behind it.
    """

    signature: str
    redacted: bool = False


@dataclass(slots=True)
class UsageReported:
    """The tokens so far; a later one replaces an earlier one."""

    usage: Usage


@dataclass(slots=True)
class Failed:
    """The provider reports an error. What came before it stands."""

    error: ProviderError


@dataclass(slots=True)
class Finished:
    """The provider says why the response ends: `reason` in one vocabulary for all, `raw` in its own word."""

    reason: FinishReason
    raw: str


ProviderEvent = Event | Started | RefusalDelta | ReasoningSigned | UsageReported | Failed | Finished
