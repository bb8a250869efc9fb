"""LiteLLM: `OutspokenLLM` is a custom provider around the others, `OutspokenHooks` are hooks for its proxy.

    import litellm
    from outspoken.integrations.litellm import OutspokenLLM

    litellm.custom_provider_map = [{"provider": "outspoken", "custom_handler": OutspokenLLM("qwen3_coder")}]
    response = litellm.completion(
        "outspoken/hosted_vllm/Qwen3-Coder",
        [{"role": "user", "content": "When is high tide in Brest?"}],
        api_base="http://localhost:8000/v1",
        tools=[{"type": "function", "function": {"name": "tide", "parameters": {"type": "object", "properties": {}}}}],
    )
    print(response.choices[0].message.tool_calls)

The model behind `outspoken/` is asked as LiteLLM does it; without a format, its name says the format. For the proxy,
name a provider and hooks in its configuration. A provider has the name of a format or of a model, or is `provider`, for
which the name of each model says the format. `hooks` are for all models whose name says it:

    litellm_settings:
      custom_provider_map:
        - {provider: outspoken, custom_handler: outspoken.integrations.litellm.qwen3_coder}
      callbacks: outspoken.integrations.litellm.hooks

Hooks with options, or for other names, are made in a module beside the configuration
(`hooks = OutspokenHooks({"tides": "qwen3_coder"})`).

Reasoning is in `reasoning_content`. Chat completions have no place for a call that is truncated or invalid, so it is
only in `provider_specific_fields["outspoken"]`, with repairs and problems. With one that is truncated, the
`finish_reason` is "length". Streams send each call when it is complete.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any

from outspoken.parsing.parser import Parser
from outspoken.results.edits import RepairLimit
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings

from .framework import Framework, allows_calls, format_of
from .messages import CallIds, identified_calls, noted
from .streams import CallDelta, CallEnd, CallStart, ReplyStream, StreamItem, aread_chunks, read_chunks

_LITELLM = Framework("litellm", "litellm", "1.106")
_litellm = _LITELLM.load("litellm")
_custom_llm = _LITELLM.load("litellm.llms.custom_llm")
_custom_logger = _LITELLM.load("litellm.integrations.custom_logger")
_types = _LITELLM.load("litellm.types.utils")

#: The arguments of a custom provider that go on to the model; the others are LiteLLM's own.
_PASSED = ("api_base", "api_key", "timeout", "client")


class _Reader:
    """Reads the text of responses in a format, with the options of `Parser`."""

    def __init__(
        self,
        format: str | None = None,
        *,
        prefix: str | None = None,
        repair: RepairLimit | None = None,
        settings: Settings | None = None,
        stream_arguments: bool = False,
    ) -> None:
        self._prefix, self._stream_arguments = prefix, stream_arguments
        self._format, self._make_parser = format, partial(Parser, repair=repair, settings=settings)
        self._make_parser(format or "auto")  # wrong options fail here

    def _parser(self, request: Mapping[str, Any]) -> Parser:
        tools: Any = request.get("tools")
        calls = allows_calls(tools, request.get("tool_choice"))
        return self._make_parser(format_of(self._format, request.get("model")), tools=tools or None, calls=calls)

    def whole(self, response: Any, request: Mapping[str, Any]) -> Any:
        """Read a whole response; it is changed in place."""
        parser = self._parser(request)
        for choice in response.choices:
            _read(choice, parser, self._prefix, _ids(request))
        return response

    def reading(self, request: Mapping[str, Any]) -> _Reading:
        """Begin to read a response that arrives in chunks."""
        return _Reading(self._parser(request), self._prefix, _ids(request), self._stream_arguments)


class OutspokenLLM(_custom_llm.CustomLLM):
    """A custom provider: asks the model that its own name is in front of, and reads its text in a format.

    `format` is the name of a format or the id of a model, or "auto"; without it, the name of the model that is asked
    says the format, or it is "auto" if that is not known. `repair` and `settings` are those of `outspoken.Parser`, and
    `prefix` is that of `Parser.parse`. With `stream_arguments`, streams send the arguments of calls in pieces; then a
    client may have received all of a call that turns out invalid, and only the `finish_reason` "length" says so. Raises
    what `Parser` raises.
    """

    def __init__(self, format: str | None = None, **options: Any) -> None:
        _custom_llm.CustomLLM.__init__(self)
        self._reader = _Reader(format, **options)

    def completion(self, *args: Any, **kwargs: Any) -> Any:
        """Return a whole response."""
        request = _request(kwargs)
        return self._reader.whole(_litellm.completion(**request), request)

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        """Return a whole response."""
        request = _request(kwargs)
        return self._reader.whole(await _litellm.acompletion(**request), request)

    def streaming(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Return the chunks of a response."""
        request = _request(kwargs)
        yield from read_chunks(_litellm.completion(**request, stream=True), self._reader.reading(request))

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Return the chunks of a response."""
        request = _request(kwargs)
        chunks = await _litellm.acompletion(**request, stream=True)
        async for made in aread_chunks(chunks, self._reader.reading(request)):
            yield made


class OutspokenHooks(_custom_logger.CustomLogger):
    """Hooks for LiteLLM's proxy: they read the text of some of its models before clients get it.

    `formats` has the format of each model, by the name that clients use; without it, this name says the format, if that
    is known. Other models are left alone. The options are those of `OutspokenLLM`.
    """

    def __init__(self, formats: Mapping[str, str] | None = None, **options: Any) -> None:
        _custom_logger.CustomLogger.__init__(self)
        self._readers = {name: _Reader(format, **options) for name, format in (formats or {}).items()}
        self._by_name = _Reader(None, **options) if formats is None else None

    def _reader(self, request: Mapping[str, Any]) -> _Reader | None:
        model: Any = request.get("model")
        return self._readers.get(model) or (self._by_name if format_of(None, model) != "auto" else None)

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: Any, response: Any) -> Any:
        """Read a whole response."""
        reader = self._reader(data)
        is_chat = isinstance(response, _types.ModelResponse)
        return reader.whole(response, data) if reader is not None and is_chat else response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Any
    ) -> AsyncIterator[Any]:
        """Read a response that arrives in chunks."""
        reader = self._reader(request_data)
        reading = None if reader is None else reader.reading(request_data)
        async for chunk in response:
            if reading is None or not isinstance(chunk, _types.ModelResponseStream):
                yield chunk
                continue
            for made in reading.feed(chunk):
                yield made
        for made in reading.close() if reading is not None else ():
            yield made


provider = OutspokenLLM()
hooks = OutspokenHooks()


def __getattr__(name: str) -> OutspokenLLM:
    """A provider by the name of a format or of a model."""
    if name.startswith("_") or format_of(None, name) == "auto":
        raise AttributeError(f"`{__name__}` has no `{name}`, and no format or model that is known has this name")
    return OutspokenLLM(name)


def _read(choice: Any, parser: Parser, prefix: str | None, ids: CallIds) -> None:
    """Put into a choice what its text means."""
    message = choice.message
    if not isinstance(message.content, str):
        return
    # LiteLLM itself takes `<think>` out of whole responses, and leaves the white space that stood next to it.
    given = (getattr(message, "reasoning_content", None) or "").strip()
    text = message.content.lstrip() if given else message.content
    reply = parser.parse(text, prefix="" if given else prefix, finish_reason=choice.finish_reason)
    calls = [call for call in identified_calls(reply, ids) if call.problem is None]
    found = [_types.ChatCompletionMessageToolCall(**_call(call.id, call.name, call.arguments_text)) for call in calls]
    reasoning = "\n\n".join(filter(None, [given, reply.reasoning]))
    message.content = reply.text or None
    if reasoning:
        message.reasoning_content = reasoning
    if found:
        message.tool_calls = [*(message.tool_calls or ()), *found]
    if extra := noted(reply):
        message.provider_specific_fields = {**(getattr(message, "provider_specific_fields", None) or {}), **extra}
    choice.finish_reason = _finish_reason(choice.finish_reason, reply)


class _Reading:
    """Reads one response that arrives in chunks, each of its choices by itself."""

    def __init__(self, parser: Parser, prefix: str | None, ids: CallIds, stream_arguments: bool) -> None:
        self._parser, self._prefix, self._ids, self._stream_arguments = parser, prefix, ids, stream_arguments
        self._choices: dict[int, _Choice] = {}
        self._head: dict[str, Any] = {}

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk, and return those that a client gets."""
        self._head = {"id": chunk.id, "created": chunk.created, "model": chunk.model}
        self._head["system_fingerprint"] = chunk.system_fingerprint
        made: list[Any] = []
        for given in chunk.choices:
            choice = self._choices.get(given.index)
            if choice is None:
                choice = _Choice(self._parser, self._prefix, self._ids, self._stream_arguments)
                self._choices[given.index] = choice
            made += [self._chunk(given.index, delta) for delta in choice.feed(given)]
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            made.append(self._chunk(0, {}))
            made[-1].usage = usage
        return made

    def close(self) -> list[Any]:
        """End the response, and return the last chunks: of each choice, one with its finish reason."""
        made: list[Any] = []
        for index, choice in self._choices.items():
            *deltas, reason = choice.close()
            made += [self._chunk(index, delta) for delta in deltas]
            made.append(self._chunk(index, {}, reason))
        return made

    def _chunk(self, index: int, delta: dict[str, Any], reason: str | None = None) -> Any:
        choice = _types.StreamingChoices(index=index, delta=_types.Delta(**delta), finish_reason=reason)
        return _types.ModelResponseStream(choices=[choice], **self._head)


