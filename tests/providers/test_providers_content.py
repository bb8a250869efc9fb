"""Responses of providers: content in a format, fragments of calls, blocks of all kinds, and whole replies."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import ReasoningDelta, Settings, TextDelta, ToolCallStart, parse, providers
from outspoken.providers import ProviderFormatError, ProviderReply, ProviderStream, parse_response, stream_response
from outspoken.providers import ProviderStream as Stream
from outspoken.providers.assembly.tool_calls import parse_arguments
from tests.invariants.replies import pieces
from tests.loops import DRAWN, in_one_item, some
from tests.providers.provider_events import dumped, feed
from tests.tables import tables

TABLES = tables(__file__)

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


@pytest.mark.parametrize(("asked", "reason"), TABLES["REQUESTS"])
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
    assert str([*providers.stream_to_wire(events, "openai")]).count("unfinished_tool_calls") == 1


def test_text_streams() -> None:
    stream = Stream("openai", format="hermes")
    first, *_ = chat("Mosses. <thi", finish=None)
    assert stream.feed(first)[1:] == [TextDelta("Mosses.")]
    events = stream.feed({"choices": [{"delta": {"content": "nk>grow"}}]})
    assert [type(event) for event in events] == [ReasoningDelta]


# openAI's Chat Completions and the dialects of it: reasoning, parts, refusals, fragments of calls, errors


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def call(index: Any, arguments: Any, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """A fragment of a call."""
    calls_of: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        calls_of["index"] = index
    if id is not None:
        calls_of |= {"id": id, "type": "function"}
    if name is not None:
        calls_of["function"]["name"] = name
    return calls_of


def calls(*fragments: dict[str, Any], finish: str | None = "tool_calls", **options: Any) -> ProviderReply:
    """The reply to a stream of fragments, one a chunk."""
    chunks = [chunk({"tool_calls": [fragment]}) for fragment in fragments]
    return feed([*chunks, *([chunk({}, finish)] if finish else [])], "openai", **options)


# calls


@pytest.mark.parametrize("text", TABLES["DAMAGED"])
def test_deltas_of_damaged_arguments_are_json_at_any_split(text: str) -> None:
    whole = dumped(calls(call(0, text, "a", "f")))
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        reply = calls(call(0, "", "a", "f"), *[call(0, piece) for piece in pieces])
        assert dumped(reply) == whole
        for one in reply.tool_calls:
            assert (one.status, json.loads(one.arguments_text)) == ("repaired", one.arguments)


def test_split_surrogate_pairs_are_joined() -> None:
    reply = feed([chunk({"content": "A \ud83d"}), chunk({"content": "\ude00 and \ud83d"}), chunk({}, "stop")], "openai")
    assert reply.text == "A \U0001f600 and \ufffd"
    (one,) = calls(call(0, '{"a": "\ud83d', "a", "f"), call(0, '\ude00"}')).tool_calls
    assert one.arguments == {"a": "\U0001f600"}


def test_invalid_chunk_is_reported_and_skipped() -> None:
    stream = ProviderStream("openai")
    stream.feed(chunk({"content": "Mo"}))
    with pytest.raises(ProviderFormatError, match=r"^chunk 2: `choices\[0\]\.delta\.content` is the number 7"):
        stream.feed(chunk({"content": 7}))
    stream.feed(chunk({"content": "ss."}))
    stream.close()
    assert stream.reply is not None
    assert stream.reply.text == "Moss."


# a name in pieces


@in_one_item("tools, pieces, first", TABLES["A_CALL_IS_ANNOUNCED_WHEN_NO_MORE_OF_ITS_NAME_MAY_ARRIVE"])  # fmt: skip
def test_a_call_is_announced_when_no_more_of_its_name_may_arrive(
    tools: list[str], pieces: list[str], first: int
) -> None:
    session = ProviderStream("openai", tools=[{"name": name, "parameters": {}} for name in tools])
    deltas = [{"index": 0, "function": {"name": piece}} for piece in pieces]
    found: list[tuple[int, str]] = []
    for number, delta in enumerate([*deltas, {"index": 0, "function": {"arguments": "{}"}}], 1):
        events = session.feed({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]})
        found += [(number, event.name) for event in events if isinstance(event, ToolCallStart)]
    session.close()
    assert found == [(first, "".join(pieces))]


def test_arguments_that_are_two_objects_are_invalid() -> None:
    for text, status in (('{"a": 1,}', "repaired"), ('{"a": 1,} {"b": 2}', "invalid")):
        assert parse_arguments(text, True, "strings", None, Settings()).status == status


# anthropic's Messages: blocks of all kinds, interleaved, as soon as they can come


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


# replies of all providers, compared in full: chunks of a stream or a whole body, as their documentation says


def chunk_of(delta: dict[str, Any]) -> dict[str, Any]:
    """The chunk of a chat with a delta, which may have the finish reason in it."""
    return chunk({key: delta[key] for key in delta if key != "finish_reason"}, delta.get("finish_reason"))


def read(sent: dict[str, Any], options: dict[str, Any]) -> Iterator[ProviderReply]:
    """The replies to a `body`, to `chunks` of a stream, to the `deltas` of a chat, or to its `content` in pieces."""
    if "body" in sent:
        body = sent["body"]
        written = [] if isinstance(body, str) else [json.dumps(body), json.dumps(body).encode()]
        yield from [parse_response(given, **options) for given in (body, *written)]
    elif "content" in sent:
        for pieces in ([sent["content"]], sent["content"]):
            deltas = [*[{"content": piece} for piece in pieces], {"finish_reason": sent.get("finish_reason", "stop")}]
            yield feed(map(chunk_of, deltas), **options)
    else:
        yield feed(sent["chunks"] if "chunks" in sent else map(chunk_of, sent["deltas"]), **options)


def said(reply: ProviderReply) -> dict[str, Any]:
    """All that a reply says, with the kinds of its segments and its text as a caller has it."""
    made = reply.model_dump(mode="json", exclude_defaults=True)
    segments = zip(reply.segments, made.get("segments", ()), strict=True)
    made["segments"] = [{"kind": segment.kind, **fields} for segment, fields in segments]
    made = {"text": reply.text or None, "reasoning": reply.reasoning, **made}
    return {key: value for key, value in made.items() if value is not None}


@in_one_item("name", TABLES["REPLIES"])
def test_the_whole_reply(name: str) -> None:
    case = TABLES["REPLIES"][name]
    before = deepcopy(case)
    for sent in case["sent"]:  # all say the same
        for reply in read(sent, case["options"]):
            assert said(reply) == case["reply"]
    assert case == before


@in_one_item("provider, body, told", TABLES["REJECTED"])
def test_what_is_no_response_is_rejected(provider: Any, body: Any, told: str) -> None:
    with pytest.raises(ProviderFormatError) as caught:
        parse_response(body, provider=provider)
    assert told in str(caught.value)
