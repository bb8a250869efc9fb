"""LiteLLM: `OutspokenLLM` is a custom provider around the others, in the library and in its proxy.

A module of providers: each name of a format or of a model is one, and for `provider` the name of each model says the
format. `hooks` let options pass that LiteLLM refuses or drops, and give messages of Anthropic's API what LiteLLM leaves
out. Chat completions have no place for a call that is truncated or invalid, so it is only in
`provider_specific_fields["outspoken"]`. The README of this package has examples.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from outspoken.results.events import ReasoningDelta, TextDelta, ToolCallDelta, ToolCallStart

from .assembler import Assembler, CallEnd, FormatReader, ReaderOptions, aread_chunks, read_chunks
from .framework import Framework, format_of
from .messages import METADATA, noted

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LITELLM = Framework("litellm", "litellm", "1.106")
_litellm = _LITELLM.load("litellm")
_custom_llm = _LITELLM.load("litellm.llms.custom_llm")
_custom_logger = _LITELLM.load("litellm.integrations.custom_logger")
_constants = _LITELLM.load("litellm.constants")
_types = _LITELLM.load("litellm.types.utils")

#: The arguments of a custom provider that go on to the model.
_PASSED = ("api_base", "api_key", "timeout", "client")
#: The same of LiteLLM's own arguments: names, and how the names of the credentials of clouds begin.
_CREDENTIALS = ("api_version", "ssl_verify", "region_name", "tenant_id", "client_id", "client_secret", "project")
_CLOUDS = ("aws_", "azure_", "vertex_", "watsonx_", "s3_", "gcs_")
#: How the names of the prices of a configuration begin.
_PRICES = ("input_cost_per_", "output_cost_per_")
#: What stands before the data of an event, behind its name.
_DATA = b"\ndata: "
#: What else a client may send beside the parameters of OpenAI.
_OWN = ("thinking",)


class OutspokenLLM(_custom_llm.CustomLLM):
    """A custom provider: asks the model that its own name is in front of, and reads its text in a format.

    `format` and the options are those of `FormatReader`. With `stream_arguments`, streams send the arguments of calls
    in pieces; then a client may have received all of a call that turns out invalid, and only the `finish_reason`
    "length" says so. A request is logged once, and priced as the model that is asked.
    """

    def __init__(
        self, format: str | None = None, *, stream_arguments: bool = False, **options: Unpack[ReaderOptions]
    ) -> None:
        _custom_llm.CustomLLM.__init__(self)
        self._reader, self._stream_arguments = FormatReader(format, **options), stream_arguments

    def completion(self, *args: Any, **kwargs: Any) -> Any:
        """Return a whole response."""
        request = _request(kwargs)
        return self._whole(_litellm.completion(**request), request, kwargs["logging_obj"])

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        """Return a whole response."""
        request = _request(kwargs)
        return self._whole(await _litellm.acompletion(**request), request, kwargs["logging_obj"])

    def streaming(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Return the chunks of a response."""
        request = _request(kwargs)
        reader = _Chunks(self._begin(request), kwargs["logging_obj"], stream_arguments=self._stream_arguments)
        return read_chunks(_litellm.completion(**request, stream=True), reader)

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Return the chunks of a response."""
        request = _request(kwargs)
        reader = _Chunks(self._begin(request), kwargs["logging_obj"], stream_arguments=self._stream_arguments)
        async for chunk in aread_chunks(await _litellm.acompletion(**request, stream=True), reader):
            yield chunk

    def _begin(self, request: Mapping[str, Any]) -> Assembler:
        """Begin to read the response to a request."""
        messages: list[Any] = [m for m in request.get("messages") or () if isinstance(m, Mapping)]
        return self._reader.begin(
            request.get("tools") or (), request.get("tool_choice"), model=request["model"], stop=request.get("stop"),
            taken=[call["id"] for message in messages for call in message.get("tool_calls") or ()],
        )  # fmt: skip

    def _whole(self, response: Any, request: Mapping[str, Any], log: Any) -> Any:
        """Read a whole response; it is changed in place. What is to be known of it is noted for other APIs, too."""
        first = self._begin(request)
        for choice in response.choices:
            if isinstance(choice.message.content, str):
                facts = _read(choice, first.another())
                log.model_call_details.update(facts)
                response._hidden_params.setdefault("provider_specific_fields", {}).update(facts)
        if not response._hidden_params.get("response_cost"):
            response._hidden_params.pop("response_cost", None)  # so that LiteLLM looks for the price elsewhere
        return response


class OutspokenHooks(_custom_logger.CustomLogger):
    """A callback of LiteLLM's proxy that lets all options of a request pass to the model behind a custom provider.

    Otherwise LiteLLM refuses some, such as `reasoning_effort`, and drops `organization`.
    """

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        """Allow the options of a request for a model of an `OutspokenLLM`."""
        provider = str(kwargs.get("model")).partition("/")[0]
        handlers = [item["custom_handler"] for item in _litellm.custom_provider_map if item["provider"] == provider]
        if not any(isinstance(handler, OutspokenLLM) for handler in handlers):
            return None
        names = [name for name in (*_constants.OPENAI_CHAT_COMPLETION_PARAMS, *_OWN) if kwargs.get(name) is not None]
        kwargs["allowed_openai_params"] = [*(kwargs.get("allowed_openai_params") or ()), *names]
        if organization := kwargs.get("organization"):
            kwargs["extra_headers"] = {"OpenAI-Organization": organization, **(kwargs.get("extra_headers") or {})}
        return kwargs

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: Any, response: Any) -> Any:
        """Add to a whole message of Anthropic's API what LiteLLM leaves out when it translates the completion."""
        message = cast("dict[str, Any]", response) if isinstance(response, dict) else {}
        if message.get("type") == "message":
            message |= _facts(data)
        return cast("Any", response)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Any
    ) -> AsyncIterator[Any]:
        """Add the same to the last event of a streamed message, which arrives as bytes."""
        async for piece in response:
            head, _, event = piece.partition(_DATA) if isinstance(piece, bytes) else (b"", b"", b"")
            if head == b"event: message_delta" and (facts := _facts(request_data)):
                yield head + _DATA + json.dumps({**json.loads(event), **facts}).encode() + b"\n\n"
            else:
                yield piece


