"""Sample messages, and the positions of their calls in rendered text."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from outspoken import Reasoning, Text

from .call_slots import Call, Sample, Slot, SlotKind, UnclearError, json_value, slots_of_object


class Tool(NamedTuple):
    """A call of a message: the tool's name, its arguments, the call's id."""

    name: str
    arguments: dict[str, Any]
    id: str = "call00001"


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a model: its reasoning, its text, its calls, in this order."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Tool, ...] = field(default=())


class RenderedMessage(NamedTuple):
    """A message as a template renders it; `prefix` is its beginning that the prompt already contains."""

    text: str
    prefix: str = ""


WEATHER = Tool("get_weather", {"city": "Paris"})
HOTELS = Tool("find_hotels", {"area": "Montmartre"}, "call00002")
LOOK, THOUGHT, ANSWER = "Let me look that up.", "The user asks about today.", "It is sunny."

#: By the name of the case of the corpus that it becomes.
MESSAGES: dict[str, Message] = {
    "one_call": Message(calls=(WEATHER,)),
    "two_calls": Message(calls=(WEATHER, HOTELS)),
    "two_arguments": Message(calls=(Tool("get_weather", {"city": "Paris", "units": "celsius"}),)),
    "no_arguments": Message(calls=(Tool("get_weather", {}),)),
    "number": Message(calls=(Tool("get_weather", {"days": 3}),)),
    "values": Message(
        calls=(Tool("get_weather", {"days": 3, "hourly": True, "tags": ["sun", "wind"], "at": {"lat": 48.9}}),)
    ),
    "quotes_and_line_breaks": Message(calls=(Tool("save_note", {"body": 'It\'s "so":\n\n  <b>nice</b> & é'}),)),
    "text_then_call": Message(LOOK, calls=(WEATHER,)),
    "reasoning_then_call": Message("", THOUGHT, (WEATHER,)),
    "reasoning_then_text": Message(ANSWER, THOUGHT),
    "text_only": Message(ANSWER),
}


def segments(message: Message, *, ids: bool = True) -> list[Any]:
    """A message as what `render` takes, with the ids of its calls or without them."""
    found: list[Any] = []
    if message.reasoning:
        found.append(Reasoning(text=message.reasoning, span=(0, 0)))
    if message.text:
        found.append(Text(text=message.text, span=(0, 0)))
    return found + [
        {"name": call.name, "arguments": call.arguments, "id": call.id if ids else None} for call in message.calls
    ]


def schemas(message: Message) -> list[dict[str, Any]]:
    """The tools that a message calls, with the types of their arguments."""
    kinds: dict[type, str] = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}
    made: dict[str, dict[str, Any]] = {}
    for call in message.calls:
        known = made.setdefault(call.name, {})
        known.update({key: {"type": kinds[type(value)]} for key, value in call.arguments.items()})
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"The tool {name}.",
                "parameters": {"type": "object", "properties": properties, "required": list(properties)},
            },
        }
        for name, properties in made.items()
    ]


def left_out(written: RenderedMessage, message: Message) -> list[str]:
    """The parts of a message that its rendered text lacks: "text", "reasoning"."""
    text = written.prefix + written.text
    parts = {"text": message.text, "reasoning": message.reasoning}
    return [part for part, value in parts.items() if value not in text]


def found(written: RenderedMessage, message: Message) -> Sample:
    """Locate the calls of a message in its text. Raises UnclearError if a call is not found."""
    text, start, after = written.prefix + written.text, 0, ""
    thought: tuple[int, int] | None = None
    thought_end = 0
    if message.reasoning:
        at = text.find(message.reasoning)
        thought = (at, at + len(message.reasoning))
        start, after = thought[1], "reasoning"
    if message.text:
        at = max(text.find(message.text, start), start)
        thought_end = at
        start, after = at + len(message.text), "text"
    calls: list[Call] = []
    end = start
    for tool in message.calls:
        calls.append(_call(text, end, tool))
        end = calls[-1].end
    if not message.text:
        thought_end = calls[0].start if calls else len(text)
    return Sample(text, tuple(calls), start, len(text), after, thought, thought_end)


def _call(text: str, start: int, tool: Tool) -> Call:
    """The call of a tool at or after `start`. Raises UnclearError if there is none."""
    at = text.find("{", start)
    while at >= 0:
        value = json_value(text, at)
        slots = slots_of_object(text, at)
        if value and slots and tool.name in json.dumps(value[0]):
            if slots[0].kind == "call" and isinstance(value[0].get("arguments", value[0].get("parameters")), str):
                raise UnclearError("the arguments are written as a JSON string inside of JSON")
            return Call(slots)
        at = text.find("{", at + 1)
    at = text.find(tool.name, start)
    if at < 0:
        raise UnclearError(f"the name of the tool, `{tool.name}`, is not written")
    name = Slot("name", at, at + len(tool.name))
    head = [name]
    given = text.rfind(tool.id, start, at)
    if given >= 0:
        head.insert(0, Slot("id", given, given + len(tool.id)))
    if tool.arguments and (pairs := _pairs(text, name.end, tool.arguments)):
        return Call(tuple(head), pairs)
    brace = text.find("{", name.end)
    value = json_value(text, brace) if brace >= 0 else None
    if value and value[0] == tool.arguments:
        given = text.find(tool.id, name.end, brace)
        if given >= 0:
            head.append(Slot("id", given, given + len(tool.id)))
        return Call((*head, Slot("object", brace, value[1])))
    if tool.arguments:
        raise UnclearError(f"the arguments of `{tool.name}`, {json.dumps(tool.arguments)}, are not written")
    return Call(tuple(head))


def _pairs(text: str, start: int, arguments: dict[str, Any]) -> tuple[tuple[Slot, Slot], ...]:
    """Arguments that are written one by one; none if they are written otherwise, as in one JSON object."""
    pairs: list[tuple[Slot, Slot]] = []
    brace = text.find("{", start)
    whole = json_value(text, brace) if brace >= 0 else None
    if whole and whole[0] == arguments:
        return ()
    at = start
    for key, value in arguments.items():
        place = text.find(key, at)
        slot = _value(text, place + len(key), value) if place >= 0 else None
        if slot is None:
            return ()
        pairs.append((Slot("key", place, place + len(key)), slot))
        at = slot.end
    return tuple(pairs)


def _value(text: str, start: int, value: Any) -> Slot | None:
    """One argument's value, as JSON, as a Python literal or as it is: the spelling that comes first."""
    as_json, as_python = json.dumps(value, ensure_ascii=False), repr(value)
    spelled: list[tuple[str, SlotKind]] = [(as_python, "python"), (as_json, "json")]
    if isinstance(value, str):
        spelled = [(value, "value"), (as_python, "quoted_python"), (as_json, "quoted_json")]
    elif as_json == as_python:
        spelled = [(as_json, "either")]
    places = [(text.find(spelling, start), -number) for number, (spelling, _) in enumerate(spelled)]
    at, number = min([place for place in places if place[0] >= 0], default=(-1, 0))
    spelling, kind = spelled[-number]
    return Slot(kind, at, at + len(spelling)) if at >= 0 else None
