"""`ProviderReply`: a reply with what a provider sends beside the content."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outspoken.results.replies import Reply

_FROZEN = ConfigDict(frozen=True, defer_build=True)

#: Why a response ended: the model was done, wants calls to be run, hit the limit of tokens, was stopped by a filter,
#: refuses, wants to continue later (Anthropic's `pause_turn`), failed, or another reason.
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "pause", "error", "other"]


class Usage(BaseModel):
    """Token counts; None for those that the provider does not report. `raw` is its object."""

    model_config = _FROZEN

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] = Field(default_factory=dict[str, Any])


class ProviderError(BaseModel):
    """An error that the provider reports, in its response or in the middle of a stream. `raw` is its object."""

    model_config = _FROZEN

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    raw: Any = None


class Signature(BaseModel):
    """The signature of a reasoning block, by which a provider recognises its own.

    `segment` is the index in `Reply.segments` of the signed segment: reasoning, and with Gemini also a text or a call.
    `redacted` reasoning is encrypted in `data` and has no text. Reasoning without text is no segment; then `segment` is
    the index of the next one, or the number of segments.
    """

    model_config = _FROZEN

    segment: int
    data: str
    redacted: bool = False


class ProviderReply(Reply):
    """The reply of a provider.

    `raw` is the content, including the markup of its format; spans are offsets into it. Segments that the provider sent
    apart from the content (native calls, reasoning fields) have an empty span, at their place in it.
    """

    provider: str
    id: str | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    #: the provider's word for `finish_reason`
    stop_reason: str | None = None
    usage: Usage | None = None
    refusal: str | None = None
    error: ProviderError | None = None
    signatures: list[Signature] = Field(default_factory=list[Signature])
