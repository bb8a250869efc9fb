"""Chat completions of an upstream, told again with the calls and the reasoning that stand in their text.

Nothing here knows of a network: bytes or objects go in, objects come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from outspoken.notations.tools import Tools
from outspoken.providers.decode.framing import Framer
from outspoken.providers.events import Failed, Finished
from outspoken.providers.export.chat_completions import ChatCompletionsExporter, to_openai
from outspoken.providers.export.exporter import Part
from outspoken.providers.extension import EXTENSION
from outspoken.providers.stream import ProviderStream, parse_response
from outspoken.results.errors import OutspokenError
from outspoken.results.settings import Settings

from .http_errors import Refusal
from .settings import ServeSettings

#: What a message or delta has that is read, and written anew; all else goes through as it is.
_READ = frozenset(
    {"role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "thinking"}
)
#: What is read of a choice; and of a response.
_CHOICE = frozenset({"index", "delta", "message", "finish_reason"})
_FRAME = frozenset({"id", "object", "created", "model", "choices"})
#: The fields in which upstreams send reasoning apart from the text.
_NATIVE = ("reasoning_content", "reasoning")


def tools_of(request: dict[str, Any]) -> Tools | None:
    """The tools of a request, as far as they are functions; others are the upstream's own business."""
    listed: Any = request.get("tools")
    found: list[Any] = []
    for tool in cast("list[Any]", listed) if isinstance(listed, list) else []:
        try:
            Tools.of([tool])
        except OutspokenError:
            continue
        found.append(tool)
    return Tools.of(found) if found else None


