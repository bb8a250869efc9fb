"""The Converse API of Amazon Bedrock: whole responses, and the events of `ConverseStream` as dicts.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and …_ConverseStream.html
"""

from __future__ import annotations

import json
from typing import Any, cast

from outspoken.notations.coerce import to_json
from outspoken.results.replies import Status

from .assembly import Assembly
from .nodes import Node
from .reading import Reader, error_of, find_error
from .replies import ProviderError
from .usage import BEDROCK, usage_of

#: the tools of this type are run by the provider
_SERVER = "server_tool_use"
_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


class Bedrock(Reader):
    """Reads responses and events. Blocks are told by their index."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        #: what the provider runs, or what it sends besides, while it comes
        self._others: dict[int, tuple[str, dict[str, Any]]] = {}

    def read(self, node: Node) -> None:
        """A response, an event, or an error. An event has one key, which is its name."""
        if node.has("output", "stopReason"):
            self._whole(node)
            return
        to, known = self._to, False
        for key in node.value:
            if key in (
                "messageStart",
                "contentBlockStart",
                "contentBlockDelta",
                "contentBlockStop",
                "messageStop",
                "metadata",
            ):
                known = True
                found = node.node(key)
                if found is not None:
                    self._event(key, found)
            elif key.endswith(("Exception", "Error")) or key == "error":
                known = True
                to.failed(_exception(key, node.value[key]))
        if not known and not node.has("p", "ResponseMetadata"):
            error = find_error(node)
            if error is None:
                raise node.wrong("output", "an object, or an event")
            to.failed(error)

    def end(self) -> None:
        """Blocks of the provider's own that never ended are kept, too."""
        for index in list(self._others):
            self._other_ends(index, "truncated")

    def _whole(self, node: Node) -> None:
        self._to.started()
        output = node.node("output")
        message = output.node("message") if output is not None else None
        for index, part in enumerate(message.nodes("content") if message is not None else ()):
            self._part(index, part)
            self._stop(index)
        self._metadata(node)
        self._to.finished(node.text("stopReason"))

    def _metadata(self, node: Node) -> None:
        usage = node.node("usage")
        if usage is not None:
            self._to.usage(usage_of(usage, BEDROCK))

    def _event(self, kind: str, event: Node) -> None:
        index = event.whole("contentBlockIndex") or 0
        if kind == "messageStart":
            self._to.started()
        elif kind == "contentBlockStart":
            start = event.node("start")
            if start is not None:
                self._part(index, start)
        elif kind == "contentBlockDelta":
            delta = event.node("delta")
            if delta is None:
                raise event.wrong("delta", "an object")
            self._part(index, delta)
        elif kind == "contentBlockStop":
            self._stop(index)
        elif kind == "messageStop":
            self._to.finished(event.text("stopReason"))
        else:
            self._metadata(event)

    def _part(self, index: int, part: Node) -> None:
        """A block, or what comes of one: in the stream, a text goes on and an input is JSON in pieces."""
        to = self._to
        for key in part.value:
            if key == "text":
                to.text(part.text("text"), (index,))
            elif key == "reasoningContent":
                self._reasoning(index, part.node(key))
            elif key == "toolUse":
                self._call(index, part.node(key))
            elif key == "citationsContent":
                self._cited(index, part.node(key))
            elif part.value[key] is not None:
                self._other(index, key, part.value[key])

    def _reasoning(self, index: int, found: Node | None) -> None:
        body = (found.node("reasoningText") or found) if found is not None else None
        if body is not None:
            self._to.reasoning(body.text("text"), (index,))
            self._to.sign(body.text("signature"), (index,))
            self._to.sign(body.text("redactedContent"), (index,), redacted=True)

    def _cited(self, index: int, found: Node | None) -> None:
        """Text with its sources."""
        if found is not None:
            for piece in found.nodes("content"):
                self._to.text(piece.text("text"), (index,))
            for source in found.nodes("citations"):
                self._to.other("citation", source.value, aside=True)

    def _call(self, index: int, found: Node | None) -> None:
        if found is None:
            return
        given = found.get("input")
        piece = given if isinstance(given, str) or given is None else to_json(given)
        if found.text("type") == _SERVER or index in self._others:
            self._other(index, "toolUse", {**found.value, "input": piece or ""})
            return
        call = self._to.call((index,), found.text("toolUseId"), found.text("name"))
        self._to.arguments(call, piece)

    def _other(self, index: int, key: str, value: Any) -> None:
        """More of a block without a rule of its own: text goes on, anything else is added."""
        if key == "citation":
            self._to.other("citation", value, aside=True)
            return
        new: dict[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {key: value}
        known = self._others.setdefault(index, (key, {}))[1]
        for name, item in new.items():
            before = known.get(name)
            more = isinstance(item, type(before)) and isinstance(item, (str, list)) and name != "type"
            known[name] = before + item if more else item  # pyright: ignore[reportOperatorIssue]

    def _stop(self, index: int) -> None:
        for kind in ("text", "reasoning", "call"):
            self._to.end(kind, (index,))
        self._other_ends(index, "ok")

    def _other_ends(self, index: int, status: Status) -> None:
        found = self._others.pop(index, None)
        if found is not None:
            key, value = found
            if isinstance(value.get("input"), str):
                value = {**value, "input": _decoded(value["input"])}
            self._to.other(_SERVER if value.get("type") == _SERVER else key, value, aside=True, status=status)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _exception(kind: str, value: Any) -> ProviderError:
    """An exception in the stream; its type is its name."""
    error = error_of(value)
    return error if error.type else error.model_copy(update={"type": kind})
