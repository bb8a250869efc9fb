"""LiteLLM with a server that sends raw text: a custom provider, and hooks of the proxy."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import litellm
import openai
import pytest
from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

from outspoken.integrations import MissingPackageError
from outspoken.integrations import litellm as ours
from outspoken.integrations.litellm import OutspokenLLM
from tests.integrations.model_tests import ANSWER, LOOK, PAGE, READ_OFF, Read, ReasoningTests
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, TOOLS, printed_by_example, written
from tests.integrations.text_server import TextServer, text_server
from tests.tables import tables

# LiteLLM's own types and streams make pydantic warn.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? .* using the `ReadOnly` qualifier:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_.*' attribute on the instance:DeprecationWarning"),
]

TOP = Path(__file__).resolve().parents[2]
USAGE = {"include_usage": True}
ASKED = [{"role": "user", "content": "When?"}]


def provider(format: str, **options: Any) -> None:
    litellm.custom_provider_map = [{"provider": "outspoken", "custom_handler": OutspokenLLM(format, **options)}]


def request(url: str, messages: Any = ASKED, model: str = "outspoken/openai/m") -> dict[str, Any]:
    return {"model": model, "messages": messages, "api_base": url, "api_key": "none", "tools": TOOLS}


def joined(chunks: list[Any]) -> Any:
    """The response of a stream, as LiteLLM itself builds it, with what only chunks have."""
    response = litellm.stream_chunk_builder(chunks)
    fields = [getattr(chunk.choices[0].delta, "provider_specific_fields", None) for chunk in chunks]
    response.choices[0].message.provider_specific_fields = next(filter(None, fields), None)
    return response


def whole(**asked: Any) -> Any:
    return litellm.completion(**asked)


def awhole(**asked: Any) -> Any:
    return asyncio.run(litellm.acompletion(**asked))


def streamed(**asked: Any) -> Any:
    return joined([*litellm.completion(**asked, stream=True, stream_options=USAGE)])


def astreamed(**asked: Any) -> Any:
    async def read() -> list[Any]:
        return [chunk async for chunk in await litellm.acompletion(**asked, stream=True, stream_options=USAGE)]

    return joined(asyncio.run(read()))


Ask = Callable[..., Any]
WAYS: list[Ask] = [whole, awhole, streamed, astreamed]


@pytest.fixture(autouse=True)
def no_providers() -> Iterator[None]:
    yield
    litellm.custom_provider_map = []


def loop(ask: Ask, server: TextServer, result: str = "nine") -> tuple[str, list[tuple[str, Any]]]:
    """An agent: it runs the calls of each response, and ends with the one that has none."""
    messages, ran = [*ASKED], list[tuple[str, Any]]()
    while True:
        message = ask(**request(server.url, messages)).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content, ran
        for call in message.tool_calls:
            ran.append((call.function.name, json.loads(call.function.arguments)))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("ask", WAYS)
def test_an_agent_runs_one_call_then_two_at_once(ask: Ask, format: str) -> None:
    provider(format)
    first = written(format, ("tide", {"place": "Paris"}), text="Let me look.")
    server = text_server(first, written(format, *BOTH), written(format, text=ANSWER))
    assert loop(ask, server) == (ANSWER, [("tide", {"place": "Paris"}), *BOTH])
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide", "wind"]
    ids = [call["id"] for message in server.requests[2]["messages"] for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 3
    assert server.requests[2]["messages"][1]["content"] == "Let me look."


@pytest.mark.parametrize("ask", WAYS)
def test_a_call_that_a_result_holds_does_not_run_and_the_history_is_text(ask: Ask) -> None:
    own, echo = READ_OFF[:2]
    provider("hermes", render_history=True)
    server = text_server(own, own, echo)
    server.takes_text_alone = True
    assert loop(ask, server, PAGE)[1] == [LOOK, LOOK]
    sent = [message["content"] for message in server.requests[2]["messages"]]
    assert sent[1:] == [own, f"<tool_response>\n{PAGE}\n</tool_response>"] * 2


class TestResponses(ReasoningTests):
    def asked(self, url: str, way: str, format: str | None, model: str) -> Read:
        handler = OutspokenLLM(format) if format else ours.provider
        litellm.custom_provider_map = [{"provider": "outspoken", "custom_handler": handler}]
        response = WAYS[self.WAYS.index(way)](**request(url, model=f"outspoken/openai/{model}"))
        ((message, reason),) = [(choice.message, choice.finish_reason) for choice in response.choices]
        assert response.usage.completion_tokens == 9
        found = (getattr(message, "provider_specific_fields", None) or {}).get("outspoken", {})
        unfinished = found.get("unfinished_calls", ())
        calls = [called(call.function) for call in message.tool_calls or ()]
        assert reason == ("tool_calls" if calls else "length" if unfinished else "stop")
        said = "the call of `{name}` is {status} and was not run: {written}"
        refused = [(call["name"], said.format(**call)) for call in unfinished]
        return Read(message.content, getattr(message, "reasoning_content", None), calls, refused, found)


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize(("text", "reason"), [(INVALID, "stop"), (CUT, "length")])
def test_a_call_that_is_cut_is_the_reason_for_the_end(ask: Ask, text: str, reason: str) -> None:
    provider("hermes")
    (choice,) = ask(**request(text_server(text).url)).choices
    assert (choice.finish_reason, choice.message.tool_calls or []) == (reason, [])


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize("content", ["", "Look:"])
def test_a_cut_call_of_the_server_itself_is_not_among_the_calls(ask: Ask, content: str) -> None:
    provider("hermes")
    own = {"index": 0, "id": "c9", "type": "function", "function": {"name": "tide", "arguments": '{"place": "Br'}}
    (choice,) = ask(**request(text_server(({"content": content, "tool_calls": [own]}, "length")).url)).choices
    message = choice.message
    assert (message.content or "", message.tool_calls or [], choice.finish_reason) == (content, [], "length")
    assert [call["name"] for call in message.provider_specific_fields["outspoken"]["unfinished_calls"]] == ["tide"]


@pytest.mark.parametrize("ask", WAYS[:2])
@pytest.mark.parametrize("name", ["tide", "wind"])
def test_a_call_in_the_old_field_of_a_whole_response_is_a_call_unless_it_is_refused(ask: Ask, name: str) -> None:
    provider("hermes")
    own = {"name": name, "arguments": '{"place": "Brest"}'}
    server = text_server(({"content": "Look:", "function_call": own}, "function_call"))
    (choice,) = ask(**request(server.url), tool_choice={"type": "function", "function": {"name": "tide"}}).choices
    calls = [called(call.function) for call in choice.message.tool_calls or ()]
    assert (choice.message.content, calls) == ("Look:", [("tide", {"place": "Brest"})] if name == "tide" else [])
    assert getattr(choice.message, "function_call", None) is None


@pytest.mark.parametrize("ask", WAYS)
def test_a_call_that_the_request_does_not_allow_is_refused(ask: Ask) -> None:
    provider("hermes")
    for wanted in ({"parallel_tool_calls": False}, {"tool_choice": {"type": "function", "function": {"name": "tide"}}}):
        (choice,) = ask(**request(text_server(written("hermes", *BOTH)).url), **wanted).choices
        assert [call.function.name for call in choice.message.tool_calls] == ["tide"]


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize(("stop", "said", "count"), [(None, "", 1), (["Observation:"], "", 0), (None, "Page: {}", 0)])
def test_what_a_stop_ended_or_was_read_off_is_no_call(ask: Ask, stop: Any, said: str, count: int) -> None:
    provider("hermes")
    text = written("hermes", BOTH[0]).removesuffix("\n</tool_call>")
    asked = request(text_server(text).url, [{"role": "user", "content": said.format(text)}])
    (choice,) = ask(**asked, stop=stop).choices
    assert len(choice.message.tool_calls or ()) == count


def test_text_streams_as_it_arrives_and_calls_when_they_are_complete() -> None:
    text = written("hermes", ("tide", {"place": "Brest " * 20}), text=ANSWER)
    for pieces in (False, True):
        provider("hermes", stream_arguments=pieces)
        chunks = [*litellm.completion(**request(text_server(text, size=10).url), stream=True)]
        deltas = [chunk.choices[0].delta for chunk in chunks]
        assert len([delta for delta in deltas if delta.content]) >= 3
        calls = [call for delta in deltas for call in delta.tool_calls or ()]
        assert (len(calls) > 5) == pieces
        assert calls[0].function.name == "tide"
        arguments = "".join([call.function.arguments for call in calls])
        assert json.loads(arguments) == {"place": "Brest " * 20}
        assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == ["tool_calls"]


@pytest.mark.timeout(300)
def test_the_gateway_of_the_guide(tmp_path: Path) -> None:
    sound = written("qwen3_coder", *BOTH, text="Look:")
    cut, repaired = (written("qwen3_coder", BOTH[0])[:-30], "length"), sound.replace("</parameter>", "</paramter>", 1)
    server = text_server(*[sound] * 6, *[cut] * 6, *[repaired] * 6, *["Nine."] * 3)
    program = [sys.executable, "-m", "tests.integrations.litellm_proxy", server.url, str(tmp_path)]
    ran = subprocess.run(program, cwd=TOP, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    answers = found["answers"]
    message = answers["/v1/chat/completions"]["choices"][0]["message"]
    shown = [[message["content"], *[called(call["function"]) for call in message["tool_calls"]]]]
    deltas = [chunk["choices"][0]["delta"] for chunk in answers["/v1/chat/completions streamed"] if chunk["choices"]]
    calls = [called(call["function"]) for delta in deltas for call in delta.get("tool_calls") or ()]
    shown.append(["".join([delta.get("content") or "" for delta in deltas]), *calls])
    for response in (answers["/v1/responses"], answers["/v1/responses streamed"][-1]["response"]):
        first, *items = response["output"]
        shown.append([first["content"][0]["text"], *map(called, items)])
    first, *blocks = answers["/v1/messages"]["content"]
    shown.append([first["text"], *[(block["name"], block["input"]) for block in blocks]])
    events = answers["/v1/messages streamed"]
    names = [event["content_block"].get("name") for event in events if event["type"] == "content_block_start"]
    pieces = [event["delta"].get("partial_json") for event in events if event["type"] == "content_block_delta"]
    calls = zip(names[1:], map(json.loads, filter(None, pieces)), strict=True)
    shown.append(["".join([e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta"]), *calls])
    assert shown == [["Look:", *BOTH]] * 6
    assert [server.requests[n].get("reasoning_effort") for n in (0, 1)] == ["low", "low"]
    for facts in facts_of(answers, " refused"):
        assert [call["name"] for call in facts["unfinished_calls"]] == ["tide"]
        assert "the call of `tide` never ends" in facts["retry"]
        assert [problem["code"] for problem in facts["problems"]] == ["unclosed-call"]
    for facts in facts_of(answers, " repaired"):
        assert (facts["status"], [repair["code"] for repair in facts["repairs"]]) == ("repaired", ["damaged-marker"])
    cost = 20 * 0.000001 + 9 * 0.000002  # as the configuration has it
    assert found["logged"] == [["hosted_vllm/Qwen3-Coder", pytest.approx(cost)]] * 18
    gateway = found["gateway"]
    assert (gateway["fallback"], gateway["statuses"]) == ("Nine.", [200, 200, 429, 401])
    assert re.search(
        r'^litellm_proxy_total_requests_metric_total{.*status_code="429"', gateway["metrics"], re.MULTILINE
    )
    assert ran.stdout.count('"trace_id"') > 9


def facts_of(answers: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What a client is told of the response in each API, whole and streamed."""
    chat, responses, messages = [f"/v1/{api}{kind}" for api in ("chat/completions", "responses", "messages")]
    deltas = [chunk["choices"][0]["delta"] for chunk in answers[f"{chat} streamed"] if chunk["choices"]]
    (last,) = [event for event in answers[f"{messages} streamed"] if event["type"] == "message_delta"]
    told = [answers[chat]["choices"][0]["message"], *[d for d in deltas if d.get("provider_specific_fields")]]
    told += [answers[responses], answers[f"{responses} streamed"][-1]["response"]]
    assert len(told) == 4
    fields = [*[one["provider_specific_fields"] for one in told], answers[messages], last]
    return [one["outspoken"] for one in fields]


