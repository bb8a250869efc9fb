"""A name in a namespace that says no more than that a tool is called."""

import pytest

from outspoken import Parser
from outspoken.authoring.fuzz.checks import ParseArguments

TOOLS = [{"name": "file_report", "parameters": {"type": "object", "properties": {"subject": {"type": "string"}}}}]
OPEN = "<|tool_calls_section_begin|><|tool_call_begin|>FUNCTIONS.file_report:0<|tool_call_argument_begin|>"
CLOSE = "<|tool_call_end|><|tool_calls_section_end|>"


@pytest.mark.parametrize("arguments", ['{"subject": "oak"}', '{"subject": "oak", "subject": "elm"}', '{"subject": "oa'])
def test_a_call_has_the_tools_name_whatever_becomes_of_it(arguments: str) -> None:
    text = OPEN + arguments + ("" if arguments.endswith("oa") else CLOSE)
    args = ParseArguments("kimi_k2", {"tools": TOOLS})
    reply = args.parse(text)
    assert args.stream(text)[1] == reply
    assert [call.name for call in [*reply.tool_calls, *reply.unfinished_tool_calls]] == ["file_report"]


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("file_report.file_report", "file_report"),
        ("Tools.file_report", "file_report"),
        ("files.file_report", "files.file_report"),
        ("functions.delete", "functions.delete"),
        ("delete.delete", "delete.delete"),
    ],
)
def test_only_a_tool_that_exists_is_meant_without_its_namespace(called: str, name: str) -> None:
    text = f'<tool_call>\n{{"name": "{called}", "arguments": {{}}}}\n</tool_call>'
    assert [call.name for call in Parser("hermes", tools=TOOLS).parse(text).tool_calls] == [name]
