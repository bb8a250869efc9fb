"""Calls that engines force in place of the format of the model, and other classes of what models really write."""

from outspoken import Parser, Reply, formats
from outspoken.grammar import registry

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
ONE = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
CALL = [("get_weather", {"city": "Paris"}, "ok")]


def calls(reply: Reply) -> list[tuple[str, object, str]]:
    return [(call.name, dict(call.arguments), call.status) for call in reply.tool_calls]


def test_every_format_with_calls() -> None:
    for info in formats():
        if any("tool_call" in kinds.split() for kinds in registry.automaton(info.name).tables.nodes):
            prompt = "" if "think" in registry.header(info.name).opened else None
            reply = Parser(info.name, tools=TOOLS).parse(f"[{ONE}]", prefix=prompt)
            assert (calls(reply), reply.text) == (CALL, ""), info.name
