"""OpenAI's Responses through the proxy: the real client in front of it, and an upstream that writes raw text."""

import asyncio
import json
from collections.abc import Generator
from typing import Any, cast

import httpx
import openai
import pytest
from starlette.responses import JSONResponse, Response

from outspoken.constraints import constraint
from outspoken.serving.app import Proxy
from outspoken.serving.rewriter import Rewriter
from tests.serving.serving import (
    OFFERED_TO,
    Server,
    Upstream,
    chunk,
    completion,
    event,
    proxied,
    streaming,
    until,
    whole,
    written,
)
from tests.tables import tables

TABLES = tables(__file__)

TEXT = """<think>
The user wants the tide.
</think>
Let me look.
<tool_call>
{"name": "tide", "arguments": {"place": "Brest"}}
</tool_call>"""
PARALLEL = """<tool_call>
{"name": "tide", "arguments": {"place": "Brest"}}
</tool_call>
<tool_call>
{"name": "wind", "arguments": {"place": "Brest", "day": 2}}
</tool_call>"""
SCHEMA = {"type": "object", "properties": {"place": {"type": "string"}, "day": {"type": "integer"}}}
TOOLS: Any = [
    {"type": "function", "name": "tide", "description": "The hour.", "parameters": SCHEMA, "strict": None},
    {"type": "function", "name": "wind", "parameters": SCHEMA, "strict": False},
]
CHAT_TOOLS: Any = [
    {"type": "function", "function": {"name": "tide", "description": "The hour.", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "wind", "parameters": SCHEMA, "strict": False}},
]
USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}

Front = tuple[Server, Proxy, Upstream]


@pytest.fixture(scope="module")
def front() -> Generator[Front]:
    with proxied(whole({})) as found:
        yield found


def client(front: Front) -> Any:
    return openai.OpenAI(api_key="k", base_url=f"{front[0].url}/v1", max_retries=0)


def answer(text: str, finish: str = "stop") -> Any:
    """The text whole or streamed, as the request says, with usage if it asks for it."""

    async def give(asked: dict[str, Any]) -> Response:
        if not asked.get("stream"):
            return JSONResponse(completion({"content": text}, finish=finish, usage=USAGE))
        pieces = written(text, finish=finish)
        if asked.get("stream_options") == {"include_usage": True}:
            pieces.insert(-1, event({**chunk({}), "choices": [], "usage": USAGE}))
        return await streaming(pieces)(asked)

    return give


def response(front: Front, stream: bool, **asked: Any) -> Any:
    """The response, as the client has it at the end."""
    given: Any = {"model": "m", "input": "When?", "tools": OFFERED_TO["responses"], **asked}
    with client(front) as found:
        if not stream:
            return found.responses.create(**given)
        with found.responses.stream(**given) as events:
            return list(events)[-1].response


def post(front: Front, **asked: Any) -> httpx.Response:
    return httpx.post(
        f"{front[0].url}/v1/responses", json={"model": "m", "input": "When?", "tools": OFFERED_TO["responses"], **asked}
    )


def outputs(found: Any) -> list[Any]:
    """The items of a response, in short."""
    short: list[Any] = []
    for item in found.output:
        match item.type:
            case "function_call":
                short.append((item.name, json.loads(item.arguments), item.status))
            case _:
                short.append((item.type, "".join([part.text for part in item.content])))
    return short


@pytest.mark.parametrize("stream", [False, True])
def test_text_reasoning_and_a_call(front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT)
    more: Any = {"instructions": "Be brief.", "metadata": {"a": "b"}, "max_output_tokens": 50}
    found = response(front, stream, tools=TOOLS, temperature=0.5, **more)
    call = ("tide", {"place": "Brest"}, "completed")
    assert outputs(found) == [("reasoning", "The user wants the tide."), ("message", "Let me look."), call]
    assert (found.status, found.model, found.store) == ("completed", "mosses-2", False)
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.total_tokens) == (7, 2, 9)
    assert found.usage.input_tokens_details.cached_tokens == 4
    assert (found.instructions, found.metadata, found.max_output_tokens) == ("Be brief.", {"a": "b"}, 50)
    assert [tool.name for tool in found.tools] == ["tide", "wind"]
    asked = front[2].asked
    assert asked["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When?"}]
    assert (asked["tools"], asked["max_tokens"], asked["temperature"]) == (CHAT_TOOLS, 50, 0.5)
    assert asked.get("stream_options") == ({"include_usage": True} if stream else None)
    assert not {"input", "instructions", "metadata", "max_output_tokens"} & set(asked)


