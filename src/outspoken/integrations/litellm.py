"""LiteLLM: `OutspokenLLM` is a custom provider around the others, in the library and in its proxy.

A module of providers: each name of a format or of a model is one, and for `provider` the name of each model says the
format.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

from typing_extensions import Unpack

from outspoken.parsing.event_stream import aread_chunks, read_chunks
from outspoken.providers.events import ProviderEvent
from outspoken.providers.replies import EXTENSION, ProviderReply
from outspoken.providers.requested import choice_of, readable_tools
from outspoken.providers.stream import ProviderStream
from outspoken.providers.wire.chat_completions.exporter import ChatCompletionsExporter
from outspoken.providers.wire.parts import StreamCalls
from outspoken.results.errors import MissingPackageError

from .assembler import Assembler, ReaderOptions
from .messages import METADATA, format_of, framework, noted

_LITELLM = framework("litellm", "litellm", "1.106")
_litellm = _LITELLM.load("litellm")
_custom_logger = _LITELLM.load("litellm.integrations.custom_logger")

_LOG = logging.getLogger("outspoken.integrations.litellm")

#: The arguments of a custom provider that go on to the model.
_PASSED = ("api_base", "api_key", "timeout", "client")
#: The same of LiteLLM's own arguments: names, and how those of the credentials of clouds, and of prices, begin.
_CREDENTIALS = ("api_version", "ssl_verify", "region_name", "tenant_id", "client_id", "client_secret", "project")
_BEGINNINGS = ("aws_", "azure_", "vertex_", "watsonx_", "s3_", "gcs_", "input_cost_per_", "output_cost_per_")
#: The fields of a delta that are read; the others are passed on.
_READ = ("role", "content", "refusal", "tool_calls", "function_call", "reasoning_content")
#: Those that are written into the message of a whole response.
_WRITTEN = ("content", "tool_calls", "reasoning_content")
#: What stands before the data of an event, behind its name.
_DATA = b"\ndata: "


class OutspokenLLM(_litellm.CustomLLM):
    """A custom provider: asks the model that its own name is in front of, and reads its text in a format.

    `format` and the options are those of `Assembler`. With `stream_arguments`, streams send the arguments of calls
    in pieces; then a client may have received all of a call that turns out invalid, and only the `finish_reason`
    "length" says so. A request is logged once, and priced as the model that is asked.
    """

    def __init__(
        self, format: str | None = None, *, stream_arguments: bool = False, **options: Unpack[ReaderOptions]
    ) -> None:
        _litellm.CustomLLM.__init__(self)
        self._assembler = Assembler.maker(format, **options)
        self._stream_calls: StreamCalls = "pieces" if stream_arguments else "complete"

    def completion(self, *args: Any, **kwargs: Any) -> Any:
        request, response = self._begin(kwargs)
        return response.whole(_litellm.completion(**request))

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        request, response = self._begin(kwargs)
        return response.whole(await _litellm.acompletion(**request))

    def streaming(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        request, response = self._begin(kwargs)
        return read_chunks(response, _litellm.completion(**request, stream=True))

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        request, response = self._begin(kwargs)
        async for chunk in aread_chunks(response, await _litellm.acompletion(**request, stream=True)):
            yield chunk

    def _begin(self, given: dict[str, Any]) -> tuple[dict[str, Any], _Response]:
        """The request to the model, and what reads its response."""
        request = _request(given)
        tools = request.get("tools") or ()
        about_request: dict[str, Any] = {"history": request["messages"], "stop": request.get("stop")}
        assembler = self._assembler(request["model"], readable_tools(tools), **about_request)
        request["messages"] = [*filter(None, assembler.to_send(request["messages"]))]
        parallel, choice = request.get("parallel_tool_calls") is not False, choice_of(request.get("tool_choice"), tools)
        source = partial(assembler.source, tool_choice=choice, parallel=parallel)
        written: dict[str, Any] = {"stream_calls": self._stream_calls, "call_ids": assembler.ids}
        exporter = partial(ChatCompletionsExporter, include_usage=False, **written)
        details = given["logging_obj"].model_call_details
        return request, _Response(source, exporter, assembler.finish_reason, details)


class OutspokenHooks(_custom_logger.CustomLogger):
    """A callback of LiteLLM's proxy that lets all options of a request pass to the model behind a custom provider.

    Otherwise LiteLLM refuses some, such as `reasoning_effort`, and drops `organization`. Raises MissingPackageError if
    the installed LiteLLM has no hook of a name, and so would not call it.
    """

    def __init__(self) -> None:
        _custom_logger.CustomLogger.__init__(self)
        known, own = dir(_custom_logger.CustomLogger), [name for name in vars(OutspokenHooks) if name[:6] == "async_"]
        if missing := [name for name in own if name not in known]:
            problem = f"the installed `litellm` calls no hook `{missing[0]}`, so its proxy would leave out what it adds"
            raise MissingPackageError(problem, package="litellm")

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        """Allow the options of a request for a model of an `OutspokenLLM`."""
        provider = str(kwargs.get("model")).partition("/")[0]
        handlers = [item["custom_handler"] for item in _litellm.custom_provider_map if item["provider"] == provider]
        if not any(isinstance(handler, OutspokenLLM) for handler in handlers):
            return None
        names = (*_litellm.OPENAI_CHAT_COMPLETION_PARAMS, "thinking")  # a client may send this, too
        sent = [name for name in names if kwargs.get(name) is not None]
        kwargs["allowed_openai_params"] = [*(kwargs.get("allowed_openai_params") or ()), *sent]
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


def __getattr__(name: str) -> OutspokenLLM | OutspokenHooks:
    """The `hooks`, or a provider by the name of a format or of a model."""
    if name == "hooks":
        return OutspokenHooks()
    if name.startswith("_") or format_of(None, name) == "auto":
        raise AttributeError(f"`{__name__}` has no `{name}`, and no format or model that is known has this name")
    return OutspokenLLM(name)


def _facts(request: Mapping[str, Any]) -> dict[str, Any]:
    """What was noted of the response to a request of the proxy."""
    noted_of: dict[str, Any] | None = getattr(request.get("litellm_logging_obj"), "model_call_details", None)
    if noted_of is None:
        _LOG.warning("LiteLLM does not say what was noted of a response, so its message has no `%s`", METADATA)
        return {}
    return {METADATA: noted_of[METADATA]} if METADATA in noted_of else {}


class _Response:
    """Reads one response, whole or in chunks, each of its choices by itself, and writes it with fields for its calls.

    What is to be known of it is noted for other APIs, too: LiteLLM leaves it out when it translates to messages.
    """

    def __init__(
        self, source: Callable[[], ProviderStream], exporter: Callable[..., ChatCompletionsExporter],
        reason: str | None, noted: dict[str, Any],
    ) -> None:  # fmt: skip
        self._make_source, self._make_exporter, self._reason, self._noted = source, exporter, reason, noted
        self._choices: dict[int, tuple[ProviderStream, ChatCompletionsExporter]] = {}

    def whole(self, response: Any) -> Any:
        """Read a whole response; it is changed in place."""
        for choice in response.choices:
            if isinstance(choice.message.content, str) or choice.message.tool_calls:
                response._hidden_params.setdefault("provider_specific_fields", {}).update(self._read(choice))
        if not response._hidden_params.get("response_cost"):
            response._hidden_params.pop("response_cost", None)  # so that LiteLLM looks for the price elsewhere
        return response

    def _read(self, choice: Any) -> dict[str, Any]:
        """Put into a choice what its text means; return what is to be known of it."""
        message, reason = choice.message, choice.finish_reason or self._reason
        fields: dict[str, Any] = message.model_dump(include={*_READ}, exclude_none=True)
        if thought := fields.get("reasoning_content"):
            # LiteLLM itself takes `<think>` out of whole responses, and leaves the white space that stood next to it.
            fields |= {"reasoning_content": thought.strip(), "content": (message.content or "").lstrip()}
        body = {"choices": [{"index": 0, "message": fields, "finish_reason": reason}]}
        reply = self._make_source().read(body)
        written = self._make_exporter().whole(reply)["choices"][0]
        facts, own_fields = noted(reply), getattr(message, "provider_specific_fields", None)
        message_fields: dict[str, Any] = {**dict(message), "provider_specific_fields": {**(own_fields or {}), **facts}}
        message_fields |= {"tool_calls": None, "function_call": None}  # as the server wrote them
        message_fields |= {key: value for key, value in written["message"].items() if key in _WRITTEN}
        choice.message, choice.finish_reason = _litellm.Message(**message_fields), written["finish_reason"]
        self._noted |= facts
        return facts

    def feed(self, chunk: Any) -> list[Any]:
        """Read a chunk, and return those that a client gets: what has become certain, and what is not read."""
        chunks: list[Any] = []
        for choice in chunk.model_dump()["choices"]:
            index, delta = choice["index"], choice["delta"]
            if index not in self._choices:
                exporter = self._make_exporter(id=chunk.id, model=chunk.model, created=chunk.created, index=index)
                self._choices[index] = self._make_source(), exporter
            source, exporter = self._choices[index]
            read = {key: value for key, value in delta.items() if key in _READ}
            exported = _export(source.feed({"choices": [{**choice, "index": 0, "delta": read}]}), exporter)
            if kept := {key: value for key, value in delta.items() if value and key not in _READ}:
                exported = exported or [exporter.empty_chunk()]
                exported[-1]["choices"][0]["delta"] |= kept  # blocks of thinking stay beside their text
            chunks += exported
        if (usage := getattr(chunk, "usage", None)) is not None:
            counted: dict[str, Any] = {"choices": [{"index": 0, "delta": {}}], "usage": usage}
            chunks.append({"id": chunk.id, "created": chunk.created, "model": chunk.model, **counted})
        return [
            _litellm.ModelResponseStream(**exported, system_fingerprint=chunk.system_fingerprint) for exported in chunks
        ]

    def close(self) -> list[Any]:
        """End the response, and return the last chunks: of each choice, one with its finish reason."""
        chunks: list[Any] = []
        for source, exporter in self._choices.values():
            *made, last = _export(source.close(), exporter)
            facts = noted(cast("ProviderReply", source.reply))
            if facts:
                made.append(exporter.envelope([exporter.choice("delta", {"provider_specific_fields": facts}, None)]))
            self._noted |= facts
            chunks += [*made, last]
        return [_litellm.ModelResponseStream(**made) for made in chunks]


def _export(events: list[ProviderEvent], exporter: ChatCompletionsExporter) -> list[dict[str, Any]]:
    """The chunks for some events; what they bring of a call is one chunk."""
    chunks: list[dict[str, Any]] = []
    last: dict[str, Any] = {}  # the call of the last chunk
    for chunk in [part for event in events for part in exporter.feed(event)]:
        choice = chunk["choices"][0]
        choice["delta"].pop(EXTENSION, None)
        calls: list[dict[str, Any]] = choice["delta"].get("tool_calls", [])
        call: dict[str, Any] = calls[0] if calls else {}
        if call and call["index"] == last.get("index"):
            last["function"]["arguments"] += call["function"]["arguments"]
        elif choice["delta"] or choice["finish_reason"]:
            chunks.append(chunk)
            last = call
    return chunks


def _request(given: dict[str, Any]) -> dict[str, Any]:
    """The request to the model, of the arguments of a custom provider. LiteLLM logs the one around it."""
    passed = {key: given[key] for key in _PASSED if given.get(key) is not None}
    known: dict[str, Any] = given["logging_obj"].model_call_details.get("litellm_params") or {}
    known = {key: value for key, value in {**known, **given["litellm_params"]}.items() if value is not None}
    passed |= {key: v for key, v in known.items() if key in _CREDENTIALS or key.startswith(_BEGINNINGS)}
    headers = {"extra_headers": given["headers"]} if given.get("headers") else {}
    options = {key: value for key, value in given["optional_params"].items() if key != "stream"}
    request = {"model": given["model"], "messages": given["messages"], **passed, **headers, **options}
    return {**request, "allowed_openai_params": [*options], "no-log": True}
