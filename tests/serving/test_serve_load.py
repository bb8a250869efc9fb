"""The proxy in use: many streams at once, the probe of CanIToolCall, and behind the web servers of the guide."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response, StreamingResponse

from outspoken import serving
from tests.loops import some
from tests.serving import probing
from tests.serving import serving as servers
from tests.serving.serving import OFFERED_TO, asked_of, chunk, event, proxied, streaming, until

STREAMS, ROUNDS = 33, 2


def text_of(identity: str) -> str:
    """What the upstream writes: text, and two calls, all with its identity."""
    words = " ".join([f"w{identity}.{number}" for number in range(20)])
    calls = [{"name": f"f{number}", "arguments": {"of": identity, "n": number}} for number in range(2)]
    return f"<think>No. {identity}</think>{words}" + "".join(
        [f"\n<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls]
    )


async def answer(asked: dict[str, Any]) -> Response:
    """The text of the identity in the question, in pieces; every seventh stream fails before its last call ends."""
    found = re.search(r"stream-(\d+-\d+)", json.dumps(asked))
    assert found
    text = text_of(found[1])
    is_failing = int(found[1].partition("-")[0]) % 7 == 6

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(text) - 30 * is_failing, 9):
            yield event(chunk({"content": text[start : start + 9]}))
            await asyncio.sleep(0.001)
        yield event({"error": {"message": "it failed"}}) if is_failing else event(chunk({}, "stop"))
        yield b"data: [DONE]\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


def heard(data: Any) -> tuple[str, str]:
    """The text, behind its reasoning, and the arguments in an event of any of the APIs."""
    kind, delta = data.get("type"), data.get("delta")
    if kind in ("response.output_text.delta", "response.reasoning_text.delta"):
        return delta, ""
    if kind == "response.function_call_arguments.delta":
        return "", delta
    if kind == "content_block_delta":
        return delta.get("text", "") + delta.get("thinking", ""), delta.get("partial_json", "")
    said: Any = data["choices"][0].get("delta") if data.get("choices") else {}
    calls: list[Any] = said.get("tool_calls", [])
    text = (said.get("reasoning_content") or "") + (said.get("content") or "")
    return text, "".join([call["function"].get("arguments", "") for call in calls])


async def check_stream(client: httpx.AsyncClient, url: str, identity: str) -> None:
    """Read a stream and compare it with what was written; every eleventh client leaves in the middle."""
    number = int(identity.partition("-")[0])
    path = [*OFFERED_TO][number % 3]
    body = asked_of(path, question=f"stream-{identity}", stream=True)
    text, arguments, whole = "", "", ""
    async with client.stream("POST", f"{url}/v1/{path}", json=body) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            whole += line
            if line.startswith("data: {"):
                more = heard(json.loads(line[6:]))
                text, arguments = text + more[0], arguments + more[1]
            if number % 11 == 10 and len(text) > 40:
                break
    wanted = re.sub("</?think>", "", text_of(identity).partition("\n<tool_call>")[0])
    if number % 11 == 10:
        assert wanted.startswith(text.rstrip()), identity
        return
    is_failing = number % 7 == 6
    assert text.rstrip() == wanted, identity
    found = re.findall(r'"of": ?"([\d-]+)", ?"n": ?(\d)', arguments)
    assert found == [(identity, "0"), (identity, "1")][: 1 if is_failing else 2], identity
    assert ("it failed" in whole) == is_failing, identity


def test_many_streams_at_once() -> None:
    async def work(url: str) -> None:
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
            for turn in range(ROUNDS):
                await asyncio.gather(*[check_stream(client, url, f"{n}-{turn}") for n in range(STREAMS)])

    with proxied(answer) as (front, proxy, _):
        before = front.tasks()
        asyncio.run(work(front.url))
        until(lambda: not proxy.active and front.connections == 0)
        until(lambda: front.tasks() <= before)


# the probe of CanIToolCall against the proxy, in front of an upstream that writes raw text of a format


@pytest.mark.parametrize("format_", some(probing.FORMATS, "probe", 0.34))
def test_the_neutral_probe_passes(format_: str) -> None:
    with proxied(probing.answer, format=format_) as (front, _, _):
        probing.check(front.url, format_)


# the web servers of the guide in front of the proxy, where they are installed


GUIDE = Path(serving.__file__).with_name("README.md").read_text("utf-8")
FILES = dict(re.findall(r"```(nginx|caddy)\n(.*?)```", GUIDE, re.DOTALL))
INSTALLED = [name for name in FILES if shutil.which(name)]
KEY = {"authorization": "Bearer key-of-ann"}


@contextmanager
def in_front(name: str, proxy: servers.Server, folder: Path) -> Generator[str]:
    """A web server with the file of the guide, but for its port, that of the proxy, and TLS."""
    port = servers.free_port()
    text = FILES[name].replace("127.0.0.1:8080", f"127.0.0.1:{proxy.port}")
    if name == "nginx":
        text = re.sub(r" *ssl_certificate\w* .*\n", "", text).replace("443 ssl", f"127.0.0.1:{port}")
        frame = f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; %s }}"
        temporary = "".join(
            [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
        )
        command = [name, "-p", str(folder), "-c", str(folder / "conf")]
        text = frame % (temporary + text)
    else:
        text = "{\n admin off\n auto_https off\n}\n" + text.replace("proxy.example", f"http://127.0.0.1:{port}")
        command = [name, "run", "--config", str(folder / "conf"), "--adapter", "caddyfile"]
    (folder / "conf").write_text(text)
    environment = {"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin:/usr/local/bin"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as running:
        try:
            until(lambda: servers.is_open(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()


def test_the_guide_has_both_files() -> None:
    assert {*FILES} == {"nginx", "caddy"}
    for text in FILES.values():
        assert text.count("{") == text.count("}")
        assert len(text.splitlines()) <= 25


@pytest.mark.parametrize("name", INSTALLED)
def test_a_web_server_in_front(name: str, tmp_path: Path) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        yield event(chunk({"role": "assistant", "content": "First"}))
        await asyncio.sleep(1)
        yield event(chunk({"content": ", last."})) + event(chunk({}, "stop")) + b"data: [DONE]\n\n"

    body = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": servers.OFFERED, "stream": True}
    with proxied(streaming(slowly())) as (proxy, _, upstream), in_front(name, proxy, tmp_path) as url:
        asked = f"{url}/v1/chat/completions"
        assert httpx.post(asked, json=body).status_code == 401
        assert upstream.asked == {}
        start, times, text = time.monotonic(), list[float](), ""
        with httpx.stream("POST", asked, json=body, headers={**KEY, "traceparent": "00-1-2-01"}) as answer:
            for piece in answer.iter_text():
                times.append(time.monotonic() - start)
                text += piece
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert (answer.status_code, upstream.headers["traceparent"]) == (200, "00-1-2-01")
        assert times[0] < times[-1] - 0.5
        assert '"role":"assistant"' in text
        assert text.endswith("data: [DONE]\n\n")
        upstream.asked = {}
        with suppress(httpx.TransportError):  # the connection may be closed before all is sent and the answer is read
            assert httpx.post(asked, content=b"x" * 40_000_000, headers=KEY).status_code in (413, 400)
        assert upstream.asked == {}
        assert httpx.get(f"{url}/health", headers={"x-api-key": "key-of-ann"}).json()["status"] == "ok"
