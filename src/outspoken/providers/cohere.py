"""Cohere's `/v2/chat`: whole responses, and the events of a stream.

Source: https://docs.cohere.com/reference/chat and https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from .nodes import Node
from .reading import Reader, arguments_of, error_of, find_error
from .usage import COHERE, usage_of

_PLAN = ("plan",)


class Cohere(Reader):
    """Reads responses and events. Parts of the content and calls are told by their index; the plan is reasoning."""

    def read(self, node: Node) -> None:
        """A response, an event, or an error. Events of kinds that are not known say nothing."""
        kind = node.text("type") or node.text("event_type")
        if kind is not None and not isinstance(node.get("message"), str):
            self._event(kind, node)
        elif isinstance(node.get("message"), dict):
            self._to.started(node.text("id"), node.text("model"))
            self._message(Node(node.get("message"), "message"))
            self._ended(node)
        else:
            error = find_error(node)
            if error is None:
                raise node.wrong("message", "an object")
            self._to.failed(error)

    def _message(self, message: Node) -> None:
        """A whole message."""
        to = self._to
        to.reasoning(message.text("tool_plan"), _PLAN)
        to.end("reasoning", _PLAN)
        for index, part in enumerate(message.nodes("content")):
            self._content(index, part)
            self._content_end(index)
        for index, call in enumerate(message.nodes("tool_calls")):
            self._call(index, call)
            to.end("call", (index,))
        for citation in message.nodes("citations"):
            to.other("citation", citation.value, aside=True)

    def _ended(self, node: Node) -> None:
        usage = node.node("usage")
        if usage is not None:
            self._to.usage(usage_of(usage, COHERE))
        if node.get("error"):
            self._to.failed(error_of(node.get("error")))
        self._to.finished(node.text("finish_reason"))

    def _event(self, kind: str, node: Node) -> None:
        to, index = self._to, node.whole("index") or 0
        delta = node.node("delta")
        message = delta.node("message") if delta is not None else None
        if kind == "message-start":
            to.started(node.text("id"))
        elif kind == "message-end" and delta is not None:
            self._ended(delta)
        elif kind == "content-end":
            self._content_end(index)
        elif kind == "tool-call-end":
            to.end("call", (index,))
        elif message is None:
            return
        elif kind in ("content-start", "content-delta"):
            content = message.node("content")
            if content is not None:
                self._content(index, content)
        elif kind == "tool-plan-delta":
            to.reasoning(message.text("tool_plan"), _PLAN)
        elif kind in ("tool-call-start", "tool-call-delta"):
            call = message.node("tool_calls")
            if call is not None:
                to.end("reasoning", _PLAN)
                self._call(index, call)
        elif kind == "citation-start":
            to.other("citation", message.get("citations"), aside=True)

    def _content(self, index: int, part: Node) -> None:
        self._to.reasoning(part.text("thinking"), (index,))
        self._to.text(part.text("text"), (index,))

    def _content_end(self, index: int) -> None:
        self._to.end("reasoning", (index,))
        self._to.end("text", (index,))

    def _call(self, index: int, call: Node) -> None:
        function = call.node("function")
        if function is None:
            raise call.wrong("function", "an object")
        made = self._to.call((index,), call.text("id"), function.text("name"))
        self._to.arguments(made, arguments_of(function, "arguments"))
