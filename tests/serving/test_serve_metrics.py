"""The metrics of the proxy, the ids of requests, and its log."""

import json
import logging
import sys
from collections.abc import Generator
from typing import Any

import anthropic
import httpx
import openai
import pytest

from outspoken.results.packages import install_command
from outspoken.serving.app import Proxy
from tests.serving.serving import Server, asked_of, chunk, event, proxied, streaming, until, whole, written
from tests.serving.test_serve_apis import TEXT, Front, answer
from tests.serving.test_serve_failures import Endless, _ask  # pyright: ignore[reportPrivateUsage]

PATHS = {"chat_completions": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


@pytest.fixture(scope="module")
def shared() -> Generator[Front]:
    with proxied(whole({})) as found:
        yield found


def ask(front: Server, endpoint: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    path = PATHS[endpoint].removeprefix("/v1/")
    return httpx.post(f"{front.url}{PATHS[endpoint]}", json=asked_of(path, **more), headers=headers)


def metrics(front: Server, proxy: Proxy) -> dict[str, float]:
    """The values by their names with labels, once all responses are counted."""
    until(lambda: not proxy.active)
    return metrics_now(front)


def metrics_now(front: Server) -> dict[str, float]:
    found = httpx.get(f"{front.url}/metrics")
    assert (found.status_code, found.headers["content-type"].split(";")[0]) == (200, "text/plain")
    lines = [line.rpartition(" ") for line in found.text.splitlines() if not line.startswith("#")]
    return {name.removeprefix("outspoken_"): float(value) for name, _, value in lines}


def test_metrics_of_each_endpoint() -> None:
    with proxied(answer(TEXT)) as (front, proxy, upstream):
        for endpoint in PATHS:
            for stream in (False, True):
                assert ask(front, endpoint, stream=stream).status_code == 200
        found = metrics(front, proxy)
        for endpoint in PATHS:
            assert found[f'requests_total{{endpoint="{endpoint}",status="200"}}'] == 2
            assert found[f'request_duration_seconds_count{{endpoint="{endpoint}"}}'] == 2
            assert found[f'first_piece_seconds_count{{endpoint="{endpoint}"}}'] == 1
            assert found[f'active_requests{{endpoint="{endpoint}"}}'] == 0
        assert found['calls_total{status="ok"}'] == 6
        assert found['responses_total{format="hermes",status="ok"}'] == 6
        assert not [name for name in found if name.startswith(("repairs_total", "upstream_errors", "dropped"))]
        upstream.answer = answer(TEXT.replace('"Brest"}}', '"Brest",}'))
        for endpoint in PATHS:
            ask(front, endpoint, stream=True)
        upstream.answer = answer(TEXT[:-25], finish="length")
        for endpoint in PATHS:
            ask(front, endpoint)
        found = metrics(front, proxy)
        assert (found['calls_total{status="repaired"}'], found['calls_total{status="truncated"}']) == (3, 3)
        assert found['responses_total{format="hermes",status="truncated"}'] == 3
        assert found['repairs_total{code="trailing-comma"}'] == 3
        assert found["tasks"] >= 1
        assert found["process_open_fds"] > 3


def test_metrics_of_failures() -> None:
    with proxied(whole({"error": {"message": "slow down"}}, 429), max_body=1000) as (front, proxy, upstream):
        for endpoint in PATHS:
            ask(front, endpoint)
            ask(front, endpoint, padding="x" * 2000)
        upstream.answer = streaming(written(TEXT)[:-2])
        for endpoint in PATHS:
            ask(front, endpoint, stream=True)
        upstream.answer = streaming([*written(TEXT)[:-2], event({"error": {"message": "no"}})])
        for endpoint in PATHS:
            ask(front, endpoint, stream=True)
        upstream.answer = whole([1])
        ask(front, "messages")
        found = metrics(front, proxy)
    for endpoint in PATHS:
        counts = [found[f'requests_total{{endpoint="{endpoint}",status="{status}"}}'] for status in (200, 413, 429)]
        assert counts == [2, 1, 1]
    errors = {"status_429": 3, "upstream_cut_off": 3, "error_in_stream": 3, "bad_upstream_response": 1}
    assert {code: found[f'upstream_errors_total{{code="{code}"}}'] for code in errors} == errors
    assert 'upstream_errors_total{code="request_too_large"}' not in found


def test_metrics_of_clients_that_disconnect() -> None:
    endless = Endless(event(chunk({"content": "mosses "})))
    with proxied(endless.answer) as (front, proxy, _):
        asking = _ask(front)
        until(lambda: endless.sent > 3)
        assert metrics_now(front)['active_requests{endpoint="chat_completions"}'] == 1
        asking.close()
        until(lambda: endless.stopped and not proxy.active)
        found = metrics(front, proxy)
        assert found['dropped_clients_total{endpoint="chat_completions"}'] == 1
        assert found['active_requests{endpoint="chat_completions"}'] == 0


def test_detected_formats_and_two_proxies() -> None:
    """Each proxy counts for itself."""
    with proxied(answer(TEXT), format="auto") as (front, proxy, _), proxied(answer("Hi.")) as (other, _, _):
        ask(front, "responses")
        assert metrics(front, proxy)['responses_total{format="hermes",status="ok"}'] == 1
        assert not [name for name in metrics_now(other) if name.startswith("responses_total")]


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with proxied(answer(TEXT)) as (front, _, _):
        assert ask(front, "messages").status_code == 200
        found = httpx.get(f"{front.url}/metrics")
    assert (found.status_code, found.json()["error"]["code"]) == (501, "no_metrics")
    assert install_command("serve") in found.json()["error"]["message"]


# ids and the log


@pytest.mark.parametrize("endpoint", PATHS)
def test_request_ids(shared: Front, endpoint: str) -> None:
    front, _, upstream = shared
    upstream.answer = answer(TEXT)
    for stream in (False, True):
        found = ask(front, endpoint, {"x-request-id": "mine-1"}, stream=stream)
        assert found.headers.get_list("x-request-id") == ["mine-1"]
        assert upstream.headers["x-request-id"] == "mine-1"
        assert found.headers.get("request-id") == ("mine-1" if endpoint == "messages" else None)
        for bad in ("a b", "x" * 300):
            made = ask(front, endpoint, {"x-request-id": bad}, stream=stream).headers["x-request-id"]
            assert made.startswith("req_")
            assert upstream.headers["x-request-id"] == made
    first, second = (ask(front, endpoint).headers["x-request-id"] for _ in range(2))
    assert first != second
    upstream.answer = whole({"error": {"message": "no"}}, 400, {"x-request-id": "theirs"})
    assert ask(front, endpoint).headers.get_list("x-request-id") == ["theirs"]
    assert ask(front, endpoint, {"x-request-id": "mine"}).headers.get_list("x-request-id") == ["mine"]
    upstream.answer = whole([1])
    assert ask(front, endpoint, {"x-request-id": "mine"}).headers.get_list("x-request-id") == ["mine"]


def test_the_clients_know_the_request_ids(shared: Front) -> None:
    front, _, upstream = shared
    upstream.answer = whole({"error": {"message": "no"}}, 400)
    with openai.OpenAI(api_key="k", base_url=f"{front.url}/v1", max_retries=0) as known:
        with pytest.raises(openai.BadRequestError) as caught:
            known.responses.create(model="m", input="?", extra_headers={"x-request-id": "mine"})
        assert caught.value.request_id == "mine"
    with anthropic.Anthropic(api_key="k", base_url=front.url, max_retries=0) as other:
        with pytest.raises(anthropic.BadRequestError) as failed:
            other.messages.create(**asked_of("messages"), extra_headers={"x-request-id": "mine"})
        assert failed.value.request_id == "mine"


def test_each_request_is_logged(shared: Front, caplog: pytest.LogCaptureFixture) -> None:
    front, _, upstream = shared
    upstream.answer = answer(TEXT)
    with caplog.at_level(logging.INFO, "outspoken.serving"):
        ask(front, "messages", {"x-request-id": "a"})
        ask(front, "responses", {"x-request-id": "b"}, previous_response_id="x")
        upstream.answer = streaming(written(TEXT)[:-2])
        ask(front, "chat_completions", {"x-request-id": "c"}, stream=True)
        until(lambda: len(caplog.records) == 3)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.rpartition(" seconds=")[0] for line in lines] == [
        "request_id=a endpoint=messages status=200 outcome=ok",
        "request_id=b endpoint=responses status=400 outcome=unsupported_value",
        "request_id=c endpoint=chat_completions status=200 outcome=upstream_cut_off",
    ]


def test_other_paths_have_errors_in_the_shape_of_their_api(shared: Front) -> None:
    front = shared[0]
    for path, kind in (("/v1/responses/resp_1", None), ("/v1/messages/batches", "error"), ("/v2", None)):
        found = httpx.get(front.url + path, headers={"x-request-id": "mine"})
        body: Any = json.loads(found.content)
        assert (found.status_code, body.get("type"), bool(body["error"]["message"])) == (404, kind, True)
        assert found.headers["x-request-id"] == "mine"
