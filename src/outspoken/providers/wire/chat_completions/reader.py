"""OpenAI's Chat Completions, and what the many servers that speak it add.

Source: https://platform.openai.com/docs/api-reference/chat, and the documentation of the other providers.
"""

from __future__ import annotations

import json
from typing import Any

from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.assembly.blocks import join_surrogates
from outspoken.providers.assembly.tool_calls import ToolCallBlock
from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.replies import EXTENSION, REASONING_BREAKS
from outspoken.providers.wire.reader import ApiReader, arguments_text, find_error, list_of, parse_error

from . import USAGE

#: fields that hold reasoning as text; a server that sends several sends the same in all
REASONING = ("reasoning_content", "reasoning", "thinking")
#: lists of reasoning parts: text, summaries, encrypted blocks
REASONING_LISTS = ("reasoning_details", "thinking_blocks")
#: fields whose values, or items of a list, become payloads, and the payload types
PAYLOADS = {
    "annotations": "annotation",
    "audio": "audio",
    "images": "image",
    "executed_tools": "executed_tool",
    "citations": "citation",
}


def _is_same(one: str, other: str) -> bool:
    """Are two texts the same JSON, or nothing?"""
    if one.strip() in ("", "{}") and other.strip() in ("", "{}"):
        return True
    try:
        return one == other or json.loads(one) == json.loads(other)
    except (ValueError, RecursionError):
        return False


#: the fields of a choice in which servers say which text of the request ended it (vLLM; SGLang)
STOPS = ("stop_reason", "matched_stop")
_REASONING_KEYS, _PAYLOAD_KEYS = frozenset([*REASONING, *REASONING_LISTS]), frozenset(PAYLOADS)
#: fields of a chunk that are read beside the choices
_READ_KEYS = ("error", "usage", "x_groq")
_SCALARS = frozenset([str, int, float, bool, type(None)])
#: what a response or a chunk has, one of them at least
_RESPONSE_KEYS = ("choices", "id", "object", "model", "usage", "created", "x_groq", "prompt_filter_results")


def _content_alone(choice: Any, index: int) -> str | None:
    """The content of the choice with an index if it is a text, and nothing else is told in the choice."""
    fields: dict[str, Any] = choice
    if type(fields) is not dict:
        return None
    delta: dict[str, Any] = fields.get("delta") or {}
    if type(delta) is not dict:
        return None
    for key, value in fields.items():
        if value is not None and key != "delta" and (key != "index" or type(value) is not int or value != index):
            return None
    for key, value in delta.items():
        if key == EXTENSION or (value is not None and key != "content" and (key != "role" or type(value) is not str)):
            return None
    text = delta.get("content")
    is_chosen = fields.get("index") is not None or not index
    return text if type(text) is str and text and is_chosen else None


