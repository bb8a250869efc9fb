"""Anthropic's Messages through the proxy: the real client in front of it, and an upstream that writes raw text."""

import asyncio
import json
from collections.abc import Generator
from typing import Any

import anthropic
import httpx
import pytest
from starlette.responses import Response

from outspoken.constraints import constraint
from tests.serving.serving import OFFERED_TO, chunk, completion, event, proxied, streaming, whole, written
from tests.serving.test_serve_responses import CHAT_TOOLS, PARALLEL, SCHEMA, TEXT, Front, answer
from tests.tables import tables

TABLES = tables(__file__)

TOOLS: Any = [
    {"name": "tide", "description": "The hour.", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    {"name": "wind", "input_schema": SCHEMA, "strict": False, "type": "custom"},
]
ASKED: Any = {
    "model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "When?"}], "tools": OFFERED_TO["messages"],
}  # fmt: skip


@pytest.fixture(scope="module")
def front() -> Generator[Front]:
    with proxied(whole({})) as found:
        yield found


def client(front: Front) -> Any:
    return anthropic.Anthropic(api_key="secret", base_url=front[0].url, max_retries=0)


def message(front: Front, stream: bool, **asked: Any) -> Any:
    """The message, as the client has it at the end."""
    with client(front) as found:
        if not stream:
            return found.messages.create(**{**ASKED, **asked})
        with found.messages.stream(**{**ASKED, **asked}) as events:
            return events.get_final_message()


def post(front: Front, path: str = "", **asked: Any) -> httpx.Response:
    return httpx.post(f"{front[0].url}/v1/messages{path}", json={**ASKED, **asked})


def blocks(found: Any) -> list[Any]:
    """The blocks of a message, in short."""
    short: list[Any] = []
    for block in found.content:
        match block.type:
            case "tool_use":
                short.append((block.name, block.input))
            case "thinking":
                short.append((block.type, block.thinking))
            case _:
                short.append((block.type, block.text))
    return short


@pytest.mark.parametrize("stream", [False, True])
def test_text_thinking_and_a_call(front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT)
    system: Any = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    more = {"temperature": 0.5, "top_k": 3}
    found = message(front, stream, tools=TOOLS, system=system, metadata={"user_id": "u"}, extra_body=more)
    expected = [("thinking", "The user wants the tide."), ("text", "Let me look."), ("tide", {"place": "Brest"})]
    assert blocks(found) == expected
    assert (found.stop_reason, found.model, found.role) == ("tool_use", "mosses-2", "assistant")
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cache_read_input_tokens) == (7, 2, 4)
    asked = front[2].asked
    system = {"role": "system", "content": "Be brief.\n\nBe kind."}
    assert asked["messages"] == [system, {"role": "user", "content": "When?"}]
    assert (asked["tools"], asked["max_tokens"], asked["user"], asked["top_k"]) == (CHAT_TOOLS, 50, "u", 3)
    assert asked.get("stream_options") == ({"include_usage": True} if stream else None)
    assert front[2].headers["authorization"] == "Bearer secret"
    assert "x-api-key" not in front[2].headers


