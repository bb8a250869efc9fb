"""The upstream: it streams the raw text of each story, or fails as the story says."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .stories import Story

#: How many pieces a text has, and the least length of a piece.
_PIECES, _LEAST = 40, 4


class BrokenOffError(Exception):
    """The upstream breaks off."""


class Upstream:
    """Serves stories. `seconds` is how long a stream takes."""

    def __init__(self, seconds: float) -> None:
        self._pause = seconds / _PIECES
        self.open = self.begun = 0

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/counts", self.counts, methods=["GET"]),
        ]
        return Starlette(routes=routes)

    async def counts(self, request: Request) -> Response:
        """How many streams are open, and how many have begun."""
        return JSONResponse({"open": self.open, "begun": self.begun})

    async def chat(self, request: Request) -> Response:
        """Begin a stream, or refuse it."""
        asked: Any = await request.json()
        story = Story.of(asked["messages"][-1]["content"])
        if request.headers["x-request-id"] != story.identity:
            return JSONResponse({"error": {"message": "the request id is another stream's"}}, 422)
        if story.kind == "refused":
            return JSONResponse({"error": {"message": f"no {story.identity}"}}, story.status)
        return StreamingResponse(self._pieces(story), media_type="text/event-stream")

    async def _pieces(self, story: Story) -> AsyncGenerator[bytes, None]:
        self.open += 1
        self.begun += 1
        try:
            text = story.written
            size = max(len(text) // _PIECES, _LEAST)
            await asyncio.sleep(random.random() * self._pause)  # no two streams keep step
            for start in range(0, len(text), size):
                yield chunk(story, text[start : start + size])
                await asyncio.sleep(self._pause * random.uniform(0.5, 1.5))
            if story.kind == "cut":
                raise BrokenOffError
            if story.kind == "failing":
                yield event({"error": {"message": f"failed {story.identity}"}})
                return
            given, made = story.usage
            usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
            yield chunk(story, "", "stop") + chunk(story, usage=usage) + b"data: [DONE]\n\n"
        finally:
            self.open -= 1


def event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def chunk(story: Story, content: str = "", finish: str | None = None, usage: Any = None) -> bytes:
    choices = [] if usage else [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]
    chunk = {"id": f"chatcmpl-{story.identity}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return event({**chunk, "choices": choices, "usage": usage})


def serve(port: int, seconds: float) -> None:
    """Serve until the process is ended."""
    uvicorn.run(Upstream(seconds).app(), host="127.0.0.1", port=port, log_level="critical", ws="none", backlog=4096)
