"""A name in a namespace that says no more than that a tool is called."""

from __future__ import annotations

import pytest

from outspoken import Parser

TOOLS = [{"name": "file_report", "parameters": {"type": "object", "properties": {"subject": {"type": "string"}}}}]
OPEN = "<|tool_calls_section_begin|><|tool_call_begin|>FUNCTIONS.file_report:0<|tool_call_argument_begin|>"
CLOSE = "<|tool_call_end|><|tool_calls_section_end|>"


@pytest.mark.parametrize("arguments", ['{"subject": "oak"}', '{"subject": "oak", "subject": "elm"}', '{"subject": "oa'])
def test_a_call_has_the_tools_name_whatever_becomes_of_it(arguments: str) -> None:
    text = OPEN + arguments + ("" if arguments.endswith("oa") else CLOSE)
    parser = Parser("kimi_k2", tools=TOOLS)
    session, reply = parser.session(), parser.parse(text)
    for character in text:
        session.feed(character)
    session.close()
    assert session.reply == reply
    assert [call.name for call in [*reply.tool_calls, *reply.unfinished_tool_calls]] == ["file_report"]
