"""An input without a name, as ReAct agents write it: the only argument of its tool, where the schema names one."""

import json
from typing import Any

from outspoken import ToolCallDelta, parse, stream
from tests.tables import tables

TABLES = tables(__file__)

KINDS: dict[str, list[Any]] = TABLES["KINDS"]
#: the format, and how it writes a call of one input; `{json}` is the input as JSON, `{bare}` without quotes
WRITTEN = TABLES["WRITTEN"]


def tool(*names: str, kind: str) -> dict[str, Any]:
    """A tool with arguments of these names and a type."""
    properties = {name: {"type": kind} for name in names}
    return {"name": "f", "parameters": {"type": "object", "properties": properties, "required": list(names)}}


def test_an_input_without_a_name_is_the_only_argument_of_its_tool() -> None:
    """It has the argument's name in the call and the deltas; with several arguments or no schema, it has its place."""
    for kind, values in KINDS.items():
        for value in values:
            for format, written in WRITTEN:
                if format == "react" and (kind == "array" or not value or value == "two\nlines"):
                    continue
                bare = value if isinstance(value, str) else json.dumps(value)
                text = written.format(json=json.dumps(value), bare=bare)
                for tools, name in (
                    ([tool("city", kind=kind)], "city"),
                    ([tool("a", "b", kind=kind)], "$1"),
                    ([{"name": "f"}], "$1"),
                ):
                    reply = parse(text, format=format, tools=tools)
                    (call,) = reply.tool_calls
                    assert list(call.arguments) == [name], text
                    assert name == "$1" or call.arguments == {name: value}, text
                    events = stream(list(text), format=format, tools=tools)
                    sent = "".join([e.arguments for e in events if isinstance(e, ToolCallDelta)])
                    assert (events.reply, json.loads(sent)) == (reply, call.arguments), text
