"""The proxy adds constraints to the requests that it passes on, and says so."""

import json
import logging
from typing import Any

import pytest

from outspoken.constraints import constraint
from outspoken.serving.settings import ServerSettings, ServerStartError
from tests.serving.serving import completion, proxied, streaming, whole, written
from tests.serving.test_serve import TEXT, TOOLS, asked, check_weather, client, streamed

LOOSE: Any = [
    {
        "type": "function",
        "function": {"name": "count", "parameters": {"properties": {"of": {"type": "array", "uniqueItems": True}}}},
    }
]


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
        raw = found.chat.completions.with_raw_response.create(**asked(tools=LOOSE))
        assert raw.headers["outspoken-constraint"] == "applied; warnings=1"
    with proxied(answer, constrain="llama_cpp", constrain_strict=True) as (front, _, up), client(front) as found:
        with pytest.raises(Exception, match="uniqueItems"):
            found.chat.completions.create(**asked(tools=LOOSE))
        assert up.asked == {}


def test_settings() -> None:
    with pytest.raises(ServerStartError, match="expected vllm, sglang, llama_cpp"):
        ServerSettings("http://localhost", "hermes", constrain="mosses")
    settings: list[dict[str, Any]] = [{"format": "auto"}, {"models": {"acme": "auto"}}]
    for given in settings:
        with pytest.raises(ServerStartError, match="needs the name of a format"):
            ServerSettings("http://localhost", constrain="vllm", **given)
