"""The proxy, with the real client of OpenAI in front of it and a server of the tests behind it."""

import json
from collections.abc import Generator
from functools import partial
from typing import Any, cast

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletion

from outspoken.providers import stream_response
from outspoken.results.errors import UnknownFormatError
from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings
from tests.serving import serving
from tests.serving.serving import Server, asked_of, chunk, completion, event, proxied, streaming, whole, written
from tests.tables import tables

TABLES = tables(__file__)

TEXT = TABLES["TEXT"]
TOOLS: Any = TABLES["TOOLS"]

both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def client(front: Server) -> Any:
    return openai.OpenAI(api_key="secret", base_url=f"{front.url}/v1", max_retries=0)


def asked(**more: Any) -> Any:
    return {"model": "mosses-2", "messages": [{"role": "user", "content": "?"}], "tools": serving.OFFERED, **more}


def streamed(front: Server, **more: Any) -> ChatCompletion:
    """What OpenAI's client has of a stream, once it has ended."""
    with client(front) as found, found.chat.completions.stream(**asked(**more)) as stream:
        stream.until_done()
        return stream.current_completion_snapshot


def check_weather(choice: Any) -> None:
    """The choice is what the text says."""
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look."
    assert choice.message.reasoning_content == "The user wants the weather."
    (call,) = choice.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Paris"})


def created(front: Server, stream: bool, **more: Any) -> Any:
    """What OpenAI's client has of a response, at its end."""
    if stream:
        return streamed(front, **more)
    with client(front) as found:
        return found.chat.completions.create(**asked(**more))


@both_ways
def test_text_reasoning_and_a_call(stream: bool) -> None:
    usage = {"prompt_tokens": 1, "total_tokens": 3}
    answer = streaming(written(TEXT)) if stream else whole(completion({"content": TEXT}, usage=usage))
    with proxied(answer) as (front, _, up):
        reply = created(front, stream, tools=TOOLS)
    check_weather(reply.choices[0])
    assert (reply.id, reply.created, reply.model) == ("chatcmpl-9", 5, "mosses-2")
    assert stream or reply.usage.total_tokens == 3
    assert up.asked["tools"] == TOOLS


def test_calls_have_the_same_ids_whole_and_streamed() -> None:
    with proxied(streaming(written(TEXT))) as (front, _, upstream):
        first = created(front, True)
        upstream.answer = whole(completion({"content": TEXT}))
        second = created(front, False)
    assert first.choices[0].message.tool_calls[0].id == second.choices[0].message.tool_calls[0].id


def test_calls_of_two_turns_have_other_ids_even_if_the_completions_have_one() -> None:
    with proxied(whole(completion({"content": TEXT}))) as (front, _, _):
        turns = [[{"role": "user", "content": words}] for words in ("?", "And tomorrow?", "And tomorrow?")]
        replies = [created(front, False, messages=turn) for turn in turns]
    ids = [reply.choices[0].message.tool_calls[0].id for reply in replies]
    assert ids[0] != ids[1] == ids[2]


def test_types_come_from_the_tools() -> None:
    text = '<invoke name="release"><parameter name="version">1.10</parameter></invoke>'
    tools: Any = TABLES["TYPES_COME_FROM_THE_TOOLS"]
    with proxied(streaming(written(text)), format="anthropic_xml") as (front, _, _):
        (call,) = cast("Any", streamed(front, tools=tools).choices[0].message.tool_calls)
    assert call.function.arguments == '{"version": "1.10"}'


def test_each_choice_has_its_own_parser() -> None:
    other = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    pieces = [event(chunk({"role": "assistant", "content": ""}, index=index)) for index in (0, 1)]
    for place in range(0, max(len(TEXT), len(other)), 4):
        for index, text in enumerate((TEXT, other)):
            if text[place : place + 4]:
                pieces.append(event(chunk({"content": text[place : place + 4]}, index=index)))
    pieces += [event(chunk({}, "stop", index=index)) for index in (1, 0)]
    with proxied(streaming([*pieces, b"data: [DONE]\n\n"])) as (front, _, _):
        reply = streamed(front, n=2)
    check_weather(reply.choices[0])
    second: Any = reply.choices[1]
    assert (second.finish_reason, second.message.tool_calls[0].function.name) == ("tool_calls", "f")
    assert second.message.tool_calls[0].id != cast("Any", reply.choices[0].message.tool_calls)[0].id


def test_whole_with_two_choices() -> None:
    with proxied(whole(completion({"content": TEXT}, {"content": "No."}))) as (front, _, _):
        reply = created(front, False, n=2)
    check_weather(reply.choices[0])
    assert (reply.choices[1].message.content, reply.choices[1].finish_reason) == ("No.", "stop")


