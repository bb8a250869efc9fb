"""OpenAI's Responses and Anthropic's Messages through the proxy: real clients, and an upstream that writes raw text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from functools import partial
from typing import Any, ClassVar, cast

import anthropic
import httpx
import openai
import pytest
from starlette.responses import Response

from outspoken.constraints import constraint
from outspoken.serving.apis.anthropic import AnthropicApi
from outspoken.serving.apis.responses import ResponsesApi
from outspoken.serving.app import Proxy
from outspoken.serving.rewriter import Choice, Rewriter
from tests.serving import serving
from tests.tables import tables

TABLES = tables(__file__)

TOOLS: Any = TABLES["TOOLS"]

TEXT = TABLES["TEXT"]
PARALLEL = TABLES["PARALLEL"]
READ = [("reasoning", "The user wants the tide."), ("text", "Let me look."), ("tide", {"place": "Brest"})]
USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}

Front = tuple[serving.Server, Proxy, serving.Upstream]


class Responses:
    """OpenAI's client and its API. The fields of each request that a test does not give are `asked`."""

    api = ResponsesApi()
    path = "responses"
    asked: ClassVar[Any] = {"model": "m", "input": "When?", "tools": serving.OFFERED_TO["responses"]}
    turns, errors = "input", openai
    required: ClassVar[Any] = {"tool_choice": "required", "parallel_tool_calls": False}

    @staticmethod
    def client(front: Front, kind: Any = openai.OpenAI) -> Any:
        return kind(api_key="secret", base_url=f"{front[0].url}/v1", max_retries=0)

    @staticmethod
    def endpoint(client: Any) -> Any:
        return client.responses

    @staticmethod
    def last(events: Any) -> Any:
        return list(events)[-1].response

    @staticmethod
    def items(found: Any) -> list[Any]:
        """What a response says, in short."""
        return [
            (item.name, json.loads(item.arguments))
            if item.type == "function_call"
            else (item.type.replace("message", "text"), "".join([part.text for part in item.content]))
            for item in found.output
        ]

    @staticmethod
    def continued(found: Any, results: dict[str, str | list[str]]) -> list[Any]:
        """The output of a response with the results of its calls, as the documents of the SDK say."""
        items = [item.model_dump(exclude_none=True) for item in found.output]
        for item in found.output:
            if item.type == "function_call":
                output = results[item.name]
                if not isinstance(output, str):
                    output = [{"type": "input_text", "text": text} for text in output]
                items.append({"type": "function_call_output", "call_id": item.call_id, "output": output})
        return items


class Messages:
    """Anthropic's client and its API."""

    api = AnthropicApi()
    path = "messages"
    asked: ClassVar[Any] = {
        "model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "When?"}],
        "tools": serving.OFFERED_TO["messages"],
    }  # fmt: skip
    turns, errors = "messages", anthropic
    required: ClassVar[Any] = {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}

    @staticmethod
    def client(front: Front, kind: Any = anthropic.Anthropic) -> Any:
        return kind(api_key="secret", base_url=front[0].url, max_retries=0)

    @staticmethod
    def endpoint(client: Any) -> Any:
        return client.messages

    @staticmethod
    def last(events: Any) -> Any:
        return events.get_final_message()

    @staticmethod
    def items(found: Any) -> list[Any]:
        """What a message says, in short."""
        return [
            (block.name, block.input)
            if block.type == "tool_use"
            else ("reasoning", block.thinking)
            if block.type == "thinking"
            else (block.type, block.text)
            for block in found.content
        ]

    @staticmethod
    def continued(found: Any, results: dict[str, str | list[str]]) -> list[Any]:
        """A message, and that of the user with the results of its calls."""
        contents: list[Any] = []
        for block in found.content:
            if block.type == "tool_use":
                content = results[block.name]
                if not isinstance(content, str):
                    content = [{"type": "text", "text": text} for text in content]
                contents.append({"type": "tool_result", "tool_use_id": block.id, "content": content})
        said = [block.model_dump(exclude_none=True) for block in found.content]
        return [{"role": "assistant", "content": said}, {"role": "user", "content": contents}]