provider = OutspokenLLM()
hooks = OutspokenHooks()


def __getattr__(name: str) -> OutspokenLLM:
    """A provider by the name of a format or of a model."""
    if name.startswith("_") or format_of(None, name) == "auto":
        raise AttributeError(f"`{__name__}` has no `{name}`, and no format or model that is known has this name")
    return OutspokenLLM(name)


def _facts(request: Mapping[str, Any]) -> dict[str, Any]:
    """What was noted of the response to a request of the proxy."""
    noted_of: dict[str, Any] = getattr(request.get("litellm_logging_obj"), "model_call_details", {})
    return {METADATA: noted_of[METADATA]} if METADATA in noted_of else {}


def _read(choice: Any, assembler: Assembler) -> dict[str, Any]:
    """Put into a choice what its text means; return what is to be known of it."""
    message = choice.message
    # LiteLLM itself takes `<think>` out of whole responses, and leaves the white space that stood next to it.
    own = (getattr(message, "reasoning_content", None) or "").strip()
    if own:
        assembler.add_own_reasoning(own)
    assembler.whole(message.content.lstrip() if own else message.content, choice)
    calls = [_call(call.id, call.name, call.arguments_text) for call in assembler.sound_calls]
    message.content = assembler.text or None
    if assembler.reasoning:
        message.reasoning_content = assembler.reasoning
    if calls:
        calls = [_types.ChatCompletionMessageToolCall(**call) for call in calls]
        message.tool_calls = [*(message.tool_calls or ()), *calls]
    if extra := noted(assembler.reply):
        message.provider_specific_fields = {**(getattr(message, "provider_specific_fields", None) or {}), **extra}
    choice.finish_reason = _finish_reason(choice.finish_reason, assembler)
    return extra


