"""Parsers for vLLM's server: calls and reasoning of every format, whole and streamed, and its constraint.

The plug-in is this module. Each parser has the name of a format, or an alias of it, behind `outspoken_`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from outspoken.rendering.reasoning_tags import ReasoningTags
from outspoken.results.replies import ToolCall

from . import server_parsers as parsers
from .messages import framework

_VLLM = framework("vllm", "vllm", "0.33")
_tool_parsers: Any = _VLLM.load("vllm.tool_parsers")
_reasoning: Any = _VLLM.load("vllm.reasoning")
_protocol: Any = _VLLM.load("vllm.entrypoints.generate.base.protocol")
_chat_utils: Any = _VLLM.load("vllm.renderers.chat_utils")

#: How many tokens before the newest ones may hold a part of a tag.
_WINDOW = 32


class OutspokenToolParser(_tool_parsers.ToolParser):
    """Reads the calls of a response in one format."""

    format: ClassVar[str]
    #: the server tells the parser when the response ends
    engine_based_streaming = True
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        _tool_parsers.ToolParser.__init__(self, tokenizer, tools)
        #: set by the server if it has no parser for reasoning
        self.skip_reasoning_parsing = False
        self._reader: parsers.CallReader | None = None

    def adjust_request(self, request: Any) -> Any:
        """Keep markers that are special tokens in the text."""
        changed: Any = _tool_parsers.ToolParser.adjust_request(self, request)
        if changed.tools and changed.tool_choice != "none":
            changed.skip_special_tokens = False
        return changed

    def get_structural_tag(self, request: Any, *, reasoning: bool = False, strict_level: Any = None) -> Any:
        """The constraint of a request. Raises ConstraintError if calls are required that the format cannot write."""
        return parsers.structural_tag(
            _VLLM, self.format, request.tools or self.tools, request.tool_choice, tokenizer=self.model_tokenizer,
            parallel=request.parallel_tool_calls is not False, thinks=reasoning or self.skip_reasoning_parsing,
        )  # fmt: skip

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        pieces = self._reader_for(request).read(model_output)
        calls = [_protocol.ToolCall(**_call(call)) for _, call in pieces.calls]
        return _protocol.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=pieces.content or None
        )

    def extract_tool_calls_streaming(
        self, previous_text: str, current_text: str, delta_text: str, previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int], delta_token_ids: Sequence[int], request: Any,
    ) -> Any:  # fmt: skip
        self._reader = self._reader or self._reader_for(request)
        return _delta(self._reader.feed(delta_text))

    def finish_streaming(self) -> Any:
        return None if self._reader is None else _delta(self._reader.close())

    def _reader_for(self, request: Any) -> parsers.CallReader:
        has_reasoning = not self.skip_reasoning_parsing
        return parsers.CallReader(
            self.format, request.tools or self.tools, behind_reasoning=has_reasoning,
            has_reasoning=has_reasoning, keeps_calls=request.tool_choice == "none",
        )  # fmt: skip


def _call(call: ToolCall) -> dict[str, Any]:
    """The fields of a call."""
    function = {"name": call.name, "arguments": call.arguments_text}
    return {"id": call.id or _chat_utils.make_tool_call_id(), "type": "function", "function": function}


def _delta(pieces: parsers.Pieces) -> Any:
    """What a chunk adds to a message; None for nothing."""
    if pieces == parsers.Pieces():
        return None
    made = _protocol.DeltaMessage(content=pieces.content or None, reasoning=pieces.reasoning or None)
    if pieces.calls:
        made.tool_calls = [_protocol.DeltaToolCall(index=index, **_call(call)) for index, call in pieces.calls]
    return made


class OutspokenReasoningParser(_reasoning.ReasoningParser):
    """Reads the reasoning of a response in one format, and leaves the text behind it to the parser of calls."""

    format: ClassVar[str]
    tags: ClassVar[ReasoningTags]
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        _reasoning.ReasoningParser.__init__(self, tokenizer, *args, **kwargs)
        self._prefix: str | None = None
        self._splitter = parsers.ReasoningSplitter(self.format)

    def adjust_request(self, request: Any) -> Any:
        """Keep tags that are special tokens in the text."""
        request.skip_special_tokens = False
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Find out whether the prompt opens or closes reasoning."""
        self._prefix = self.tags.prefix(self._decode(prompt_token_ids[-_WINDOW:]))
        self._splitter = parsers.ReasoningSplitter(self.format, self._prefix)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        return self._decode(input_ids[-_WINDOW:]).rstrip().endswith(self.tags.close)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether the last tokens close the reasoning."""
        newest = len(list(delta_ids))
        window = list(input_ids[-newest - _WINDOW :])
        before = self._decode(window[: len(window) - newest])
        return self._decode(window).count(self.tags.close) > before.count(self.tags.close)

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        return list(input_ids[self._end_of(input_ids) :])

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """The number of tokens of the reasoning, with its tags."""
        text = self._decode(token_ids)
        opened = bool(self._prefix) or self.tags.open.strip() in text
        return self._end_of(token_ids) if opened or self.tags.close in text else 0

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        found = self._splitter.split(model_output)
        return found.reasoning or None, found.content or None

    def extract_reasoning_streaming(
        self, previous_text: str, current_text: str, delta_text: str, previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int], delta_token_ids: Sequence[int],
    ) -> Any:  # fmt: skip
        return _delta(self._splitter.feed(delta_text))

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._splitter.has_ended

    def finish_streaming(self) -> Any:
        return _delta(self._splitter.close())

    def _decode(self, ids: Sequence[int]) -> str:
        return self.model_tokenizer.decode(list(ids), skip_special_tokens=False)

    def _end_of(self, ids: Sequence[int]) -> int:
        """How many tokens there are up to the end of the reasoning; all of them if it does not end."""
        return bisect_left(range(len(ids)), True, key=lambda count: self.tags.close in self._decode(ids[:count]))


def __getattr__(name: str) -> Any:
    """Make the class of a parser of reasoning when the server first asks for it, since it needs the format's tags."""
    format = parsers.parser_names(of_reasoning=True).get(name)
    if format is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    tags = parsers.needed_tags(format)
    fields = {"format": format, "tags": tags, "reasoning_start_str": tags.open.strip(), "reasoning_end_str": tags.close}
    made = globals()[name] = type(name, (OutspokenReasoningParser,), fields)
    return made


def register() -> None:
    """Register the parsers of all formats; importing this module does."""
    for name, format in parsers.parser_names().items():
        model = None if format == "auto" else name  # a constraint is that of one format
        made = type(f"{name}_ToolParser", (OutspokenToolParser,), {"format": format, "structural_tag_model": model})
        _tool_parsers.ToolParserManager.register_module(name, module=made)
    for name in parsers.parser_names(of_reasoning=True):
        _reasoning.ReasoningParserManager.register_lazy_module(name, __name__, name)


register()
