"""The reply of a provider: what the model said, and what the provider says of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outspoken.results.replies import Reply

_FROZEN = ConfigDict(frozen=True, defer_build=True)

#: Why a response ended: the model was done, wants calls to be run, hit the limit of tokens, was stopped by a filter,
#: refuses, wants to go on later (Anthropic's `pause_turn`), failed, or anything else.
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "pause", "error", "other"]


class Usage(BaseModel):
    """Tokens, as far as the provider counts them. `raw` is its own object."""

    model_config = _FROZEN

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] = Field(default_factory=dict[str, Any])


class ProviderError(BaseModel):
    """An error that the provider reports in its answer or in the middle of a stream. `raw` is its own object."""

    model_config = _FROZEN

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    raw: Any = None


class Signature(BaseModel):
    """The signature of a reasoning block, by which a provider knows its own again.

    `segment` is the index in `Reply.segments` of what is signed: reasoning, but with Gemini also a text or a call. A
    `redacted` block has no text; its `data` is the block. What has no text is no segment: then `segment` is the index
    of the one that comes next, or the number of them all.
    """

    model_config = _FROZEN

    segment: int
    data: str
    redacted: bool = False


class ProviderReply(Reply):
    """A response of a provider, read.

    `raw` is the text that the provider sent as content, with what of it the format took for markup; spans are offsets
    into it. What the provider sent apart from the content (native calls, reasoning fields) has an empty span where it
    stood among the text.
    """

    provider: str
    id: str | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    #: the provider's own word for it
    stop_reason: str | None = None
    usage: Usage | None = None
    refusal: str | None = None
    error: ProviderError | None = None
    signatures: list[Signature] = Field(default_factory=list[Signature])
