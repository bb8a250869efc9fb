"""OpenAI's chat completions, in front of an upstream that speaks them, too: what is not rewritten passes through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

from outspoken.providers.events import Failed
from outspoken.providers.replies import EXTENSION, ProviderError
from outspoken.providers.wire.chat_completions.exporter import ChatCompletionsExporter
from outspoken.providers.wire.parts import Part
from outspoken.providers.wire.writing import Wire
from outspoken.serving.http_errors import HttpError, bad_upstream_response, parse_object
from outspoken.serving.rewriter import Choice, OnReply, Rewriter
from outspoken.serving.settings import ServerSettings

from .base import Api, ApiRequest

#: The fields of a message that hold calls.
_CALL_FIELDS = frozenset({"tool_calls", "function_call"})
#: The fields of a message or delta that are rewritten; all others pass through.
_MESSAGE_FIELDS = frozenset({
    "role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "thinking",
})  # fmt: skip
#: The same of a choice, and of a chunk.
_CHOICE_FIELDS = frozenset({"index", "delta", "message", "finish_reason"})
_CHUNK_FIELDS = frozenset({"id", "object", "created", "model", "choices"})
#: The fields in which upstreams send reasoning.
_REASONING_FIELDS = ("reasoning_content", "reasoning")


class ChatApi(Api):
    """OpenAI's chat completions."""

    name = "chat_completions"
    path = "/v1/chat/completions"
    wire: Wire = "openai"

    def read(self, settings: ServerSettings, body: bytes, on_reply: OnReply) -> ApiRequest:
        """Read a request, which is forwarded byte for byte. Raises HttpError if it is no JSON object."""
        return ApiRequest(body, CompletionRewriter(settings, parse_object(body), on_reply))


class CompletionRewriter(Rewriter):
    """Rewrites completions, with the settings of the proxy and the tools of a request."""

    @cached_property
    def call_seed(self) -> str:
        """A seed for the ids of calls: the same for a request and its stream, and another in each turn.

        The id of a completion is not enough. Some servers give few, and agents reject an id that an earlier turn had.
        """
        messages = json.dumps(self.request.get("messages"), sort_keys=True)
        return hashlib.sha256(messages.encode()).hexdigest()[:16]

    def _rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        if "error" in body and "choices" not in body:
            return body
        choices = [_ChatChoice(self, index, body).whole(body, choice) for index, choice in _read_choices(body)]
        return body | {"choices": choices}

    def _rewrite_chunk(self, chunk: dict[str, Any]) -> Iterator[Part]:
        """Rewrite a chunk, or an error. A chunk without choices, such as the usage, follows their end."""
        if chunk.get("error"):
            yield from self._aborted({"error": chunk["error"]})
        elif chunk.get("choices"):
            kept = {key: value for key, value in chunk.items() if key not in _CHUNK_FIELDS and value is not None}
            for index, fields in _read_choices(chunk):
                if index not in self.choices:
                    self.choices[index] = _ChatChoice(self, index, chunk)
                parts = cast("_ChatChoice", self.choices[index]).feed_choice(chunk, fields)
                yield from [part | kept for part in parts] if kept else parts
        else:
            if self.has_finished:
                yield from self.end()
            if self.again is None:
                yield chunk

    def abort(self, error: HttpError) -> list[Part]:
        return [] if self.failed else self._aborted(error.body)

    def _aborted(self, body: Part) -> list[Part]:
        """The last chunks of choices that break off: incomplete calls, no finish reason, and one error."""
        return [*[part for part in self._broken(ProviderError(message="")) if "error" not in part], body]


class _ChatChoice(Choice):
    """Rewrites the choice with this index; `body` is the completion, or the first chunk with it."""

    exporter: ChatCompletionsExporter

    def __init__(self, rewriter: CompletionRewriter, index: int, body: dict[str, Any]) -> None:
        settings, created = rewriter.settings, body.get("created")
        exporter = ChatCompletionsExporter(
            id=str(body.get("id") or "") or None,
            call_seed=f"{body.get('id')}:{rewriter.call_seed}",
            model=str(body.get("model") or "") or None,
            created=created if isinstance(created, int) else None,
            index=index,
            include_usage=False,
            reasoning_field=settings.reasoning_field,
            action_tool=settings.action_tool,
            stream_calls=settings.stream_calls,
            facts=True,
        )
        super().__init__(rewriter, exporter)

    def whole(self, body: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
        """Rewrite the choice of a completion."""
        message: Any = choice.get("message")
        if not isinstance(message, dict):
            raise bad_upstream_response("answer has a choice without `message`")
        fields = cast("Part", message)
        completion = self.exporter.whole(self.read(self._alone(body, choice, "message")))
        if "error" in completion:  # nothing says what a call of a response that failed was to be
            return choice | {"message": {key: value for key, value in fields.items() if key not in _CALL_FIELDS}}
        (new,) = completion["choices"]
        kept = {key: value for key, value in fields.items() if key not in _MESSAGE_FIELDS}
        return choice | {"message": kept | new["message"], "finish_reason": new["finish_reason"]}

    def feed_choice(self, chunk: dict[str, Any], choice: dict[str, Any]) -> list[Part]:
        """Rewrite the choice of a chunk. Its other fields are in the first chunk that is returned."""
        if (events := self._source.feed_content(chunk)) is not None:
            return self.export(events)
        events = self._source.feed(self._alone(chunk, choice, "delta") | {"usage": None})
        parts = self.export([event for event in events if not isinstance(event, Failed)])
        delta: Part = choice.get("delta") or {}
        kept_choice = {key: value for key, value in choice.items() if key not in _CHOICE_FIELDS and value is not None}
        kept_delta = {key: value for key, value in delta.items() if key not in _MESSAGE_FIELDS and value is not None}
        if kept_choice or kept_delta:
            parts = parts or [self.exporter.empty_chunk()]
            first = parts[0]["choices"][0]
            first |= kept_choice
            first["delta"] |= kept_delta
        return parts

    def _alone(self, body: dict[str, Any], choice: dict[str, Any], kind: str) -> dict[str, Any]:
        """A completion or chunk with only this choice, as it is read: an extension of its own passes through."""
        content: Part = choice.get(kind) or {}
        fields = [key for key in _REASONING_FIELDS if content.get(key)]
        self.exporter.reasoning_field = fields[0] if fields else self.exporter.reasoning_field
        read = {key: value for key, value in content.items() if key != EXTENSION}
        return body | {"choices": [{**choice, "index": 0, kind: read}]}


def _read_choices(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the choices of a completion or chunk, each with its index. Raises HttpError if they are malformed."""
    listed: list[Any] = body.get("choices") or []
    if not isinstance(body.get("choices"), list):
        listed = [None]
    choices: list[tuple[int, dict[str, Any]]] = []
    for item in listed:
        choice: dict[str, Any] = item
        if not isinstance(item, dict):
            choice = {"index": "none"}
        index: Any = choice.get("index")
        if not isinstance(index, int | None) or not isinstance(choice.get("delta"), dict | None):
            raise bad_upstream_response("answer has malformed `choices`")
        choices.append((index or 0, choice))
    return choices
