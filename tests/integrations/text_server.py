"""A server on this machine that speaks chat completions and does not know the format of its model: all is content."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.serving.serving import Server, chunk, completion, event, written

_USAGE = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}


#: A text of a model, or a message with calls or reasoning that the server reads itself.
Said: TypeAlias = str | dict[str, Any]


class TextServer:
    """Answers each request with the next text of a script, or with a text and its finish reason.

    `requests` are the bodies of the requests so far; `url` is the base URL for clients of OpenAI's API.
    """

    def __init__(self, *texts: Said | tuple[Said, str | None], size: int = 7) -> None:
        self._texts: list[tuple[Said, Any]] = [text if isinstance(text, tuple) else (text, "stop") for text in texts]
        self.requests: list[dict[str, Any]] = []
        self.size = size
        self.url = ""
        self.takes_text_alone = False

    async def answer(self, request: Request) -> Response:
        """The answer to a request: whole or streamed, with its usage, or why it is refused."""
        body = await request.json()
        self.requests.append(body)
        if problem := unlike_text(body) if self.takes_text_alone else refused(body):
            return JSONResponse({"error": {"message": problem, "type": "BadRequestError", "code": 400}}, 400)
        text, reason = self._texts[len(self.requests) - 1]
        message = {"content": text} if isinstance(text, str) else text
        if not body.get("stream"):
            return JSONResponse(completion(message, finish=reason, usage=_USAGE))
        first, *pieces, finish, done = written(message["content"], self.size, reason)
        thought, calls = [
            [event(chunk({name: message[name]}))] if name in message else []
            for name in ("reasoning_content", "tool_calls")
        ]
        usage = event({**chunk({}), "choices": [], "usage": _USAGE})
        return Response(
            b"".join([first, *thought, *pieces, *calls, finish, usage, done]), media_type="text/event-stream"
        )


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


def unlike_text(request: dict[str, Any]) -> str:
    """Why a server whose chat template knows text alone refuses the messages of a request."""
    turns = [message for message in request["messages"] if message["role"] != "system"]
    roles = [message["role"] for message in turns]
    is_text = all(message["content"] and not message.get("tool_calls") for message in turns)
    return "" if is_text and roles == (["user", "assistant"] * len(roles))[: len(roles)] else f"no chat: {turns}"


class _Running:
    """The one server of a process, and what it answers now."""

    script: TextServer
    server: Server | None = None

    async def answer(self, request: Request) -> Response:
        return await self.script.answer(request)

    def start(self) -> str:
        """Start the server, unless it runs; return its URL."""
        if self.server is None:
            routes = [Route("/v1/chat/completions", self.answer, methods=["POST"])]
            self.server = Server(Starlette(routes=routes)).__enter__()
        return self.server.url

    def stop(self) -> None:
        """Stop the server, at the end of the tests."""
        if self.server is not None:
            self.server.__exit__()


running = _Running()


def text_server(*texts: Said | tuple[Said, str | None], size: int = 7) -> TextServer:
    """A `TextServer` on a port of this machine, up to the next one: there is one server for all tests."""
    running.script = TextServer(*texts, size=size)
    running.script.url = f"{running.start()}/v1"
    return running.script
