"""The small parser of chat chunks: what is new in each, whatever the provider and wherever tags are split."""

from typing import Any

import pytest

from outspoken.contrib.luxx import LLMResponseParser, ParsedDelta
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)


def joined(text: str, size: int = 1, **options: Any) -> tuple[str, str]:
    """Thinking and text of a content that comes in pieces."""
    parser = LLMResponseParser(**options)
    deltas = [parser.parse_openai({"content": text[i : i + size]}) for i in range(0, len(text), size)]
    deltas.append(parser.close())
    thinking, shown = "".join([d.thinking for d in deltas]), "".join([d.text for d in deltas])
    assert (thinking, shown) == (parser.thinking, parser.text)
    return thinking, shown


@in_one_item("size", [1, 2, 3, 5, 7, 100])
@in_one_item("text, thinking, shown", TABLES["TAGS"])
def test_tags_of_thinking(text: str, thinking: str, shown: str, size: int) -> None:
    assert joined(text, size) == (thinking, shown)


def test_thinking_opened_by_the_prompt() -> None:
    assert joined("a</think>b", think_prefilled=True) == ("a", "b")


def test_delta_holds_only_new_text() -> None:
    parser = LLMResponseParser()
    given = [{"reasoning_content": "Hm"}, {"reasoning_content": "."}, {"content": "Mo"}, {"content": "ss."}]
    deltas = [parser.parse_openai(delta) for delta in given]
    assert [(d.thinking, d.text) for d in deltas] == [("Hm", ""), (".", ""), ("", "Mo"), ("", "ss.")]
    assert (parser.thinking, parser.text) == ("Hm.", "Moss.")
    both = parser.parse_openai({"reasoning": "A", "content": "B", "thinking": "A"})
    assert (both.thinking, both.text) == ("A", "B")


@in_one_item("chunks", TABLES["CHUNKS"])
def test_accepts_a_chunk_a_choice_or_a_delta(chunks: list[Any]) -> None:
    parser = LLMResponseParser()
    wanted = [ParsedDelta(text="Moss"), ParsedDelta(text="es"), ParsedDelta()]
    assert [parser.parse_openai(chunk) for chunk in chunks] == wanted


def test_calls_in_fragments_and_whole() -> None:
    parser = LLMResponseParser()
    fragments = [
        {"index": 0, "id": "a", "function": {"name": "find", "arguments": '{"n"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]
    first, second = [parser.parse_openai({"tool_calls": [fragment]}) for fragment in fragments]
    assert first.tool_calls == [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "find", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"n'}},  # the quote may turn out to be a bare one
    ]
    assert second.tool_calls == [{"index": 0, "function": {"arguments": '": 1}'}}]
    end = parser.parse_openai({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    assert end.is_complete
    function = {"name": "find", "arguments": '{"n": 1}'}
    assert parser.tool_calls == [{"index": 0, "id": "a", "type": "function", "function": function, "status": "ok"}]


def test_the_events_of_anthropic() -> None:
    parser = LLMResponseParser()
    events = TABLES["THE_EVENTS_OF_ANTHROPIC"]
    deltas = [parser.parse_anthropic(event) for event in events]
    assert (parser.thinking, parser.text) == ("ABC", "DE")
    assert [i for i, d in enumerate(deltas) if d.is_complete] == [2, 4, 7, 10]
    assert parser.tool_calls[0]["function"] == {"name": "f", "arguments": '{"a": 1}'}


def test_parsers_share_nothing_and_reset_forgets() -> None:
    one, two = LLMResponseParser(), LLMResponseParser()
    one.parse_chunk({"content": "Moss <thi"})
    assert two.parse_chunk({"content": "nk>"}).text == "nk>"
    one.reset()
    assert (one.text, one.thinking, one.close()) == ("", "", ParsedDelta())
    assert (
        one.parse_chunk(
            {"type": "content_block_start", "content_block": {"type": "text", "text": "a"}}, "anthropic"
        ).text
        == "a"
    )
    with pytest.raises(ValueError, match="call `reset` between messages"):
        one.parse_chunk({"content": "b"}, "openai")


def test_unknown_provider_is_read_as_openai() -> None:
    assert LLMResponseParser().parse_chunk({"content": "Moss"}, "nobody").text == "Moss"
    assert LLMResponseParser().parse_chunk({"content": "Moss"}, "minimax").text == "Moss"


def test_has_thinking_tags() -> None:
    has = LLMResponseParser().has_thinking_tags
    for text in ("a <think> b", "<THINKING>", "<|im_start|>thinking", "<TINK>", "<thinkt>", '<think effort="low">'):
        assert has(text)
    for text in ("", "Hello world", "</think>", "<|im_end|>", "think", "<thin>", "<thinner>", "<thinkpad>"):
        assert not has(text)
