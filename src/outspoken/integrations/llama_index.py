"""LlamaIndex: `OutspokenLLM` wraps an LLM whose server sends raw text, so that agents get tool calls.

    import asyncio

    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike
    from outspoken.integrations.llama_index import OutspokenLLM

    def tide(place: str) -> str:
        "The hour of high tide."
        return f"High tide in {place} at nine."

    server = OpenAILike(model="qwen3-coder", api_base="http://localhost:8000/v1", api_key="none", is_chat_model=True)
    agent = FunctionAgent(tools=[tide], llm=OutspokenLLM(llm=server, format="qwen3_coder"))

    async def main() -> None:
        print(await agent.run("When is high tide in Brest?"))

    asyncio.run(main())

Calls are blocks of the message, reasoning is a `ThinkingBlock` and the `thinking_delta` of a stream. Agents never run a
call that is truncated or invalid: it names no tool of theirs, so the agent answers the model with an error that says
what is wrong. Where the result of a call is needed, such as in structured output, it raises ValueError. Repairs and
problems are in `message.additional_kwargs["outspoken"]`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from outspoken.parsing.parser import Parser
from outspoken.results.arguments import check_type
from outspoken.results.events import ReasoningDelta, TextDelta
from outspoken.results.replies import Reply

from .framework import Framework, allows_calls, format_of
from .messages import METADATA, CallIds, IdentifiedCall, finish_reason, identified_calls, noted, refused_name
from .streams import ReplyStream, StreamItem, aread_chunks, read_chunks

_LLAMA_INDEX = Framework("llama_index", "llama-index-core", "0.14")
_calling = _LLAMA_INDEX.load("llama_index.core.llms.function_calling")
_llm = _LLAMA_INDEX.load("llama_index.core.llms.llm")
_types = _LLAMA_INDEX.load("llama_index.core.base.llms.types")
_callbacks = _LLAMA_INDEX.load("llama_index.core.llms.callbacks")
_completions = _LLAMA_INDEX.load("llama_index.core.base.llms.generic_utils")

#: The argument of a request that has the tools and if there may be several calls.
_REQUEST = "outspoken_request"


class OutspokenLLM(_calling.FunctionCallingLLM):
    """An LLM whose text is read in a format.

    `llm` is the LLM that asks the server. The tools go to it if it is a `FunctionCallingLLM`, and define the types of
    arguments; with `send_tools=False`, they do not go to it, since the prompt describes them. `format` is the name of a
    format or the id of a model, or "auto"; without it, the name of the LLM says the format, or it is "auto" if that is
    not known. `prefix` is that of `outspoken.Parser.parse`, and `parser_options` are other arguments of
    `outspoken.Parser`. Calls and thinking that the LLM returns itself are kept.
    """

    llm: Any
    format: str | None = None
    prefix: str | None = None
    send_tools: bool = True
    parser_options: dict[str, Any] = {}  # noqa: RUF012  # a field of pydantic, which copies its default

    def model_post_init(self, context: Any, /) -> None:
        """Check the options, with `outspoken.Parser`. Its ValueErrors are in pydantic's ValidationError."""
        _calling.FunctionCallingLLM.model_post_init(self, context)
        check_type(self.llm, _llm.LLM, "llm")
        self._parser()

    @classmethod
    def class_name(cls) -> str:
        """The name of the class in LlamaIndex."""
        return "outspoken_llm"

    @property
    def metadata(self) -> Any:
        """What the LLM can do: that of the wrapped one, and calls."""
        return self.llm.metadata.model_copy(update={"is_chat_model": True, "is_function_calling_model": True})

    @_callbacks.llm_chat_callback()
    def chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        """Ask the LLM, and return its response with what its text means."""
        reading = self._reading(messages, kwargs)
        return reading.whole(self.llm.chat(_to_send(messages), **kwargs))

    @_callbacks.llm_chat_callback()
    async def achat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        """Ask the LLM, and return its response with what its text means."""
        reading = self._reading(messages, kwargs)
        return reading.whole(await self.llm.achat(_to_send(messages), **kwargs))

    @_callbacks.llm_chat_callback()
    def stream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        """Ask the LLM, and give what its text means as it arrives. A call is given when it is complete."""
        reading = self._reading(messages, kwargs)
        return read_chunks(self.llm.stream_chat(_to_send(messages), **kwargs), reading)

    @_callbacks.llm_chat_callback()
    async def astream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        """Ask the LLM, and give what its text means as it arrives. A call is given when it is complete."""
        reading = self._reading(messages, kwargs)
        return aread_chunks(await self.llm.astream_chat(_to_send(messages), **kwargs), reading)

    @_callbacks.llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Ask the LLM as in a chat of one message."""
        return _completions.chat_to_completion_decorator(self.chat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Ask the LLM as in a chat of one message."""
        return await _completions.achat_to_completion_decorator(self.achat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Ask the LLM as in a chat of one message."""
        return _completions.stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)

    @_callbacks.llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Ask the LLM as in a chat of one message."""
        return await _completions.astream_chat_to_completion_decorator(self.astream_chat)(prompt, **kwargs)

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: Any = None,
        chat_history: Any = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        request = ([tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools], allow_parallel_tool_calls)
        if self.send_tools and isinstance(self.llm, _calling.FunctionCallingLLM):
            given = {"user_msg": user_msg, "chat_history": chat_history, "verbose": verbose, **kwargs}
            given |= {"allow_parallel_tool_calls": allow_parallel_tool_calls, "tool_required": tool_required}
            given |= {} if tool_choice is None else {"tool_choice": tool_choice}
            return {**self.llm._prepare_chat_with_tools_compat(tools, **given), _REQUEST: request}
        asked = _types.ChatMessage(content=user_msg) if isinstance(user_msg, str) else user_msg
        return {"messages": [*(chat_history or ()), *([asked] if asked else ())], _REQUEST: request, **kwargs}

    def get_tool_calls_from_response(
        self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[Any]:
        """The calls of a response.

        With `error_on_no_tool_call`, raises ValueError if there is no call, or one that is truncated or invalid.
        Without it, such a call names no tool, but says what is wrong, so that an agent answers with an error.
        """
        blocks = [block for block in response.message.blocks if isinstance(block, _types.ToolCallBlock)]
        if not blocks and error_on_no_tool_call:
            raise ValueError(f"the response has no tool call: {response.message.content!r}")
        return [_selection(block, error_on_no_tool_call) for block in blocks]

    def _parser(self, tools: Any = (), choice: Any = None) -> Parser:
        options: dict[str, Any] = {"calls": allows_calls(tools, choice), **self.parser_options}
        return Parser(format_of(self.format, self.llm), tools=tools, **options)

    def _reading(self, messages: Sequence[Any], kwargs: dict[str, Any]) -> _Reading:
        """Reads the response to a request, from whose arguments it takes what is not for the LLM."""
        tools, parallel = kwargs.pop(_REQUEST, None) or (kwargs.get("tools") or (), True)
        blocks = [block for message in messages for block in message.blocks]
        ids = CallIds(taken=[b.tool_call_id for b in blocks if isinstance(b, _types.ToolCallBlock) and b.tool_call_id])
        return _Reading(self._parser(tools, kwargs.get("tool_choice")), self.prefix, ids, parallel=parallel)


class _Reading:
    """Reads one response, whole or as it arrives."""

    def __init__(self, parser: Parser, prefix: str | None, ids: CallIds, *, parallel: bool) -> None:
        self._parser, self._prefix, self._ids, self._parallel = parser, prefix, ids, parallel
        self._stream = ReplyStream(parser, prefix, ids)
        self._last: Any = _types.ChatResponse(message=_types.ChatMessage(role="assistant"))
        self._reason: str | None = None
        self._text, self._thinking = "", ""
        self._seen = 0  # characters of the content

    def whole(self, response: Any) -> Any:
        """Read a whole response."""
        self._last, self._reason = response, finish_reason(*_places(response))
        prefix = "" if _has_thinking(response) else self._prefix
        reply = self._parser.parse(response.message.content or "", prefix=prefix, finish_reason=self._reason)
        self._text, self._thinking = reply.text, reply.reasoning or ""
        return self._response(reply, None, response.additional_kwargs, identified_calls(reply, self._ids))

    def feed(self, response: Any) -> list[Any]:
        """Read what has arrived of a response."""
        self._last, self._reason = response, finish_reason(*_places(response)) or self._reason
        content: str = response.message.content or ""
        piece = content[self._seen :] if response.delta is None else response.delta
        self._seen = len(content)
        if _has_thinking(response):
            self._stream.add_own_reasoning()
        delta, extra = self._add(self._stream.feed(piece))
        given = {**response.additional_kwargs, **extra}
        is_new = delta or given or _has_thinking(response)
        return [self._response(None, delta, given, self._stream.calls)] if is_new else []

    def close(self) -> list[Any]:
        """End the response."""
        items, reply = self._stream.end(self._reason)
        delta, extra = self._add(items)
        used = {key: value for key, value in self._last.additional_kwargs.items() if key != "thinking_delta"}
        return [self._response(reply, delta, {**used, **extra}, self._stream.calls)]

    def _add(self, items: list[StreamItem]) -> tuple[str, dict[str, Any]]:
        """Add what has become certain; return the new text, and the new reasoning as LlamaIndex names it."""
        text = "".join([item.text for item in items if isinstance(item, TextDelta)])
        thinking = "".join([item.text for item in items if isinstance(item, ReasoningDelta)])
        self._text, self._thinking = self._text + text, self._thinking + thinking
        return text, {"thinking_delta": thinking} if thinking else {}

    def _response(
        self, reply: Reply | None, delta: str | None, extra: dict[str, Any], ended: list[IdentifiedCall]
    ) -> Any:
        """A response with all that is known; at its end, there is a reply."""
        given = self._last.message
        own = [block for block in given.blocks if block.block_type not in ("text", "tool_call")]
        calls = [block for block in given.blocks if block.block_type == "tool_call"] if reply else []
        calls += map(_block, ended)
        left_out = [] if self._parallel or not reply else calls[1:]
        calls = calls[: len(calls) - len(left_out)]
        thinking = [_types.ThinkingBlock(content=self._thinking)] if self._thinking else []
        text = [_types.TextBlock(text=self._text)] if self._text or not calls else []
        known = {key: value for key, value in given.additional_kwargs.items() if key != "tool_calls"}
        message = _types.ChatMessage(
            role=given.role,
            blocks=[*own, *thinking, *text, *calls],
            additional_kwargs={**known, **_calls_of(calls), **_metadata(reply, left_out)},
        )
        return _types.ChatResponse(
            message=message, raw=self._last.raw, delta=delta, logprobs=self._last.logprobs, additional_kwargs=extra
        )


def _block(call: IdentifiedCall) -> Any:
    """The block of a call. The arguments of a call with a problem are no JSON, so that it cannot run."""
    arguments = call.arguments if call.problem is None else call.refusal
    return _types.ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments)


def _arguments(block: Any) -> dict[str, Any] | None:
    """The arguments of a block; None if they are no JSON object."""
    try:
        found: Any = json.loads(block.tool_kwargs) if isinstance(block.tool_kwargs, str) else block.tool_kwargs
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _selection(block: Any, is_needed: bool) -> Any:
    """The tool and the arguments of a block. Raises ValueError if it must not run, and its result is needed."""
    found, name = _arguments(block), block.tool_name
    if found is None and is_needed:
        raise ValueError(block.tool_kwargs)
    if found is None:
        name = refused_name(block.tool_kwargs)
    return _llm.ToolSelection(tool_id=block.tool_call_id or "", tool_name=name, tool_kwargs=found or {})


def _calls_of(blocks: list[Any]) -> dict[str, Any]:
    """The sound calls where LlamaIndex looks for them when it streams structured output."""
    calls = [
        {
            "id": block.tool_call_id,
            "type": "function",
            "function": {"name": block.tool_name, "arguments": json.dumps(arguments)},
        }
        for block in blocks
        if (arguments := _arguments(block)) is not None
    ]
    return {"tool_calls": calls} if calls else {}


def _metadata(reply: Reply | None, left_out: list[Any]) -> dict[str, Any]:
    if reply is None:
        return {}
    calls = [{"name": block.tool_name, "arguments": block.tool_kwargs} for block in left_out]
    return noted(reply, **({"calls_left_out": calls} if calls else {}))


def _to_send(messages: Sequence[Any]) -> list[Any]:
    """The messages without what servers do not read: the metadata, and arguments that are no JSON."""
    return [_sendable(message) if METADATA in message.additional_kwargs else message for message in messages]


def _sendable(message: Any) -> Any:
    blocks = [
        block.model_copy(update={"tool_kwargs": {}})
        if block.block_type == "tool_call" and _arguments(block) is None
        else block
        for block in message.blocks
    ]
    kept = {key: value for key, value in message.additional_kwargs.items() if key not in (METADATA, "tool_calls")}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": kept})


def _has_thinking(response: Any) -> bool:
    return any(block.block_type == "thinking" for block in response.message.blocks)


def _places(response: Any) -> tuple[Any, ...]:
    """Where LLMs keep the finish reason."""
    return response.raw, response.additional_kwargs, response.message.additional_kwargs
