"""The request is obeyed: which calls it allows, where it stops, what its answer is to be, how it is constrained."""

import json
import logging
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from outspoken.constraints import constraint
from outspoken.serving.apis.anthropic import AnthropicApi
from outspoken.serving.apis.base import Api
from outspoken.serving.apis.chat import ChatApi
from outspoken.serving.apis.responses import ResponsesApi
from outspoken.serving.settings import ServerSettings, ServerStartError
from tests.serving.serving import Answer, answering, completion, proxied, streaming, whole, written
from tests.serving.test_serve import TEXT, TOOLS, asked, check_weather, client, streamed
from tests.tables import tables

TABLES = tables(__file__)

APIS: list[Api] = [ChatApi(), ResponsesApi(), AnthropicApi()]


def request_of(api: Api, **chat: Any) -> dict[str, Any]:
    """The request of an API that means what a chat completion says."""
    question = [{"role": "user", "content": "When?"}]
    tools = [{"name": name, "parameters": TABLES["SCHEMA"]} for name in chat.pop("tools", ())]
    choice, wanted = chat.pop("tool_choice", None), chat.pop("schema", None)
    parallel, stop = chat.pop("parallel", True), chat.pop("stop", None)
    named = choice not in (None, "none", "required")
    if isinstance(api, ChatApi):
        made: dict[str, Any] = {"messages": question, "tools": [{"type": "function", "function": t} for t in tools]}
        made["tool_choice"] = {"type": "function", "function": {"name": choice}} if named else choice
        made |= {"parallel_tool_calls": parallel, "stop": stop}
        if wanted is not None:
            made["response_format"] = {"type": "json_schema", "json_schema": {"name": "a", "schema": wanted}}
    elif isinstance(api, ResponsesApi):
        made = {"input": question, "tools": [{"type": "function", **t} for t in tools], "stop": stop}
        made |= {"tool_choice": {"type": "function", "name": choice} if named else choice}
        made["parallel_tool_calls"] = parallel
        if wanted is not None:
            made["text"] = {"format": {"type": "json_schema", "name": "a", "schema": wanted}}
    else:
        made = {"messages": question, "max_tokens": 99, "stop_sequences": [stop] if stop else None}
        made["tools"] = [{"name": t["name"], "input_schema": t["parameters"]} for t in tools]
        kind = {"type": "tool", "name": choice} if named else {"type": {"required": "any"}.get(choice or "", choice)}
        made["tool_choice"] = {**(kind if choice else {"type": "auto"}), "disable_parallel_tool_use": not parallel}
        if wanted is not None:
            made["output_config"] = {"format": {"type": "json_schema", "schema": wanted}}
    return {"model": "m", **{key: value for key, value in made.items() if value not in (None, [])}, **chat}


def served(api: Api, text: str, finish: str = "stop", **request: Any) -> list[tuple[str, list[str], str, Any]]:
    """What clients get of a text, whole and streamed: the text, the calls, the reason, and the extension."""
    settings = {key: request.pop(key) for key in ("show_invalid", "prefix") if key in request}
    checked = ServerSettings("http://upstream", request.pop("format", "hermes"), **settings)
    body = json.dumps(request_of(api, **request)).encode()
    whole = api.read(checked, body, lambda reply: None).rewriter.rewrite(completion({"content": text}, finish=finish))
    stream = api.read(checked, body, lambda reply: None).rewriter
    parts = [part for piece in written(text, 3, finish) for part in stream.feed(piece)] + stream.close()
    return [read_whole(api, whole), read_stream(api, parts)]


def read_whole(api: Api, body: dict[str, Any]) -> tuple[str, list[str], str, Any]:
    if isinstance(api, ChatApi):
        choice = body["choices"][0]
        message = choice["message"]
        calls = [call["function"]["name"] for call in message.get("tool_calls", ())]
        assert message.get("provider_specific_fields", {}).get("outspoken") == message.get("outspoken")
        return message["content"] or "", calls, choice["finish_reason"], message.get("outspoken", {})
    items: Any = body.get("output", body.get("content"))
    said = [item for item in items if item["type"] in ("message", "text")]
    texts = [part["text"] for item in said for part in item.get("content", (item,))]
    calls = [item["name"] for item in items if item["type"] in ("function_call", "tool_use")]
    return "".join(texts), calls, body.get("status") or body["stop_reason"], body.get("outspoken", {})


