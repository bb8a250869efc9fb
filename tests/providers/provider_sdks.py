"""What the vendors' own SDKs read from the bytes of a recorded answer, in one shape for all.

Each SDK is run as a program would, with a transport that answers with the recorded body. Nothing is sent anywhere.
"""

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

#: What the modules of the SDKs warn of, when they are imported or run, is not ours.
_THEIRS = r"(openai|anthropic|google|mistralai|groq|cohere|boto3|botocore|httpx|pydantic|websockets|aiohttp)(\.|$)"


@contextmanager
def theirs() -> Generator[None, None, None]:
    """Lets the SDKs warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=_THEIRS)
        yield


@dataclass
class Seen:
    """What was read: `calls` as (id, name, arguments), `usage` as (input, output) tokens, `error` as its message."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str | None, str, Any]] = field(default_factory=list[tuple[str | None, str, Any]])
    stop: str | None = None
    usage: tuple[int | None, int | None] = (None, None)
    refusal: str | None = None
    error: str | None = None
    #: the SDK's own objects: the response, or the chunks
    objects: list[Any] = field(default_factory=list[Any], compare=False, repr=False)
    #: the response that the SDK has at the end
    whole: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Row:
    """One recorded answer."""

    id: str
    vendor: str
    api: str
    sse: bool
    status: int
    body: str


@cache
def _client(name: str) -> Any:
    """An SDK's module."""
    from importlib import import_module

    with theirs():
        return import_module(name)


#: the row that the transports answer with
_current: list[Row] = []


def _transport(sdk: Any = None) -> Any:
    """A transport of the `httpx` that an SDK uses, and the client that it takes."""
    bases = sdk.DefaultHttpxClient.__mro__ if sdk is not None else ()
    http = _client(next((base.__module__.partition(".")[0] for base in bases if base.__name__ == "Client"), "httpx"))

    def answer(_: Any) -> Any:
        row = _current[-1]
        kind = "text/event-stream" if row.sse else "application/json"
        return http.Response(row.status, headers={"content-type": kind}, content=row.body.encode())

    return http.MockTransport(answer), http.Client


@cache
def made_client(name: str, kind: str) -> Any:
    """A client of an SDK, made once: making one takes longer than all answers."""
    sdk = _client(name)
    transport, http = _transport(sdk if hasattr(sdk, "DefaultHttpxClient") else None)
    with theirs():
        if name == "google.genai":
            options = _client("google.genai.types").HttpOptions(client_args={"transport": transport})
            return sdk.Client(api_key="x", http_options=options)
        given = {"max_retries": 0, "http_client": http(transport=transport)}
        if name == "mistralai.client":
            given = {"client": http(transport=transport)}
        elif name == "cohere":
            given = {"base_url": "http://x", "httpx_client": http(transport=transport)}
        else:
            given["base_url"] = "http://x"
        return getattr(sdk, kind)(api_key="x", **given)


# OpenAI, and who speaks its API


def openai_chat(row: Row) -> Seen:
    """`openai`, with its own accumulation of streams."""
    sdk = _client("openai")
    state = _client("openai.lib.streaming.chat").ChatCompletionStreamState
    client = made_client("openai", "OpenAI")
    try:
        if not row.sse:
            return chat_message(client.chat.completions.create(model="x", messages=[]))
        seen, states = Seen(), state()
        for chunk in client.chat.completions.create(model="x", messages=[], stream=True):
            seen.objects.append(chunk)
            states.handle_chunk(chunk)
            seen.reasoning += _chat_reasoning(chunk.choices[0].delta) if chunk.choices else ""
            if chunk.usage:
                seen.usage = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        whole = chat_message(states.current_completion_snapshot)
        whole.reasoning, whole.usage, whole.objects = seen.reasoning, seen.usage, seen.objects
        return whole
    except sdk.APIError as error:
        return Seen(error=_message(error))


def _message(error: Any) -> str:
    """What an API's error says, without what the SDK puts in front of it."""
    body: Any = error.body
    try:
        return body.get("error", body)["message"]
    except (AttributeError, TypeError):
        return str(error)


def _items(found: Any) -> list[Any]:
    """A list, where there may be none."""
    return list(found or ())