class _Choice:
    """Reads one choice of a response that arrives in chunks."""

    def __init__(self, parser: Parser, prefix: str | None, ids: CallIds, stream_arguments: bool) -> None:
        self._stream, self._stream_arguments = ReplyStream(parser, prefix, ids, joins_reasoning=True), stream_arguments
        self._reason: str | None = None
        self._indexes: dict[tuple[str, int], int] = {}  # of native calls and of those from the text

    def feed(self, choice: Any) -> list[dict[str, Any]]:
        """Read a choice of a chunk, and return deltas."""
        self._reason = choice.finish_reason or self._reason
        kept = {key: value for key, value in choice.delta.model_dump().items() if value and key != "content"}
        if kept.get("reasoning_content"):
            self._stream.add_own_reasoning()
        for call in kept.get("tool_calls", ()):
            call["index"] = self._index("native", call["index"])
        made = map(self._delta, self._stream.feed(choice.delta.content))
        return [*([kept] if kept else []), *filter(None, made)]

    def close(self) -> list[Any]:
        """End the choice: return deltas, and behind them the finish reason."""
        items, reply = self._stream.end(self._reason)
        extra = noted(reply)
        last = [{"provider_specific_fields": extra}] if extra else []
        return [
            *filter(None, map(self._delta, items)),
            *last,
            _finish_reason(self._reason, reply, was_sent=self._stream_arguments),
        ]

    def _index(self, kind: str, number: int) -> int:
        return self._indexes.setdefault((kind, number), len(self._indexes))

    def _delta(self, item: StreamItem) -> dict[str, Any] | None:
        match item:
            case TextDelta():
                return {"content": item.text}
            case ReasoningDelta():
                return {"reasoning_content": item.text}
            case CallStart() if self._stream_arguments:
                return self._call(item.position, _call(item.id, item.name, ""))
            case CallDelta() if self._stream_arguments:
                return self._call(item.position, {"function": {"arguments": item.arguments}})
            case CallEnd(call=call) if call.problem is None and not self._stream_arguments:
                return self._call(item.position, _call(call.id, call.name, call.arguments_text))
            case _:
                return None

    def _call(self, position: int, call: dict[str, Any]) -> dict[str, Any]:
        return {"tool_calls": [{"index": self._index("text", position), **call}]}


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _request(given: dict[str, Any]) -> dict[str, Any]:
    """The request to the model, of the arguments of a custom provider."""
    passed = {key: given[key] for key in _PASSED if given.get(key) is not None}
    headers = {"extra_headers": given["headers"]} if given.get("headers") else {}
    options = {key: value for key, value in given["optional_params"].items() if key != "stream"}
    return {"model": given["model"], "messages": given["messages"], **passed, **headers, **options}


def _ids(request: Mapping[str, Any]) -> CallIds:
    """Ids for the calls of a response to a request."""
    messages: list[Any] = [m for m in request.get("messages") or () if isinstance(m, Mapping)]
    return CallIds(taken=[call["id"] for message in messages for call in message.get("tool_calls") or ()])


def _finish_reason(reason: str | None, reply: Reply, *, was_sent: bool = False) -> str | None:
    """The finish reason: "length" for a call that is cut, or `was_sent` and must not run; "tool_calls" for others."""
    if any(was_sent or call.status == "truncated" for call in reply.unfinished_tool_calls):
        return "length"
    return "tool_calls" if reply.tool_calls and reason in ("stop", None) else reason
