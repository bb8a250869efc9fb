"""The Messages of Anthropic: whole messages, and the events of a stream.

Source: https://docs.anthropic.com/en/api/messages and https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

import json
from typing import Any, cast

from outspoken.notations.coerce import to_json

from .assembly import Assembly
from .calls import Call
from .nodes import Node
from .reading import Reader, error_of, find_error
from .usage import ANTHROPIC, usage_of

#: the blocks that are read as text, as reasoning or as signatures of it
_READ = ("text", "thinking", "redacted_thinking")


class Opened:
    """A block that the stream has begun: its object, and what came of its input as JSON text."""

    def __init__(self, node: Node, call: Call | None) -> None:
        self.node, self.call = node, call
        self.kind = node.text("type") or ""
        self.parts: list[str] = []


class Anthropic(Reader):
    """Reads messages and events. Blocks are told by their `index`, in whichever order their pieces come."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        self._blocks: dict[int, Opened] = {}
        self._usage: dict[str, Any] = {}
        self._last = -1

    def read(self, node: Node) -> None:
        """A message, an event, or an error. Events of kinds that are not known say nothing."""
        kind = node.text("type")
        if kind == "message":
            self._message(node)
            for index, block in enumerate(node.nodes("content")):
                self._start(index, block)
                self._stop(index)
            self.beyond(node)
            self._ended(node)
        elif kind == "message_start":
            self._message(self._inner(node, "message"))
        elif kind == "content_block_start":
            self._start(self._index(node, new=True), self._inner(node, "content_block"))
        elif kind == "content_block_delta":
            self._delta(self._index(node), self._inner(node, "delta"))
        elif kind == "content_block_stop":
            self._stop(self._index(node))
        elif kind == "message_delta":
            self.beyond(node)
            self._count(node)
            self._ended(node.node("delta") or node)
        elif kind == "error" or kind is None:
            self._failed(node)

    def end(self) -> None:
        """Blocks of the provider's own that never ended are kept, too."""
        for block in self._blocks.values():
            if block.call is None and block.kind not in _READ:
                self._to.other(block.kind or "block", _with_input(block), aside=True, status="truncated")
        self._blocks.clear()

    def _failed(self, node: Node) -> None:
        error = node.get("error")
        found = error_of(error) if error else find_error(node)
        if found is None:
            raise node.wrong("type", "`message`, or the name of an event")
        self._to.failed(found)

    def _inner(self, node: Node, key: str) -> Node:
        found = node.node(key)
        if found is None:
            raise node.wrong(key, "an object")
        return found

    def _index(self, node: Node, *, new: bool = False) -> int:
        """The number of a block; some gateways leave it out, and mean the last one."""
        found = node.whole("index")
        self._last = found if found is not None else self._last + new
        return self._last

    def _message(self, message: Node) -> None:
        self._to.started(message.text("id"), message.text("model"))
        self._count(message)

    def _count(self, node: Node) -> None:
        """Later counts replace earlier ones; what is not counted again stays."""
        usage = node.node("usage")
        if usage is not None:
            self._usage.update({key: value for key, value in usage.value.items() if value is not None})
            self._to.usage(usage_of(Node(dict(self._usage), f"{node.path}.usage".lstrip(".")), ANTHROPIC))

    def _ended(self, node: Node) -> None:
        details = node.node("stop_details")
        if details is not None and "refusal" in (node.text("stop_reason"), details.text("type")):
            self._to.refuse(details.text("explanation"))
        self._to.finished(node.text("stop_reason"))

    # blocks

    def _start(self, index: int, block: Node) -> None:
        to, kind, call = self._to, block.text("type"), None
        if kind == "text":
            to.opens("text", (index,))
            to.text(block.text("text"), (index,))
            for citation in cast("list[Any]", block.get("citations") or []):
                to.other("citation", citation, aside=True)
        elif kind == "thinking":
            to.opens("reasoning", (index,))
            to.reasoning(block.text("thinking"), (index,))
            to.sign(block.text("signature"), (index,))
        elif kind == "redacted_thinking":
            to.sign(block.text("data"), (index,), redacted=True)
        elif kind == "tool_use":
            call = to.call((index,), block.text("id"), block.text("name"))
        self._blocks[index] = Opened(block, call)

    def _delta(self, index: int, delta: Node) -> None:
        to, kind = self._to, delta.text("type")
        block = self._blocks.get(index)
        if kind == "text_delta":
            to.text(delta.text("text"), (index,))
        elif kind == "thinking_delta":
            to.reasoning(delta.text("thinking"), (index,))
        elif kind == "signature_delta":
            to.sign(delta.text("signature"), (index,))
        elif kind == "citations_delta":
            to.other("citation", delta.get("citation"), aside=True)
        elif block is None:
            raise delta.wrong("type", f"a delta of a block that has begun; block {index} has not")
        elif kind == "input_json_delta":
            piece = delta.text("partial_json") or ""
            block.parts.append(piece)
            if block.call is not None:
                to.arguments(block.call, piece)
        else:
            _extend(block.node.value, delta.value)

    def _stop(self, index: int) -> None:
        to, block = self._to, self._blocks.pop(index, None)
        if block is None:
            return
        if block.call is not None:
            given = block.node.get("input")
            if given and not "".join(block.parts):
                to.arguments(block.call, given if isinstance(given, str) else to_json(given))
            to.end("call", (index,))
        elif block.kind in ("text", "thinking"):
            to.end("text" if block.kind == "text" else "reasoning", (index,))
        elif block.kind not in _READ:
            to.other(block.kind or "block", _with_input(block), aside=True)


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add what a delta of a kind without a rule of its own says: text goes on, anything else replaces."""
    for key, value in delta.items():
        if key != "type":
            before = block.get(key)
            block[key] = before + value if isinstance(before, str) and isinstance(value, str) else value


def _with_input(block: Opened) -> dict[str, Any]:
    """The object of a block that is run by the provider, with its input, which stays text where it is no JSON."""
    text = "".join(block.parts)
    if not text:
        return block.node.value
    try:
        return {**block.node.value, "input": json.loads(text)}
    except ValueError:
        return {**block.node.value, "input": text}
