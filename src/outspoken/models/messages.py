"""The messages that a chat template renders, each of which differs from another one in one detail."""

from __future__ import annotations

from typing import Any, NamedTuple


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