@both_ways
def test_native_calls_and_reasoning_pass_unchanged(stream: bool) -> None:
    call = {"id": "call_x", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    message = {"content": None, "tool_calls": [call], "reasoning": "Hm.", "annotations": []}
    answer = whole(completion(message, finish="tool_calls"))
    answer = streaming([*map(event, TABLES["NATIVE"]), b"data: [DONE]\n\n"]) if stream else answer
    with proxied(answer) as (front, _, _):
        choice = created(front, stream).choices[0]
    assert (choice.message.reasoning, choice.finish_reason) == ("Hm.", "tool_calls")
    (found,) = choice.message.tool_calls
    assert (found.id, found.function.name, found.function.arguments) == ("call_x", "f", '{"a":1}')
    assert stream or choice.message.annotations == []


@both_ways
def test_native_reasoning_is_not_searched_in_the_text(stream: bool) -> None:
    """The prompts of this format open the reasoning; the upstream has taken it out, and left the calls."""
    call = '<minimax:tool_call>\n<invoke name="f">\n</invoke>\n</minimax:tool_call>'
    parts = [{"reasoning_content": "Hm."}, {"content": "Let me look.\n"}, {"content": call}]
    pieces = [event(chunk(part)) for part in [{"role": "assistant", "content": ""}, *parts]]
    answer = streaming([*pieces, event(chunk({}, "stop")), b"data: [DONE]\n\n"])
    if not stream:
        answer = whole(completion({"reasoning_content": "Hm.", "content": f"Let me look.\n{call}"}))
    with proxied(answer, format="minimax_m2") as (front, _, _):
        choice = created(front, stream).choices[0]
    assert (choice.message.reasoning_content, choice.message.content.strip()) == ("Hm.", "Let me look.")
    assert [made.function.name for made in choice.message.tool_calls] == ["f"]


def test_other_content_passes_unchanged() -> None:
    token: Any = {"token": "Hi", "logprob": -0.5, "bytes": None, "top_logprobs": []}
    logprobs: Any = {"content": [token], "refusal": None}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    last: Any = {**chunk({}), "choices": [], "usage": usage}
    pieces = [
        event({**chunk({"content": "Hi"}, logprobs=logprobs), "system_fingerprint": "fp"}),
        event(chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "zz", "index": 0}]})),
        event(chunk({}, "stop")),
        event(last),
        b"data: [DONE]\n\n",
    ]
    with proxied(streaming(pieces)) as (front, _, _), client(front) as found:
        chunks: Any = list(found.chat.completions.create(**asked(stream=True)))
    said: Any = [part for part in chunks if part.choices and part.choices[0].logprobs]
    assert said[0].choices[0].logprobs.content[0].token == "Hi"
    assert "fp" in {part.system_fingerprint for part in chunks}
    assert any(getattr(part.choices[0].delta, "reasoning_details", None) for part in chunks if part.choices)
    assert (chunks[-1].choices, chunks[-1].usage.total_tokens) == ([], 9)
    assert [part.choices[0].finish_reason for part in chunks if part.choices][-1] == "stop"


def test_truncated_call_is_reported() -> None:
    with proxied(streaming(written(TEXT[:-20], finish="length"))) as (front, _, _):
        choice: Any = streamed(front).choices[0]
    assert choice.finish_reason == "length"
    assert choice.message.outspoken["unfinished_tool_calls"][0]["name"] == "get_weather"


def test_headers() -> None:
    said = {"x-request-id": "r7", "keep-alive": "5", "connection": "x-own", "x-own": "1", "set-cookie": "session=s4"}
    answer = whole(completion({"content": "Hi"}), headers=said)
    with proxied(answer) as (front, _, upstream):
        sent = {"authorization": "Bearer k", "x-team": "mosses", "te": "trailers", "connection": "x-hop", "x-hop": "1"}
        found = httpx.post(f"{front.url}/v1/chat/completions", json=asked(), headers=sent)
        assert upstream.headers["authorization"] == "Bearer k"
        assert upstream.headers["x-team"] == "mosses"
        assert httpx.post(f"{front.url}/v1/chat/completions", json=asked()).cookies["session"] == "s4"
    assert "cookie" not in upstream.headers  # that one is another client's
    assert not {"te", "x-hop"} & set(upstream.headers)
    assert found.headers["x-request-id"] == "r7"
    assert not {"keep-alive", "x-own"} & set(found.headers)
    assert len(found.headers.get_list("date")) == 1


def test_models_health_and_other_paths() -> None:
    with proxied(whole({})) as (front, _, upstream):
        with client(front) as found:
            assert [model.id for model in found.models.list(extra_query={"limit": 3})] == ["mosses-2"]
        assert upstream.headers["authorization"] == "Bearer secret"
        assert httpx.get(f"{front.url}/health").json() == {"status": "ok", "active": 0}
        other = httpx.post(f"{front.url}/v1/embeddings", json={})
        assert (other.status_code, other.json()["error"]["code"]) == (404, "not_served")


