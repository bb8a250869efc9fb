"""Content that is read by a format: reasoning in tags, calls written as text, payloads; between other parts."""

from typing import Any

import pytest

from outspoken import ReasoningDelta, TextDelta, parse
from outspoken.providers import ProviderReply, parse_response, stream_response, stream_to_wire
from outspoken.providers import ProviderStream as Stream
from tests.invariants.replies import pieces
from tests.loops import DRAWN, some
from tests.providers.provider_events import dumped, feed

HERMES = (
    "<think>\nWhich shelf?\n</think>\n\nI look.\n"
    '<tool_call>\n{"name": "find", "arguments": {"title": "Mosses"}}\n</tool_call>\n'
    "<tool_call>\n{'name': 'ring', 'arguments': {}}\n</tool_call>"
)


def chat(*pieces: Any, finish: str | None = "stop") -> list[dict[str, Any]]:
    """Chunks of a chat: a text is content, a dict a delta."""
    deltas = [{"content": piece} if isinstance(piece, str) else piece for piece in pieces]
    return [{"choices": [{"delta": delta}]} for delta in deltas] + [
        {"choices": [{"delta": {}, "finish_reason": finish}]}
    ]


def test_content_is_text_unless_a_format_is_named() -> None:
    reply = feed(chat(HERMES), "openai")
    assert (reply.text, reply.raw, reply.tool_calls, reply.format) == (HERMES, HERMES, [], None)


@pytest.mark.parametrize("format", ["hermes", "auto"])
def test_content_is_read_like_text(format: str) -> None:
    alone = parse(HERMES, format=format, finish_reason="stop")
    splits = [list(HERMES), [HERMES], [HERMES[:40], HERMES[40:90], HERMES[90:]]]
    replies = [feed(chat(*split), "openai", format) for split in splits]
    for reply in replies:
        assert dumped(reply) == dumped(replies[0])
        common = alone.model_dump()
        assert {key: dumped(reply)[key] for key in common} == common
    assert (replies[0].finish_reason, replies[0].stop_reason) == ("tool_calls", "stop")


#: What the request asked for, and the finish reason.
REQUESTS: list[tuple[dict[str, Any], str | None]] = [
    ({}, "stop"),
    ({"tool_choice": "none"}, "length"),
    ({"parallel": False}, "stop"),
    ({"stops": True, "format": "auto"}, "stop"),
    ({"tool_choice": "required", "shows_invalid": True}, None),
]


@pytest.mark.parametrize(("asked", "reason"), REQUESTS)
def test_a_whole_response_is_read_as_its_stream(asked: dict[str, Any], reason: str | None) -> None:
    for case in some(DRAWN, f"whole responses {asked}", 0.01):
        options: dict[str, Any] = {"format": case.format, **asked}
        for text in (case.text, case.text[: len(case.text) * 2 // 3], case.text.replace(">", "", 1) + "\n" + HERMES):
            message = {"reasoning": "Hm.", "content": text}
            whole = {"choices": [{"message": message, "finish_reason": reason}]}
            streamed = feed(chat({"reasoning": "Hm."}, *pieces(text, 9), finish=reason), "openai", **options)
            assert dumped(parse_response(whole, **options)) == dumped(streamed)


def test_format_is_set_without_content() -> None:
    for format, named in ((None, None), ("auto", None), ("qwen3", "hermes"), ("hermes", "hermes")):
        assert feed(chat("", finish="stop"), "openai", format).format == named
    assert feed(chat("Mosses.", finish="stop"), "openai", "auto").format is None


def test_finish_reason_separates_truncation_from_a_missing_marker() -> None:
    text = '<tool_call>\n{"name": "find", "arguments": {"n": 1}}'
    assert [c.status for c in feed(chat(text), "openai", "hermes").tool_calls] == ["repaired"]
    for finish in ("length", None):
        cut = feed(chat(text, finish=finish), "openai", "hermes")
        assert [c.status for c in cut.unfinished_tool_calls] == ["truncated"]


def test_several_blocks_are_read_one_by_one() -> None:
    call = '<tool_call>\n{"name": "find", "arguments": {"n": %s}}\n</tool_call>'
    damaged = "<tool_call>\n{'name': 'ring', 'arguments': {'n': 3,}}\n</tool_call>"
    content: list[Any] = [
        {"type": "text", "text": "One.\n" + call % 1},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"n": 2}},
        {"type": "text", "text": "Two.\nThree. " + damaged},
    ]
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}
    reply = parse_response(body, provider="anthropic", format="hermes")
    assert [(c.name, c.arguments["n"]) for c in reply.tool_calls] == [("find", 1), ("f", 2), ("ring", 3)]
    assert reply.raw == content[0]["text"] + content[2]["text"]
    one, _, two = [segment for segment in reply.segments if segment.kind == "tool_call"]
    assert reply.raw[slice(*one.span)].strip() == call % 1
    assert reply.raw[slice(*two.span)].strip() == damaged
    for repair in two.repairs:
        assert reply.raw[slice(*repair.span)] == repair.before
        lines = reply.raw[: repair.span[0]].split("\n")
        assert (repair.line, repair.column) == (len(lines), len(lines[-1]) + 1)
    assert {(d.line, d.column) for d in reply.diagnostics} <= {(r.line, r.column) for r in reply.repairs}
    assert len(reply.diagnostics) == 2
    assert dumped(feed([body], "anthropic", "hermes")) == dumped(reply)


