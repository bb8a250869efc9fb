"""LlamaIndex: `OutspokenLLM` wraps an LLM whose server sends raw text, so that agents get tool calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from outspoken.parsing.event_stream import aread_chunks, read_chunks
from outspoken.results.arguments import check_type
from outspoken.results.events import ReasoningDelta, TextDelta

from .assembler import Assembler, AssemblerFields, MessagePart, joined
from .messages import METADATA, call_of, content_of, framework, noted, object_of, refused_name

_LLAMA_INDEX = framework("llama_index", "llama-index-core", "0.14")
_calling = _LLAMA_INDEX.load("llama_index.core.llms.function_calling")
_llm = _LLAMA_INDEX.load("llama_index.core.llms.llm")
_types = _LLAMA_INDEX.load("llama_index.core.base.llms.types")
_callbacks = _LLAMA_INDEX.load("llama_index.core.llms.callbacks")
_completions = _LLAMA_INDEX.load("llama_index.core.base.llms.generic_utils")

#: The argument of a request that has the tools, if there may be several calls, if one is required, and the choice.
_REQUEST = "outspoken_request"


class OutspokenLLM(AssemblerFields, _calling.FunctionCallingLLM):
    """An LLM whose text is read in a format.

    `llm` is the LLM that asks the server. The tools define the types of arguments, and go to it if it is a
    `FunctionCallingLLM`, unless the prompt describes them (`send_tools=False`). `format`, `prefix` and `render_history`
    are those of `Assembler`, and `parser_options` are other arguments of `outspoken.Parser`. Calls and thinking that
    the LLM returns itself are kept. A stream gives each call when it is complete; a completion is a chat of one
    message.
    """

    llm: Any
    render_history: bool = False
    send_tools: bool = True

    def model_post_init(self, context: Any, /) -> None:
        """Check the LLM and the options."""
        check_type(self.llm, _llm.LLM, "llm")
        AssemblerFields.model_post_init(self, context)

    @classmethod
    def class_name(cls) -> str:
        return "outspoken_llm"

    @property
    def metadata(self) -> Any:
        """What the LLM can do: that of the wrapped one, and calls."""
        return self.llm.metadata.model_copy(update={"is_chat_model": True, "is_function_calling_model": True})

    @_callbacks.llm_chat_callback()
    def chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        sent, reading = self._reading(messages, kwargs)
        return reading.whole(self.llm.chat(sent, **kwargs))

    @_callbacks.llm_chat_callback()
    async def achat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        sent, reading = self._reading(messages, kwargs)
        return reading.whole(await self.llm.achat(sent, **kwargs))

    @_callbacks.llm_chat_callback()
    def stream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        sent, reading = self._reading(messages, kwargs)
        return read_chunks(reading, self.llm.stream_chat(sent, **kwargs))

    @_callbacks.llm_chat_callback()
    async def astream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        sent, reading = self._reading(messages, kwargs)
        return aread_chunks(reading, await self.llm.astream_chat(sent, **kwargs))

    @_callbacks.llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return _completions.chat_to_completion_decorator(self.chat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return await _completions.achat_to_completion_decorator(self.achat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return _completions.stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return await _completions.astream_chat_to_completion_decorator(self.astream_chat)(prompt, **kwargs)

    def _prepare_chat_with_tools(
        self, tools: Sequence[Any], user_msg: Any = None, chat_history: Any = None, verbose: bool = False,
        allow_parallel_tool_calls: bool = False, tool_required: bool = False, tool_choice: Any = None, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        offered = [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]
        request = (offered, allow_parallel_tool_calls, tool_required, tool_choice)
        if self.send_tools and isinstance(self.llm, _calling.FunctionCallingLLM):
            kwargs |= {} if tool_choice is None else {"tool_choice": tool_choice}
            asked = self.llm._prepare_chat_with_tools_compat(
                tools, user_msg=user_msg, chat_history=chat_history, verbose=verbose, tool_required=tool_required,
                allow_parallel_tool_calls=allow_parallel_tool_calls, **kwargs,
            )  # fmt: skip
            return {**asked, _REQUEST: request}
        last = _types.ChatMessage(content=user_msg) if isinstance(user_msg, str) else user_msg
        return {"messages": [*(chat_history or ()), *([last] if last else ())], _REQUEST: request, **kwargs}

    def get_tool_calls_from_response(
        self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[Any]:
        """The calls of a response.

        With `error_on_no_tool_call`, raises ValueError if there is no call, or one that is truncated or invalid.
        Without it, such a call names no tool, but says what is wrong, so that an agent answers with an error.
        """
        selections: list[Any] = []
        for block in [
            content_block for content_block in response.message.blocks if content_block.block_type == "tool_call"
        ]:
            arguments = object_of(block.tool_kwargs)
            if arguments is None and error_on_no_tool_call:
                raise ValueError(block.tool_kwargs)
            name = refused_name(block.tool_kwargs) if arguments is None else block.tool_name
            selected = {"tool_id": block.tool_call_id or "", "tool_name": name, "tool_kwargs": arguments or {}}
            selections.append(_llm.ToolSelection(**selected))
        if not selections and error_on_no_tool_call:
            raise ValueError(f"the response has no tool call: {response.message.content!r}")
        return selections

    def _reading(self, messages: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], _Responses]:
        """The messages for the LLM, and what reads the response. Takes what is not for the LLM from the arguments."""
        request: Any = kwargs.pop(_REQUEST, None) or (kwargs.get("tools") or (), True, False, None)
        tools, parallel, required, choice = request
        choice = kwargs.get("tool_choice") if choice is None else choice
        assembler = self._begin(tools, choice, history=[*map(_said, messages)], stop=kwargs.get("stop"))
        wanted = tools[0]["function"] if required and len(tools) == 1 else None
        sent = assembler.to_send(
            messages, _to_send,
            lambda role, text, others: _types.ChatMessage(role=role, blocks=[_types.TextBlock(text=text), *others]),
        )  # fmt: skip
        return [*filter(None, sent)], _Responses(assembler, parallel=parallel, wanted=wanted)


class _Responses:
    """Reads one response, whole or as it arrives. `wanted` is the one function that a request requires to be called."""

    def __init__(self, assembler: Assembler, *, parallel: bool, wanted: dict[str, Any] | None) -> None:
        self._assembler, self._parallel, self._wanted = assembler, parallel, wanted
        self._last: Any = _types.ChatResponse(message=_types.ChatMessage(role="assistant"))
        self._seen = 0  # characters of the content
        self._places: tuple[Any, ...] = ()

    def whole(self, response: Any) -> Any:
        self._take(response)
        self._assembler.whole(response.message.content or "", *self._places)
        return self._response(None, response.additional_kwargs, is_last=True)

    def feed(self, response: Any) -> list[Any]:
        has_thinking = self._take(response)
        content: str = response.message.content or ""
        piece = content[self._seen :] if response.delta is None else response.delta
        self._seen = len(content)
        made = self._response(self._assembler.feed(piece), response.additional_kwargs)
        return [made] if made.delta or made.additional_kwargs or has_thinking else []

    def close(self) -> list[Any]:
        used = {key: value for key, value in self._last.additional_kwargs.items() if key != "thinking_delta"}
        return [self._response(self._assembler.close(*self._places), used, is_last=True)]

    def _take(self, response: Any) -> bool:
        """Remember a response and where LLMs keep the finish reason. Returns whether it has thinking."""
        self._last = response
        places = (response.raw, response.additional_kwargs, response.message.additional_kwargs)
        self._places = places if self._assembler.reason(*places) else self._places
        has_thinking = any(block.block_type == "thinking" for block in response.message.blocks)
        if has_thinking:
            self._assembler.add_own_reasoning()
        return has_thinking

    def _response(self, parts: list[MessagePart] | None, extra: dict[str, Any], *, is_last: bool = False) -> Any:
        """A response with all that is known, and the new parts of a stream; the last one has all calls and metadata."""
        last, assembler = self._last.message, self._assembler
        own = [block for block in last.blocks if block.block_type not in ("text", "tool_call")]
        calls = self._calls(is_last)
        left_out = [] if self._parallel or not is_last else calls[1:]
        calls = calls[: len(calls) - len(left_out)]
        thinking = [_types.ThinkingBlock(content=assembler.reasoning)] if assembler.reasoning else []
        text = [_types.TextBlock(text=assembler.text)] if assembler.text or not calls else []
        extra_fields = {key: value for key, value in last.additional_kwargs.items() if key != "tool_calls"}
        for block in calls:  # where LlamaIndex looks for calls when it streams structured output
            if (arguments := object_of(block.tool_kwargs)) is not None:
                function = {"name": block.tool_name, "arguments": json.dumps(arguments)}
                call = {"id": block.tool_call_id, "type": "function", "function": function}
                extra_fields.setdefault("tool_calls", []).append(call)
        if is_last:
            told = [{"name": block.tool_name, "arguments": block.tool_kwargs} for block in left_out]
            extra_fields |= noted(assembler.reply, **({"calls_left_out": told} if told else {}))
        message = _types.ChatMessage(
            role=last.role, blocks=[*own, *thinking, *text, *calls], additional_kwargs=extra_fields
        )
        delta, thought = None if parts is None else joined(parts, TextDelta), joined(parts or (), ReasoningDelta)
        extra = {**extra, **({"thinking_delta": thought} if thought else {})}
        return self._last.model_copy(update={"message": message, "delta": delta, "additional_kwargs": extra})

    def _calls(self, is_last: bool) -> list[Any]:
        """The blocks of calls. The arguments of a call with a problem are no JSON, so that it cannot run."""
        read = self._assembler.calls
        calls = [block for block in self._last.message.blocks if block.block_type == "tool_call"] if is_last else []
        if is_last and self._wanted and not calls:
            answer = self._assembler.answer(self._wanted["name"], self._wanted["parameters"])
            read = [answer] if answer else read
        found = [(call.id, call.name, call.refusal or call.call.arguments) for call in read]
        return calls + [_types.ToolCallBlock(tool_call_id=id, tool_name=n, tool_kwargs=given) for id, n, given in found]


def _said(message: Any) -> dict[str, Any]:
    """A message as chat completions have it."""
    blocks, known = message.blocks, message.additional_kwargs
    others = [block for block in blocks if block.block_type not in ("text", "thinking", "tool_call")]
    thoughts = [block.content for block in blocks if block.block_type == "thinking" and block.content]
    calls = [(b.tool_call_id, b.tool_name, b.tool_kwargs) for b in blocks if b.block_type == "tool_call"]
    made = {"role": message.role.value, "content": content_of(message.content or "", others)}
    made |= {"reasoning": "\n\n".join(thoughts), "tool_calls": [call_of(*call) for call in calls]}
    return {**made, **{key: known[key] for key in ("tool_call_id", "name", METADATA) if key in known}}


def _to_send(message: Any) -> Any:
    """A message without what servers do not read: the metadata, and arguments that are no JSON."""
    blocks, known = [*message.blocks], message.additional_kwargs
    for place, block in enumerate(blocks):
        if block.block_type == "tool_call" and object_of(block.tool_kwargs) is None:
            blocks[place] = block.model_copy(update={"tool_kwargs": {}})
    if METADATA in known:
        known = {key: value for key, value in known.items() if key not in (METADATA, "tool_calls")}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": known})