class ChatCompletionsReader(ApiReader):
    """Reads responses and chunks. Of several choices, it reads one."""

    joins_content = True

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self._by_index: dict[int, ToolCallBlock] = {}
        self._by_id: dict[str, ToolCallBlock] = {}
        self._last_call: ToolCallBlock | None = None
        self._calls: list[ToolCallBlock] = []
        #: a part arrived in a delta, so that a whole message repeats what has arrived
        self._has_deltas = False
        #: the id and the model of the last object
        self._names: tuple[str | None, str | None] | None = None
        #: the calls in the list that is being read
        self._in_list: set[ToolCallBlock] = set()

    def read(self, body: JsonObject) -> None:
        """Read a response, a chunk, or an error."""
        choices = body.objects("choices")
        error = None if choices and body.get("error") is None else find_error(body)
        if error is None and not body.has(*_RESPONSE_KEYS):
            raise body.invalid("choices", "a list of choices")
        if choices or error is None:
            self._names = body.string_or_number("id"), body.string("model")
            self._assembler.started(*self._names)
        for choice in self._selected(choices):
            self._read_choice(choice)
        self._read_usage(body)
        if error is not None:
            self._assembler.failed(error)

    def content_of(self, chunk: dict[str, Any]) -> str | None:
        """The text of a chunk behind others of the same response that has one choice with nothing but content."""
        choices: list[Any] | None = chunk.get("choices")
        if not self._has_deltas or type(choices) is not list or len(choices) != 1:
            return None
        if (chunk.get("id"), chunk.get("model")) != self._names:
            return None
        for key, value in chunk.items():
            if value is not None and value is not choices and (type(value) not in _SCALARS or key in _READ_KEYS):
                return None
        return _content_alone(choices[0], self._assembler.choice)

    def _read_choice(self, choice: JsonObject) -> None:
        delta, message = choice.object("delta"), choice.object("message")
        if delta is not None:
            self._has_deltas = True
            self._read_message(delta)
        if message is not None:
            self._read_message(self._rest_of(message) if self._has_deltas else message)
        if error := choice.get("error"):
            self._assembler.failed(parse_error(error))
        if any(isinstance(choice.get(key), str) for key in STOPS):
            self._assembler.stopped()
        self._assembler.finished(choice.string("finish_reason"))

    def _read_usage(self, body: JsonObject) -> None:
        groq = body.object("x_groq")
        self._report_usage(body.object("usage") or (groq and groq.object("usage")), USAGE)
        if groq is not None and (error := groq.get("error")):
            self._assembler.failed(parse_error(error))

    def _read_message(self, message: JsonObject) -> None:
        fields = message.value  # a delta has one or two, so that most of the methods are not called for it
        if EXTENSION in fields:
            self._read_exported(message)
            return
        if not _REASONING_KEYS.isdisjoint(fields):
            self._read_reasoning(message)
        if "content" in fields:
            self._read_content(message)
        if "refusal" in fields:
            self._assembler.refuse(message.string("refusal"))
        if "tool_calls" in fields:
            self._in_list.clear()
            for call in message.objects("tool_calls"):
                self._read_call(call)
        legacy = message.object("function_call") if "function_call" in fields else None
        if legacy is not None:
            self._extend_call(legacy, -1, None)
        if not _PAYLOAD_KEYS.isdisjoint(fields):
            for key, kind in PAYLOADS.items():
                for item in list_of(message.get(key)):
                    self._assembler.payload(kind, item, aside=True)

    def _read_exported(self, message: JsonObject) -> None:
        """Read a message or delta with an extension."""
        extension = message.value[EXTENSION]
        rest = {key: value for key, value in message.value.items() if key != EXTENSION}
        if isinstance(extension, dict) and REASONING_BREAKS in extension:
            self._assembler.split_reasoning()
            rest = {key: value for key, value in rest.items() if key not in REASONING}
        self._read_message(JsonObject(rest, message.path))
        self.read_extension(message)

    # a whole message behind deltas

    def _rest_of(self, message: JsonObject) -> JsonObject:
        """What has not arrived of a message in deltas. What contradicts them is left out, with a diagnostic."""
        fields = {key: value for key, value in message.value.items() if key != "function_call" or not self._calls}
        for key in ("content", "refusal", *REASONING):
            if isinstance(text := fields.get(key), str):
                fields[key] = self._rest("reasoning" if key in REASONING else key, text)
        if isinstance(fields.get("content"), list):
            fields["content"] = self._rest_of_parts(message)
        if self._assembler.received("reasoning"):
            fields = {key: value for key, value in fields.items() if key not in REASONING_LISTS}
        for key in PAYLOADS:
            if fields.get(key):
                fields[key] = [item for item in list_of(fields[key]) if item not in self._assembler.payloads]
        if fields.get("tool_calls"):
            calls = message.objects("tool_calls")
            fields["tool_calls"] = [call.value for n, call in enumerate(calls) if not self._has_call(n, call)]
        return JsonObject(fields, message.path)

    def _rest(self, kind: str, whole: str) -> str:
        whole, received = join_surrogates(whole), self._assembler.received(kind)
        if whole.startswith(received):
            return whole[len(received) :]
        if not received.startswith(whole):
            message = f"the whole message has other {kind} than its pieces, which count"
            self._assembler.warn("repeated-message", message)
        return ""

    def _rest_of_parts(self, message: JsonObject) -> list[Any]:
        """The parts of the content that have not arrived; the rest of all text is one part."""
        parts = message.objects("content")
        text = "".join([part.string("text") or "" for part in parts if part.string("type") in ("text", None)])
        rest = self._rest("content", text)
        others = [part.value for part in parts if part.string("type") not in ("text", "thinking", "reasoning", None)]
        missing = [part for part in others if part not in self._assembler.payloads]
        return [*([{"type": "text", "text": rest}] if rest else []), *missing]

    def _has_call(self, number: int, call: JsonObject) -> bool:
        """Has a call of the whole message arrived? Arguments that are still missing are added to it."""
        function = call.object("function") or call.object("custom") or call
        if number >= len(self._calls):
            return call.value in self._assembler.payloads
        block = self._calls[number]
        whole, received = arguments_text(function, "arguments") or "", block.text
        if not block.done:
            block.identify(call.string_or_number("id"), None)
            if whole.startswith(received):
                self._assembler.arguments(block, whole[len(received) :])
                return True
        if not _is_same(whole, received):
            message = "the whole message has other arguments than its pieces, which count"
            self._assembler.warn("repeated-message", message)
        return True

    # reasoning

    def _read_reasoning(self, message: JsonObject) -> None:
        texts: list[str] = []
        for key in REASONING:
            entry = message.get(key)
            if isinstance(entry, dict):  # a summary, from some gateways
                text = JsonObject(entry, key).string("content", "text", "summary")
            else:
                text = message.string(key)
            if text and text not in texts:
                texts.append(text)
        parts = [part for key in REASONING_LISTS for part in message.objects(key)]
        if not texts:
            texts = [text for part in parts if (text := part.string("text", "summary", "thinking"))]
        for text in texts:
            self._assembler.add("reasoning", text)
        for part in parts:
            self._assembler.sign(part.string("signature"))
            self._assembler.sign(part.string("data"), redacted=True)

    # content

    def _read_content(self, message: JsonObject) -> None:
        content = message.get("content")
        if isinstance(content, list):
            for part in message.objects("content"):
                self._read_part(part)
        elif isinstance(content, dict):
            self._read_part(JsonObject(content, f"{message.path}.content"))
        elif content is not None and not isinstance(content, str):
            raise message.invalid("content", "text or a list of parts")
        else:
            self._assembler.add("text", content)

    def _read_part(self, part: JsonObject) -> None:
        kind = part.string("type")
        if kind in ("text", "output_text", None) and part.has("text"):
            self._assembler.add("text", part.string("text"))
        elif kind == "refusal":
            self._assembler.refuse(part.string("refusal"))
        elif kind in ("thinking", "reasoning"):
            self._read_thinking(part)
        elif kind == "redacted_thinking":
            self._assembler.sign(part.string("data"), redacted=True)
        else:
            self._assembler.payload(kind or "part", part.value)

    def _read_thinking(self, part: JsonObject) -> None:
        """Read a part with reasoning: a text, or again a list of parts."""
        if isinstance(part.get("thinking", "reasoning", "text"), list):
            for inner in part.objects("thinking", "reasoning"):
                if inner.has("text"):
                    self._assembler.add("reasoning", inner.string("text"))
                else:
                    self._assembler.payload(inner.string("type") or "part", inner.value, aside=True)
        else:
            self._assembler.add("reasoning", part.string("thinking", "reasoning", "text"))
        self._assembler.sign(part.string("signature"))

    # calls

    def _read_call(self, call: JsonObject) -> None:
        """Read a call, or a piece of one."""
        function = call.object("function", "custom")
        if function is None:
            if call.has("name", "arguments"):
                function = call
            elif call.get("id") is None and call.get("type") is None:
                raise call.invalid("function", "an object")
            else:
                self._assembler.payload(call.string("type") or "tool_call", call.value)
                return
        free_text = call.has("custom") and not call.has("function")
        self._extend_call(function, call.integer("index"), call.string_or_number("id"), free_text=free_text)
        extra = call.object("extra_content")
        google = extra.object("google") if extra is not None else None
        if google is not None:
            self._assembler.sign_last(google.string("thought_signature"))

    def _extend_call(self, function: JsonObject, index: int | None, id: str | None, *, free_text: bool = False) -> None:
        """Extend the call with an index or id. With neither, a name begins a call, and its absence extends the last."""
        id, name = id or None, function.string("name") or None
        piece = arguments_text(function, "input" if free_text else "arguments")
        call = self._find_call(index, id, name)
        if call is not None and self._is_another(call, index, name, piece):
            call = None
        if call is None:
            for earlier in self._calls[-1:]:
                earlier.settle_name()
            call = self._assembler.call((len(self._calls),), id, name, free_text=free_text, name_may_grow=True)
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
        else:
            call.identify(id, name)
        self._last_call = call
        self._in_list.add(call)
        if call.id:
            self._by_id.setdefault(call.id, call)
        self._assembler.arguments(call, piece)

    def _is_another(self, call: ToolCallBlock, index: int | None, name: str | None, piece: str | None) -> bool:
        """Is this another call than the one with the same index or id? Some servers repeat these."""
        if index is None and call in self._in_list:
            return True
        return bool(name and piece) and call.length > 0 and call.has_complete_json()

    def _find_call(self, index: int | None, id: str | None, name: str | None) -> ToolCallBlock | None:
        if index is not None:
            found = self._by_index.get(index)
            # some servers send one index for all calls
            return None if found is not None and id and name and found.id and id != found.id else found
        if id:
            return self._by_id.get(id)
        return None if name else self._last_call