def choices_of(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The choices of a completion or chunk, each with its index. Raises Refusal for what are none."""
    listed: Any = body.get("choices")
    found: list[tuple[int, dict[str, Any]]] = []
    for choice in cast("list[Any]", listed) if isinstance(listed, list) else [None]:
        known = cast("dict[str, Any]", choice) if isinstance(choice, dict) else {"index": "none"}
        index: Any = known.get("index")
        if not isinstance(index, int | None) or not isinstance(known.get("delta"), dict | None):
            raise Refusal(502, "the upstream's answer has `choices` that are none", "bad_upstream_response")
        found.append((index or 0, known))
    return found


class Telling:
    """How responses are told: what the proxy and the request say of it."""

    def __init__(self, settings: ServeSettings, request: dict[str, Any]) -> None:
        self.settings = settings
        self.format = settings.format
        self.tools = tools_of(request)
        self.limits = Settings(max_chars=settings.max_chars)

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole completion. Raises Refusal for what is none."""
        if "error" in body and "choices" not in body:
            return body
        try:
            return body | {"choices": [self._choice(body, index, choice) for index, choice in choices_of(body)]}
        except OutspokenError as error:
            raise Refusal(502, f"the upstream's answer cannot be read: {error}", "bad_upstream_response") from error

    def _choice(self, body: dict[str, Any], index: int, choice: dict[str, Any]) -> Any:
        message: Any = choice.get("message")
        if not isinstance(message, dict):
            raise Refusal(502, "a choice of the upstream's answer has no `message`", "bad_upstream_response")
        message = cast("dict[str, Any]", message)
        read = {key: value for key, value in message.items() if key != EXTENSION}  # which goes through
        single = body | {"choices": [{**choice, "index": 0, "message": read}]}
        reply = parse_response(single, "openai", self.format, tools=self.tools, settings=self.limits)
        told = to_openai(
            reply,
            id=str(body.get("id")),
            index=index,
            reasoning_field=self.field(message),
            action_tool=self.settings.action_tool,
        )
        if "error" in told:
            return choice
        (new,) = told["choices"]
        kept = {key: value for key, value in message.items() if key not in _READ}
        return choice | {"message": kept | new["message"], "finish_reason": new["finish_reason"]}

    def field(self, message: dict[str, Any]) -> str:
        """Where reasoning goes: where the upstream has it itself, if it has."""
        return next((key for key in _NATIVE if message.get(key)), self.settings.reasoning_field)


class _Choice:
    """One choice of a stream: what reads it, and what tells it."""

    def __init__(self, telling: Telling, index: int, chunk: dict[str, Any]) -> None:
        settings = telling.settings
        self._telling = telling
        self.stream = ProviderStream("openai", telling.format, tools=telling.tools, settings=telling.limits)
        created = chunk.get("created")
        self.exporter = ChatCompletionsExporter(
            id=str(chunk.get("id") or "") or None,
            model=str(chunk.get("model") or "") or None,
            created=created if isinstance(created, int) else None,
            index=index,
            include_usage=False,
            reasoning_field=settings.reasoning_field,
            action_tool=settings.action_tool,
        )
        self.finished = False

    def feed(self, chunk: dict[str, Any], choice: dict[str, Any]) -> list[Part]:
        """The chunks that a choice of a chunk comes to, with what else it has."""
        delta = cast("dict[str, Any]", choice.get("delta") or {})
        if any(delta.get(key) for key in _NATIVE):
            self.exporter.reasoning_field = self._telling.field(delta)
        parts: list[Part] = []
        read = {key: value for key, value in delta.items() if key != EXTENSION}  # which goes through
        for event in self.stream.feed(chunk | {"choices": [{**choice, "index": 0, "delta": read}], "usage": None}):
            self.finished = self.finished or isinstance(event, Finished)
            if not isinstance(event, Failed):
                parts += self.exporter.feed(event)
        more = {key: value for key, value in choice.items() if key not in _CHOICE and value is not None}
        kept = {key: value for key, value in delta.items() if key not in _READ and value is not None}
        if more or kept:
            parts = parts or [self.exporter.empty_chunk()]
            first = parts[0]["choices"][0]
            first |= more
            first["delta"] |= kept
        return parts

    def close(self) -> list[Part]:
        """The last chunks: the choice has ended."""
        return [part for event in self.stream.close() for part in self.exporter.feed(event)]

    def leave(self) -> list[Part]:
        """The same where nobody says that it has ended: what is unfinished, and no reason."""
        parts = [part for event in self.stream.close() if not self.finished for part in self.exporter.feed(event)]
        return [part for part in parts if "error" not in part and not part["choices"][0]["finish_reason"]]


class ChatStream:
    """Takes the bytes of a streamed completion, and gives the chunks to send instead."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._framer = Framer(telling.settings.max_chars)
        self._choices: dict[int, _Choice] = {}
        self._tail = b""
        self._any = False
        #: an error was told: nothing may come after it
        self.failed = False

    def feed(self, piece: bytes) -> list[Part]:
        """The chunks that a piece of the body completes. Raises Refusal for what is no stream of completions."""
        self._tail = (self._tail + piece)[-32:]
        try:
            return [part for _, value in self._framer.feed(piece) for part in self._value(value)]
        except OutspokenError as error:
            raise Refusal(502, f"the upstream's stream cannot be read: {error}", "bad_upstream_response") from error

    def close(self) -> list[Part]:
        """The upstream has ended. Raises Refusal where it breaks off in the middle."""
        values, left = self._framer.close()
        parts = [part for _, value in values for part in self._value(value)]
        if self.failed:
            return parts
        if b"[DONE]" not in self._tail and not (self._choices and all(c.finished for c in self._choices.values())):
            raise Refusal(502, f"the upstream broke off{f' inside {left[:40]!r}' if left else ''}", "upstream_cut_off")
        return parts + list(self._end())

    def leave(self, refusal: Refusal) -> list[Part]:
        """The last chunks of a stream that breaks off: what is unfinished, and the error."""
        if self.failed:
            return []
        self.failed = True
        return [part for choice in self._choices.values() for part in choice.leave()] + [refusal.body]

    def _end(self) -> Iterator[Part]:
        for choice in self._choices.values():
            for part in choice.close():
                yield part
                self.failed = self.failed or "error" in part
            if self.failed:
                return

    def _value(self, value: Any) -> Iterator[Part]:
        if self.failed:
            return
        if not isinstance(value, dict):
            raise Refusal(502, "the upstream's stream has an event that is no object", "bad_upstream_response")
        chunk = cast("dict[str, Any]", value)
        if chunk.get("error"):
            for choice in self._choices.values():
                yield from choice.leave()
            self.failed = True
            yield {"error": chunk["error"]}
            return
        beside = {key: found for key, found in chunk.items() if key not in _FRAME and found is not None}
        choices = choices_of(chunk) if chunk.get("choices") else []
        if choices:
            for index, choice in choices:
                if index not in self._choices:
                    self._choices[index] = _Choice(self._telling, index, chunk)
                yield from [part | beside for part in self._choices[index].feed(chunk, choice)]
            return
        if self._choices and all(choice.finished for choice in self._choices.values()):
            yield from self._end()
        yield chunk