def read_stream(api: Api, parts: list[Any]) -> tuple[str, list[str], str, Any]:
    if isinstance(api, ResponsesApi):
        return read_whole(api, parts[-1]["response"])
    text, calls, reason, extension = "", list[str](), "", dict[str, Any]()
    for part in parts:
        if isinstance(api, ChatApi):
            choice = part["choices"][0]
            delta, reason = choice["delta"], choice["finish_reason"] or reason
            text += delta.get("content") or ""
            calls += [c["function"]["name"] for c in delta.get("tool_calls", ()) if c["function"].get("name")]
            assert delta.get("provider_specific_fields", {}).get("outspoken") == delta.get("outspoken")
            for key, items in delta.get("outspoken", {}).items():
                extension.setdefault(key, []).extend(items)
        else:
            text += part.get("delta", {}).get("text") or ""
            calls += [part["content_block"]["name"]] if part.get("content_block", {}).get("type") == "tool_use" else []
            reason = part.get("delta", {}).get("stop_reason") or reason
            extension |= part.get("outspoken", {})
    return text, calls, reason, extension


def problems(extension: Any) -> list[str]:
    return [found["code"] for found in extension.get("problems", ())]


def filled(text: str) -> str:
    """A text of a table, with the texts that it names."""
    for name, meant in TABLES["TEXTS"].items():
        text = text.replace(f"{{{name}}}", meant)
    return text


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
@pytest.mark.parametrize("name", TABLES["CASES"])
def test_the_request_is_obeyed(name: str, api: Api) -> None:
    sent, request, text, calls, codes = TABLES["CASES"][name]
    for told, made, reason, extension in served(api, filled(sent), **request):
        assert (told, made) == (filled(text), calls), extension
        assert set(codes) <= set(problems(extension)), extension
        is_cut = "unclosed-call" in codes
        ends = {"chat_completions": "stop", "responses": "completed", "messages": "end_turn"}
        if not calls and not is_cut:
            assert reason == ends[api.name]
        if {"invalid-call", "missing-call"} & set(codes):
            assert "no tool was run" in extension["retry"][0]["message"]


def test_an_answer_is_text_unless_it_fits() -> None:
    """A value that a repair would change after a part of it was sent stays as the model wrote it."""
    sent = '{"place": "Brest", "place": "Bre"}'
    for told, calls, _, _ in served(ChatApi(), sent, schema=TABLES["SCHEMA"]):
        assert (json.loads(told)["place"], calls) == ("Bre", [])


# asking again


def again(*texts: str) -> Answer:
    """An upstream that writes one text after the other, whole or streamed, with usage."""
    left = [*texts]

    async def give(asked: dict[str, Any]) -> Response:
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        return await answering(left.pop(0), usage=usage)(asked)

    return give


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
@pytest.mark.parametrize("case", TABLES["AGAIN"])
def test_the_model_is_asked_again(case: Any, api: Api, stream: bool) -> None:
    texts, request, *wanted = case
    texts = [*map(filled, texts)]
    with proxied(again(*texts), ask_again=2) as (front, _, upstream):
        body = {**request_of(api, **request), "stream": stream}
        if isinstance(api, ChatApi):
            body["stream_options"] = {"include_usage": True}
        answer = httpx.post(f"{front.url}{api.path}", json=body)
    if stream:
        lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
        parts = [json.loads(line) for line in lines]
        usages = [part["usage"] for part in parts if part.get("usage")]
        found = read_stream(api, [part for part in parts if part.get("choices", True)])
    else:
        usages = [answer.json()["usage"]]
        found = read_whole(api, answer.json())
    text = found[0].replace("\n\n", "") if stream else found[0]
    assert (text, found[1]) == (
        wanted[0] if stream else wanted[0].removeprefix(texts[0] if len(texts) > 1 else ""),
        wanted[1],
    )
    if not isinstance(api, ResponsesApi) or not stream:
        assert next(iter(usages[-1].values())) in (5 * len(texts), 2 * len(texts))
    asked = upstream.asked["messages"]
    assert len(asked) == 1 + 2 * (len(texts) - 1)
    if len(texts) > 1:
        assert [message["role"] for message in asked[-2:]] == ["assistant", "user"]
        assert asked[-2]["content"] == texts[-2]


def test_traces_pass() -> None:
    trace = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": "a=1",
        "baggage": "b=2",
    }
    with proxied(whole(completion({"content": "Hi."}))) as (front, _, upstream):
        for api in APIS:
            httpx.post(f"{front.url}{api.path}", json=request_of(api), headers=trace)
            assert trace.items() <= upstream.headers.items()


# the proxy adds constraints to the requests that it passes on, and says so


