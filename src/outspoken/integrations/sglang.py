"""Parsers for SGLang's server: calls and reasoning of every format, whole and streamed, and its constraint.

Installed beside SGLang, Outspoken is found by its entry point. Each parser has the name of a format, or an alias of it,
behind `outspoken_`:

    pip install '.[sglang]'
    sglang serve --model-path Qwen/Qwen3-8B --tool-call-parser outspoken_hermes --reasoning-parser outspoken_hermes

The README of this package says what the parsers do.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from outspoken.grammar import registry
from outspoken.rendering.render import render
from outspoken.results.replies import Reply, ToolCall

from . import server_parsers as parsers
from .framework import Framework, readable_tools

_SGLANG = Framework("sglang", "sglang", "0.5.23")
_base: Any = _SGLANG.load("sglang.srt.function_call.base_format_detector")
_types: Any = _SGLANG.load("sglang.srt.function_call.core_types")
_calls: Any = _SGLANG.load("sglang.srt.function_call.function_call_parser")
_reasoning: Any = _SGLANG.load("sglang.srt.parser.reasoning_parser")

_VALUE = "Outspoken writes this"


class OutspokenDetector(_base.BaseFormatDetector):
    """Reads the calls of a response in one format."""

    format: ClassVar[str]

    def __init__(self, tokenizer: Any = None) -> None:
        parent: Any = super()
        parent.__init__()
        self._tokenizer = tokenizer
        self._reader: parsers.CallReader | None = None
        self._count = 0

    def has_tool_call(self, text: str) -> bool:
        """Whether the content of the message is not the text as it is."""
        pieces = parsers.CallReader(self.format, behind_reasoning=True).read(text)
        return bool(pieces.calls) or pieces.content != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        """The calls of a whole response, and all else as text."""
        pieces = self._reader_for(tools).read(text)
        known = self._get_tool_indices(tools)
        return self._result(pieces, [known.get(call.name, -1) for call in pieces.calls])

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        """What a chunk adds to a message."""
        if self._reader is None:
            self._reader = self._reader_for(tools)
        return self._next(self._reader.feed(new_text))

    def finish(self, tools: list[Any]) -> Any:
        """What the end of the response adds to a message."""
        return self._next(parsers.Pieces() if self._reader is None else self._reader.close())

    def parses_required_natively(self) -> bool:
        """True: required calls are in the format, too, and not in JSON of the server's own."""
        return True

    def get_structural_tag(
        self, tools: list[Any] | None = None, tool_choice: Any = "auto", thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:  # fmt: skip
        """The constraint of a request. Raises ConstraintError if the format cannot write what is asked for."""
        if self.format == "auto":
            return None
        tag = parsers.structural_tag(
            self.format, readable_tools(tools), tool_choice, parallel=parallel_tool_calls,
            reasoning="free" if thinking_mode else "none", tokenizer=self._tokenizer,
        )  # fmt: skip
        return None if tag is None else _SGLANG.load("xgrammar").StructuralTag.model_validate(tag)

    def structure_info(self) -> Any:
        """What begins and ends a call with the arguments as a JSON object. Raises ValueError for other formats."""
        return self._structure

    def _structure(self, name: str) -> Any:
        call = ToolCall(name=name, arguments={"value": _VALUE})
        text = render(Reply(raw="", format=self.format, segments=[call]), format=self.format)
        match = re.search(rf'\{{\s*"value":\s*"{_VALUE}"\s*\}}', text)
        if match is None:
            raise ValueError(f"the arguments of calls in `{self.format}` are no JSON object")
        begin = text[: match.start()]
        return _types.StructureInfo(begin=begin, end=text[match.end() :], trigger=begin.partition(name)[0].strip())

    def _reader_for(self, tools: list[Any]) -> parsers.CallReader:
        # Whether a parser of reasoning stands before this one is not known. If none does, tags say where reasoning is.
        return parsers.CallReader(self.format, readable_tools(tools), behind_reasoning=True)

    def _next(self, pieces: parsers.Pieces) -> Any:
        first = self._count
        self._count += len(pieces.calls)
        return self._result(pieces, range(first, self._count))

    def _result(self, pieces: parsers.Pieces, indices: Any) -> Any:
        calls = [
            _types.ToolCallItem(tool_index=index, name=call.name, parameters=parsers.arguments_of(call))
            for index, call in zip(indices, pieces.calls, strict=True)
        ]
        return _types.StreamingParseResult(normal_text=pieces.content, calls=calls)


class OutspokenReasoningDetector(_reasoning.BaseReasoningFormatDetector):
    """Reads the reasoning of a response in one format, and leaves the text behind it to the parser of calls."""

    format: ClassVar[str]

    def __init__(self, stream_reasoning: bool = True, force_reasoning: bool | None = None, **options: Any) -> None:
        tags = parsers.needed_tags(self.format)
        opened = self.format != "auto" and bool(registry.header(self.format).opened)
        parent: Any = super()
        parent.__init__(
            tags.open.strip(),
            tags.close,
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            reasoning_default="always" if opened else "explicit_enable_thinking",
            **options,
        )
        self._prefix = tags.open if self._in_reasoning else None if force_reasoning is None else ""
        self._splitter: parsers.ReasoningSplitter | None = None
        self._thought, self._held, self._has_content = "", "", False

    def detect_and_parse(self, text: str) -> Any:
        """The reasoning of a whole response, and the text without it."""
        reasoning, rest = parsers.ReasoningSplitter(self.format, self._prefix).split(text)
        return self._maybe_apply_force_nonempty_content(_reasoning.StreamingParseResult(rest, reasoning))

    def parse_streaming_increment(self, new_text: str) -> Any:
        """What a chunk adds to the reasoning, and the text behind it."""
        if self._splitter is None:
            self._splitter = parsers.ReasoningSplitter(self.format, self._prefix)
        return self._result(*self._splitter.feed(new_text), is_last=False)

    def finish(self) -> Any:
        """What the end of the response adds."""
        return self._result(*(("", "") if self._splitter is None else self._splitter.close()), is_last=True)

    def _result(self, reasoning: str, rest: str, is_last: bool) -> Any:
        self._has_content = self._has_content or bool(rest)
        self._thought += reasoning
        if not self.stream_reasoning:
            self._held += reasoning
            is_over = is_last or (self._splitter is not None and self._splitter.has_ended)
            reasoning, self._held = (self._held, "") if is_over else ("", self._held)
        if is_last and self._force_nonempty_content and not self._has_content:
            return _reasoning.StreamingParseResult(self._thought, "")
        return _reasoning.StreamingParseResult(rest, reasoning)


def register() -> None:
    """Register a parser for each format. SGLang calls it when it loads its plug-ins."""
    for name, format in parsers.parser_names().items():
        made = type(f"{name}_Detector", (OutspokenDetector,), {"format": format, "__module__": __name__})
        _calls.FunctionCallParser.ToolCallParserEnum[name] = made
    for name, format in parsers.reasoning_parser_names().items():
        fields = {"format": format, "__module__": __name__}
        made = type(f"{name}_ReasoningDetector", (OutspokenReasoningDetector,), fields)
        _reasoning.ReasoningParser.DetectorMap[name.lower()] = made