@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_of_two_tools(front: Front, stream: bool) -> None:
    """The output of each response is sent back with the results, as the SDK's documents say."""
    turns: Any = [{"role": "user", "content": "When?"}]
    for text in (TEXT, PARALLEL):
        front[2].answer = answer(text)
        found = response(front, stream, input=turns, tools=TOOLS)
        turns += [item.model_dump(exclude_none=True) for item in found.output]
        for item in found.output:
            if item.type == "function_call":
                result: Any = f"{item.name} is known"
                if item.name == "wind":
                    result = [{"type": "input_text", "text": "from"}, {"type": "input_text", "text": "the west"}]
                turns.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
    front[2].answer = answer("At nine.")
    found = response(front, stream, input=turns, tools=TOOLS)
    assert (found.output_text, found.status) == ("At nine.", "completed")
    sent = front[2].asked["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    first, second = sent[1], sent[3]
    assert (first["content"], first["reasoning_content"]) == ("Let me look.", "The user wants the tide.")
    assert [call["function"]["name"] for call in second["tool_calls"]] == ["tide", "wind"]
    assert json.loads(second["tool_calls"][1]["function"]["arguments"]) == {"place": "Brest", "day": 2}
    ids = [call["id"] for message in (first, second) for call in message["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert len(set(ids)) == 3
    assert [message["content"] for message in sent[4:]] == ["tide is known", "from\nthe west"]


def test_asynchronous(front: Front) -> None:
    front[2].answer = answer(PARALLEL)

    async def main() -> list[Any]:
        known: Any = openai.AsyncOpenAI(api_key="k", base_url=f"{front[0].url}/v1", max_retries=0)
        async with known as found:
            return [
                part
                async for part in await found.responses.create(
                    model="m", input="When?", stream=True, tools=OFFERED_TO["responses"]
                )
            ]

    events = asyncio.run(main())
    assert [part.sequence_number for part in events] == list(range(len(events)))
    assert outputs(events[-1].response) == [
        ("tide", {"place": "Brest"}, "completed"),
        ("wind", {"place": "Brest", "day": 2}, "completed"),
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_damage(front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT.replace('"Brest"}}', '"Brest",}'))
    assert outputs(response(front, stream))[-1] == ("tide", {"place": "Brest"}, "completed")
    front[2].answer = answer(TEXT[:-25], finish="length")
    found = response(front, stream)
    assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert found.outspoken["unfinished_tool_calls"][0]["name"] == "tide"
    assert [item.type for item in found.output] == ["reasoning", "message"]


def test_native_reasoning_and_calls_of_the_upstream(front: Front) -> None:
    call = {"id": "call_x", "type": "function", "function": {"name": "tide", "arguments": '{"place":1}'}}
    front[2].answer = whole(completion({"content": None, "reasoning_content": "Hm.", "tool_calls": [call]}))
    found = response(front, False)
    assert outputs(found) == [("reasoning", "Hm."), ("tide", {"place": 1}, "completed")]
    assert found.output[1].call_id == "call_x"


# requests


def test_input_of_every_kind(front: Front) -> None:
    front[2].answer = answer("Hi.")
    image = "data:image/png;base64,AAAA"
    items: Any = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": image, "detail": "low"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "A cat?"}]},
        TABLES["INPUT_OF_EVERY_KIND"],
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "tide", "arguments": "{}"},
        {"role": "assistant", "content": "So."},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_image", "image_url": image}]},
        {"role": "system", "content": "Now be brief."},
        {"role": "user", "content": "Well?"},
    ]
    assert post(front, instructions="Speak.", input=items).status_code == 200
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": image, "detail": "low"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"}},
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
    said = {"role": "assistant", "content": "I look. So.", "reasoning_content": "A cat?", "tool_calls": [call]}
    assert front[2].asked["messages"] == [
        {"role": "system", "content": "Speak.\n\nBe kind."},
        {"role": "user", "content": parts},
        said,
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": image}}]},
        {"role": "system", "content": "Now be brief."},
        {"role": "user", "content": "Well?"},
    ]


def test_tool_choice(front: Front) -> None:
    front[2].answer = answer("Hi.")
    named = {"type": "function", "name": "wind"}
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [named]}
    expected: list[tuple[Any, Any, Any]] = [
        ("auto", "auto", CHAT_TOOLS),
        ("required", "required", CHAT_TOOLS),
        ("none", "none", CHAT_TOOLS),
        (named, {"type": "function", "function": {"name": "wind"}}, CHAT_TOOLS),
        (allowed, "required", CHAT_TOOLS[1:]),
    ]
    for choice, sent, tools in expected:
        tools_given = [{key: value for key, value in tool.items() if value is not None} for tool in TOOLS]
        assert post(front, tools=tools_given, tool_choice=choice, parallel_tool_calls=False).status_code == 200
        asked = front[2].asked
        assert (asked["tool_choice"], asked["tools"], asked["parallel_tool_calls"]) == (sent, tools, False)