APIS: dict[str, Any] = {"responses": Responses, "messages": Messages}
each_api = pytest.mark.parametrize("api", APIS.values(), ids=APIS)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module")
def front() -> Generator[Front]:
    with serving.proxied(serving.whole({})) as found:
        yield found


answer = partial(serving.answering, usage=USAGE)


def ask(api: Any, front: Front, stream: bool, **asked: Any) -> Any:
    """The response, as the client has it at the end."""
    with api.client(front) as client:
        if not stream:
            return api.endpoint(client).create(**{**api.asked, **asked})
        with api.endpoint(client).stream(**{**api.asked, **asked}) as events:
            return api.last(events)


def post(api: Any, front: Front, **asked: Any) -> httpx.Response:
    return httpx.post(f"{front[0].url}/v1/{api.path}", json={**api.asked, **asked})


def holds(found: Any, wanted: Any) -> bool:
    """Is all that is wanted in what was found?"""
    if isinstance(wanted, dict):
        return all(holds(found.get(key), value) for key, value in cast("dict[str, Any]", wanted).items())
    if isinstance(wanted, list):
        listed = cast("list[Any]", wanted)
        return len(found) == len(listed) and all(map(holds, found, listed))
    return found == wanted


@both_ways
@each_api
def test_text_reasoning_and_a_call(api: Any, front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT)
    case = TABLES["ANSWERED"][api.path]
    found = ask(api, front, stream, **case["request"])
    assert api.items(found) == READ
    assert holds(found.model_dump(), case["found"]), found
    asked = front[2].asked
    assert {key: asked.get(key) for key in case["asked"]} == case["asked"]
    assert asked.get("stream_options") == ({"include_usage": True} if stream else None)
    assert not {*case["not_asked"]} & set(asked)
    assert front[2].headers["authorization"] == "Bearer secret"
    assert "x-api-key" not in front[2].headers


