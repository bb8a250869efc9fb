"""Ollama's own `/api/chat` and `/api/generate`: one JSON object, or one a line.

Source: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from typing import Any, cast

from .assembly import Assembly
from .nodes import Node
from .reading import Reader, arguments_of, find_error
from .usage import OLLAMA, usage_of

_COUNTS = ("prompt_eval_count", "eval_count")


class Ollama(Reader):
    """Reads responses, which are chunks of a stream as well. Calls come whole."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        self._calls = 0

    def read(self, node: Node) -> None:
        """A response, a chunk, or an error."""
        to, message = self._to, node.node("message") if isinstance(node.value.get("message"), dict) else None
        if message is None and not node.has("response", "done"):
            error = find_error(node)
            if error is None:
                raise node.wrong("message", "an object")
            to.failed(error)
            return
        to.started(None, node.text("model"))
        body = message or node
        to.reasoning(body.text("thinking"))
        to.text(body.text("content") if message is not None else node.text("response"))
        for call in body.nodes("tool_calls"):
            self._call(call)
        for image in cast("list[Any]", body.get("images") or []):
            to.other("image", image, aside=True)
        if node.get(*_COUNTS) is not None:
            counts = {key: value for key, value in node.value.items() if key.endswith(("_count", "_duration"))}
            to.usage(usage_of(Node(counts), OLLAMA))
        if node.get("done"):
            to.finished(node.text("done_reason") or "stop")

    def _call(self, call: Node) -> None:
        function = call.node("function")
        if function is None:
            raise call.wrong("function", "an object")
        key = (self._calls,)
        self._calls += 1
        made = self._to.call(key, call.text("id"), function.text("name"))
        self._to.arguments(made, arguments_of(function, "arguments"))
        self._to.end("call", key)
