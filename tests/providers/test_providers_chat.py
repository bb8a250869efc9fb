"""OpenAI's Chat Completions and the dialects of it: reasoning, parts, refusals, fragments of calls, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outspoken import Settings, ToolCallStart
from outspoken.providers import ProviderFormatError, ProviderReply, ProviderStream, parse_response
from outspoken.providers.assembly.tool_calls import parse_arguments
from tests.loops import in_one_item
from tests.providers.provider_events import calls_of, dumped, feed
from tests.tables import tables

TABLES = tables(__file__)


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


def test_a_stream_of_text_and_reasoning() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 4}, "prompt_tokens_details": {"cached_tokens": 2}}
    usage = {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14, **details}
    reply = feed(
        [
            chunk({"role": "assistant", "content": None, "reasoning_content": ""}),
            chunk({"reasoning_content": "Ferries "}),
            chunk({"reasoning_content": "sail.", "content": ""}),
            chunk({"content": "At "}),
            chunk({"content": "nine.\n"}),
            chunk({}, "stop"),
            {"id": "c1", "choices": [], "usage": usage},
        ],
        "deepseek",
    )
    assert (reply.reasoning, reply.text, reply.raw) == ("Ferries sail.", "At nine.\n", "At nine.\n")
    assert (reply.id, reply.model, reply.finish_reason, reply.stop_reason) == ("c1", "m", "stop", "stop")
    assert reply.usage is not None
    assert reply.usage.model_dump() == {
        "input_tokens": 5, "output_tokens": 9, "total_tokens": 14, "reasoning_tokens": 4, "cached_tokens": 2,
        "raw": usage,
    }  # fmt: skip


@pytest.mark.parametrize(
    "delta",
    TABLES["ALL_NAMES_OF_THE_REASONING_FIELD"],
)
def test_all_names_of_the_reasoning_field(delta: dict[str, Any]) -> None:
    reply = feed([chunk({**delta, "role": "assistant"}), chunk({"content": "Yes."}, "stop")], "openrouter")
    assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")
    assert [segment.kind for segment in reply.segments] == ["reasoning", "text"]


def test_signed_and_encrypted_reasoning() -> None:
    details = TABLES["SIGNED_AND_ENCRYPTED_REASONING"]
    reply = feed(
        [*[chunk({"reasoning_details": [d]}) for d in details], chunk({"content": "Yes."}, "stop")], "openrouter"
    )
    assert [(s.segment, s.data, s.redacted) for s in reply.signatures] == [(0, "c2ln", False), (1, "ZGF0YQ==", True)]


def test_blocks_of_reasoning_and_text_stay_apart() -> None:
    deltas = [{"reasoning": "a"}, {"content": "b"}, {"reasoning": "c"}, {"content": "d"}]
    reply = feed([chunk(delta) for delta in deltas], "groq")
    assert [segment.kind for segment in reply.segments] == ["reasoning", "text", "reasoning", "text"]
    assert (reply.text, reply.reasoning) == ("bd", "a\n\nc")
    assert reply.finish_reason is None


def test_parts_of_content_and_refusals() -> None:
    parts = TABLES["PARTS_OF_CONTENT_AND_REFUSALS"]
    reply = feed([chunk({"content": parts}), chunk({"refusal": " more."}), chunk({}, "stop")], "openai")
    assert (reply.text, reply.refusal) == ("A lichen.", "No more.")


def test_unknown_message_fields_are_kept() -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://example.org"}}
    reply = feed(
        [chunk({"content": "Mo"}), chunk({"annotations": [cited]}), chunk({"content": "ss."}, "stop")], "openrouter"
    )
    assert [(p.type, p.data) for p in reply.payloads] == [("annotation", cited)]
    assert [segment.kind for segment in reply.segments] == ["text", "payload"]
    assert reply.text == "Moss."


# calls


def test_fragments_are_merged_by_index_in_any_order() -> None:
    reply = calls(
        call(0, "", "a", "find"),
        call(1, '{"shelf"', "b", "look"),
        call(0, '{"title": "Mos'),
        call(1, ": 3}"),
        call(0, 'ses"}'),
    )
    assert calls_of(reply) == [("a", "find", {"title": "Mosses"}), ("b", "look", {"shelf": 3})]
    assert reply.tool_calls[0].arguments_text == '{"title": "Mosses"}'
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "fragments",
    [
        [call(None, '{"n":', "a", "f"), call(None, " 1}"), call(None, '{"n": 2}', "b", "f")],
        [call(None, '{"n":', "a", "f"), call(None, '{"n": 2}', "b", "f"), call(None, " 1}", "a")],
        [call("0", '{"n":', "a", "f"), call("0", " 1}"), call("1", '{"n": 2}', "b", "f")],
        [call(0, '{"n": 1}', "a", "f"), call(0, '{"n": 2}', "b", "f")],
        [call(0, {"n": 1}, "a", "f"), call(1, {"n": 2}, "b", "f")],
        [call(0, '{"n": 1}', "a", "f"), call(1, '{"n"', "b", "f"), call(1, ": 2}", "b", "f")],
    ],
    ids=["by order", "by id", "index as text", "one index for all", "objects", "names again"],
)
def test_call_indexes_of_various_servers(fragments: list[dict[str, Any]]) -> None:
    assert calls_of(calls(*fragments)) == [("a", "f", {"n": 1}), ("b", "f", {"n": 2})]


def test_missing_arguments_are_an_empty_object() -> None:
    for text in ("", None, "{}"):
        (one,) = calls(call(0, text, "a", "ring")).tool_calls
        assert (one.arguments, one.arguments_text, one.status) == ({}, "{}", "ok")


def test_name_arrives_after_the_arguments() -> None:
    reply = calls(call(0, '{"a":', "x"), call(0, " 1}", None, "late"))
    assert calls_of(reply) == [("x", "late", {"a": 1})]
    nameless = calls(call(0, '{"a": 1}', "x"))
    assert [(c.name, c.status) for c in nameless.unfinished_tool_calls] == [("", "invalid")]
    assert [d.code for d in nameless.diagnostics] == ["invalid-call"]


def test_the_legacy_function_call() -> None:
    pieces = [{"name": "find", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
    reply = feed([*[chunk({"function_call": piece}) for piece in pieces], chunk({}, "function_call")], "openai")
    assert calls_of(reply) == [(None, "find", {"a": 1})]
    assert (reply.finish_reason, reply.stop_reason) == ("tool_calls", "function_call")


def test_custom_call_with_text_input() -> None:
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": 'select "tide"'}}
    reply = feed([chunk({"tool_calls": [custom]}, "tool_calls")], "openai")
    assert calls_of(reply) == [("a", "sql", {"input": 'select "tide"'})]


def test_stop_with_calls_becomes_tool_calls() -> None:
    reply = calls(call(0, "{}", "a", "f"), finish="stop")
    assert (reply.finish_reason, reply.stop_reason) == ("tool_calls", "stop")


def test_damaged_arguments_are_repaired_and_reported() -> None:
    reply = calls(call(0, "{'title': 'Mosses',", "a", "find"), call(0, "}"))
    (one,) = reply.tool_calls
    assert (one.status, one.arguments, one.arguments_text) == ("repaired", {"title": "Mosses"}, '{"title": "Mosses"}')
    assert (reply.status, {repair.level for repair in one.repairs}) == ("repaired", {"notation"})
    assert {d.severity for d in reply.diagnostics} == {"warning"}
    assert "in the arguments of `find`" in reply.diagnostics[0].message
    refused = calls(call(0, "{'title': 'Mosses'}", "a", "find"), repair="none")
    assert [(c.status, c.arguments) for c in refused.unfinished_tool_calls] == [("invalid", {})]


@pytest.mark.parametrize(("text", "value"), [("null", "{}"), ('"{\\"a\\": 1}"', '{"a": 1}'), ('""', "{}")])
def test_non_object_arguments_are_converted(text: str, value: str) -> None:
    (one,) = calls(call(0, text, "a", "f")).tool_calls
    assert (one.arguments, one.status, one.arguments_text) == (json.loads(value), "repaired", value)


DAMAGED = TABLES["DAMAGED"]


@pytest.mark.parametrize("text", DAMAGED)
def test_deltas_of_damaged_arguments_are_json_at_any_split(text: str) -> None:
    whole = dumped(calls(call(0, text, "a", "f")))
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        reply = calls(call(0, "", "a", "f"), *[call(0, piece) for piece in pieces])
        assert dumped(reply) == whole
        for one in reply.tool_calls:
            assert (one.status, json.loads(one.arguments_text)) == ("repaired", one.arguments)


def test_repairs_never_change_sent_deltas() -> None:
    (one,) = calls(call(0, '{"a": 1, "b"', "a", "f")).unfinished_tool_calls
    assert (one.status, one.arguments_text) == ("truncated", '{"a": 1, "b"')


@pytest.mark.parametrize("text", ["[1, 2]", "3", '"tide"', "tide tables"])
def test_unreadable_arguments_are_invalid(text: str) -> None:
    reply = calls(call(0, text, "a", "f"))
    assert [(c.status, c.arguments, c.arguments_text) for c in reply.unfinished_tool_calls] == [("invalid", {}, text)]
    assert [d.code for d in reply.diagnostics] == ["invalid-call"]
    assert reply.tool_calls == []


@pytest.mark.parametrize("finish", ["length", None, "content_filter"])
def test_truncated_call_is_never_complete(finish: str | None) -> None:
    reply = calls(call(0, '{"a": 1}', "a", "f"), call(1, '{"b": [1, 2], "c": "Mos', "b", "g"), finish=finish)
    assert calls_of(reply) == [("a", "f", {"a": 1})]
    assert [(c.name, c.status) for c in reply.unfinished_tool_calls] == [("g", "truncated")]
    assert reply.unfinished_tool_calls[0].arguments == {"b": [1, 2], "c": "Mos"}
    assert (reply.status, [d.code for d in reply.diagnostics]) == ("truncated", ["unclosed-call"])


def test_truncated_call_without_arguments_is_incomplete() -> None:
    reply = calls(call(0, "", "a", "wipe"), finish=None)
    assert [(c.name, c.status, c.arguments_text) for c in reply.unfinished_tool_calls] == [("wipe", "truncated", "")]


def test_unknown_tools_are_reported() -> None:
    reply = calls(call(0, "{}", "a", "fnid"), tools=[{"name": "find", "parameters": {}}])
    assert [(d.code, d.severity) for d in reply.diagnostics] == [("unknown-tool", "warning")]
    assert len(reply.tool_calls) == 1


def test_split_surrogate_pairs_are_joined() -> None:
    reply = feed([chunk({"content": "A \ud83d"}), chunk({"content": "\ude00 and \ud83d"}), chunk({}, "stop")], "openai")
    assert reply.text == "A \U0001f600 and \ufffd"
    (one,) = calls(call(0, '{"a": "\ud83d', "a", "f"), call(0, '\ude00"}')).tool_calls
    assert one.arguments == {"a": "\U0001f600"}


# whole responses, and what is none


def test_a_whole_response_of_several_choices() -> None:
    body = TABLES["A_WHOLE_RESPONSE_OF_SEVERAL_CHOICES"]
    for given in (body, json.dumps(body), json.dumps(body).encode()):
        reply = parse_response(given)
        assert (reply.text, calls_of(reply), reply.finish_reason) == ("One.", [("a", "f", {"n": 1})], "tool_calls")
        assert reply.tool_calls[0].span == (4, 4)


@pytest.mark.parametrize(
    ("body", "message", "code", "status"),
    TABLES["ERROR_BODIES_OF_VARIOUS_SHAPES"],
)  # fmt: skip
def test_error_bodies_of_various_shapes(body: Any, message: str, code: str | None, status: int | None) -> None:
    reply = parse_response(json.dumps(body), "openai")
    assert reply.error is not None
    assert (reply.error.message, reply.error.code, reply.error.status) == (message, code, status)
    assert (reply.segments, reply.finish_reason) == ([], None)


def test_error_in_a_stream_keeps_earlier_content() -> None:
    failed = {"error": {"message": "overloaded", "code": 503}}
    reply = feed([chunk({"content": "So "}), chunk({"tool_calls": [call(0, '{"a"', "a", "f")]}), failed], "openai")
    assert reply.error is not None
    assert (reply.text, reply.error.status) == ("So ", 503)
    assert [c.status for c in reply.unfinished_tool_calls] == ["truncated"]


NONE: list[tuple[Any, str]] = TABLES["NONE"]


@pytest.mark.parametrize(("body", "expected_message"), NONE)
def test_bodies_that_are_not_responses_are_rejected(body: Any, expected_message: str) -> None:
    given = body + "\n" if isinstance(body, str) else body
    with pytest.raises(ProviderFormatError) as caught:
        parse_response(given, "openai")
    assert expected_message in str(caught.value)


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