@both_ways
@each_api
def test_a_loop_of_two_tools(api: Any, front: Front, stream: bool) -> None:
    """The output of each response is sent back with the results."""
    turns: Any = [{"role": "user", "content": "When?"}]
    for text in (TEXT, PARALLEL):
        front[2].answer = answer(text)
        found = ask(api, front, stream, **{api.turns: turns}, tools=TOOLS[api.path])
        turns += api.continued(found, {"tide": "tide is known", "wind": ["from", "the west"]})
    if api is Messages:
        turns[-1]["content"].append({"type": "text", "text": "Well?"})
    front[2].answer = answer("At nine.")
    found = ask(api, front, stream, **{api.turns: turns}, tools=TOOLS[api.path])
    assert api.items(found) == [("text", "At nine.")]
    assert (found.status if api is Responses else found.stop_reason) in ("completed", "end_turn")
    more = ["user"] * (api is Messages)
    sent = front[2].asked["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool", *more]
    first, second = sent[1], sent[3]
    assert (first["content"], first["reasoning_content"]) == ("Let me look.", "The user wants the tide.")
    assert [call["function"]["name"] for call in second["tool_calls"]] == ["tide", "wind"]
    assert json.loads(second["tool_calls"][1]["function"]["arguments"]) == {"place": "Brest", "day": 2}
    ids = [call["id"] for message in (first, second) for call in message["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert len(set(ids)) == 3
    assert [message["content"] for message in sent[4:]] == ["tide is known", "from\nthe west", *["Well?" for _ in more]]


@both_ways
def test_the_tool_runner_of_anthropic_s_client(front: Front, stream: bool) -> None:
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

    with Messages.client(front) as found:
        turns = list(found.beta.messages.tool_runner(**{**Messages.asked, "tools": [tide, wind]}, stream=stream))
        last = turns[-1].get_final_message() if stream else turns[-1]
    assert sorted(ran, key=str) == [("Brest", 2), "Brest", "Brest"]
    assert [block.text for block in last.content] == ["At nine."]


@pytest.mark.parametrize(("api", "kind"), [(Responses, openai.AsyncOpenAI), (Messages, anthropic.AsyncAnthropic)])
def test_asynchronous_events(api: Any, kind: Any, front: Front) -> None:
    front[2].answer = answer(PARALLEL)

    async def main() -> list[Any]:
        async with api.client(front, kind) as found:
            return [part async for part in await api.endpoint(found).create(**api.asked, stream=True)]

    events = asyncio.run(main())
    calls = [("tide", {"place": "Brest"}), ("wind", {"place": "Brest", "day": 2})]
    if api is Responses:
        assert [part.sequence_number for part in events] == list(range(len(events)))
        assert api.items(events[-1].response) == calls
        return
    kinds = [part.type for part in events if not part.type.endswith("_delta")]
    assert kinds == ["message_start", *["content_block_start", "content_block_stop"] * 2, "message_stop"]
    inputs = ["", ""]
    for part in events:
        if part.type == "content_block_delta":
            inputs[part.index] += part.delta.partial_json
    assert list(map(json.loads, inputs)) == [arguments for _, arguments in calls]


@both_ways
@each_api
def test_damage(api: Any, front: Front, stream: bool) -> None:
    front[2].answer = answer(TEXT.replace('"Brest"}}', '"Brest",}'))
    assert api.items(ask(api, front, stream)) == READ
    front[2].answer = answer(TEXT[:-25], finish="length")
    found = ask(api, front, stream)
    assert api.items(found) == READ[:2]
    if api is Responses:
        assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    else:
        assert found.stop_reason == "max_tokens"
    if api is Responses or not stream:  # Anthropic's object has no fields but Anthropic's at the end of a stream
        assert found.outspoken["unfinished_tool_calls"][0]["name"] == "tide"


def test_native_reasoning_and_calls_of_the_upstream(front: Front) -> None:
    call = {"id": "call_x", "type": "function", "function": {"name": "tide", "arguments": '{"place":1}'}}
    front[2].answer = serving.whole(
        serving.completion({"content": None, "reasoning_content": "Hm.", "tool_calls": [call]})
    )
    found = ask(Responses, front, False)
    assert Responses.items(found) == [("reasoning", "Hm."), ("tide", {"place": 1})]
    assert (found.output[1].call_id, found.output[1].status) == ("call_x", "completed")


@both_ways
def test_stop_sequences(front: Front, stream: bool) -> None:
    for key, reason in (("stop_reason", "stop_sequence"), ("matched_stop", "stop_sequence"), ("other", "end_turn")):
        if stream:
            last = serving.chunk({}, "stop")
            last["choices"][0][key] = "###"
            front[2].answer = serving.streaming(
                [*serving.written("Hi.")[:-2], serving.event(last), b"data: [DONE]\n\n"]
            )
        else:
            body = serving.completion({"content": "Hi."})
            body["choices"][0][key] = "###"
            front[2].answer = serving.whole(body)
        found = ask(Messages, front, stream, stop_sequences=["###", "END"])
        assert (found.stop_reason, found.stop_sequence) == (reason, "###" if reason == "stop_sequence" else None)
        assert front[2].asked["stop"] == ["###", "END"]


# requests


@pytest.mark.parametrize("name", TABLES["TRANSLATED"])
def test_a_request_becomes_a_chat_completion(name: str, front: Front) -> None:
    case = TABLES["TRANSLATED"][name]
    front[2].answer = answer('{"a": 1}')
    found = post(APIS[case["api"]], front, **case["request"])
    assert found.status_code == 200, found.text
    assert '{\\"a\\": 1}' in found.text
    asked = front[2].asked
    assert {key: asked.get(key) for key in case["chat"]} == case["chat"]
    for kind in ("ignored", "forwarded"):
        assert found.headers.get(f"outspoken-{kind}") == (", ".join(case[kind]) if kind in case else None)


@each_api
def test_what_cannot_be_translated_is_refused(api: Any, front: Front) -> None:
    front[2].asked = {}
    for asked, place in TABLES["REFUSED"][api.path]:
        found = post(api, front, **asked)
        body = found.json()
        assert (found.status_code, body["error"]["type"]) == (400, "invalid_request_error"), asked
        assert body.get("type") == ("error" if api is Messages else None)
        assert body["error"].get("param", place) == place
        assert f"`{place}`" in body["error"]["message"], body
    assert front[2].asked == {}
    field = "container" if api is Messages else "previous_response_id"
    with api.client(front) as client, pytest.raises(api.errors.BadRequestError, match=f"`{field}`") as caught:
        api.endpoint(client).create(**api.asked, extra_body={field: "c"})
    assert api is Messages or caught.value.param == field


def test_tokens_are_not_counted(front: Front) -> None:
    with Messages.client(front) as client, pytest.raises(anthropic.NotFoundError, match="tokens are not counted"):
        client.messages.count_tokens(model="m", messages=Messages.asked["messages"])
    found = httpx.get(f"{front[0].url}/v1/messages")
    assert (found.status_code, found.json()["type"]) == (405, "error")


@both_ways
def test_halves_of_characters(front: Front, stream: bool) -> None:
    """JSON may have them, UTF-8 may not."""
    front[2].answer = answer("Hi.")
    items = rb'[{"role": "user", "content": "\udfff", "x\n\u00fc": 1}]'
    body = rb'{"instructions": "a \ud800 b", "input": %b, "stream": %b}' % (items, b"true" if stream else b"false")
    found = httpx.post(f"{front[0].url}/v1/responses", content=body)
    assert (found.status_code, "Hi." in found.text) == (200, True)
    assert found.headers["outspoken-ignored"] == "input.x??"
    assert [message["content"] for message in front[2].asked["messages"]] == ["a \ud800 b", "\udfff"]


# errors


@both_ways
@each_api
def test_errors_of_the_upstream(api: Any, front: Front, stream: bool) -> None:
    for body in TABLES["ERRORS"]:
        front[2].answer = serving.whole(body, 429, {"retry-after": "7"})
        with api.client(front) as client, pytest.raises(api.errors.RateLimitError, match="too fast") as caught:
            api.endpoint(client).create(**api.asked, stream=stream)
        assert caught.value.response.headers["retry-after"] == "7"
        told: Any = caught.value.body
        if api is Responses:
            assert set(told) >= {"message", "type", "param", "code"}
        else:
            assert (told["error"]["type"], told["request_id"]) == ("rate_limit_error", caught.value.request_id)
    front[2].answer = serving.streaming([b"busy"], status_code=500)
    with api.client(front) as client, pytest.raises(api.errors.InternalServerError, match="busy"):
        api.endpoint(client).create(**api.asked, stream=stream)


def test_anthropic_s_words_for_a_status() -> None:
    for status, kind in ((401, "authentication_error"), (418, "invalid_request_error"), (500, "api_error")):
        told: Any = json.loads(cast("bytes", AnthropicApi().upstream_error(status, b'{"error": "no"}', "r1")))
        assert (told["error"], told["request_id"]) == ({"type": kind, "message": "no"}, "r1")


@each_api
def test_constraints(api: Any) -> None:
    made = constraint("hermes", tools=TOOLS["chat"], tool_choice="required", parallel=False)
    with serving.proxied(answer(TEXT), constrain="vllm") as front:
        with api.client(front) as client:
            given = {**api.asked, "tools": TOOLS[api.path], **api.required}
            raw = api.endpoint(client).with_raw_response.create(**given)
        assert raw.headers["outspoken-constraint"] == "applied; warnings=0"
        assert front[2].asked.items() >= made.to_vllm().items()


@both_ways
def test_a_defect_of_the_proxy_is_an_error_of_the_api(
    front: Front, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Any, *given: Any) -> Any:
        raise RuntimeError("mosses")

    front[2].answer = answer(TEXT)
    monkeypatch.setattr(Rewriter, "feed", fail)
    monkeypatch.setattr(Rewriter, "rewrite", fail)
    found = post(Responses, front, stream=stream)
    assert found.status_code == (200 if stream else 500)
    assert "the proxy failed; its log says why" in found.text
    assert ("response.failed" in found.text) == stream
    assert "mosses" in caplog.text
    monkeypatch.setattr(Choice, "close", fail)  # what came cannot be ended as it began
    for api in (Responses, Messages) if stream else ():
        assert "\nevent: error\ndata: " in "\n" + post(api, front, stream=stream).text
    serving.until(lambda: not front[1].active)
