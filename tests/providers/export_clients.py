"""What the clients of exported streams and responses have of them, in one shape; and the protocols that these keep to.

The clients are the vendors' own. Of Vercel's, there is a small model: which fields each part may have, and what the
client throws for, as in https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol and the package `ai` 7.0
(`ui-message-chunks.ts`, `process-ui-message-stream.ts`).
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast, get_args
from unittest.mock import ANY

from anthropic.types import Message, RawMessageStreamEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.providers.export_streams import Call, written
from tests.providers.provider_sdks import Row, answer_with, made_client, read_by_sdk
from tests.tables import tables

Parts = list[dict[str, Any]]
#: What a client has, as `meant` of `test_exports.py` has it of a reply; `stop`, `error` and the extension in any case.
Heard = dict[str, Any]

_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
_RESPONSE_EVENTS: dict[str, Any] = {
    get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(get_args(ResponseStreamEvent)[0])
}


class Client(NamedTuple):
    """A client of a protocol: it checks parts and reads them, or a whole response.

    `call` is what it has of a call, and `cut` are the reasons of a response with calls that are cut off.
    """

    check: Callable[[Parts], None]
    stream: Callable[[Parts], Heard]
    whole: Callable[[Any], Heard]
    call: Callable[[Call], Any]
    cut: tuple[str, ...]


def unknown(model: BaseModel, path: str = "") -> Iterator[str]:
    """The fields of an SDK's object, and of all in it, that its types do not know."""
    for key in model.__pydantic_extra__ or {}:
        yield f"{path}{key}"
    for key in type(model).model_fields:
        value: Any = getattr(model, key)
        for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
            if isinstance(item, BaseModel):
                yield from unknown(item, f"{path}{key}.")


def _row(vendor: str, body: bytes) -> Row:
    return Row("", vendor, vendor, True, 200, body.decode())


# OpenAI's chat completions


def check_chunks(chunks: Parts) -> None:
    for part in chunks:
        if "error" in part:
            assert set(part["error"]) == {"message", "type", "param", "code"}
            assert part is chunks[-1]
            assert not any(chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1])
            continue
        chunk = ChatCompletionChunk.model_validate(part, strict=True)
        assert set(unknown(chunk)) <= {"choices.delta.reasoning_content", "choices.delta.outspoken"}
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert len({chunk["id"] for chunk in chunks if "id" in chunk}) == 1
    choices = [choice for chunk in chunks for choice in chunk.get("choices", [])]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    begun = [call["index"] for call in calls if "id" in call]
    assert begun == list(range(len(begun)))


def _completion(completion: Any) -> Heard:
    choice, usage = completion.choices[0], completion.usage
    message: Any = choice.message
    calls: list[Any] = message.tool_calls or []
    assert len({call.id for call in calls}) == len(calls)
    return {
        "id": completion.id,
        "text": message.content or "",
        "reasoning": getattr(message, "reasoning_content", None) or "",
        "refusal": message.refusal or "",
        "calls": [(call.function.name, call.function.arguments) for call in calls],
        "usage": usage and (usage.prompt_tokens, usage.completion_tokens),
        "stop": choice.finish_reason,
        "extension": getattr(message, "outspoken", {}),
    }


def hear_chunks(chunks: Parts) -> Heard:
    seen = read_by_sdk(_row("openai", written(chunks, "openai")))
    return {"error": seen.error} if seen.error is not None else _completion(seen.whole)


def hear_completion(body: Any) -> Heard:
    if "error" in body:
        return {"error": body["error"]["message"]}
    completion = ChatCompletion.model_validate(body, strict=True)
    assert set(unknown(completion)) <= {"choices.message.reasoning_content", "choices.message.outspoken"}
    return _completion(completion)


def _sent(call: Call) -> tuple[str, str]:
    """What chunks have of a call. The arguments of an incomplete one lack the closing braces at their end."""
    text = call.arguments
    shown = text if call.finished or "}" not in text[len(text.rstrip("} \t\r\n")) :] else text.rstrip("} \t\r\n")
    return call.name, shown if shown.strip() or call.finished else shown + "{"


# Anthropic's messages


def check_message_events(parts: Parts) -> None:
    """Each event is of the SDK's types, and blocks begin and end as the protocol says."""
    started, ended = 0, set[int]()
    for part in parts:
        if part["type"] == "error":
            assert part is parts[-1]
            assert not any(part["type"] in ("message_delta", "message_stop") for part in parts)
            continue
        event = _EVENT.validate_python(part, strict=True)
        assert set(unknown(event)) <= {"outspoken"}
        if part["type"] == "content_block_start":
            assert part["index"] == started
            started += 1
        elif part["type"] in ("content_block_delta", "content_block_stop"):
            assert part["index"] < started
            assert part["index"] not in ended
        if part["type"] == "content_block_stop":
            ended.add(part["index"])
    assert ended == set(range(started))
    assert parts[0]["type"] == "message_start"


