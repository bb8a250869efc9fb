"""Translates requests of OpenAI's Responses to chat completions.

Source: https://platform.openai.com/docs/api-reference/responses/create.
"""

from __future__ import annotations

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

#: Fields that chat completions have under the same name.
_SAME = (
    "model", "temperature", "top_p", "parallel_tool_calls", "user", "safety_identifier", "prompt_cache_key",
    "prompt_cache_retention", "service_tier",
)  # fmt: skip
#: Fields that need what the proxy does not have: stored responses, tools of the server, other choices.
_REFUSED = {
    "previous_response_id": "is not supported: the proxy stores no responses; send the whole conversation as `input`",
    "conversation": "is not supported: the proxy stores no conversations; send the whole conversation as `input`",
    "background": "is not supported: the proxy stores no responses",
    "prompt": "is not supported: the proxy has no prompt templates; send `instructions` and `input`",
    "messages": "belongs to chat completions; send `input`",
    "response_format": "belongs to chat completions; send `text.format`",
    "top_logprobs": "is not supported: responses have no log probabilities here",
    "logprobs": "belongs to chat completions, and responses have no log probabilities here",
}
_LOGPROBS = "message.output_text.logprobs"


def to_chat(body: dict[str, Any], reasoning_field: str) -> Translated:
    """Translate a request. Raises RequestError, with the field that cannot be translated."""
    request, chat = opened(body, _REFUSED, _SAME, "a response")
    conversation = Conversation(reasoning_field)
    instructions = request.text("instructions")
    if instructions:
        conversation.add_system(instructions)
    for item in request.contents("input", {"role": "user"}, "content"):
        _read_item(item, conversation)
    if not conversation.messages:
        raise RequestError("input", "is empty; expected at least one item", "empty_array")
    chat["messages"] = conversation.messages
    _read_tools(request, chat)
    request.move("max_output_tokens", chat, "max_tokens")
    _read_output(request, chat)
    request.take("metadata")  # the response repeats it
    request.ignore("store", harmless=(False,))
    request.ignore("truncation", harmless=("disabled",))
    for name in request.items("include"):
        if name == _LOGPROBS:
            raise RequestError("include", f"has {name!r}: responses have no log probabilities here")
        request.ignored[f"include={name}"] = None
    request.ignore("max_tool_calls", "context_management", "stream_options", "moderation", "background_options")
    request.ignore("access_programs", "image", "prompt_cache_options")
    return closed(request, chat)


# input


def _read_item(item: Fields, conversation: Conversation) -> None:
    kind = item.text("type") or "message"
    item.take("id")  # it refers to stored items
    match kind:
        case "message":
            _read_message(item, conversation)
        case "function_call":
            item.take("status")
            conversation.add_call(item.required("call_id"), item.required("name"), item.required("arguments"))
        case "function_call_output":
            item.take("status")
            place = item.at("call_id")
            conversation.add_result(item.required("call_id"), [*map(_read_part, item.contents("output"))], place)
        case "reasoning":
            _read_reasoning(item, conversation)
        case _:
            raise item.unsupported(kind, FUNCTIONS)
    item.ignore_rest()


def _read_message(item: Fields, conversation: Conversation) -> None:
    role = item.required("role")
    place = item.at("role")
    item.ignore("status", "phase", harmless=("completed", "in_progress", "incomplete", "final_answer", "commentary"))
    parts = [*map(_read_part, item.contents("content"))]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if role == "user":
        conversation.add_user(parts)
    elif role not in ("system", "developer", "assistant"):
        raise RequestError(place, f"is {role!r}; expected user, assistant, system or developer")
    elif len(texts) < len(parts):
        raise RequestError(
            item.at("content"), f"has a part that is no text, which messages of the role {role} cannot have"
        )
    elif role == "assistant":
        conversation.add_answer("".join(texts))
    else:
        conversation.add_system("\n\n".join(texts))


