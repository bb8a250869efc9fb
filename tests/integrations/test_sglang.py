"""SGLang's own parser classes with our detectors, which its plug-in loader registers from our entry point."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outspoken import formats
from tests.integrations.model_texts import BOTH, FORMATS, TOOLS, pieces, written
from tests.integrations.server_tests import ServerTests
from tools.integrations.missing_modules import stand_ins

with stand_ins():
    from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice, ToolChoiceFuncName
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser
    from sglang.srt.plugins import load_plugins
    from xgrammar import Grammar

    load_plugins()

GIVEN = [Tool.model_validate(tool) for tool in TOOLS]
STRICT = [Tool.model_validate({**tool, "function": {**tool["function"], "strict": True}}) for tool in TOOLS]


def whole(text: str, format: str | None, reasoning: str | None = None, forced: bool = False) -> Any:
    """Reasoning, content and calls of a whole response, as SGLang's chat completions read it."""
    thought = ""
    if reasoning:
        detector = ReasoningParser(f"outspoken_{reasoning}", False, forced, tool_call_parser_active=bool(format))
        thought, text = detector.parse_non_stream(text)
    calls: list[Any] = []
    if format:
        used = FunctionCallParser(GIVEN, f"outspoken_{format}")
        if used.has_tool_call(text):
            text, calls = used.parse_non_stream(text)
    return thought, text, [(call.name, json.loads(call.parameters)) for call in calls]


def streamed(text: str, format: str, reasoning: str | None = None, forced: bool = False, size: int = 3) -> Any:
    """The same of a response in chunks."""
    first = ReasoningParser(f"outspoken_{reasoning}", True, forced) if reasoning else None
    used = FunctionCallParser(GIVEN, f"outspoken_{format}")
    thought, content, calls = "", "", list[Any]()

    def read(chunk: str) -> None:
        nonlocal content
        found, items = used.parse_stream_chunk(chunk)
        content += found
        calls.extend(items)

    for chunk in pieces(text, size):
        if first is not None:
            found, chunk = first.parse_stream_chunk(chunk)
            thought += found
        read(chunk)
    if first is not None:
        found, rest = first.parse_stream_end()
        thought += found
        read(rest)
    rest, items = used.parse_stream_end()
    content, calls = content + rest, [*calls, *items]
    assert [call.tool_index for call in calls] == list(range(len(calls)))
    return thought, content, [(call.name, json.loads(call.parameters)) for call in calls]


class TestServer(ServerTests):
    whole = staticmethod(whole)
    streamed = staticmethod(streamed)


def test_every_format_has_a_parser() -> None:
    for info in formats():
        for name in (info.name, *info.aliases):
            assert FunctionCallParser.ToolCallParserEnum[f"outspoken_{name}"].format == info.name
            FunctionCallParser(GIVEN, f"outspoken_{name}")
    assert FunctionCallParser.ToolCallParserEnum["hermes"].__name__ == "HermesDetector", "theirs is not replaced"


def test_reasoning_that_the_prompt_opens() -> None:
    text = "At six.\n</think>\n\n" + written("hermes", BOTH[0])
    expected = ("At six.", "", [("tide", BOTH[0][1])])
    assert whole(text, "hermes", "hermes", forced=True) == expected
    assert streamed(text, "hermes", "hermes", forced=True) == expected
    repeated = f"<think>\n{text}"
    assert whole(repeated, "hermes", "hermes", forced=True) == expected
    assert streamed(repeated, "hermes", "hermes", forced=True) == expected


def test_reasoning_may_be_held_back() -> None:
    used = ReasoningParser("outspoken_hermes", False, True)
    found = [used.parse_stream_chunk(chunk) for chunk in ("At", " six.", "\n</think>", "Yes")]
    assert found == [("", ""), ("", ""), ("At six.", ""), ("", "Yes")]
    assert used.parse_stream_end() == ("", "")


def test_a_call_of_an_unknown_tool_is_sent() -> None:
    text = written("hermes", ("moon", {"place": "Brest"}))
    used = FunctionCallParser(GIVEN, "outspoken_hermes")
    (call,) = used.parse_non_stream(text)[1]
    assert (call.name, call.tool_index) == ("moon", -1)


@pytest.mark.parametrize("format", FORMATS)
def test_required_calls_are_constrained(format: str) -> None:
    used = FunctionCallParser(GIVEN, f"outspoken_{format}")
    assert used.owns_tool_format(), "required calls are read in the format, too"
    for choice in ("required", ToolChoice(function=ToolChoiceFuncName(name="wind"))):
        kind, tag = used.get_structure_constraint(choice)
        assert kind == "structural_tag"
        Grammar.from_structural_tag(tag)
        assert ("tide" in tag.model_dump_json()) is (choice == "required")


def test_only_strict_tools_constrain_what_may_be_text() -> None:
    assert FunctionCallParser(GIVEN, "outspoken_hermes").get_structure_constraint("auto") is None
    kind, tag = FunctionCallParser(STRICT, "outspoken_hermes").get_structure_constraint("auto")
    assert kind == "structural_tag"
    assert "<tool_call>" in tag.model_dump_json()


def test_a_format_without_calls_is_not_constrained(caplog: pytest.LogCaptureFixture) -> None:
    assert FunctionCallParser(GIVEN, "outspoken_text").get_structure_constraint("required") is None
    assert "no way to write tool calls" in caplog.text


def test_structure_info_of_calls_in_json() -> None:
    info = FunctionCallParser(GIVEN, "outspoken_hermes").detector.structure_info()("tide")
    assert (info.begin, info.end) == ('<tool_call>\n{"name": "tide", "arguments": ', "}\n</tool_call>")
    assert info.begin.startswith(info.trigger)
    with pytest.raises(ValueError, match="no JSON object"):
        FunctionCallParser(GIVEN, "outspoken_qwen3_coder").detector.structure_info()("tide")


def test_a_format_without_tags_has_no_parser_of_reasoning() -> None:
    with pytest.raises(ValueError, match="no reasoning between tags"):
        ReasoningParser("outspoken_react")