def _message(message: Any, extension: Any) -> Heard:
    def of(kind: str) -> list[Any]:
        return [block for block in message.content if block.type == kind]

    signed = [(block.signature, False) for block in of("thinking") if block.signature]
    return {
        "id": message.id,
        "text": "".join(block.text for block in of("text")),
        "reasoning": "\n\n".join([block.thinking for block in of("thinking") if block.thinking]),
        "refusal": (message.stop_details and message.stop_details.explanation) or "",
        "calls": [(use.name, use.input) for use in of("tool_use")],
        "signatures": [*signed, *[(block.data, True) for block in of("redacted_thinking")]],
        "output_tokens": message.usage.output_tokens,
        "stop": message.stop_reason,
        "extension": extension,
    }


def hear_message_events(parts: Parts) -> Heard:
    seen = read_by_sdk(_row("anthropic", written(parts, "anthropic")))
    if seen.error is not None:
        return {"error": seen.error}
    # at the end of a stream, the SDK's message has no fields but those that it knows
    return _message(seen.whole, next(part.get("outspoken", {}) for part in parts if part["type"] == "message_delta"))


def hear_message(body: Any) -> Heard:
    message = Message.model_validate(body, strict=True)
    assert set(unknown(message)) <= {"outspoken"}
    signed = [(block.thinking, block.signature) for block in message.content if block.type == "thinking"]
    return {**_message(message, getattr(message, "outspoken", {})), "signed": signed}


def _used(call: Call) -> tuple[str, Any]:
    return call.name, json.loads(call.arguments) if call.finished else ANY


# OpenAI's responses


def check_response_events(parts: Parts) -> None:
    for number, part in enumerate(parts):
        assert part["sequence_number"] == number
        event = _RESPONSE_EVENTS[part["type"]].model_validate(part, strict=True)
        assert set(unknown(event)) <= {"outspoken", "response.outspoken"}
    assert [part["type"] for part in parts[:2]] == ["response.created", "response.in_progress"]
    added = [part["output_index"] for part in parts if part["type"] == "response.output_item.added"]
    ended = [part["output_index"] for part in parts if part["type"] == "response.output_item.done"]
    assert added == list(range(len(added)))
    assert sorted(ended) == added


def _response(response: Any) -> Heard:
    def of(kind: str) -> list[Any]:
        return [item for item in response.output if item.type == kind]

    thoughts = ["".join([part.text for part in item.content]) for item in of("reasoning")]
    refusals = [part.refusal for item in of("message") for part in item.content if part.type == "refusal"]
    return {
        "text": response.output_text,
        "reasoning": "\n\n".join(filter(None, thoughts)),
        "refusal": "".join(refusals),
        "calls": [(item.name, item.arguments, item.status == "completed") for item in of("function_call")],
        "signature_data": [item.encrypted_content for item in of("reasoning") if item.encrypted_content],
        "stop": response.status,
        "error": response.error and response.error.message,
        "extension": getattr(response, "outspoken", {}),
    }


def hear_response_events(parts: Parts) -> Heard:
    """What the client has put together of the deltas is in the response of the last event."""
    snapshots: dict[int, str] = {}
    response: Any = None
    answer_with(_row("openai", written(parts, "openai_responses")))
    with made_client("openai", "OpenAI").responses.stream(model="m", input="?") as found:
        for event in found:
            if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
                snapshots[event.output_index] = event.snapshot
            response = getattr(event, "response", response)
    for index, text in snapshots.items():
        item = response.output[index]
        texts = [part.text for part in getattr(item, "content", ()) if part.type == "output_text"]
        assert text in [getattr(item, "arguments", None), *texts]
    return _response(response)


def hear_response(body: Any) -> Heard:
    response = Response.model_validate(body, strict=True)
    assert set(unknown(response)) <= {"outspoken"}
    return _response(response)


def _item(call: Call) -> tuple[str, str, bool]:
    return call.name, call.arguments, call.finished


# Vercel's UI messages

#: The fields of each part beside its type, what each holds, and which are optional.
_FIELDS: dict[str, dict[str, str]] = tables(__file__)["PARTS"]


def _metadata(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in cast("dict[str, Any]", value).values())


_REASONS = ("stop", "length", "content-filter", "tool-calls", "error", "other")
_HOLDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "any": lambda value: True,
    "metadata": _metadata,
    "reason": lambda value: value in _REASONS,
}


