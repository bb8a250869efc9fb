"""Maps the words of all providers for the end of a response to one vocabulary of finish reasons."""

from __future__ import annotations

from outspoken.providers.replies import FinishReason

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


def to_finish_reason(word: str) -> FinishReason:
    """Map a provider's word to a finish reason; unknown words are "other"."""
    return _REASONS.get(word.strip().lower().replace("-", "_"), "other")
