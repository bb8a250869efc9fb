"""The Chat Completions of OpenAI, and of the many servers that speak it with words of their own.

Source: https://platform.openai.com/docs/api-reference/chat, and the documentation of the other providers.
"""

from __future__ import annotations

from typing import Any, cast

from .assembly import Assembly
from .calls import Call
from .nodes import Node
from .reading import BREAKS, EXTENSION, Reader, arguments_of, error_of, find_error
from .usage import CHAT, usage_of

#: fields that hold reasoning as text; servers that send several of them send the same in all
REASONING = ("reasoning_content", "reasoning", "thinking")
#: lists of reasoning in parts: text, summaries, encrypted blocks
DETAILS = ("reasoning_details", "thinking_blocks")
#: fields that hold something else, as what they are kept as; of a list, each item
OTHERS = {
    "annotations": "annotation",
    "audio": "audio",
    "images": "image",
    "executed_tools": "executed_tool",
    "citations": "citation",
}
_THOUGHT, _ASIDE = frozenset([*REASONING, *DETAILS]), frozenset(OTHERS)
#: what a response or a chunk has, one of them at least
_KNOWN = ("id", "object", "model", "usage", "created", "x_groq", "prompt_filter_results")


class Chat(Reader):
    """Reads responses and chunks. Of several choices, the first is read."""

    def __init__(self, to: Assembly) -> None:
        super().__init__(to)
        self._calls: dict[int, Call] = {}
        self._ids: dict[str, Call] = {}
        self._made = 0
        self._last: Call | None = None

    def read(self, node: Node) -> None:
        """A response, a chunk, or an error."""
        to = self._to
        choices = node.nodes("choices")
        error = None if choices and node.get("error") is None else find_error(node)
        if not node.has("choices", *_KNOWN) and error is None:
            raise node.wrong("choices", "a list of choices")
        if choices or error is None:
            to.started(node.word("id"), node.text("model"))
        for choice in choices:
            if not choice.whole("index"):
                self._choice(choice)
        self._usage(node)
        if error is not None:
            to.failed(error)

    def _choice(self, choice: Node) -> None:
        for key in ("message", "delta"):
            found = choice.node(key)
            if found is not None:
                self._message(found)
        if choice.get("error"):
            self._to.failed(error_of(choice.get("error")))
        self._to.finished(choice.text("finish_reason"))

    def _usage(self, node: Node) -> None:
        groq = node.node("x_groq")
        found = node.node("usage") or (groq.node("usage") if groq is not None else None)
        if found is not None:
            self._to.usage(usage_of(found, CHAT))
        if groq is not None and groq.get("error"):
            self._to.failed(error_of(groq.get("error")))

    def _message(self, message: Node) -> None:
        to = self._to
        known = message.value
        if EXTENSION in known:
            self._beyond(message)
            return
        if not _THOUGHT.isdisjoint(known):
            self._reasoning(message)
        if "content" in known:
            self._content(message)
        if "refusal" in known:
            to.refuse(message.text("refusal"))
        if "tool_calls" in known:
            for call in message.nodes("tool_calls"):
                self._call(call)
        legacy = message.node("function_call") if "function_call" in known else None
        if legacy is not None:
            self._fragment(legacy, -1, None, None)
        for key, kind in OTHERS.items() if not _ASIDE.isdisjoint(known) else ():
            found = message.get(key)
            for item in cast("list[Any]", found if isinstance(found, list) else [found] if found else []):
                to.other(kind, item, aside=True)

    def _beyond(self, message: Node) -> None:
        """A message or delta that was written here: what its extension says goes with it."""
        extension = message.value[EXTENSION]
        rest = {key: value for key, value in message.value.items() if key != EXTENSION}
        if isinstance(extension, dict) and BREAKS in extension:
            self._to.break_thought()
            rest = {key: value for key, value in rest.items() if key not in REASONING}
        self._message(Node(rest, message.path))
        self.beyond(message)

    # reasoning

    def _reasoning(self, message: Node) -> None:
        texts: list[str] = []
        for key in REASONING:
            found = message.get(key)
            if isinstance(found, dict):  # a summary and the like, as some gateways send it
                found = Node(found, key).text("content", "text", "summary")
            elif found is not None:
                found = message.text(key)
            if found and found not in texts:
                texts.append(found)
        details = [detail for key in DETAILS for detail in message.nodes(key)]
        if not texts:
            texts = [text for detail in details if (text := detail.text("text", "summary", "thinking"))]
        for text in texts:
            self._to.reasoning(text)
        for detail in details:
            self._to.sign(detail.text("signature"))
            self._to.sign(detail.text("data"), redacted=True)

    # content

    def _content(self, message: Node) -> None:
        content = message.get("content")
        if isinstance(content, list):
            for part in message.nodes("content"):
                self._part(part)
        elif isinstance(content, dict):
            self._part(Node(content, f"{message.path}.content"))
        elif content is not None and not isinstance(content, str):
            raise message.wrong("content", "text or a list of parts")
        else:
            self._to.text(content)

    def _part(self, part: Node) -> None:
        """One part of a content that is a list."""
        kind = part.text("type")
        if kind in ("text", "output_text", None) and part.has("text"):
            self._to.text(part.text("text"))
        elif kind == "refusal":
            self._to.refuse(part.text("refusal"))
        elif kind in ("thinking", "reasoning"):
            self._thought(part)
        elif kind == "redacted_thinking":
            self._to.sign(part.text("data"), redacted=True)
        else:
            self._to.other(kind or "part", part.value)

    def _thought(self, part: Node) -> None:
        """A part of reasoning: a text, or a list of parts again."""
        found = part.get("thinking", "reasoning", "text")
        if isinstance(found, list):
            for inner in part.nodes("thinking", "reasoning"):
                if inner.has("text"):
                    self._to.reasoning(inner.text("text"))
                else:
                    self._to.other(inner.text("type") or "part", inner.value, aside=True)
        else:
            self._to.reasoning(part.text("thinking", "reasoning", "text"))
        self._to.sign(part.text("signature"))

    # calls

    def _call(self, call: Node) -> None:
        """A call, or a fragment of one."""
        function = call.node("function", "custom")
        if function is None:
            if call.has("name", "arguments"):
                function = call
            elif call.get("id") is None and call.get("type") is None:
                raise call.wrong("function", "an object")
            else:
                self._to.other(call.text("type") or "tool_call", call.value)
                return
        free = call.has("custom") and not call.has("function")
        self._fragment(function, call.whole("index"), call.word("id"), "input" if free else None)
        extra = call.node("extra_content")
        google = extra.node("google") if extra is not None else None
        if google is not None:
            self._to.sign_last(google.text("thought_signature"))

    def _fragment(self, function: Node, index: int | None, id: str | None, free: str | None) -> None:
        """More of the call with an index or id; with neither, of the last one, or a new one if it has a name."""
        name = function.text("name") or None
        found = self._find(index, id or None, name)
        if found is None:
            found = self._to.call((self._made,), id or None, name, free=free is not None)
            if index is not None:
                self._calls[index] = found
            self._made += 1
        else:
            found.named(id or None, name)
        self._last = found
        if found.id:
            self._ids.setdefault(found.id, found)
        self._to.arguments(found, arguments_of(function, free or "arguments"))

    def _find(self, index: int | None, id: str | None, name: str | None) -> Call | None:
        if index is not None:
            found = self._calls.get(index)
            # servers that give all calls the same index
            return None if found is not None and id and name and found.id and id != found.id else found
        if id:
            return self._ids.get(id)
        return None if name else self._last