def _read_part(part: Fields) -> Part:
    kind = part.required("type")
    match kind:
        case "input_text" | "output_text" | "text":
            read = text_part(part.required("text"))
            part.ignore("annotations", "logprobs", harmless=([],))
        case "refusal":
            read = text_part(part.required("refusal"))
        case "input_image":
            part.refuse("file_id", problem="is not supported: the upstream has no such files; send `image_url`")
            read = {"type": "image_url", "image_url": {"url": part.required("image_url"), **part.forward("detail")}}
        case "input_file":
            part.refuse("file_id", "file_url", problem="is not supported; send `file_data`")
            read = {"type": "file", "file": {"file_data": part.required("file_data"), **part.forward("filename")}}
        case "input_audio":
            read = {"type": "input_audio", "input_audio": part.needed("input_audio").rest()}
        case _:
            raise part.unsupported(kind)
    part.ignore_rest()
    return read


def _read_reasoning(item: Fields, conversation: Conversation) -> None:
    """Read reasoning: its text, else its summary. Encrypted reasoning is for the server that wrote it."""
    item.take("status")
    content = [part.required("text") for part in item.children("content")]
    summary = [part.required("text") for part in item.children("summary")]
    if content or summary:
        conversation.add_reasoning("\n\n".join(content or summary))
    if content and summary:
        item.note("summary")


# tools and output


def _read_tools(request: Fields, chat: dict[str, Any]) -> None:
    tools = functions(request, "function", "parameters")
    choice = request.take("tool_choice")
    if choice is not None:
        chat["tool_choice"], tools = _read_tool_choice(request, choice, tools)
    if tools:
        chat["tools"] = tools
    else:
        chat.pop("parallel_tool_calls", None)
        if chat.get("tool_choice") in ("auto", "none"):
            del chat["tool_choice"]  # servers reject it without tools


def _read_tool_choice(request: Fields, choice: Any, tools: list[Part]) -> tuple[Any, list[Part]]:
    """Return the choice of a chat completion, and the tools that the model may use."""
    if choice in ("auto", "none", "required"):
        return choice, tools
    if isinstance(choice, str):
        raise RequestError("tool_choice", f"is {choice!r}; expected auto, none, required or an object")
    fields = Fields(choice, "tool_choice", request.ignored)
    kind = fields.required("type")
    if kind == "function":
        return named(fields, tools), tools
    if kind != "allowed_tools":
        raise fields.unsupported(kind, FUNCTIONS)
    mode = fields.text("mode") or "auto"
    if mode not in ("auto", "required"):
        raise RequestError("tool_choice.mode", f"is {mode!r}; expected auto or required")
    allowed = fields.children("tools")
    if mode == "required" and not allowed:
        raise RequestError("tool_choice.tools", "is empty, but a call is required", "empty_array")
    names = [_allowed_name(tool, tools) for tool in allowed]
    fields.ignore_rest()
    return mode, [tool for tool in tools if tool["function"]["name"] in names]


def _allowed_name(tool: Fields, tools: list[Part]) -> str:
    if (kind := tool.required("type")) != "function":
        raise tool.unsupported(kind, FUNCTIONS)
    return named(tool, tools)["function"]["name"]


def _read_output(request: Fields, chat: dict[str, Any]) -> None:
    """Read how the answer is to be written, and how much the model is to think."""
    text = request.object("text")
    if text is not None:
        chat |= text.forward("verbosity")
        wanted = text.object("format")
        if wanted is not None:
            _read_text_format(wanted, chat)
        text.ignore_rest()
    reasoning = request.object("reasoning")
    if reasoning is not None:
        reasoning.move("effort", chat, "reasoning_effort")
        reasoning.ignore_rest()


def _read_text_format(wanted: Fields, chat: dict[str, Any]) -> None:
    kind = wanted.required("type")
    if kind == "json_schema":
        schema = {"name": wanted.required("name"), **wanted.forward("description", "schema", "strict")}
        chat["response_format"] = {"type": kind, "json_schema": schema}
    elif kind == "json_object":
        chat["response_format"] = {"type": kind}
    elif kind != "text":
        raise RequestError(wanted.at("type"), f"is {kind!r}; expected text, json_object or json_schema")
    wanted.ignore_rest()