@pytest.mark.parametrize("size", [5, 500])
@pytest.mark.parametrize(("arguments", "wanted"), [('{"n": 1}', "ring"), ('{"n": 1 2}', "auto")])
def test_a_call_that_is_refused_stands_behind_its_text(arguments: str, wanted: str, size: int) -> None:
    """The event has the call of the reply, so that exports know it again."""
    text = f'<tool_call>\n{{"name": "find", "arguments": {arguments}}}\n</tool_call>'
    chunks = chat("Well: ", *[text[at : at + size] for at in range(0, len(text), size)])
    reply = feed(chunks, "openai", "hermes", shows_invalid=True, tool_choice=wanted)
    assert (reply.text, reply.unfinished_tool_calls[0].span) == (f"Well: {text}", (len(text) + 6,) * 2)
    events = stream_response(chunks, format="hermes", shows_invalid=True, tool_choice=wanted)
    assert str([*stream_to_wire(events, "openai")]).count("unfinished_tool_calls") == 1


def test_interleaved_reasoning_is_in_the_order_of_its_blocks() -> None:
    """A block that waits for one before it; what is encrypted of it does not wait."""
    deltas: list[tuple[int, Any]] = [
        (0, {"reasoningContent": {"text": "One"}}),
        (1, {"reasoningContent": {"text": "Two."}}),
        (1, {"reasoningContent": {"redactedContent": "x"}}),
        (2, {"text": "Moss"}),
        (0, {"reasoningContent": {"text": "."}}),
        (2, {"text": "es."}),
    ]
    chunks = [{"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}} for index, delta in deltas]
    reply = feed([*chunks, {"messageStop": {"stopReason": "end_turn"}}], "bedrock")
    segments: list[Any] = list(reply.segments)
    assert [(s.kind, s.text) for s in segments] == [("reasoning", "One."), ("reasoning", "Two."), ("text", "Mosses.")]
    assert [(s.segment, s.data, s.redacted) for s in reply.signatures] == [(1, "x", True)]


def test_calls_in_text_and_native_calls_are_counted_together() -> None:
    written = '<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>'
    native = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ring", "arguments": "{}"}}]}
    reply = feed(chat(written, native, written), "openai", "hermes")
    assert [call.name for call in reply.tool_calls] == ["find", "ring", "find"]


def test_action_numbers_continue_across_blocks() -> None:
    text = "Thought: Open it.\nAction: click(start_box='(500,250)')"
    content = [{"type": "text", "text": text}, {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}]
    reply = feed([{"type": "message", "content": content, "stop_reason": "end_turn"}], "anthropic", "ui_tars_1_0")
    assert [action.order for action in reply.actions] == [0, 1]
    assert [reply.raw[slice(*action.span)] for action in reply.actions] == ["click(start_box='(500,250)')"] * 2


def test_prompt_prefix_applies_to_the_first_block() -> None:
    pieces = ["It grows.\n</think>\n\nYes.", {"reasoning": "Hm."}, "No."]
    reply = feed(chat(*pieces), "openai", "deepseek_r1")
    segments: list[Any] = list(reply.segments)
    assert [(s.kind, s.text) for s in segments] == [
        ("reasoning", "It grows."), ("text", "Yes."), ("reasoning", "Hm."), ("text", "No."),
    ]  # fmt: skip
    assert feed(chat("Moss.</think>Yes."), "openai", "text", prefix="<think>").reasoning == "Moss."


MINIMAX = "<|im_start|>thinking分析潮汐表...<|im_end|>渡轮九点开。"


def test_the_reasoning_in_the_content_of_minimax() -> None:
    for split in (list(MINIMAX), [MINIMAX]):
        reply = feed(chat(*split), "minimax")
        assert (reply.reasoning, reply.text) == ("分析潮汐表...", "渡轮九点开。")
    assert feed(chat(MINIMAX), "minimax", None).text == MINIMAX


def test_text_streams() -> None:
    stream = Stream("openai", format="hermes")
    first, *_ = chat("Mosses. <thi", finish=None)
    assert stream.feed(first)[1:] == [TextDelta("Mosses.")]
    events = stream.feed({"choices": [{"delta": {"content": "nk>grow"}}]})
    assert [type(event) for event in events] == [ReasoningDelta]


def test_arguments_are_typed_by_the_tools() -> None:
    text = '<invoke name="release"><parameter name="version">1.10</parameter></invoke>'
    tools = [{"name": "release", "input_schema": {"type": "object", "properties": {"version": {"type": "string"}}}}]
    reply: ProviderReply = feed(chat(text), "openai", "auto", tools=tools)
    assert reply.tool_calls[0].arguments == {"version": "1.10"}
