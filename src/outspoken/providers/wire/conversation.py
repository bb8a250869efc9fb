"""Builds the messages of a chat completion from the items or blocks of other APIs."""

from __future__ import annotations

from typing import Any

from .fields import RequestError
from .parts import Part


class Conversation:
    """The messages of a chat completion.

    What the assistant said, thought and called in one turn is one message. Instructions at the beginning are one system
    message, since the templates of many models take only one.
    """

    def __init__(self, reasoning_field: str) -> None:
        self.messages: list[Part] = []
        self._reasoning_field = reasoning_field
        #: the ids of calls that were made
        self._call_ids: set[str] = set()

    def add_system(self, text: str) -> None:
        """Add instructions."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == "system":
            last["content"] += f"\n\n{text}"
        else:
            self.messages.append({"role": "system", "content": text})

    def add_user(self, parts: list[Part], join: bool = False) -> None:
        """Add a message of the user, as the content parts of a chat completion. `join` adds to the message before."""
        last = self.messages[-1] if self.messages else None
        if join and last is not None and last["role"] == "user":
            before = last["content"]
            last["content"] = _joined([*([text_part(before)] if isinstance(before, str) else before), *parts])
        else:
            self.messages.append({"role": "user", "content": _joined(parts)})

    def add_answer(self, text: str) -> None:
        """Add a text of the assistant. Texts around a call are joined as in `Reply.text`."""
        message = self._assistant()
        before: str = message["content"] or ""
        border = before[-1:] + text[:1]
        message["content"] = before + (" " if len(border) == 2 and not any(map(str.isspace, border)) else "") + text

    def add_reasoning(self, text: str) -> None:
        """Add reasoning of the assistant; blocks are separated by a blank line, as in `Reply.reasoning`."""
        message = self._assistant()
        before = message.get(self._reasoning_field)
        message[self._reasoning_field] = f"{before}\n\n{text}" if before else text

    def add_call(self, id: str, name: str, arguments: str) -> None:
        """Add a call of the assistant."""
        self._call_ids.add(id)
        function = {"name": name, "arguments": arguments}
        self._assistant().setdefault("tool_calls", []).append({"id": id, "type": "function", "function": function})

    def add_result(self, id: str, parts: list[Part], place: str) -> None:
        """Add the result of a call. Raises RequestError if there is no such call before it."""
        if id not in self._call_ids:
            raise RequestError(place, f"is {id!r}, but no call before it has this id", "unknown_call_id")
        self.messages.append({"role": "tool", "tool_call_id": id, "content": _joined(parts)})

    def _assistant(self) -> Part:
        if not self.messages or self.messages[-1]["role"] != "assistant":
            self.messages.append({"role": "assistant", "content": None})
        return self.messages[-1]


def text_part(text: str) -> Part:
    """Return a text as a content part."""
    return {"type": "text", "text": text}


def _joined(parts: list[Part]) -> Any:
    """Return content parts as one text if they are nothing else: templates of many models take only text."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join([part["text"] for part in parts])
    return parts
