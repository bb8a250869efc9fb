"""SGLang's own parser classes with our detectors, which its plug-in loader registers from our entry point."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from tests.integrations.model_texts import TOOLS, pieces, written
from tests.integrations.server_tests import STRICT, ServerTests
from tools.integrations.missing_modules import stand_ins

with stand_ins():
    from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice, ToolChoiceFuncName
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser
    from sglang.srt.plugins import load_plugins

    load_plugins()

GIVEN = [Tool.model_validate(tool) for tool in TOOLS]


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


def constraints(format: str, choice: str, *, strict: bool = False) -> list[str]:
    used = FunctionCallParser([*map(Tool.model_validate, STRICT if strict else TOOLS)], f"outspoken_{format}")
    assert used.owns_tool_format(), "required calls are read in the format, too"
    named = choice if choice in ("auto", "required") else ToolChoice(function=ToolChoiceFuncName(name=choice))
    found = used.get_structure_constraint(named)
    assert found is None or found[0] == "structural_tag"
    return [] if found is None else [found[1].model_dump_json()]


class TestServer(ServerTests):
    whole = staticmethod(whole)
    streamed = staticmethod(streamed)
    parser_class = staticmethod(FunctionCallParser.ToolCallParserEnum.__getitem__)
    constraints = staticmethod(constraints)
    opened: ClassVar = {"forced": True}
    theirs = "HermesDetector"


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


def test_a_format_without_calls_is_not_constrained(caplog: pytest.LogCaptureFixture) -> None:
    assert constraints("text", "required") == []
    assert "no way to write tool calls" in caplog.text


def test_a_format_without_tags_has_no_parser_of_reasoning() -> None:
    with pytest.raises(ValueError, match="no reasoning between tags"):
        ReasoningParser("outspoken_react")