def _chat_reasoning(message: Any) -> str:
    return getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""


def _loaded(arguments: Any) -> Any:
    """The arguments of a call; as text where they are no JSON."""
    with suppress(ValueError, TypeError):
        return json.loads(arguments or "{}")
    return arguments


def chat_message(response: Any) -> Seen:
    """A whole chat completion of any SDK that has OpenAI's shape."""
    choice = response.choices[0]
    message = choice.message
    content: Any = message.content or ""
    parts: list[Any] = [] if isinstance(content, str) else content  # of Mistral
    seen = Seen(reasoning=_chat_reasoning(message), stop=choice.finish_reason, whole=response, objects=[response])
    seen.reasoning += "".join([inner.text for part in parts if part.type == "thinking" for inner in part.thinking])
    seen.text = "".join([part.text for part in parts if part.type != "thinking"]) if parts else content
    for call in _items(message.tool_calls):
        seen.calls.append((call.id, call.function.name, _loaded(call.function.arguments)))
    seen.refusal = getattr(message, "refusal", None)
    if response.usage:
        seen.usage = response.usage.prompt_tokens, response.usage.completion_tokens
    return seen


def openai_responses(row: Row) -> Seen:
    """`openai`, whose streams end with the whole response."""
    sdk = _client("openai")
    client = made_client("openai", "OpenAI")
    try:
        if row.sse:
            objects = events = list(client.responses.create(model="x", input="x", stream=True))
            response = next(event.response for event in reversed(events) if hasattr(event, "response"))
        else:
            response = client.responses.create(model="x", input="x")
            objects = [response]
    except sdk.APIError as error:
        return Seen(error=_message(error))
    seen = Seen(stop=_responses_stop(response), objects=objects)
    for item in response.output:
        if item.type == "function_call":
            seen.calls.append((item.call_id, item.name, json.loads(item.arguments or "{}")))
        elif item.type == "reasoning":
            parts = [*_items(item.summary), *_items(item.content)]
            seen.reasoning += "".join(part.text for part in parts)
        elif item.type == "message":
            seen.text += "".join(part.text for part in item.content if part.type.endswith("text"))
    if response.usage:
        seen.usage = response.usage.input_tokens, response.usage.output_tokens
    return seen


def _responses_stop(response: Any) -> str | None:
    details = getattr(response, "incomplete_details", None)
    return details.reason if details else getattr(response, "status", None) or "completed"


def mistral(row: Row) -> Seen:
    """`mistralai`, whose content may be a list of parts."""
    client = made_client("mistralai.client", "Mistral")
    with theirs():
        return chat_message(client.chat.complete(model="x", messages=[{"role": "user", "content": "x"}]))


# the others


def anthropic(row: Row) -> Seen:
    """`anthropic`, with its own accumulation of streams."""
    sdk = _client("anthropic")
    client = made_client("anthropic", "Anthropic")
    given: Any = {"model": "x", "max_tokens": 1, "messages": []}
    try:
        with theirs():
            if row.sse:
                with client.beta.messages.stream(**given) as stream:
                    message = stream.get_final_message()
            else:
                message = client.beta.messages.create(**given)
    except sdk.APIError as error:
        return Seen(error=_message(error))
    seen = Seen(stop=message.stop_reason, usage=(message.usage.input_tokens, message.usage.output_tokens))
    seen.whole, seen.objects = message, [message]
    for block in message.content:
        if block.type == "text":
            seen.text += block.text
        elif block.type == "thinking":
            seen.reasoning += block.thinking
        elif block.type == "tool_use":
            seen.calls.append((block.id, block.name, block.input))
    return seen


def gemini(row: Row) -> Seen:
    """`google-genai`; the chunks of a stream are put together here."""
    client, seen = made_client("google.genai", "Client"), Seen()
    try:
        with theirs():
            if row.sse:
                chunks = list(client.models.generate_content_stream(model="x", contents="x"))
            else:
                chunks = [client.models.generate_content(model="x", contents="x")]
    except _client("google.genai.errors").APIError as error:
        return Seen(error=error.message)
    seen.objects = chunks
    for chunk in chunks:
        for candidate in _items(chunk.candidates)[:1]:
            _gemini_parts(seen, _items(candidate.content and candidate.content.parts))
            seen.stop = candidate.finish_reason.value if candidate.finish_reason else seen.stop
        if chunk.usage_metadata:
            counts = chunk.usage_metadata
            seen.usage = counts.prompt_token_count, counts.candidates_token_count
        if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            seen.stop = chunk.prompt_feedback.block_reason.value
            seen.refusal = chunk.prompt_feedback.block_reason_message
    return seen


