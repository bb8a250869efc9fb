"""The Responses API of OpenAI: whole responses, and the events of a stream.

An event that repeats all of an item adds what was not sent in pieces, so that streams of any detail are read.
Source: https://platform.openai.com/docs/api-reference/responses and /responses-streaming
"""

from __future__ import annotations

from .assembly import Assembly
from .calls import Call
from .nodes import Node
from .reading import Reader, arguments_of, error_of, find_error
from .usage import RESPONSES, usage_of

#: events with a piece of text: the kind of part, and the key that counts the parts of an item
_PIECES = {
    "response.output_text.delta": ("text", "content_index"),
    "response.reasoning_text.delta": ("reasoning", "content_index"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_index"),
}
#: events with all of a text
_WHOLE = {
    "response.output_text.done": ("text", "content_index"),
    "response.reasoning_text.done": ("reasoning", "content_index"),
    "response.reasoning_summary_text.done": ("reasoning", "summary_index"),
}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_INPUTS = ("response.function_call_arguments.", "response.custom_tool_call_input.")
_STATES = ("response.created", "response.in_progress", "response.queued")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")


class Responses(Reader):
    """Reads responses and events. Items are told by their place in the output, in whichever order they come."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        self._done: set[int] = set()
        self._calls: dict[int, Call] = {}
        self._refused: set[tuple[int, int]] = set()

    def read(self, node: Node) -> None:
        """A response, an event, or an error. Events of kinds that are not known say nothing."""
        kind = node.text("type") or ""
        if kind in _STATES or kind in _ENDS:
            inner = node.node("response")
            if inner is None:
                raise node.wrong("response", "an object")
            self._response(inner, ended=kind in _ENDS)
        elif kind == "error" or (not node.has("output") and not kind):
            self._failed(node)
        elif not kind:
            self._response(node, ended=True)
        else:
            self._event(kind, node)

    def _failed(self, node: Node) -> None:
        error = node.get("error")
        found = error_of(error) if error else find_error(node)
        if found is None:
            raise node.wrong("output", "a list, or an event with a `type`")
        self._to.failed(found)

    def _response(self, response: Node, *, ended: bool) -> None:
        to = self._to
        to.started(response.text("id"), response.text("model"))
        for index, item in enumerate(response.nodes("output")):
            self._item(index, item, done=ended)
        if ended:
            self.beyond(response)
        usage = response.node("usage")
        if usage is not None:
            to.usage(usage_of(usage, RESPONSES))
        if response.get("error"):
            to.failed(error_of(response.get("error")))
        status = response.text("status") or "completed"
        if ended and status not in ("in_progress", "queued"):
            details = response.node("incomplete_details")
            to.finished((details.text("reason") if details is not None else None) or status)

    def _event(self, kind: str, node: Node) -> None:
        to, index = self._to, node.whole("output_index") or 0
        if kind in _PIECES:
            part, count = _PIECES[kind]
            key = (index, count, node.whole(count) or 0)
            (to.text if part == "text" else to.reasoning)(node.text("delta"), key)
        elif kind in _WHOLE:
            part, count = _WHOLE[kind]
            self._whole(part, (index, count, node.whole(count) or 0), node.text("text"))
        elif kind == "response.refusal.delta":
            to.refuse(node.text("delta"))
            self._refused.add((index, node.whole("content_index") or 0))
        elif kind.startswith(_INPUTS):
            self._input(index, kind, node)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            item = node.node("item")
            if item is None:
                raise node.wrong("item", "an object")
            self._item(index, item, done=kind.endswith("done"))

    def _whole(self, part: str, key: tuple[object, ...], text: str | None) -> None:
        """All of a part."""
        if part == "text":
            self._to.rest("text", key, text)
        else:
            self._to.rest("reasoning", key, text)
        self._to.end(part, key)

    def _input(self, index: int, kind: str, node: Node) -> None:
        """A piece of a call's input, or all of it."""
        call = self._calls.get(index)
        if call is None:
            raise node.wrong("output_index", "the place of a call that has begun")
        if kind.endswith(".delta"):
            self._to.arguments(call, node.text("delta"))
        else:
            self._rest(call, node.text("arguments", "input"))

    def _rest(self, call: Call, whole: str | None) -> None:
        if not call.done and whole and len(whole) > call.length:
            self._to.arguments(call, whole[call.length :])

    # items

    def _item(self, index: int, item: Node, *, done: bool) -> None:
        """An item that has begun, or all of it."""
        kind = item.text("type") or ""
        if index in self._done:
            return
        if kind in _CALLS:
            self._call(index, item, kind, done=done)
        if not done:
            return
        self._done.add(index)
        if kind == "message":
            for place, part in enumerate(item.nodes("content")):
                self._part(index, place, part)
        elif kind == "reasoning":
            self._thoughts(index, item)
        elif kind not in _CALLS:
            self._to.other(kind or "item", item.value)

    def _call(self, index: int, item: Node, kind: str, *, done: bool) -> None:
        free = kind == "custom_tool_call"
        call = self._to.call((index,), item.text("call_id", "id"), item.text("name"), free=free)
        self._calls[index] = call
        if done:
            self._rest(call, arguments_of(item, _CALLS[kind]))
            if item.text("status") != "incomplete":
                self._to.end("call", (index,))

    def _part(self, index: int, place: int, part: Node) -> None:
        """A part of a message."""
        kind = part.text("type") or ""
        key = (index, "content_index", place)
        if kind == "refusal":
            if (index, place) not in self._refused:
                self._refused.add((index, place))
                self._to.refuse(part.text("refusal"))
        elif kind.endswith("text"):
            self._whole("text", key, part.text("text"))
            for note in part.nodes("annotations"):
                self._to.other(note.text("type") or "annotation", note.value)
        else:
            self._to.other(kind or "part", part.value)

    def _thoughts(self, index: int, item: Node) -> None:
        """A reasoning item: its summary, its text, and what is encrypted of it."""
        last, parts = None, 0
        for field, count in (("summary", "summary_index"), ("content", "content_index")):
            for place, part in enumerate(item.nodes(field)):
                key = (index, count, place)
                text = part.text("text")
                self._whole("reasoning", key, text)
                last = key if text else last
                parts += 1
        data = item.text("encrypted_content")
        self._to.sign(data, last or (index,), redacted=not parts)
