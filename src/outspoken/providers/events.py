"""The events of a provider's stream, beside those of `outspoken.results.events`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from outspoken.results.events import Event

if TYPE_CHECKING:
    from .replies import FinishReason, ProviderError, Usage


@dataclass(slots=True)
class Started:
    """The response has begun. `id` and `model` are the provider's; None if it sends none."""

    id: str | None
    model: str | None


@dataclass(slots=True)
class RefusalDelta:
    """A piece of the text with which the model or the provider refuses."""

    text: str


@dataclass(slots=True)
class ReasoningSigned:
    """The signature of the open or last block of reasoning, or an encrypted block (`redacted`).

    With Gemini it may also sign the text or call before it.
    """

    signature: str
    redacted: bool = False


@dataclass(slots=True)
class UsageReported:
    """The tokens so far; a later event replaces an earlier one."""

    usage: Usage


@dataclass(slots=True)
class Failed:
    """The provider reports an error. Events before it stay valid."""

    error: ProviderError


@dataclass(slots=True)
class Finished:
    """Why the response ends: `reason` is the same for all providers, `raw` is the provider's word."""

    reason: FinishReason
    raw: str


ProviderEvent = Event | Started | RefusalDelta | ReasoningSigned | UsageReported | Failed | Finished
