"""`ProviderReply`: a reply with what a provider sends beside the content."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from outspoken.results.construct import FrozenModel
from outspoken.results.message_text import text_pieces
from outspoken.results.replies import Reply

#: Why a response ended: the model was done, wants calls to be run, hit the limit of tokens, was stopped by a filter,
#: refuses, wants to continue later (Anthropic's `pause_turn`), failed, or another reason.
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "pause", "error", "other"]
#: The words for each reason, in lower case and with underscores for hyphens. All other words are "other".
_WORDS: dict[FinishReason, str] = {
    "stop": "stop end_turn stop_sequence eos eos_token complete completed end",
    "tool_calls": "tool_calls tool_call tool_use function_call",
    "length": "length max_tokens max_output_tokens max_completion_tokens model_length model_context_window_exceeded"
    " error_limit",
    "content_filter": "content_filter content_filtered guardrail_intervened sensitive safety recitation blocklist"
    " prohibited_content spii image_safety image_prohibited_content image_recitation model_armor error_toxic",
    "refusal": "refusal",
    "pause": "pause_turn",
    "error": "error failed timeout network_error malformed_function_call unexpected_tool_call missing_thought_signature"
    " malformed_response too_many_tool_calls malformed_model_output malformed_tool_use no_image",
}
_REASONS: dict[str, FinishReason] = {word: reason for reason, words in _WORDS.items() for word in words.split()}

#: The key of the extension in a message, a chunk or a response. Exports put what a protocol has no field for under it,
#: and readers look for it there.
EXTENSION = "outspoken"
#: Its field for the blank lines that separate two blocks of reasoning.
REASONING_BREAKS = "breaks"
#: Its field for several blocks of text that have all white space between them.
JOINED_TEXT = "joined_text"


class Usage(FrozenModel):
    """Token counts; None for those that the provider does not report. `raw` is its object."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] = Field(default_factory=dict[str, Any], repr=False)


class ProviderError(FrozenModel):
    """An error that the provider reports, in its response or in the middle of a stream. `raw` is its object."""

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    raw: Any = Field(default=None, repr=False)


class Signature(FrozenModel):
    """The signature of a reasoning block, by which a provider recognises its own.

    `segment` is the index in `Reply.segments` of the signed segment: reasoning, and with Gemini also a text or a call.
    `redacted` reasoning is encrypted in `data` and has no text. Reasoning without text is no segment; then `segment` is
    the index of the next one, or the number of segments.
    """

    segment: int
    data: str
    redacted: bool = False


class ProviderReply(Reply):
    """The reply of a provider.

    `raw` is the content, including the markup of its format; spans are offsets into it. Segments that the provider sent
    apart from the content (native calls, reasoning fields) have an empty span, at their place in it. `borders` are the
    offsets of the text blocks that something else separates from the text before them, with APIs that have blocks.
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
    borders: tuple[int, ...] = Field(default=(), repr=False)

    def text_pieces(self) -> list[str]:
        """What each segment adds to `text`, with the white space that separates it from the text before it."""
        return text_pieces(self.segments, self.raw, self.borders)


def to_finish_reason(word: str) -> FinishReason:
    """Map a provider's word to a finish reason; unknown words are "other"."""
    return _REASONS.get(word.strip().lower().replace("-", "_"), "other")