def called(function: Any) -> tuple[str, Any]:
    """The name and the arguments of a call."""
    return function["name"], json.loads(function["arguments"])


class Log(CustomLogger):
    """What LiteLLM logs: the model, its cost and the calls of each response."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, Any, int]] = []

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        if kwargs["model"] == "openai/gpt-4o":  # no event of an earlier test, which LiteLLM may still have queued
            calls = response_obj.choices[0].message.tool_calls or ()
            self.events.append((kwargs["model"], kwargs["response_cost"], len(calls)))


@pytest.fixture(scope="module")
def every_log() -> Log:
    """A log for the whole process: LiteLLM keeps the first callback of a class."""
    litellm.callbacks = [log := Log()]
    return log


@pytest.fixture
def log(every_log: Log) -> Log:
    every_log.events.clear()
    return every_log


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("prices", [(2.5e-06, 1e-05), (1.0, 2.0)])
def test_a_request_is_logged_and_priced_once(streams: bool, prices: tuple[float, float], log: Log) -> None:
    names = ("input_cost_per_token", "output_cost_per_token")
    provider("qwen3_coder")
    own = dict(zip(names, prices, strict=True)) if prices[0] == 1 else {}  # else those that LiteLLM knows

    async def run(server: TextServer) -> None:
        asked = {**request(server.url, model="outspoken/openai/gpt-4o"), **own}
        response = await litellm.acompletion(**asked, stream=streams, stream_options=USAGE if streams else None)
        if streams:
            assert len([chunk async for chunk in response]) > 2
        for _ in range(100):
            await asyncio.sleep(0.05 if len(log.events) < 1 else 0.002)

    server = text_server(written("qwen3_coder", *BOTH))
    asyncio.run(run(server))
    assert log.events == [("openai/gpt-4o", pytest.approx(20 * prices[0] + 9 * prices[1]), 2)]


def test_credentials_and_options_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    provider("qwen3_coder")
    given = {"api_version": "v9", "aws_region_name": "eu", "vertex_project": "tides", "azure_ad_token": "t"}
    sent = dict[str, Any]()

    def answer(**asked: Any) -> Any:
        sent.update(asked)
        return litellm.ModelResponse()

    ask = litellm.completion
    monkeypatch.setattr(litellm, "completion", answer)
    server = text_server()
    ask(**request(server.url), **given, top_k=5, extra_headers={"x-tide": "nine"})
    assert given.items() <= sent.items()
    assert (sent["top_k"], sent["extra_headers"], sent["model"]) == (5, {"x-tide": "nine"}, "openai/m")

    asked = {"model": "outspoken/openai/m", "reasoning_effort": "low", "organization": "port"}
    changed = asyncio.run(ours.hooks.async_pre_call_deployment_hook({**asked}, None))
    assert "reasoning_effort" in changed["allowed_openai_params"]
    assert changed["extra_headers"] == {"OpenAI-Organization": "port"}
    assert asyncio.run(ours.hooks.async_pre_call_deployment_hook({**asked, "model": "openai/m"}, None)) is None
    monkeypatch.delattr(CustomLogger, "async_post_call_success_hook")
    with pytest.raises(MissingPackageError, match="calls no hook `async_post_call_success_hook`"):
        _ = ours.hooks


@pytest.mark.parametrize(("deltas", "expected"), tables(__file__)["APART_FROM_TEXT"])
def test_what_the_server_sends_apart_from_text(deltas: Any, expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    provider("hermes")

    def chunks(**asked: Any) -> Iterator[ModelResponseStream]:
        for delta in deltas:
            yield ModelResponseStream(choices=[StreamingChoices(delta=Delta(**delta))])
        yield ModelResponseStream(choices=[StreamingChoices(delta=Delta(), finish_reason="length")])

    ask = litellm.completion
    monkeypatch.setattr(litellm, "completion", chunks)
    server = text_server()
    made = [chunk.choices[0].delta.model_dump() for chunk in ask(**request(server.url), stream=True)]
    shown = [{key: value for key, value in delta.items() if value and key != "role"} for delta in made]
    shown = [*filter(None, shown)]
    if shown[0].get("provider_specific_fields"):
        shown = [one["code"] for one in shown[0]["provider_specific_fields"]["outspoken"]["problems"]]
    assert shown == expected


@pytest.mark.parametrize("ask", WAYS)
def test_errors_of_the_server_are_not_hidden(ask: Ask) -> None:
    provider("hermes")
    with pytest.raises(openai.OpenAIError, match="Connection error"):
        ask(**request("http://127.0.0.1:9/v1"), max_retries=0)


def test_the_example_runs() -> None:
    server = text_server(written("qwen3_coder", ("tide", {})))
    printed = printed_by_example("litellm", server.url)
    assert "name='tide'" in printed


def test_a_provider_has_the_name_of_a_format_or_of_a_model() -> None:
    for name in ("qwen3_coder", "qwen3_8b"):
        assert isinstance(getattr(ours, name), OutspokenLLM)
    with pytest.raises(AttributeError, match="no format or model that is known"):
        _ = ours.mosses