class _Chunks:
    """Reads one response that arrives in chunks, each of its choices by itself."""

    def __init__(self, assembler: Assembler, log: Any, *, stream_arguments: bool) -> None:
        self._first, self._log, self._stream_arguments = assembler, log, stream_arguments
        assembler.joins_reasoning = True
        self._choices: dict[int, Assembler] = {}
        self._reasons: dict[int, str | None] = {}
        self._indexes: dict[tuple[int, str, int], int] = {}  # of native calls and of those from the text, by choice
        self._head: dict[str, Any] = {}

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk, and return those that a client gets."""
        self._head = {"id": chunk.id, "created": chunk.created, "model": chunk.model}
        self._head["system_fingerprint"] = chunk.system_fingerprint
        made: list[Any] = []
        for choice in chunk.choices:
            index = choice.index
            if index not in self._choices:
                self._choices[index] = self._first.another()
            self._reasons[index] = choice.finish_reason or self._reasons.get(index)
            kept = {key: value for key, value in choice.delta.model_dump().items() if value and key != "content"}
            if kept.get("reasoning_content"):
                self._choices[index].add_own_reasoning()
            for call in kept.get("tool_calls", ()):
                call["index"] = self._call_index(index, "native", call["index"])
            made += [self._chunk(index, kept)] if kept else []
            made += self._made(index, self._choices[index].feed(choice.delta.content))
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            made.append(self._chunk(0, {}))
            made[-1].usage = usage
        return made

    def close(self) -> list[Any]:
        """End the response, and return the last chunks: of each choice, one with its finish reason."""
        made: list[Any] = []
        for index, assembler in self._choices.items():
            reason = self._reasons[index]
            made += self._made(index, assembler.close({"finish_reason": reason}))
            if extra := noted(assembler.reply):
                self._log.model_call_details.update(extra)  # LiteLLM drops it when it translates to messages
                made.append(self._chunk(index, {"provider_specific_fields": extra}))
            reason = _finish_reason(reason, assembler, was_sent=self._stream_arguments)
            made.append(self._chunk(index, {}, reason))
        return made

    def _made(self, index: int, parts: list[Any]) -> list[Any]:
        return [self._chunk(index, delta) for part in parts if (delta := self._delta(index, part)) is not None]

    def _delta(self, index: int, part: Any) -> dict[str, Any] | None:
        match part:
            case TextDelta():
                return {"content": part.text}
            case ReasoningDelta():
                return {"reasoning_content": part.text}
            case ToolCallStart() if self._stream_arguments:
                call = _call(part.id, part.name, "")
            case ToolCallDelta() if self._stream_arguments:
                call = {"function": {"arguments": part.arguments}}
            case CallEnd(call=ended) if ended.problem is None and not self._stream_arguments:
                call = _call(ended.id, ended.name, ended.arguments_text)
            case _:
                return None
        return {"tool_calls": [{"index": self._call_index(index, "text", part.index), **call}]}

    def _call_index(self, index: int, kind: str, number: int) -> int:
        before = sum(choice == index for choice, _, _ in self._indexes)
        return self._indexes.setdefault((index, kind, number), before)

    def _chunk(self, index: int, delta: dict[str, Any], reason: str | None = None) -> Any:
        choice = _types.StreamingChoices(index=index, delta=_types.Delta(**delta), finish_reason=reason)
        return _types.ModelResponseStream(choices=[choice], **self._head)


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _request(given: dict[str, Any]) -> dict[str, Any]:
    """The request to the model, of the arguments of a custom provider. LiteLLM logs the one around it."""
    passed = {key: given[key] for key in _PASSED if given.get(key) is not None}
    known: dict[str, Any] = given["logging_obj"].model_call_details.get("litellm_params") or {}
    known = {**known, **given["litellm_params"]}
    passed |= {
        key: v
        for key, v in known.items()
        if v is not None and (key in _CREDENTIALS or key.startswith(_CLOUDS + _PRICES))
    }
    headers = {"extra_headers": given["headers"]} if given.get("headers") else {}
    options = {key: value for key, value in given["optional_params"].items() if key != "stream"}
    request = {"model": given["model"], "messages": given["messages"], **passed, **headers, **options}
    return {**request, "allowed_openai_params": [*options], "no-log": True}


def _finish_reason(reason: str | None, assembler: Assembler, *, was_sent: bool = False) -> str | None:
    """The finish reason: "length" for a call that is cut, or `was_sent` and must not run; "tool_calls" for others."""
    if any(was_sent or call.status == "truncated" for call in assembler.reply.unfinished_tool_calls):
        return "length"
    return "tool_calls" if assembler.sound_calls and reason in ("stop", None) else reason
