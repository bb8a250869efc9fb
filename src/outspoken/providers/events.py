"""The events of a provider's stream, beside those of `outspoken.results.events`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from outspoken.results.events import CommonEvent, Done, Event, PayloadParsed, PayloadPreview, PayloadUnfinished
from outspoken.results.finish_reasons import FinishReason

from .replies import ProviderError, ProviderReply
from .usage import Usage


@dataclass(frozen=True)
class Started:
    """The response has begun. `id` and `model` are the provider's; None if it sends none."""

    type: Literal["started"] = field(default="started", init=False, repr=False)
    id: str | None
    model: str | None


@dataclass(frozen=True)
class RefusalDelta:
    """A piece of the text with which the model or the provider refuses."""

    type: Literal["refusal_delta"] = field(default="refusal_delta", init=False, repr=False)
    text: str


@dataclass(frozen=True)
class ReasoningSigned:
    """The signature of the open or last block of reasoning, or an encrypted block (`redacted`).

    With Gemini it may also sign the text or call before it.
    """

    type: Literal["reasoning_signed"] = field(default="reasoning_signed", init=False, repr=False)
    signature: str
    redacted: bool = False


@dataclass(frozen=True)
class UsageReported:
    """The tokens so far; a later event replaces an earlier one."""

    type: Literal["usage_reported"] = field(default="usage_reported", init=False, repr=False)
    usage: Usage


@dataclass(frozen=True)
class Failed:
    """The provider reports an error. Events before it stay valid."""

    type: Literal["failed"] = field(default="failed", init=False, repr=False)
    error: ProviderError


@dataclass(frozen=True)
class Finished:
    """Why the response ends: `reason` is the same for all providers, `raw` is the provider's word."""

    type: Literal["finished"] = field(default="finished", init=False, repr=False)
    reason: FinishReason
    raw: str


_Common: TypeAlias = Started | RefusalDelta | ReasoningSigned | UsageReported | Failed | Finished

ProviderEvent = Annotated[
    CommonEvent | _Common | PayloadParsed | PayloadPreview | PayloadUnfinished | Done[ProviderReply],
    Field(discriminator="type"),
]
#: An event of any stream: of a parser, a registry or a provider.
StreamEvent: TypeAlias = Event | _Common