def test_output_formats_and_other_fields(front: Front) -> None:
    front[2].answer = answer('{"a": 1}')
    wanted = {"type": "json_schema", "name": "x", "schema": {"type": "object"}, "strict": True}
    more: Any = TABLES["OUTPUT_FORMATS_AND_OTHER_FIELDS"]
    found = post(
        front, text={"format": wanted, "verbosity": "low"}, **more, store=True, include=["x.y"], truncation="auto"
    )
    assert found.status_code == 200
    assert found.headers["outspoken-ignored"] == "reasoning.summary, store, truncation, include=x.y"
    assert found.headers["outspoken-forwarded"] == "stop, top_k"
    asked = front[2].asked
    schema = {"name": "x", "schema": {"type": "object"}, "strict": True}
    assert asked["response_format"] == {"type": "json_schema", "json_schema": schema}
    expected = {"reasoning_effort": "low", "verbosity": "low", "user": "u", "top_p": 0.5, "stop": ["#"], "top_k": 3}
    assert {key: asked[key] for key in expected} == expected
    plain = post(front, text={"format": {"type": "text"}}, store=False)
    assert not {"outspoken-ignored", "outspoken-forwarded"} & set(plain.headers)
    assert plain.json()["output"][0]["content"][0]["text"] == '{"a": 1}'


REFUSED: list[tuple[dict[str, Any], str]] = TABLES["REFUSED"]


def test_what_cannot_be_translated_is_refused(front: Front) -> None:
    front[2].asked = {}
    for asked, place in REFUSED:
        found = post(front, **asked)
        error = found.json()["error"]
        assert (found.status_code, error["param"], error["type"]) == (400, place, "invalid_request_error"), asked
        assert f"`{place}`" in error["message"]
    assert front[2].asked == {}
    with client(front) as known, pytest.raises(openai.BadRequestError, match="previous_response_id") as caught:
        known.responses.create(model="m", input="x", previous_response_id="resp_1")
    assert caught.value.param == "previous_response_id"


# errors


@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_upstream(front: Front, stream: bool) -> None:
    bodies: list[Any] = TABLES["ERRORS_OF_THE_UPSTREAM"]
    for body in bodies:
        front[2].answer = whole(body, 429, {"retry-after": "7"})
        with client(front) as found, pytest.raises(openai.RateLimitError, match="too fast") as caught:
            found.responses.create(model="m", input="x", stream=stream)
        assert caught.value.response.headers["retry-after"] == "7"
        assert set(cast("Any", caught.value.body)) >= {"message", "type", "param", "code"}
    front[2].answer = streaming([b"busy"], status_code=500)
    with client(front) as found, pytest.raises(openai.InternalServerError, match="busy"):
        found.responses.create(model="m", input="x", stream=stream)


def test_constraints() -> None:
    made = constraint("hermes", tools=CHAT_TOOLS, tool_choice="required", parallel=False)
    with proxied(answer(TEXT), constrain="vllm") as front:
        more: Any = {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
        with client(front) as found:
            raw = found.responses.with_raw_response.create(model="m", input="x", **more)
        assert raw.headers["outspoken-constraint"] == "applied; warnings=0"
        assert front[2].asked.items() >= made.to_vllm().items()


def test_halves_of_characters(front: Front) -> None:
    """JSON may have them, UTF-8 may not."""
    front[2].answer = answer("Hi.")
    items = rb'[{"role": "user", "content": "\udfff", "x\n\u00fc": 1}]'
    body = rb'{"instructions": "a \ud800 b", "input": %b, "stream": %b}'
    for stream in (b"true", b"false"):
        found = httpx.post(f"{front[0].url}/v1/responses", content=body % (items, stream))
        assert (found.status_code, "Hi." in found.text) == (200, True)
        assert found.headers["outspoken-ignored"] == "input.x??"
        assert [message["content"] for message in front[2].asked["messages"]] == ["a \ud800 b", "\udfff"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_defect_of_the_proxy_is_an_error_of_the_api(
    front: Front, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Any, *given: Any) -> Any:
        raise RuntimeError("mosses")

    front[2].answer = answer(TEXT)
    monkeypatch.setattr(Rewriter, "feed", fail)
    monkeypatch.setattr(Rewriter, "rewrite", fail)
    found = post(front, stream=stream)
    assert found.status_code == (200 if stream else 500)
    assert "the proxy failed; its log says why" in found.text
    assert ("response.failed" in found.text) == stream
    assert "mosses" in caplog.text
    until(lambda: not front[1].active)