@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_of_two_tools(front: Front, stream: bool) -> None:
    turns: Any = [{"role": "user", "content": "When?"}]
    for text in (TEXT, PARALLEL):
        front[2].answer = answer(text)
        found = message(front, stream, messages=turns, tools=TOOLS)
        turns.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in found.content]})
        results: list[Any] = []
        for block in found.content:
            if block.type == "tool_use":
                result: Any = f"{block.name} is known"
                if block.name == "wind":
                    result = [{"type": "text", "text": "from"}, {"type": "text", "text": "the west"}]
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": result})
        turns.append({"role": "user", "content": results})
    turns[-1]["content"].append({"type": "text", "text": "Well?"})
    front[2].answer = answer("At nine.")
    found = message(front, stream, messages=turns, tools=TOOLS)
    assert (blocks(found), found.stop_reason) == ([("text", "At nine.")], "end_turn")
    sent = front[2].asked["messages"]
    assert [part["role"] for part in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool", "user"]
    first, second = sent[1], sent[3]
    assert (first["content"], first["reasoning_content"]) == ("Let me look.", "The user wants the tide.")
    assert json.loads(second["tool_calls"][1]["function"]["arguments"]) == {"place": "Brest", "day": 2}
    ids = [call["id"] for part in (first, second) for call in part["tool_calls"]]
    assert ids == [part["tool_call_id"] for part in sent if part["role"] == "tool"]
    assert len(set(ids)) == 3
    assert [part["content"] for part in sent[4:]] == ["tide is known", "from\nthe west", "Well?"]


@pytest.mark.parametrize("stream", [False, True])
def test_the_tool_runner_of_the_client(front: Front, stream: bool) -> None:
    """It asks for a thread on the server, and sends the whole conversation when there is none."""
    texts, ran = [TEXT, PARALLEL, "At nine."], list[Any]()

    async def give(asked: dict[str, Any]) -> Response:
        return await answer(texts[sum(part["role"] == "assistant" for part in asked["messages"])])(asked)

    front[2].answer = give

    @anthropic.beta_tool
    def tide(place: str) -> str:
        "The hour."
        ran.append(place)
        return "nine"

    @anthropic.beta_tool
    def wind(place: str, day: int) -> str:
        "From where."
        ran.append((place, day))
        return "west"

    with client(front) as found:
        turns = list(found.beta.messages.tool_runner(**{**ASKED, "tools": [tide, wind]}, stream=stream))
        last = turns[-1].get_final_message() if stream else turns[-1]
    assert sorted(ran, key=str) == [("Brest", 2), "Brest", "Brest"]
    assert [block.text for block in last.content] == ["At nine."]


def test_asynchronous_events(front: Front) -> None:
    front[2].answer = answer(PARALLEL)

    async def main() -> list[Any]:
        known: Any = anthropic.AsyncAnthropic(api_key="k", base_url=front[0].url, max_retries=0)
        async with known as found:
            return [part async for part in await found.messages.create(**ASKED, stream=True)]

    events = asyncio.run(main())
    assert [part.type for part in events if not part.type.endswith("_delta")] == [
        "message_start",
        *["content_block_start", "content_block_stop"] * 2,
        "message_stop",
    ]
    written_inputs = ["", ""]
    for part in events:
        if part.type == "content_block_delta":
            written_inputs[part.index] += part.delta.partial_json
    assert list(map(json.loads, written_inputs)) == [{"place": "Brest"}, {"place": "Brest", "day": 2}]


@pytest.mark.parametrize("stream", [False, True])
def test_damage(front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT.replace('"Brest"}}', '"Brest",}'))
    assert blocks(message(front, stream))[-1] == ("tide", {"place": "Brest"})
    front[2].answer = answer(TEXT[:-25], finish="length")
    found = message(front, stream)
    assert found.stop_reason == "max_tokens"
    assert [block.type for block in found.content] == ["thinking", "text"]
    if not stream:  # the client's own object has no fields but Anthropic's at the end of a stream
        assert found.outspoken["unfinished_tool_calls"][0]["name"] == "tide"


@pytest.mark.parametrize("stream", [False, True])
def test_stop_sequences(front: Front, stream: bool) -> None:
    for key, reason in (("stop_reason", "stop_sequence"), ("matched_stop", "stop_sequence"), ("other", "end_turn")):
        if stream:
            last = chunk({}, "stop")
            last["choices"][0][key] = "###"
            front[2].answer = streaming([*written("Hi.")[:-2], event(last), b"data: [DONE]\n\n"])
        else:
            body = completion({"content": "Hi."})
            body["choices"][0][key] = "###"
            front[2].answer = whole(body)
        found = message(front, stream, stop_sequences=["###", "END"])
        assert (found.stop_reason, found.stop_sequence) == (reason, "###" if reason == "stop_sequence" else None)
        assert front[2].asked["stop"] == ["###", "END"]


# requests


def test_content_of_every_kind(front: Front) -> None:
    front[2].answer = answer("Hi.")
    image = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "AA"}
    text = {"type": "text", "media_type": "text/plain", "data": "Low tide."}
    messages: Any = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?", "cache_control": {"type": "ephemeral"}},
                {"type": "image", "source": image},
                {"type": "document", "source": pdf, "title": "a.pdf"},
                {"type": "document", "source": text, "title": "Tides", "citations": {"enabled": False}},
            ],
        },
        {"role": "user", "content": "Say!"},
        TABLES["CONTENT_OF_EVERY_KIND"],
        TABLES["CONTENT_OF_EVERY_KIND_2"],
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Well?"},
    ]
    found = post(front, messages=messages, thinking={"type": "enabled", "budget_tokens": 1024}, service_tier="auto")
    assert found.status_code == 200
    expected = (
        "messages.content.cache_control, messages.content.signature, messages.content.data, service_tier, thinking"
    )
    assert found.headers["outspoken-ignored"] == expected
    call = {"id": "t1", "type": "function", "function": {"name": "tide", "arguments": '{"place": "Ü"}'}}
    assert front[2].asked["messages"] == [
        TABLES["CONTENT_OF_EVERY_KIND_3"],
        {"role": "assistant", "content": "I look.", "reasoning_content": "A cat?", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "Error:\nno such place"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Well?"},
    ]


def test_tool_choice(front: Front) -> None:
    front[2].answer = answer("Hi.")
    expected: list[tuple[Any, Any]] = [
        ({"type": "auto"}, "auto"),
        ({"type": "any", "disable_parallel_tool_use": True}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "wind"}, {"type": "function", "function": {"name": "wind"}}),
    ]
    for choice, sent in expected:
        message(front, False, tools=TOOLS, tool_choice=choice)
        asked = front[2].asked
        assert asked["tool_choice"] == sent
        assert asked.get("parallel_tool_calls") == (False if "disable_parallel_tool_use" in choice else None)