@pytest.mark.parametrize("upstream", ["ftp://x", "mosses", "http://"])
def test_invalid_upstream_url(upstream: str) -> None:
    from outspoken.serving.settings import ServerSettings, ServerStartError

    odd: dict[str, Any] = {"upstream": "http://localhost", "max_body": "1"}
    with pytest.raises(TypeError, match="`max_body` is a str; expected a number"):
        ServerSettings(**odd)
    with pytest.raises(ServerStartError, match="is not a server's URL"):
        ServerSettings(upstream)


# one proxy in front of several models: the format of a response is that of the model that its request names


HERMES, THOUGHT = TABLES["HERMES"], TABLES["THOUGHT"]
PATHS = [*serving.OFFERED_TO]
WIRES: Any = {"chat/completions": "openai", "responses": "openai_responses", "messages": "anthropic"}


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "stream"])
def asking(request: pytest.FixtureRequest) -> Generator[Any]:
    """Asks a proxy that knows the formats of some models, in each API."""

    async def answer(body: dict[str, Any]) -> Any:
        text = body["metadata"]["user_id"] if "user" not in body else body["user"]
        return await serving.answering(text)(body)

    def ask(front: Server, path: str, model: str | None, text: str, **more: Any) -> httpx.Response:
        user = {"metadata": {"user_id": text}} if path == "messages" else {"user": text}
        asked = asked_of(path, **user, **more, model=model, stream=request.param)
        asked = {key: value for key, value in asked.items() if key != "model" or value is not None}
        return httpx.post(f"{front.url}/v1/{path}", json=asked)

    with proxied(answer, format=None, models=TABLES["MODELS"]) as (front, _, _):
        yield partial(ask, front)


def read(path: str, response: httpx.Response) -> list[Any]:
    """The reasoning, the text and the arguments of the calls of a response of an API."""
    assert response.status_code == 200, response.text
    pieces = stream_response([response.content], provider=WIRES[path], format=None)
    assert list(pieces)
    reply = pieces.reply
    return [reply.reasoning, reply.text, [call.arguments for call in reply.tool_calls]]


@pytest.mark.parametrize("path", PATHS)
def test_the_model_of_a_request_says_the_format(asking: Any, path: str) -> None:
    for model, text, expected in TABLES["ANSWERED"]:
        found = read(path, asking(path, model, text))
        assert [found[0] or None, *found[1:]] == expected, model


def test_a_request_says_whether_the_model_thinks(asking: Any) -> None:
    path, model = "chat/completions", "Qwen/Qwen3.5-9B"
    for thinking, reasoning in ((True, "They ask."), (False, None)):
        text = THOUGHT if thinking else "At nine."
        given = {"chat_template_kwargs": {"enable_thinking": thinking}}
        assert read(path, asking(path, model, text, **given)) == [reasoning, "At nine.", []]


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "nonsense", "x" * 100_000, None, 7])
@pytest.mark.parametrize("path", PATHS)
def test_a_model_that_is_not_known_is_an_error_in_the_shape_of_the_api(asking: Any, path: str, model: Any) -> None:
    response = asking(path, model, HERMES)
    error = response.json()["error"]
    assert response.status_code == 400
    assert len(error["message"]) < 900
    if path == "messages":
        assert response.json()["type"] == "error"
        assert error["type"] == "invalid_request_error"
    elif path == "chat/completions" or isinstance(model, str):
        assert error["code"] == "unknown_model"
        assert error["param"] == "model"
        assert "--model 'MODEL=FORMAT'" in error["message"]


def test_a_format_holds_for_models_without_one_of_their_own() -> None:
    settings = ServerSettings("http://x", "mistral", models={"acme*": "auto"})
    assert [settings.format_of(name) for name in ("acme-1", "Qwen/Qwen3-8B", None)] == ["auto", "mistral", "mistral"]
    assert ServerSettings("http://x", models={"*": "glm_4_5"}).format_of(None) == "glm_4_5"
    assert Proxy(ServerSettings("http://x")).app()
    with pytest.raises(UnknownFormatError):
        ServerSettings("http://x", models={"acme*": "mosses"})


def test_reasoning_in_a_field_of_its_own_is_not_opened_again() -> None:
    message = {"content": "At nine.", "reasoning_content": "They ask."}
    asked = asked_of("chat/completions", model="Qwen/Qwen3.5-9B", chat_template_kwargs={"thinking": True})
    with proxied(whole(completion(message)), format=None) as (front, _, _):
        found = httpx.post(f"{front.url}/v1/chat/completions", json=asked)
    assert read("chat/completions", found) == ["They ask.", "At nine.", []]
