"""The APIs of Gemini, Bedrock, Cohere and Ollama, and OpenAI's Responses, after their documentation."""

from __future__ import annotations

from typing import Any

import pytest

from outspoken.providers import ProviderFormatError, parse_response
from tests.providers.provider_events import calls_of, dumped, feed
from tests.tables import tables

TABLES = tables(__file__)

# OpenAI's Responses


ITEM = TABLES["ITEM"]
THOUGHT = TABLES["THOUGHT"]
MESSAGE: dict[str, Any] = TABLES["MESSAGE"]
DONE = {**ITEM, "arguments": '{"n": 1}', "status": "completed"}
RESPONSE: dict[str, Any] = {"id": "r1", "model": "m", "status": "completed", "output": [THOUGHT, MESSAGE, DONE],
            "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}  # fmt: skip


def test_the_events_of_a_response() -> None:
    events: list[Any] = [
        {"type": "response.created", "response": {"id": "r1", "model": "m", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**THOUGHT, "summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Lo"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "ok."},
        {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "One "},
        {"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "One moment."},
        {"type": "response.output_item.added", "output_index": 2, "item": ITEM},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"n"'},
        {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": '{"n": 1}'},
        {"type": "response.output_item.done", "output_index": 2, "item": DONE},
        {"type": "response.something.new", "output_index": 2},
        {"type": "response.completed", "response": RESPONSE},
    ]
    reply = feed(events, "openai_responses")
    assert (reply.reasoning, reply.text, calls_of(reply)) == ("Look.", "One moment.", [("c1", "find", {"n": 1})])
    assert (reply.finish_reason, reply.stop_reason) == ("tool_calls", "completed")
    assert [(s.segment, s.data, s.redacted) for s in reply.signatures] == [(0, "e", False)]
    assert dumped(parse_response(RESPONSE, "openai_responses")) == dumped(reply)
    assert dumped(feed([events[0], events[-1]], "openai_responses")) == dumped(reply)


def test_refusals_custom_calls_and_the_limit() -> None:
    output = TABLES["REFUSALS_CUSTOM_CALLS_AND_THE_LIMIT"]
    body = {"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": output}
    reply = parse_response(body, "openai_responses")
    assert (reply.refusal, calls_of(reply)) == ("No.", [("c", "sql", {"input": "select 1"})])
    assert [p.type for p in reply.payloads] == ["web_search_call"]
    assert [(c.name, c.status) for c in reply.unfinished_tool_calls] == [("f", "truncated")]
    assert (reply.finish_reason, reply.stop_reason) == ("length", "max_output_tokens")


def test_a_response_that_failed() -> None:
    error = {"code": "server_error", "message": "It broke"}
    failed: Any = {"type": "response.failed", "response": {"id": "r", "status": "failed", "error": error, "output": []}}
    reply = feed([failed], "openai_responses")
    assert reply.error is not None
    assert (reply.error.message, reply.error.code, reply.finish_reason) == ("It broke", "server_error", "error")
    flat = {"type": "error", "code": "rate_limit", "message": "Slow", "param": None}
    alone = feed([flat], "openai_responses").error
    assert alone is not None
    assert (alone.message, alone.code) == ("Slow", "rate_limit")


# Gemini


def gemini(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A chunk with parts."""
    return {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, **more}],
        "modelVersion": "g",
        "responseId": "r",
    }


def test_parts_of_gemini() -> None:
    counts = {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5, "totalTokenCount": 12}
    chunks = [
        gemini({"text": "Hm.", "thought": True}),
        gemini({"text": "One "}),
        gemini({"text": "moment."}, {"text": "", "thoughtSignature": "c2ln"}),
        gemini({"executableCode": {"language": "PYTHON", "code": "1 + 1"}}),
        gemini({"functionCall": {"name": "find", "args": {"n": 1}}, "thoughtSignature": "c2lnMg=="}),
        gemini({"functionCall": {"id": "x", "name": "ring"}}, finishReason="STOP") | {"usageMetadata": counts},
    ]
    reply = feed(chunks, "gemini")
    assert (reply.reasoning, reply.text) == ("Hm.", "One moment.")
    assert calls_of(reply) == [(None, "find", {"n": 1}), ("x", "ring", {})]
    assert [(p.type, p.data["code"]) for p in reply.payloads] == [("executableCode", "1 + 1")]
    assert [(s.segment, s.data) for s in reply.signatures] == [(1, "c2ln"), (3, "c2lnMg==")]
    assert (reply.finish_reason, reply.stop_reason, reply.id, reply.model) == ("tool_calls", "STOP", "r", "g")
    assert reply.usage is not None
    assert reply.usage.reasoning_tokens == 5
    assert dumped(feed([chunks], "gemini")) == dumped(reply)


def test_blocked_prompt() -> None:
    feedback = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not this."}
    reply = parse_response({"promptFeedback": feedback, "modelVersion": "g"}, "gemini")
    assert (reply.finish_reason, reply.stop_reason, reply.refusal) == (
        "content_filter",
        "PROHIBITED_CONTENT",
        "Not this.",
    )


def test_gemini_in_snake_case() -> None:
    part = {"function_call": {"name": "f", "args": {"a": 1}}, "thought_signature": "c2ln"}
    body = {"candidates": [{"content": {"parts": [part]}, "finish_reason": "STOP"}], "response_id": "r"}
    reply = parse_response(body, "gemini")
    assert (calls_of(reply), reply.stop_reason, reply.signatures[0].data) == ([(None, "f", {"a": 1})], "STOP", "c2ln")


# Bedrock


def test_the_events_of_converse() -> None:
    def piece(index: int, **more: Any) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": more}}

    use = {"toolUse": {"toolUseId": "t", "name": "find"}}
    run = {"toolUse": {"toolUseId": "s", "name": "code", "type": "server_tool_use"}}
    reply = feed(
        [
            {"messageStart": {"role": "assistant"}},
            piece(0, reasoningContent={"text": "Hm"}),
            piece(0, reasoningContent={"text": "."}),
            piece(0, reasoningContent={"signature": "c2ln"}),
            {"contentBlockStop": {"contentBlockIndex": 0}},
            piece(1, text="One "),
            piece(1, text="moment."),
            {"contentBlockStop": {"contentBlockIndex": 1}},
            {"contentBlockStart": {"contentBlockIndex": 2, "start": use}},
            piece(2, toolUse={"input": '{"n"'}),
            piece(2, toolUse={"input": ": 1}"}),
            {"contentBlockStop": {"contentBlockIndex": 2}},
            {"contentBlockStart": {"contentBlockIndex": 3, "start": run}},
            piece(3, toolUse={"input": '{"snippet": '}),
            piece(3, toolUse={"input": '"1"}'}),
            {"contentBlockStop": {"contentBlockIndex": 3}},
            {"messageStop": {"stopReason": "tool_use"}},
            {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}},
        ],
        "bedrock",
    )
    assert (reply.reasoning, reply.text, calls_of(reply)) == ("Hm.", "One moment.", [("t", "find", {"n": 1})])
    assert [(p.type, p.data["input"]) for p in reply.payloads] == [("server_tool_use", {"snippet": "1"})]
    assert [s.data for s in reply.signatures] == ["c2ln"]
    assert reply.usage is not None
    assert (reply.usage.total_tokens, reply.stop_reason) == (3, "tool_use")


def test_an_exception_of_bedrock() -> None:
    reply = feed([{"messageStart": {}}, {"throttlingException": {"message": "Too many"}}], "bedrock")
    assert reply.error is not None
    assert (reply.error.type, reply.error.message) == ("throttlingException", "Too many")


# Cohere and Ollama


def test_the_events_of_cohere() -> None:
    def event(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
        return {"type": kind, "delta": {"message": message}} | ({"index": index} if index is not None else {})

    usage = {"tokens": {"input_tokens": 3.0, "output_tokens": 4.0}}
    reply = feed(
        [
            {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
            event("tool-plan-delta", tool_plan="I will "),
            event("tool-plan-delta", tool_plan="look."),
            event(
                "tool-call-start",
                0,
                tool_calls={"id": "t", "type": "function", "function": {"name": "f", "arguments": ""}},
            ),
            event("tool-call-delta", 0, tool_calls={"function": {"arguments": '{"n": 1}'}}),
            {"type": "tool-call-end", "index": 0},
            event("content-start", 0, content={"type": "thinking", "thinking": ""}),
            event("content-delta", 0, content={"thinking": "Hm."}),
            {"type": "content-end", "index": 0},
            event("content-start", 1, content={"type": "text", "text": ""}),
            event("content-delta", 1, content={"text": "Yes."}),
            {"type": "content-end", "index": 1},
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}},
        ],
        "cohere",
    )
    assert (reply.id, reply.reasoning, reply.text, calls_of(reply)) == (
        "c1",
        "I will look.\n\nHm.",
        "Yes.",
        [("t", "f", {"n": 1})],
    )
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.finish_reason) == (3, "tool_calls")


def test_the_lines_of_ollama() -> None:
    lines = (
        '{"model":"q","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}\n'
        '{"model":"q","message":{"role":"assistant","content":"Yes"},"done":false}\n'
        '{"model":"q","message":{"content":".","tool_calls":[{"function":{"name":"f","arguments":{"n":1}}}]},"done":false}\n'
        '{"model":"q","message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}\n'
    )
    whole = feed([lines], "ollama")
    assert (whole.reasoning, whole.text, calls_of(whole), whole.finish_reason) == (
        "Hm.",
        "Yes.",
        [(None, "f", {"n": 1})],
        "tool_calls",
    )
    assert dumped(feed(lines, "ollama")) == dumped(whole)
    assert dumped(feed(lines.splitlines(), "ollama")) == dumped(whole)
    generated = parse_response({"model": "q", "response": "Yes.", "done": True}, "ollama")
    assert (generated.text, generated.stop_reason) == ("Yes.", "stop")
    failed = parse_response({"error": "model not found"}, "ollama")
    assert failed.error is not None
    assert failed.error.message == "model not found"


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "cohere", "ollama", "openai_responses"])
def test_other_bodies_are_rejected(provider: str) -> None:
    with pytest.raises(ProviderFormatError, match="expected"):
        parse_response({"embedding": [0.1]}, provider)