def test_output_format_and_effort(front: Front) -> None:
    front[2].answer = answer('{"a": 1}')
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    config = {"effort": "low", "format": {"type": "json_schema", "schema": schema}}
    found = message(front, False, extra_body={"output_config": config, "chat_template_kwargs": {"x": 1}})
    assert blocks(found) == [("text", '{"a": 1}')]
    asked = front[2].asked
    assert asked["response_format"]["json_schema"]["schema"] == schema
    assert (asked["reasoning_effort"], asked["chat_template_kwargs"]) == ("low", {"x": 1})


REFUSED: list[tuple[dict[str, Any], str]] = TABLES["REFUSED"]


def test_what_cannot_be_translated_is_refused(front: Front) -> None:
    front[2].asked = {}
    for asked, place in REFUSED:
        found = post(front, **asked)
        body = found.json()
        assert (found.status_code, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error"), (
            asked
        )
        assert f"`{place}`" in body["error"]["message"], body
    assert front[2].asked == {}
    with client(front) as known, pytest.raises(anthropic.BadRequestError, match="`container`"):
        known.messages.create(**ASKED, extra_body={"container": "c"})


def test_tokens_are_not_counted(front: Front) -> None:
    with client(front) as known, pytest.raises(anthropic.NotFoundError, match="tokens are not counted"):
        known.messages.count_tokens(model="m", messages=ASKED["messages"])
    found = httpx.get(f"{front[0].url}/v1/messages")
    assert (found.status_code, found.json()["type"]) == (405, "error")


# errors


@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_upstream(front: Front, stream: bool) -> None:
    for status, kind in ((429, "rate_limit_error"), (401, "authentication_error"), (500, "api_error")):
        body = {"error": {"message": "too fast", "type": "rate", "param": None, "code": "x"}}
        front[2].answer = whole(body, status, {"retry-after": "7"})
        with client(front) as found, pytest.raises(anthropic.APIStatusError, match="too fast") as caught:
            found.messages.create(**ASKED, stream=stream)
        told: Any = caught.value.body
        assert (caught.value.status_code, told["error"]["type"]) == (status, kind)
        assert caught.value.response.headers["retry-after"] == "7"
        assert told["request_id"] == caught.value.request_id


def test_constraints() -> None:
    made = constraint("hermes", tools=CHAT_TOOLS, tool_choice="required", parallel=False)
    with proxied(answer(TEXT), constrain="vllm") as front:
        choice = {"type": "any", "disable_parallel_tool_use": True}
        with client(front) as found:
            raw = found.messages.with_raw_response.create(**{**ASKED, "tools": TOOLS}, tool_choice=choice)
        assert raw.headers["outspoken-constraint"] == "applied; warnings=0"
        assert front[2].asked.items() >= made.to_vllm().items()
