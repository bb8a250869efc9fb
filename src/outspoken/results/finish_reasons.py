"""Finish reasons: the words that providers use for them, and what they prove."""

from __future__ import annotations

from typing import Literal

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
#: The word for a text of the request at which the model was stopped: where that stood, the answer may have gone on.
_STOPPED = "stop_sequence"


def to_finish_reason(word: str) -> FinishReason:
    """Map a provider's word to a finish reason; unknown words are "other"."""
    return _REASONS.get(_plain(word), "other")


def proves_end(word: str | None) -> bool:
    """Does a provider's word prove that the model ended its answer itself?"""
    return word is not None and to_finish_reason(word) in ("stop", "tool_calls") and _plain(word) != _STOPPED


def is_cut(word: str | None) -> bool:
    """Does a provider's word say that the answer reached a limit of tokens?"""
    return word is not None and to_finish_reason(word) == "length"


def is_filtered(word: str | None) -> bool:
    """Does a provider's word say that a filter stopped the answer?"""
    return word is not None and to_finish_reason(word) == "content_filter"


def _plain(word: str) -> str:
    return word.strip().lower().replace("-", "_")
