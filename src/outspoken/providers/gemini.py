"""Gemini's `generateContent` and `streamGenerateContent`, of the Gemini API and of Vertex AI.

Keys come in camel case on the wire and in snake case from Python objects.
Source: https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

from outspoken.notations.coerce import to_json

from .assembly import Assembly
from .nodes import Node
from .reading import Reader, find_error
from .usage import GEMINI, usage_of

#: what a part may have beside what it is
_ASIDE = frozenset({"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata"})
_CALL = ("functionCall", "function_call")
_KNOWN = (
    "candidates",
    "usageMetadata",
    "usage_metadata",
    "promptFeedback",
    "prompt_feedback",
    "responseId",
    "response_id",
    "modelVersion",
    "model_version",
)


class Gemini(Reader):
    """Reads responses, which are chunks of a stream as well. Of several candidates, the first is read."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        self._calls = 0

    def read(self, node: Node) -> None:
        """A response, a chunk, or an error."""
        if not node.has(*_KNOWN):
            error = find_error(node)
            if error is None:
                raise node.wrong("candidates", "a list of candidates")
            self._to.failed(error)
            return
        to = self._to
        to.started(node.text("responseId", "response_id"), node.text("modelVersion", "model_version"))
        for candidate in node.nodes("candidates"):
            if not candidate.whole("index"):
                self._candidate(candidate)
        usage = node.node("usageMetadata", "usage_metadata")
        if usage is not None:
            to.usage(usage_of(usage, GEMINI))
        feedback = node.node("promptFeedback", "prompt_feedback")
        blocked = feedback.text("blockReason", "block_reason") if feedback is not None else None
        if feedback is not None and blocked:
            to.refuse(feedback.text("blockReasonMessage", "block_reason_message"))
            to.finished(blocked, "content_filter")

    def _candidate(self, candidate: Node) -> None:
        content = candidate.node("content")
        for part in content.nodes("parts") if content is not None else ():
            self._part(part)
        self._to.finished(candidate.text("finishReason", "finish_reason"))

    def _part(self, part: Node) -> None:
        """One part of the content. A signature signs the part that it stands in, or the one before an empty one."""
        to, call, text = self._to, part.node(*_CALL), part.text("text")
        thought = bool(part.get("thought"))
        signature = part.text("thoughtSignature", "thought_signature")
        if call is not None:
            self._call(call)
        elif text is not None:
            (to.reasoning if thought else to.text)(text)
        else:
            for key, value in part.value.items():
                if key not in _ASIDE and value is not None:
                    to.other(key, value)
        if signature:
            to.sign_last(signature)

    def _call(self, call: Node) -> None:
        """A function call, always whole."""
        to, key = self._to, (self._calls,)
        self._calls += 1
        made = to.call(key, call.text("id"), call.text("name"))
        arguments = call.get("args", "arguments")
        to.arguments(made, arguments if isinstance(arguments, str) else to_json(arguments or {}))
        to.end("call", key)
