"""Content that is read by a format: reasoning in tags, calls written as text, payloads; between other parts."""

from typing import Any

import pytest

from outspoken import ReasoningDelta, TextDelta, parse
from outspoken.providers import ProviderStream as Stream
from outspoken.providers import parse_response, stream_response, stream_to_wire
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


def test_text_streams() -> None:
    stream = Stream("openai", format="hermes")
    first, *_ = chat("Mosses. <thi", finish=None)
    assert stream.feed(first)[1:] == [TextDelta("Mosses.")]
    events = stream.feed({"choices": [{"delta": {"content": "nk>grow"}}]})
    assert [type(event) for event in events] == [ReasoningDelta]