def _gemini_parts(seen: Seen, parts: list[Any]) -> None:
    for part in parts:
        if part.function_call:
            seen.calls.append((part.function_call.id, part.function_call.name, part.function_call.args or {}))
        elif part.text and part.thought:
            seen.reasoning += part.text
        else:
            seen.text += part.text or ""


@cache
def _converse() -> Any:
    """A client of Bedrock whose requests are answered before they are sent."""
    from io import BytesIO

    boto3, awsrequest = _client("boto3"), _client("botocore.awsrequest")

    class Body(BytesIO):
        def stream(self, amt: int = 0, decode_content: bool = False) -> Iterator[bytes]:
            yield self.read()

    def answer(**_: Any) -> Any:
        row = _current[-1]
        headers = {"content-type": "application/json"}
        return awsrequest.AWSResponse("http://x", row.status, headers, Body(row.body.encode()))

    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    with theirs():
        client = boto3.client("bedrock-runtime", region_name="us-east-1", **keys)
    client.meta.events.register("before-send.bedrock-runtime.Converse", answer)
    return client


def bedrock(row: Row) -> Seen:
    """`boto3`, with its own parser of the service's answers."""
    try:
        with theirs():
            response = _converse().converse(modelId="x", messages=[])
    except _client("botocore.exceptions").ClientError as error:
        return Seen(error=error.response["Error"]["Message"])
    seen = Seen(stop=response["stopReason"], objects=[response])
    seen.usage = response["usage"]["inputTokens"], response["usage"]["outputTokens"]
    for part in response["output"]["message"]["content"]:
        seen.text += part.get("text", "")
        seen.reasoning += part.get("reasoningContent", {}).get("reasoningText", {}).get("text", "")
        call = part.get("toolUse")
        if call and call.get("type") != "server_tool_use":
            seen.calls.append((call["toolUseId"], call["name"], call["input"]))
    return seen


def cohere(row: Row) -> Seen:
    """`cohere`, version 2 of its API."""
    client = made_client("cohere", "ClientV2")
    with theirs():
        response = client.chat(model="x", messages=[])
    message, tokens = response.message, response.usage.tokens
    seen = Seen(reasoning=message.tool_plan or "", stop=response.finish_reason, objects=[response])
    seen.usage = int(tokens.input_tokens), int(tokens.output_tokens)
    seen.text = "".join(part.text for part in _items(message.content) if part.type == "text")
    for call in _items(message.tool_calls):
        seen.calls.append((call.id, call.function.name, json.loads(call.function.arguments)))
    return seen


#: the SDK for what a vendor sends at an address, where it is not one for all of the vendor's
SDKS: dict[str, Callable[[Row], Seen]] = {
    "anthropic": anthropic, "bedrock": bedrock, "cerebras": openai_chat, "cohere": cohere, "deepseek": openai_chat,
    "gemini": gemini, "groq": openai_chat, "huggingface": openai_chat, "mistral": mistral, "ollama": openai_chat,
    "openai": openai_chat, "openrouter": openai_chat, "zai": openai_chat,
}  # fmt: skip


def answer_with(row: Row) -> None:
    """Let all clients be answered with a row."""
    _current[:] = [row]


def read_by_sdk(row: Row) -> Seen:
    """What the SDK for a row reads from it."""
    answer_with(row)
    return _sdk_of(row)(row)


def _sdk_of(row: Row) -> Callable[[Row], Seen]:
    if "responses" in row.api:
        return openai_responses
    if row.vendor == "gemini" and "openai" in row.api:
        return openai_chat
    return anthropic if row.vendor == "bedrock" and "anthropic" in row.api and "invoke" in row.api else SDKS[row.vendor]
