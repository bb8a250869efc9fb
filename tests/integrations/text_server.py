"""A server on this machine that speaks chat completions and does not know the format of its model: all is content."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.serving.serving import Server, chunk, completion, event, written

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

    async def answer(self, request: Request) -> Response:
        """The answer to a request: whole or streamed, with its usage, or why it is refused."""
        body = await request.json()
        self.requests.append(body)
        if problem := refused(body):
            return JSONResponse({"error": {"message": problem, "type": "BadRequestError", "code": 400}}, 400)
        text, reason = self._texts[len(self.requests) - 1]
        if not body.get("stream"):
            return JSONResponse(completion({"content": text}, finish=reason, usage=_USAGE))
        *pieces, done = written(text, self.size, reason)
        usage = event({**chunk({}), "choices": [], "usage": _USAGE})
        return Response(b"".join([*pieces, usage, done]), media_type="text/event-stream")


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
    routes = [Route("/v1/chat/completions", script.answer, methods=["POST"])]
    with Server(Starlette(routes=routes)) as server:
        script.url = f"{server.url}/v1"
        yield script