def check_ui_parts(parts: Parts) -> None:
    for part in parts:
        kind: str = part["type"]
        known = _FIELDS["data-" if kind.startswith("data-") else kind]
        needed = {key for key, held in known.items() if not held.endswith("?")}
        assert needed <= set(part) - {"type"} <= set(known)
        assert all(_HOLDS[known[key].removesuffix("?")](value) for key, value in part.items() if key != "type")
    kinds = [part["type"] for part in parts]
    assert (kinds[:2], kinds[-2:]) == (["start", "start-step"], ["finish-step", "finish"])


class UiMessage:
    """What the SDK's client makes of the parts. It raises KeyError where the SDK throws: for what is not open."""

    def __init__(self, parts: Parts) -> None:
        self.parts: Parts = []
        self.open: dict[str, dict[str, Any]] = {}
        self.tools: dict[str, dict[str, Any]] = {}
        for part in parts:
            self.take(part)
        assert not self.open

    def take(self, part: dict[str, Any]) -> None:
        kind: str = part["type"]
        if kind in ("text-start", "reasoning-start"):
            self.open[part["id"]] = {"type": kind.removesuffix("-start"), "text": ""}
            self.parts.append(self.open[part["id"]])
        elif kind in ("text-delta", "reasoning-delta"):
            self.open[part["id"]]["text"] += part["delta"]
        elif kind in ("text-end", "reasoning-end"):
            self.open.pop(part["id"]).update(providerMetadata=part.get("providerMetadata"))
        elif kind == "tool-input-start":
            assert part["toolCallId"] not in self.tools
            self.tools[part["toolCallId"]] = {"type": "tool", "name": part["toolName"], "raw": "", "state": "streaming"}
            self.parts.append(self.tools[part["toolCallId"]])
        elif kind == "tool-input-delta":
            self.tools[part["toolCallId"]]["raw"] += part["inputTextDelta"]
        elif kind == "tool-input-available":
            self.tools[part["toolCallId"]].update(state="available", input=part["input"])
        elif kind == "tool-input-error":
            self.tools[part["toolCallId"]].update(state="error", input=part["input"])
        elif kind.startswith("data-") and not part.get("transient"):
            assert (kind, part["id"]) not in [(known["type"], known["id"]) for known in self.parts if "id" in known]
            self.parts.append(part)

    def of(self, kind: str) -> Parts:
        return [part for part in self.parts if part["type"] == kind]


def hear_ui_parts(parts: Parts) -> Heard:
    client = UiMessage(parts)
    tools, thoughts = client.of("tool"), client.of("reasoning")
    for tool in tools:
        assert tool["state"] in ("available", "error")
        assert tool["input"] == (json.loads(tool["raw"]) if tool["state"] == "available" else tool["raw"])
    errors = [part["errorText"] for part in parts if part["type"] == "error"]
    assert len(errors) < 2
    failed = [tool for tool in tools if tool["state"] == "error"]
    extension = {
        "payloads": client.of("data-payload"),
        "actions": client.of("data-action"),
        "unfinished_actions": client.of("data-unfinished-action"),
        "unfinished_tool_calls": client.of("data-unfinished-call") + failed,
    }
    metadata = [part["providerMetadata"] for part in thoughts if part["providerMetadata"]]
    return {
        "id": parts[0]["messageId"],
        "text": "".join([part["text"] for part in client.of("text")]),
        "reasoning": "\n\n".join([part["text"] for part in thoughts if part["text"]]),
        "refusal": "".join([part["data"]["text"] for part in parts if part["type"] == "data-refusal"]),
        "calls": [(tool["name"], tool["raw"], tool["state"] == "available") for tool in tools],
        "signature_data": [held["outspoken"]["signature"] for held in metadata],
        "stop": parts[-1]["finishReason"],
        "error": errors[0] if errors else None,
        "extension": extension,
    }


def hear_ui_message(body: Any) -> Heard:
    tools = [part for part in body["parts"] if part["type"].startswith("tool-")]
    assert {part["state"] for part in body["parts"] if "state" in part} <= {"done", "input-available"}
    return {
        "text": "".join([part["text"] for part in body["parts"] if part["type"] == "text"]),
        "values": [(tool["type"].removeprefix("tool-"), tool["input"]) for tool in tools],
    }


CLIENTS: dict[Any, Client] = {
    "openai": Client(check_chunks, hear_chunks, hear_completion, _sent, ("length", "content_filter")),
    "anthropic": Client(check_message_events, hear_message_events, hear_message, _used, ("max_tokens", "refusal")),
    "openai_responses": Client(
        check_response_events, hear_response_events, hear_response, _item, ("incomplete", "failed")
    ),
    "vercel": Client(
        check_ui_parts, hear_ui_parts, hear_ui_message, _item, ("length", "content-filter", "error", "other")
    ),
}
