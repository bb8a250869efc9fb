"""A server on this machine that speaks chat completions and does not know the format of its model: all is content."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.integrations.model_texts import pieces

_USAGE = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}


class TextServer:
    """Answers each request with the next text of a script: a text, or a text and its finish reason.

    `requests` are the bodies of the requests so far; `url` is the base URL for clients of OpenAI's API.
    """

    def __init__(self, *texts: str | tuple[str, str], size: int = 7) -> None:
        self._texts = [text if isinstance(text, tuple) else (text, "stop") for text in texts]
        self.requests: list[dict[str, Any]] = []
        self.size = size
        self.url = ""

    def answer(self, request: dict[str, Any]) -> tuple[str, str]:
        """The text and the finish reason for a request."""
        self.requests.append(request)
        return self._texts[len(self.requests) - 1]


def _completion(text: str, reason: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    return json.dumps(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": _USAGE}
    ).encode()


def _chunks(text: str, reason: str, size: int) -> Iterator[bytes]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *[{"content": p} for p in pieces(text, size)]]
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    yield _event({**head, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def refused(request: dict[str, Any]) -> str:
    """Why servers such as vLLM refuse the messages of a request: calls without JSON arguments or an answer."""
    waiting: dict[str, str] = {}
    for message in request["messages"]:
        if message["role"] == "tool":
            if waiting.pop(message.get("tool_call_id"), None) is None:
                return f"no call has the id {message.get('tool_call_id')!r}"
            continue
        if waiting:
            return f"calls have no answer: {sorted(waiting.values())}"
        for call in message.get("tool_calls") or ():
            function = call["function"]
            try:
                found = json.loads(function["arguments"])
            except ValueError:
                return f"the arguments of {function['name']} are no JSON"
            if not isinstance(found, dict):
                return f"the arguments of {function['name']} are no object"
            waiting[call["id"]] = function["name"]
    return f"calls have no answer: {sorted(waiting.values())}" if waiting else ""


@contextmanager
def text_server(*texts: str | tuple[str, str], size: int = 7) -> Generator[TextServer]:
    """Runs a `TextServer` on a free port."""
    script = TextServer(*texts, size=size)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if problem := refused(body):
                script.requests.append(body)
                written = json.dumps({"error": {"message": problem, "type": "BadRequestError", "code": 400}}).encode()
                self.send_response(400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(written)))
                self.end_headers()
                self.wfile.write(written)
                return
            text, reason = script.answer(body)
            streamed = bool(body.get("stream"))
            written = b"".join(_chunks(text, reason, script.size)) if streamed else _completion(text, reason)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
