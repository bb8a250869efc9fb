"""vLLM's own classes with our parsers: `ParserManager` composes them as its server does."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from outspoken import formats
from outspoken.constraints import ConstraintError
from tests.integrations.model_texts import BOTH, TOOLS, pieces, written
from tests.integrations.server_tests import STRICT, ServerTests
from tools.integrations.missing_modules import stand_ins

with stand_ins():
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
    from vllm.parser.parser_manager import ParserManager
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    ToolParserManager.import_tool_parser("outspoken.integrations.vllm")  # what `--tool-parser-plugin` calls


class Characters:
    """A tokenizer whose tokens are characters."""

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return "".join(map(chr, ids))

    def encode(self, text: str, **options: Any) -> list[int]:
        return list(map(ord, text))

    def get_vocab(self) -> dict[str, int]:
        return {}

    get_added_vocab = get_vocab


def request(**fields: Any) -> ChatCompletionRequest:
    return ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "?"}], **{"tools": TOOLS, "tool_choice": "auto", **fields}
    )


def parser(calls: str | None, reasoning: str | None, asked: Any) -> Any:
    made = ParserManager.get_parser(
        calls and f"outspoken_{calls}", reasoning and f"outspoken_{reasoning}", True, tokenizer=Characters()
    )
    return made(Characters(), asked.tools)


def whole(text: str, format: str | None, reasoning: str | None = None, prompt: str = "", **fields: Any) -> Any:
    """Reasoning, content and calls of a whole response."""
    asked = request(**fields)
    used = parser(format, reasoning, asked)
    used.set_prompt_token_ids(list(map(ord, prompt)))
    thought, content, calls = used.parse(text, asked, enable_auto_tools=True)
    return thought or "", content or "", [(call.name, json.loads(call.arguments)) for call in calls or ()]


def streamed(
    text: str, format: str | None, reasoning: str | None = None, prompt: str = "?", size: int = 3, **fields: Any
) -> Any:
    """The same of a response in chunks."""
    asked = request(**fields)
    used = parser(format, reasoning, asked)
    thought, content, calls = "", "", dict[int, list[str]]()
    chunks = list(pieces(text, size))
    for number, chunk in enumerate(chunks):
        ids, prompt_ids = list(map(ord, chunk)), list(map(ord, prompt))
        delta = used.parse_delta(chunk, ids, asked, prompt_ids, finished=number == len(chunks) - 1)
        if delta is None:
            continue
        thought, content = thought + (delta.reasoning or ""), content + (delta.content or "")
        for call in delta.tool_calls:
            assert call.id
            assert call.type == "function"
            assert call.index == len(calls), "a call is sent in one piece"
            calls[call.index] = [call.function.name, call.function.arguments]
    return thought, content, [(name, json.loads(arguments)) for name, arguments in calls.values()]


def constraints(format: str, choice: str, *, strict: bool = False) -> list[str]:
    """The structural tags without and with a parser of reasoning."""
    chosen = choice if choice in ("auto", "required") else {"type": "function", "function": {"name": choice}}
    tags: list[str] = []
    for reasoning in (None, "hermes"):
        asked = request(tools=STRICT if strict else TOOLS, tool_choice=chosen)
        changed = parser(format, reasoning, asked).adjust_request(asked)
        assert changed.skip_special_tokens is False
        tags += [] if changed.structured_outputs is None else [changed.structured_outputs.structural_tag]
    assert len(tags) in (0, 2)
    return tags


class TestServer(ServerTests):
    whole = staticmethod(whole)
    streamed = staticmethod(streamed)
    parser_class = staticmethod(ToolParserManager.get_tool_parser)
    constraints = staticmethod(constraints)
    opened: ClassVar = {"prompt": "<|im_start|>assistant\n<think>\n"}
    theirs = "Hermes2ProToolParser"


def test_all_parsers_are_listed() -> None:
    registered = set(ToolParserManager.list_registered())
    assert {f"outspoken_{name}" for info in formats() for name in (info.name, *info.aliases)} <= registered


def test_reasoning_that_the_prompt_closes() -> None:
    closed = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    answer = "Six. " + written("hermes", BOTH[0])
    expected = ("", "Six.", [("tide", BOTH[0][1])])
    assert whole(answer, "hermes", "hermes", closed) == streamed(answer, "hermes", "hermes", closed) == expected
    used = parser("hermes", "hermes", request())
    assert used.is_reasoning_end(list(map(ord, closed)))
    assert not used.is_reasoning_end(list(map(ord, TestServer.opened["prompt"])))


def test_reasoning_between_calls_is_reasoning() -> None:
    first, second = (written("hermes", call, reasoning=f"Number {number}.") for number, call in enumerate(BOTH, 1))
    text = f"{first}\n{second}"
    expected = ("Number 1.\n\nNumber 2.", "", [(name, dict(given)) for name, given in BOTH])
    assert whole(text, "hermes", "hermes") == expected
    assert streamed(text, "hermes", "hermes") == expected


def test_calls_stay_in_the_content_if_the_request_wants_none() -> None:
    text = "Look: " + written("hermes", BOTH[0])
    for fields in ({"tool_choice": "none"}, {"tools": None, "tool_choice": "none"}):
        for reasoning in (None, "hermes"):
            _, content, calls = whole(text, "hermes", reasoning, **fields)
            assert not calls
            assert content.split() == text.split()
            assert streamed(text, "hermes", reasoning, **fields)[1].split() == text.split()


def test_a_format_without_calls_cannot_require_one() -> None:
    asked = request(tool_choice="required")
    with pytest.raises(ConstraintError, match="no way to write tool calls"):
        parser("text", None, asked).adjust_request(asked)


def test_tools_of_the_responses_api() -> None:
    asked = ResponsesRequest(model="m", input="?", tools=[{"type": "function", **tool["function"]} for tool in TOOLS])
    used = parser("qwen3_coder", None, asked)
    calls = used.parse(written("qwen3_coder", *BOTH), asked, enable_auto_tools=True)[2]
    assert [json.loads(call.arguments) for call in calls] == [given for _, given in BOTH], "numbers have their type"


def test_the_engine_sees_where_reasoning_ends() -> None:
    used = ReasoningParserManager.get_reasoning_parser("outspoken_hermes")(Characters())
    ids = [*map(ord, "</think> is a tag. <think>\nSix.\n</think>Yes")]
    ends = [n for n in range(1, len(ids) + 1) if used.is_reasoning_end_streaming(ids[:n], ids[n - 1 : n])]
    assert "".join(map(chr, ids[: ends[-1]])).endswith("Six.\n</think>")
    assert used.count_reasoning_tokens([*map(ord, "<think>\nSix.\n</think>Yes")]) == len("<think>\nSix.\n</think>")
    assert used.count_reasoning_tokens([*map(ord, "Yes")]) == 0
    assert used.extract_content_ids([*map(ord, "<think>\nSix.\n</think>Yes")]) == [*map(ord, "Yes")]


def test_a_format_without_tags_has_no_parser_of_reasoning() -> None:
    with pytest.raises(TypeError, match="outspoken_react"):
        ParserManager.get_parser(None, "outspoken_react")
