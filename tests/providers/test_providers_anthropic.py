"""Anthropic's Messages: blocks of all kinds, interleaved, cut off and wrong; whole messages like their streams."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import ReasoningDelta, TextDelta
from outspoken.providers import ProviderFormatError, parse_response
from outspoken.providers import ProviderStream as Stream
from tests.providers.provider_events import dumped, feed
from tests.tables import tables

TABLES = tables(__file__)


def start(index: int, kind: str, **more: Any) -> dict[str, Any]:
    """The event with which a block begins."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    """An event with a piece of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


BEGUN: dict[str, Any] = TABLES["BEGUN"]


def ended(reason: str = "end_turn") -> list[dict[str, Any]]:
    """The events with which a message ends."""
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 12}},
        {"type": "message_stop"},
    ]


def test_a_whole_message_is_its_stream() -> None:
    content: list[Any] = TABLES["A_WHOLE_MESSAGE_IS_ITS_STREAM"]
    usage = {"input_tokens": 7, "output_tokens": 12}
    whole: dict[str, Any] = {
        "type": "message",
        "id": "m1",
        "model": "claude",
        "content": content,
        "stop_reason": "tool_use",
        "usage": usage,
    }
    streamed = dumped(feed([BEGUN, *TABLES["BLOCKS"], *ended("tool_use")], "anthropic"))
    found = dumped(parse_response(whole, provider="anthropic"))
    for reply in (streamed, found):
        for segment in reply["segments"]:  # where a citation stood within the text is in the stream only
            segment.pop("span")
    assert found == streamed


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (start(0, "text", text=3), "`content_block.text` is the number 3"),
        (delta(4, "input_json_delta", partial_json="{"), "a delta of a block that has begun; block 4 has not"),
        ({"type": "content_block_delta", "index": 0}, "`delta` is missing; expected an object"),
        ({"type": "message", "content": "Moss"}, "`content` is the text 'Moss'; expected a list"),
        ({"kind": "message"}, "`type` is missing"),
    ],
)
def test_other_events_are_rejected(event: Any, told: str) -> None:
    with pytest.raises(ProviderFormatError) as caught:
        Stream("anthropic").feed(event)
    assert told in str(caught.value)


def test_events_come_as_soon_as_they_can() -> None:
    stream = Stream("anthropic")
    stream.feed(BEGUN)
    assert stream.feed(start(0, "thinking", thinking="A")) == [ReasoningDelta("A")]
    assert stream.feed(delta(0, "thinking_delta", thinking="B")) == [ReasoningDelta("B")]
    assert stream.feed(start(1, "text", text="C")) == [TextDelta("C")]


KINDS: list[Any] = ["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use"]


def block(index: int, kind: str, signed: bool) -> list[dict[str, Any]]:
    """The events of one block."""
    begun: dict[str, Any] = {
        "text": {"text": ""},
        "thinking": {"thinking": ""},
        "redacted_thinking": {"data": f"e{index}"},
    }.get(kind, {"id": f"c{index}", "name": "find", "input": {}})
    pieces: list[dict[str, Any]] = {
        "text": [delta(index, "text_delta", text=f"T{index}"), delta(index, "text_delta", text="t")],
        "thinking": [delta(index, "thinking_delta", thinking=f"K{index}"), delta(index, "thinking_delta", thinking="k")]
        + ([delta(index, "signature_delta", signature=f"s{index}")] if signed else []),
        "redacted_thinking": [],
    }.get(kind, [delta(index, "input_json_delta", partial_json=piece) for piece in ('{"x":', f" {index}}}")])
    return [start(index, kind, **begun), *pieces, {"type": "content_block_stop", "index": index}]


def number(index: int) -> dict[str, Any]:
    """The arguments of the call in a block."""
    return {"x": index}


@given(
    kinds=st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), min_size=1, max_size=5),
    chance=st.randoms(use_true_random=False),
)
def test_interleaved_blocks_keep_their_order(kinds: list[tuple[str, bool]], chance: Any) -> None:
    waiting = [block(index, *kind) for index, kind in enumerate(kinds)]
    open_blocks: list[list[dict[str, Any]]] = []
    events: list[Any] = [BEGUN]
    while waiting or open_blocks:
        if waiting and (not open_blocks or chance.random() < 0.4):
            open_blocks.append(waiting.pop(0))
            events.append(open_blocks[-1].pop(0))
            continue
        one = chance.choice(open_blocks)
        events.append(one.pop(0))
        open_blocks = [other for other in open_blocks if other]
    reply = feed([*events, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}], "anthropic")
    meant: dict[str, Callable[[int], Any]] = {"text": "T{}t".format, "thinking": "K{}k".format, "tool_use": number}
    said_kinds = ("text", "reasoning", "tool_call")
    got = [getattr(s, "text", None) or getattr(s, "arguments", None) for s in reply.segments if s.kind in said_kinds]
    assert got == [meant[kind](index) for index, (kind, _) in enumerate(kinds) if kind in meant]
    assert sorted(s.data for s in reply.signatures) == sorted(
        [f"e{i}" for i, (kind, _) in enumerate(kinds) if kind == "redacted_thinking"]
        + [f"s{i}" for i, (kind, signed) in enumerate(kinds) if kind == "thinking" and signed]
    )
