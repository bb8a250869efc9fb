"""Anthropic's Messages: blocks of all kinds, interleaved, as soon as they can come."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from outspoken import ReasoningDelta, TextDelta
from outspoken.providers import ProviderStream as Stream
from tests.providers.provider_events import feed


def start(index: int, kind: str, **more: Any) -> dict[str, Any]:
    """The event with which a block begins."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    """An event with a piece of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


BEGUN: dict[str, Any] = {"type": "message_start", "message": {"id": "m1", "model": "claude", "content": []}}


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
