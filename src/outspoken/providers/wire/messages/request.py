"""Translates requests of Anthropic's Messages to chat completions.

Source: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

import json
from typing import Any

from outspoken.providers.wire.conversation import Conversation, text_part
from outspoken.providers.wire.fields import (
    FUNCTIONS,
    Fields,
    RequestError,
    Translated,
    closed,
    functions,
    named,
    opened,
)
from outspoken.providers.wire.parts import Part

#: Fields that upstreams of chat completions have under the same name.
_SAME = ("model", "max_tokens", "temperature", "top_p", "top_k")
#: Fields that need tools or files of the server.
_REFUSED = {
    "container": "is not supported: the upstream has no containers",
    "mcp_servers": "is not supported: the upstream runs no tools",
    "fallbacks": "is not supported: the upstream has one model",
}
#: Fields that change the prompt's cost or the way of thinking, but not what a client relies on.
_IGNORED = (
    "billing_policy", "cache_control", "compaction", "context_management", "diagnostics", "fallback_credit_token",
    "inference_geo", "service_tier", "speed", "thinking", "user_profile_id", "workspace_id",
)  # fmt: skip
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
#: The error code by which Anthropic's client sees that it has to send the whole conversation.
THREADS = "thread_unsupported_request"


def to_chat(body: dict[str, Any], reasoning_field: str) -> Translated:
    """Translate a request. Raises RequestError, with the field that cannot be translated."""
    request, chat = opened(body, _REFUSED, _SAME, "a message")
    if request.has("thread"):
        raise RequestError("thread", "is not supported: the proxy stores no messages; send all of them", THREADS)
    conversation = Conversation(reasoning_field)
    _read_system(request, "system", conversation)
    for message in request.children("messages"):
        _read_message(message, conversation)
    if not conversation.messages or conversation.messages[-1]["role"] == "system":
        raise RequestError(
            "messages", "is missing or empty; expected at least one message", "missing_required_parameter"
        )
    if conversation.messages[-1]["role"] == "assistant":
        raise RequestError("messages", "ends with a message of the assistant, which the upstream cannot continue")
    chat["messages"] = conversation.messages
    _read_tools(request, chat)
    if stops := request.items("stop_sequences"):
        chat["stop"] = stops
    _read_output(request, chat)
    if (metadata := request.object("metadata")) is not None:
        if (user := metadata.text("user_id")) is not None:
            chat["user"] = user
        metadata.ignore_rest()
    request.ignore(*_IGNORED)
    return closed(request, chat)


# messages


def _message_blocks(message: Fields) -> list[Fields]:
    blocks = message.contents("content")
    if not blocks:
        raise RequestError(message.at("content"), "is empty; expected at least one block", "empty_array")
    return blocks


def _read_system(owner: Fields, name: str, conversation: Conversation) -> None:
    if not owner.has(name):
        return
    texts: list[str] = []
    for block in owner.contents(name):
        kind = block.required("type")
        if kind != "text":
            raise RequestError(block.at("type"), f"is {kind!r}; expected text")
        texts.append(block.required("text"))
        block.ignore_rest()
    if any(texts):
        conversation.add_system("\n\n".join(texts))


def _read_message(message: Fields, conversation: Conversation) -> None:
    role = message.required("role")
    if role == "system":
        _read_system(message, "content", conversation)
    elif role == "assistant":
        for block in _message_blocks(message):
            _read_answer(block, conversation)
    elif role == "user":
        _read_user(message, conversation)
    else:
        raise RequestError(message.at("role"), f"is {role!r}; expected user, assistant or system")
    message.ignore_rest()


def _read_user(message: Fields, conversation: Conversation) -> None:
    parts: list[Part] = []
    for block in _message_blocks(message):
        kind = block.required("type")
        if kind != "tool_result":
            parts += _read_part(block, kind)
        elif parts:
            raise RequestError(block.place, "is a tool result behind other content; results come first")
        else:
            _read_result(block, conversation)
    if parts:
        conversation.add_user(parts, join=True)


def _read_result(block: Fields, conversation: Conversation) -> None:
    place, id = block.at("tool_use_id"), block.required("tool_use_id")
    parts: list[Part] = []
    for inner in block.contents("content") if block.has("content") else []:
        parts += _read_part(inner, inner.required("type"))
    if block.flag("is_error"):
        parts.insert(0, text_part("Error:"))
    conversation.add_result(id, parts, place)
    block.ignore_rest()


def _read_part(block: Fields, kind: str) -> list[Part]:
    """Read a block of a user or of a result as content parts."""
    match kind:
        case "text":
            parts = [text_part(block.required("text"))]
            block.ignore("citations", harmless=([],))
        case "image":
            parts = [_read_image(block)]
        case "document":
            parts = _read_document(block)
        case _:
            raise block.unsupported(kind)
    block.ignore_rest()
    return parts


def _data_url(source: Fields) -> str:
    return f"data:{source.required('media_type')};base64,{source.required('data')}"


def _read_image(block: Fields) -> Part:
    source = block.needed("source")
    kind = source.required("type")
    if kind == "base64":
        url = _data_url(source)
    elif kind == "url":
        url = source.required("url")
    else:
        raise source.unsupported(kind, "; send base64 or url")
    source.ignore_rest()
    return {"type": "image_url", "image_url": {"url": url}}


def _read_document(block: Fields) -> list[Part]:
    """Read a document: its text with its title and context, or a file."""
    cited = block.object("citations")
    if cited is not None and cited.flag("enabled"):
        raise RequestError(cited.at("enabled"), "is true, but the upstream does not cite")
    source = block.needed("source")
    kind = source.required("type")
    heading = [text for text in (block.text("title"), block.text("context")) if text]
    match kind:
        case "text":
            source.take("media_type")
            parts = [text_part("\n".join([*heading, source.required("data")]))]
        case "content":
            parts = [text_part("\n".join(heading))] * bool(heading)
            for inner in source.contents("content"):
                parts += _read_part(inner, inner.required("type"))
        case "base64":
            name = {"filename": heading[0]} if heading else {}
            parts = [{"type": "file", "file": {"file_data": _data_url(source), **name}}]
            parts += [text_part(text) for text in heading[1:]]
        case _:
            raise source.unsupported(kind, "; send base64, text or content")
    source.ignore_rest()
    return parts


def _read_answer(block: Fields, conversation: Conversation) -> None:
    """Read a block of the assistant."""
    kind = block.required("type")
    match kind:
        case "text":
            conversation.add_answer(block.required("text"))
            block.ignore("citations", harmless=([],))
        case "thinking":
            conversation.add_reasoning(block.required("thinking"))
            block.ignore("signature", harmless=("",))
        case "redacted_thinking":
            block.ignore("data")
        case "tool_use":
            block.ignore("caller", harmless=({"type": "direct"},))
            arguments = block.take("input")
            if not isinstance(arguments, dict):
                raise RequestError(block.at("input"), "is missing or no object", "invalid_type")
            id, name = block.required("id"), block.required("name")
            conversation.add_call(id, name, json.dumps(arguments, ensure_ascii=False))
        case _:
            raise block.unsupported(kind, FUNCTIONS)
    block.ignore_rest()


# tools and output


def _read_tools(request: Fields, chat: dict[str, Any]) -> None:
    tools = functions(request, "custom", "input_schema", "custom")
    choice = request.object("tool_choice")
    if tools:
        chat["tools"] = tools
    if choice is None:
        return
    kind = choice.required("type")
    single = choice.flag("disable_parallel_tool_use")
    if kind == "tool":
        chat["tool_choice"] = named(choice, tools)
    elif kind not in _CHOICES:
        raise RequestError("tool_choice.type", f"is {kind!r}; expected auto, any, tool or none")
    elif tools or kind == "any":  # servers reject others without tools
        chat["tool_choice"] = _CHOICES[kind]
    if single is not None and tools:
        chat["parallel_tool_calls"] = not single
    choice.ignore_rest()


def _read_output(request: Fields, chat: dict[str, Any]) -> None:
    """Read the format of the answer, under its two names, and how much the model is to think."""
    config = request.object("output_config")
    wanted = config.object("format") if config is not None else None
    if wanted is None:
        wanted = request.object("output_format")
    else:
        request.ignore("output_format")
    if config is not None:
        config.move("effort", chat, "reasoning_effort")
        config.ignore_rest()
    if wanted is None:
        return
    kind = wanted.required("type")
    if kind != "json_schema":
        raise RequestError(wanted.at("type"), f"is {kind!r}; expected json_schema")
    schema = {"name": "output", "schema": wanted.take("schema"), "strict": True}
    chat["response_format"] = {"type": "json_schema", "json_schema": schema}
    wanted.ignore_rest()
