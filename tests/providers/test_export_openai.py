"""OpenAI's Chat Completions: its own client reads the chunks that we export."""

import json
from typing import Any

import openai
import pytest
from hypothesis import given
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from outspoken import parse, stream
from outspoken.providers.events import Failed
from outspoken.providers.replies import ProviderError, ProviderReply
from outspoken.providers.wire.parts import StreamCalls
from outspoken.providers.wire.writing import sse, stream_to_wire, to_wire
from outspoken.results import events as ev
from tests.providers.export_streams import (
    Call,
    Canned,
    Events,
    calls_of,
    corpus_streams,
    error_of,
    in_both_ways,
    is_cut,
    reply_of,
    streams,
    text_of,
    unknown,
    written,
)

CUT = (
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {"b": [2'
)


UPSTREAM = Canned(openai)
CLIENT = openai.OpenAI(api_key="k", base_url="http://upstream", http_client=UPSTREAM.client())


def accumulated(body: bytes) -> Any:
    """What OpenAI's client has, once the stream has ended."""
    UPSTREAM.body = body
    with CLIENT.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as found:
        found.until_done()
        return found.current_completion_snapshot


def check_chunks(chunks: list[Any]) -> None:
    for part in chunks:
        if "error" in part:
            assert set(part["error"]) == {"message", "type", "param", "code"}
            assert part is chunks[-1]
            continue
        chunk = ChatCompletionChunk.model_validate(part, strict=True)
        assert set(unknown(chunk)) <= {"choices.delta.reasoning_content", "choices.delta.outspoken"}
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert len({chunk["id"] for chunk in chunks if "id" in chunk}) == 1
    choices = [choice for chunk in chunks for choice in chunk.get("choices", [])]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    begun = [call["index"] for call in calls if "id" in call]
    assert begun == list(range(len(begun)))


def sent(call: Call) -> str:
    """The arguments that chunks have of a call. Those of an incomplete one lack the closing braces at their end."""
    text = call.arguments
    shown = text if call.finished or "}" not in text[len(text.rstrip("} \t\r\n")) :] else text.rstrip("} \t\r\n")
    return shown if shown.strip() or call.finished else shown + "{"


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def check_message(events: Events, chunks: list[Any], stream_calls: StreamCalls) -> None:
    """The real client has what the reply says."""
    reply = reply_of(events)
    completion = accumulated(written(chunks, "openai"))
    choice = completion.choices[0]
    assert (choice.message.content or "") == text_of(events) == reply.text
    assert getattr(choice.message, "reasoning_content", None) == reply.reasoning
    calls = calls_of(events, stream_calls)
    found: Any = choice.message.tool_calls or []
    assert [(call.function.name, call.function.arguments) for call in found] == [(c.name, sent(c)) for c in calls]
    assert not [c for c in calls if not c.finished and is_object(sent(c))]
    assert len({call.id for call in found}) == len(calls)
    beyond: dict[str, Any] = getattr(choice.message, "outspoken", {})
    assert len(beyond.get("payloads", [])) == len(reply.payloads) + len(reply.unfinished_payloads)
    assert len(beyond.get("actions", [])) == len(reply.actions)
    assert len(beyond.get("unfinished_tool_calls", [])) == len(reply.unfinished_tool_calls)
    assert len(beyond.get("unfinished_actions", [])) == len(reply.unfinished_actions)
    if is_cut(reply):
        assert choice.finish_reason in ("length", "content_filter")
    reported = {item["call"] for item in beyond.get("unfinished_tool_calls", []) if item["call"] is not None}
    assert reported == {position for position, call in enumerate(calls) if not call.finished}


@in_both_ways
def test_corpus(stream_calls: StreamCalls) -> None:
    assert len(corpus_streams()) > 50
    for events in corpus_streams():
        chunks = list(
            stream_to_wire(events, "openai", stream_calls=stream_calls, id="chatcmpl-1", model="m", created=1)
        )
        check_chunks(chunks)
        check_message(events, chunks, stream_calls)


@in_both_ways
@given(events=streams())
def test_any_stream(stream_calls: StreamCalls, events: Events) -> None:
    chunks = list(stream_to_wire(events, "openai", stream_calls=stream_calls))
    check_chunks(chunks)
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    assert chunks[0]["id"] == "r_1"
    if error_of(reply):
        with pytest.raises(openai.APIError, match=r"(?s).*"):
            accumulated(written(chunks, "openai"))
        assert not any(chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1])
        return
    check_message(events, chunks, stream_calls)
    completion = accumulated(written(chunks, "openai"))
    assert (completion.usage is None) == (reply.usage is None)
    if reply.usage:
        assert completion.usage.prompt_tokens == (reply.usage.input_tokens or 0)
    assert (completion.choices[0].message.refusal or "") == (reply.refusal or "")


@given(streams())
def test_whole(events: Events) -> None:
    reply = reply_of(events)
    assert isinstance(reply, ProviderReply)
    whole = to_wire(reply, "openai", created=1)
    if error := error_of(reply):
        assert whole["error"]["message"] == error.message
        return
    completion = ChatCompletion.model_validate(whole, strict=True)
    assert set(unknown(completion)) <= {"choices.message.reasoning_content", "choices.message.outspoken"}
    message = completion.choices[0].message
    assert (message.content or "", message.refusal) == (reply.text, reply.refusal)
    assert getattr(message, "reasoning_content", None) == reply.reasoning
    found = [
        (call.function.name, call.function.arguments) for call in message.tool_calls or [] if call.type == "function"
    ]
    assert found == [(call.name, call.arguments_text) for call in reply.tool_calls]
    if is_cut(reply):
        assert completion.choices[0].finish_reason in ("length", "content_filter")


@in_both_ways
def test_truncated_call(stream_calls: StreamCalls) -> None:
    chunks = list(stream_to_wire(stream([CUT], format="hermes"), "openai", id="x", stream_calls=stream_calls))
    completion = accumulated(written(chunks, "openai"))
    assert completion.choices[0].finish_reason == "length"
    message, in_pieces = completion.choices[0].message, stream_calls == "pieces"
    assert [call.function.name for call in message.tool_calls] == ["f", "g"][: 1 + in_pieces]
    assert message.outspoken["unfinished_tool_calls"][0]["call"] == (1 if in_pieces else None)
    whole = to_wire(parse(CUT, format="hermes"), "openai", id="x")["choices"][0]
    assert [call["function"]["name"] for call in whole["message"]["tool_calls"]] == ["f"]
    assert whole["finish_reason"] == "length"
    assert whole["message"]["outspoken"]["unfinished_tool_calls"][0]["arguments"] == '{"b": ['


def test_client_rejects_truncated_calls() -> None:
    UPSTREAM.body = b"".join(sse(stream([CUT], format="hermes"), "openai"))
    with (
        CLIENT.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as found,
        pytest.raises(openai.LengthFinishReasonError),
    ):
        found.get_final_completion()


def test_stream_without_an_end_is_truncated() -> None:
    events = [
        event for event in stream([CUT[:60]], format="hermes") if not isinstance(event, ev.Done | ev.ToolCallUnfinished)
    ]
    chunks = list(stream_to_wire(events, "openai"))
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


def test_ids_are_stable_and_unique() -> None:
    call = parse('{"name": "f", "arguments": {}}').tool_calls[0]
    events: Events = []
    for index, id in enumerate(["a", "a", None]):
        events += [ev.ToolCallStart(index, id, "f"), ev.ToolCallDelta(index, "{}")]
        events.append(ev.ToolCallEnd(index, call.model_copy(update={"id": id})))
    ids = [
        call["id"]
        for chunk in stream_to_wire(events, "openai", id="x")
        for call in chunk["choices"][0]["delta"].get("tool_calls", [])
        if "id" in call
    ]
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    assert list(stream_to_wire(events, "openai", id="x", created=1)) == list(
        stream_to_wire(events, "openai", id="x", created=1)
    )


def test_actions_can_be_exported_as_calls() -> None:
    text = "Thought: There.\nAction: click(start_box='(5,2)')"
    plain = list(stream_to_wire(stream([text], format="ui_tars_1_0"), "openai"))
    deltas = [chunk["choices"][0]["delta"] for chunk in plain]
    (action,) = [delta["outspoken"]["actions"][0] for delta in deltas if "outspoken" in delta]
    assert (action["type"], action["point"]["x"]) == ("click", 5.0)
    assert plain[-1]["choices"][0]["finish_reason"] == "stop"
    as_call = to_wire(parse(text, format="ui_tars_1_0"), "openai", action_tool="computer")["choices"][0]
    (call,) = as_call["message"]["tool_calls"]
    assert call["function"]["name"] == "computer"
    assert '"type": "click"' in call["function"]["arguments"]
    assert as_call["finish_reason"] == "tool_calls"


def test_error_is_the_last_event() -> None:
    events: Events = [ev.TextDelta("A"), Failed(ProviderError(message="overloaded", type="busy", code="c"))]
    chunks = list(stream_to_wire(events, "openai"))
    assert chunks[-1] == {"error": {"message": "overloaded", "type": "busy", "param": None, "code": "c"}}
    with pytest.raises(openai.APIError, match="overloaded"):
        accumulated(written(chunks, "openai"))
