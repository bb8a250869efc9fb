"""Conversations: the last answer of the assistant in a list of messages."""

from __future__ import annotations

import json
from typing import Any, cast

from outspoken.results.arguments import kind_of

from .errors import UnreadableRowError

#: The roles of an assistant, in the words of OpenAI's messages and of ShareGPT's.
_ASSISTANTS = frozenset({"assistant", "model", "gpt", "chatgpt", "bot", "ai"})
#: The keys of a message that say no more than its content does.
_PLAIN = frozenset({"role", "from", "content", "value", "name", "weight", "id"})


def last_answer(messages: Any) -> str | dict[str, Any]:
    """The text of the last message of the assistant, or the message if it holds more than text.

    `messages` may be the JSON text of a list. Raises UnreadableRowError if there is no such message.
    """
    if isinstance(messages, str):
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            raise UnreadableRowError("not-text", "the messages are text that is not JSON; expected a list") from None
    if messages is None:
        raise UnreadableRowError("no-text", "there are no messages")
    if not isinstance(messages, list):
        raise UnreadableRowError("not-text", f"the messages are {kind_of(messages)}; expected a list")
    for message in reversed(cast("list[Any]", messages)):
        if not isinstance(message, dict):
            raise UnreadableRowError("not-text", f"a message is {kind_of(message)}; expected an object")
        found = cast("dict[str, Any]", message)
        role = found.get("role", found.get("from"))
        if isinstance(role, str) and role.lower() in _ASSISTANTS:
            return _answer(found)
    raise UnreadableRowError("no-answer", "no message is of the assistant")


def _answer(message: dict[str, Any]) -> str | dict[str, Any]:
    content = message.get("content", message.get("value"))
    known = {key: value for key, value in message.items() if value not in (None, [], {}, "")}
    if isinstance(content, str) and known.keys() <= _PLAIN:
        return content
    if content is None and known.keys() <= _PLAIN:
        raise UnreadableRowError("no-text", "the last message of the assistant has no content")
    return {**known, "role": "assistant", "content": content}