def test_each_upstream_gets_its_fields() -> None:
    made = constraint("hermes", tools=TOOLS, tool_choice="required", parallel=False)
    more = {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
    for upstream, fields in (
        ("vllm", made.to_vllm()),
        ("sglang", {**made.to_sglang(), "tool_choice": "auto"}),
        ("llama_cpp", made.to_llama_cpp()),
    ):
        answer = whole(completion({"content": TEXT}))
        with proxied(answer, constrain=upstream) as (front, _, up), client(front) as found:
            raw = found.chat.completions.with_raw_response.create(**asked(**more))
            assert up.asked == {**asked(**more), **fields}, upstream
            assert raw.headers["outspoken-constraint"] == "applied; warnings=0"
            check_weather(raw.parse().choices[0])


def test_a_stream_is_constrained() -> None:
    with proxied(streaming(written(TEXT)), constrain="vllm") as (front, _, up):
        check_weather(streamed(front, tools=TOOLS).choices[0])
        tag = json.loads(up.asked["structured_outputs"]["structural_tag"])
        assert tag == constraint("hermes", tools=TOOLS).to_xgrammar()


def test_a_request_without_tools_is_passed_on_as_it_is() -> None:
    with proxied(whole(completion({"content": "Hi."})), constrain="vllm") as (front, _, up), client(front) as found:
        raw = found.chat.completions.with_raw_response.create(**asked(tools=[]))
        assert up.asked == asked(tools=[])
        assert "outspoken-constraint" not in raw.headers


def test_what_cannot_be_constrained_is_passed_on_or_rejected(caplog: pytest.LogCaptureFixture) -> None:
    own = {"tools": TOOLS, "response_format": {"type": "json_object"}}
    problem = "the request has a constraint of its own, `response_format`"
    for more, told in ((own, problem), ({"tools": TOOLS, "tool_choice": "required"}, "")):
        settings = {"constrain": "vllm", "format": "hermes" if told else "text"}
        with proxied(whole(completion({"content": "Hi."})), **settings) as (front, _, up), client(front) as found:
            with caplog.at_level(logging.WARNING, "outspoken.serving"):
                raw = found.chat.completions.with_raw_response.create(**asked(**more))
            assert up.asked == asked(**more)
            assert raw.headers["outspoken-constraint"].startswith(f"none; {told}")
            assert "passed on without a constraint" in caplog.text
        with proxied(whole({}), constrain_strict=True, **settings) as (front, _, up), client(front) as found:
            with pytest.raises(Exception, match="cannot be constrained") as caught:
                found.chat.completions.create(**asked(**more))
            assert getattr(caught.value, "status_code", 0) == 400
            assert up.asked == {}


def test_what_is_not_enforced_is_counted_or_rejected() -> None:
    answer = whole(completion({"content": "Hi."}))
    with proxied(answer, constrain="llama_cpp") as (front, _, _up), client(front) as found:
        raw = found.chat.completions.with_raw_response.create(**asked(tools=TABLES["LOOSE"]))
        assert raw.headers["outspoken-constraint"] == "applied; warnings=1"
    with proxied(answer, constrain="llama_cpp", constrain_strict=True) as (front, _, up), client(front) as found:
        with pytest.raises(Exception, match="uniqueItems"):
            found.chat.completions.create(**asked(tools=TABLES["LOOSE"]))
        assert up.asked == {}


def test_settings() -> None:
    with pytest.raises(ServerStartError, match="expected vllm, sglang, llama_cpp"):
        ServerSettings("http://localhost", "hermes", constrain="mosses")
    settings: list[dict[str, Any]] = [{"format": "auto"}, {"models": {"acme": "auto"}}]
    for given in settings:
        with pytest.raises(ServerStartError, match="needs the name of a format"):
            ServerSettings("http://localhost", constrain="vllm", **given)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_history_is_text_if_the_proxy_is_told_so(api: Api) -> None:
    """The requests, by the API, are those of clients whose model called a tool and got its result."""
    with proxied(whole(completion({"content": "Fine."})), format="react", render_history=True) as (front, _, upstream):
        answer = httpx.post(f"{front.url}{api.path}", json={**request_of(api), **TABLES["CALLED"][api.name]})
    assert answer.is_success
    sent = [(message["role"], message["content"]) for message in upstream.asked["messages"]]
    assert sent == [("user", "When?"), ("assistant", TABLES["WROTE"]), ("user", "Observation: nine")]
    with pytest.raises(ServerStartError, match="needs the name of a format"):
        ServerSettings("http://upstream", "auto", render_history=True)
