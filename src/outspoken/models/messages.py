"""Messages as chat templates take them, and those that a template is tried with, each with one detail of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast

from outspoken.results.arguments import kind_of
from outspoken.results.signatures import is_mapping
from outspoken.semantics.echoes import plain_message


class Tool(NamedTuple):
    """A call of a message: the tool's name, its arguments, the call's id."""

    name: str
    arguments: dict[str, Any]
    id: str = "call00001"


class Message(NamedTuple):
    """A turn of a model: its text, its reasoning (None if that is not known), its calls."""

    text: str = ""
    reasoning: str | None = ""
    calls: tuple[Tool, ...] = ()

    def as_chat(self) -> dict[str, Any]:
        """The turn as a message of chat completions."""
        made: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.reasoning:
            made["reasoning"] = self.reasoning
        if self.calls:
            made["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return made


WEATHER = Tool("get_weather", {"city": "Paris"})
LOOK, THOUGHT, ANSWER = "Let me look that up.", "The user asks about today.", "It is sunny."
_VALUES = {"days": 3, "hourly": True, "tags": ["sun", "wind"], "at": {"lat": 48.9}}

#: By the name of the case of the corpus that it becomes.
MESSAGES: dict[str, Message] = {
    "one_call": Message(calls=(WEATHER,)),
    "two_calls": Message(calls=(WEATHER, Tool("find_hotels", {"area": "Montmartre"}, "call00002"))),
    "two_arguments": Message(calls=(Tool("get_weather", {"city": "Paris", "units": "celsius"}),)),
    "no_arguments": Message(calls=(Tool("get_weather", {}),)),
    "number": Message(calls=(Tool("get_weather", {"days": 3}),)),
    "values": Message(calls=(Tool("get_weather", _VALUES),)),
    "quotes_and_line_breaks": Message(calls=(Tool("save_note", {"body": 'It\'s "so":\n\n  <b>nice</b> & é'}),)),
    "text_then_call": Message(LOOK, calls=(WEATHER,)),
    "reasoning_then_call": Message("", THOUGHT, (WEATHER,)),
    "reasoning_then_text": Message(ANSWER, THOUGHT),
    "text_only": Message(ANSWER),
}


def schemas(message: Message) -> list[dict[str, Any]]:
    """The tools that a message calls, with the types of their arguments."""
    kinds = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}
    made: list[dict[str, Any]] = []
    for call in message.calls:
        properties = {key: {"type": kinds[type(value)]} for key, value in call.arguments.items()}
        parameters = {"type": "object", "properties": properties, "required": [*properties]}
        about = {"name": call.name, "description": f"The tool {call.name}.", "parameters": parameters}
        made.append({"type": "function", "function": about})
    return made


#: The names that reasoning has in messages; each template reads another one.
REASONING = ("reasoning_content", "reasoning", "thinking")


def as_message(message: Any, *, as_text: bool) -> dict[str, Any]:
    """A message as templates take it: the content as one text, and the arguments of calls as objects or `as_text`."""
    plain = plain_message(message)
    if not is_mapping(plain):
        raise TypeError(
            f"a message is {kind_of(message)}; expected a dict with `role` and `content`, or an SDK's object"
        )
    fields = {**plain}
    fields["content"] = content_of(fields.get("content"))
    if reasoning := next((fields[name] for name in REASONING if fields.get(name)), None):
        fields |= dict.fromkeys(REASONING, reasoning)
    if calls := fields.get("tool_calls"):
        fields["tool_calls"] = [_call(plain_message(call), as_text=as_text) for call in calls]
    return fields


def content_of(content: Any) -> Any:
    """Content that is only text as one text; templates write other parts, such as images, by themselves."""
    if not isinstance(content, list | tuple):
        return "" if content is None else content
    parts = [plain_message(part) for part in cast("Sequence[Any]", content)]
    texts: list[Any] = [part.get("text") if is_mapping(part) else part for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else parts


def _call(call: dict[str, Any], *, as_text: bool) -> dict[str, Any]:
    function: dict[str, Any] = call.get("function") or call
    arguments: Any = function.get("arguments")
    if as_text and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    elif not as_text and isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return {**call, "function": {**function, "arguments": arguments}}
