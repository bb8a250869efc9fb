"""The web servers of the guide in front of the proxy, where they are installed."""

import asyncio
import re
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from outspoken import serving
from tests.serving.serving import OFFERED, Server, chunk, event, proxied, streaming, until

GUIDE = Path(serving.__file__).with_name("README.md").read_text("utf-8")
FILES = dict(re.findall(r"```(nginx|caddy)\n(.*?)```", GUIDE, re.DOTALL))
INSTALLED = [name for name in FILES if shutil.which(name)]
KEY = {"authorization": "Bearer key-of-ann"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_open(port: int) -> bool:
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def in_front(name: str, proxy: Server, folder: Path) -> Generator[str]:
    """A web server with the file of the guide, but for its port, that of the proxy, and TLS."""
    port = free_port()
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
            until(lambda: is_open(port))
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

    body = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": OFFERED, "stream": True}
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
