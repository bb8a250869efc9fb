"""Gemini's `generateContent` and `streamGenerateContent`, of the Gemini API and of Vertex AI.

Keys are in camel case on the wire and in snake case in Python objects.
Source: https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.usage import UsageKeys

from .reader import ApiReader, arguments_text

#: the names of token counts
_USAGE = UsageKeys(
    ("promptTokenCount", "prompt_token_count"),
    ("candidatesTokenCount", "candidates_token_count"),
    ("totalTokenCount", "total_token_count"),
    ("thoughtsTokenCount", "thoughts_token_count"),
    ("cachedContentTokenCount", "cached_content_token_count"),
)
#: what a part may have beside its content
_PART_EXTRAS = frozenset({"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata"})
#: what a response or a chunk has, one of them at least
_RESPONSE_KEYS = (
    "candidates", "usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback",
    "responseId", "response_id", "modelVersion", "model_version",
)  # fmt: skip


class GeminiReader(ApiReader):
    """Reads responses, which are also the chunks of a stream. Of several candidates, it reads one."""

    def read(self, body: JsonObject) -> None:
        """Read a response, a chunk, or an error."""
        if not body.has(*_RESPONSE_KEYS):
            self._fail(body, "candidates", "a list of candidates")
            return
        to = self._assembler
        to.started(body.string("responseId", "response_id"), body.string("modelVersion", "model_version"))
        for candidate in self._selected(body.objects("candidates")):
            self._read_candidate(candidate)
        self._report_usage(body.object("usageMetadata", "usage_metadata"), _USAGE)
        feedback = body.object("promptFeedback", "prompt_feedback")
        blocked = feedback.string("blockReason", "block_reason") if feedback is not None else None
        if feedback is not None and blocked:
            to.refuse(feedback.string("blockReasonMessage", "block_reason_message"))
            to.finished(blocked, "content_filter")

    def _read_candidate(self, candidate: JsonObject) -> None:
        content = candidate.object("content")
        for part in content.objects("parts") if content is not None else ():
            self._read_part(part)
        self._assembler.finished(candidate.string("finishReason", "finish_reason"))

    def _read_part(self, part: JsonObject) -> None:
        """Read a part. A signature signs the part that it is in, or in an empty part the one before."""
        to, call, text = self._assembler, part.object("functionCall", "function_call"), part.string("text")
        signature = part.string("thoughtSignature", "thought_signature")
        if call is not None:
            arguments = arguments_text(call, "args", "arguments") if call.get("args", "arguments") else "{}"
            self._add_whole_call(call.string("id"), call.string("name"), arguments)
        elif text is not None:
            to.add("reasoning" if part.get("thought") else "text", text)
        else:
            for key, value in part.value.items():
                if key not in _PART_EXTRAS and value is not None:
                    to.payload(key, value)
        if signature:
            to.sign_last(signature)
