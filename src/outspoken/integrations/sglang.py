"""Parsers for SGLang's server: calls and reasoning of every format, whole and streamed, and its constraint.

SGLang finds them by an entry point. Each has the name of a format, or an alias of it, behind `outspoken_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from outspoken.grammar import registry

from . import server_parsers as parsers
from .messages import framework

_SGLANG = framework("sglang", "sglang", "0.5.23")
_base: Any = _SGLANG.load("sglang.srt.function_call.base_format_detector")
_types: Any = _SGLANG.load("sglang.srt.function_call.core_types")
_calls: Any = _SGLANG.load("sglang.srt.function_call.function_call_parser")
_reasoning: Any = _SGLANG.load("sglang.srt.parser.reasoning_parser")


class OutspokenDetector(_base.BaseFormatDetector):
    """Reads the calls of a response in one format."""

    format: ClassVar[str]

    def __init__(self, tokenizer: Any = None) -> None:
        _base.BaseFormatDetector.__init__(self)
        self._tokenizer = tokenizer
        self._reader: parsers.CallReader | None = None

    def has_tool_call(self, text: str) -> bool:
        """Whether the content of the message is not the text as it is."""
        pieces = self._reader_for().read(text)
        return bool(pieces.calls) or pieces.content != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        pieces = self._reader_for(tools).read(text)
        known = self._get_tool_indices(tools)
        return _result(pieces, [known.get(call.name, -1) for _, call in pieces.calls])

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        self._reader = self._reader or self._reader_for(tools)
        return _result(self._reader.feed(new_text))

    def finish(self, tools: list[Any]) -> Any:
        return _result(self._reader.close() if self._reader else parsers.Pieces())

    def parses_required_natively(self) -> bool:
        """True: required calls are in the format, too, and not in JSON of the server's own."""
        return True

    def supports_structural_tag(self) -> bool:
        """False: if `get_structural_tag` has none, there is none of what begins and ends a call either."""
        return False

    def structure_info(self) -> Any:
        raise NotImplementedError

    def get_structural_tag(
        self, tools: list[Any] | None = None, tool_choice: Any = "auto", thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:  # fmt: skip
        """The constraint of a request. Raises ConstraintError if calls are required that the format cannot write."""
        return parsers.structural_tag(
            _SGLANG, self.format, tools, tool_choice, tokenizer=self._tokenizer, parallel=parallel_tool_calls,
            thinks=thinking_mode,
        )  # fmt: skip

    def _reader_for(self, tools: list[Any] | None = None) -> parsers.CallReader:
        # Whether a parser of reasoning stands before this one is not known. If none does, tags say where reasoning is.
        return parsers.CallReader(self.format, tools, behind_reasoning=True)


def _result(pieces: parsers.Pieces, indices: Sequence[int] | None = None) -> Any:
    """What was read, for the server: each call has its index in the response, or of its tool in the request."""
    found = zip(indices or [index for index, _ in pieces.calls], [call for _, call in pieces.calls], strict=True)
    calls = [_types.ToolCallItem(tool_index=n, name=call.name, parameters=call.arguments_text) for n, call in found]
    return _types.StreamingParseResult(normal_text=pieces.content, calls=calls)


class OutspokenReasoningDetector(_reasoning.BaseReasoningFormatDetector):
    """Reads the reasoning of a response in one format, and leaves the text behind it to the parser of calls."""

    format: ClassVar[str]

    def __init__(self, stream_reasoning: bool = True, force_reasoning: bool | None = None, **options: Any) -> None:
        tags = parsers.needed_tags(self.format)
        opened = self.format != "auto" and bool(registry.header(self.format).opened)
        options["reasoning_default"] = "always" if opened else "explicit_enable_thinking"
        options |= {"force_reasoning": bool(force_reasoning), "stream_reasoning": stream_reasoning}
        _reasoning.BaseReasoningFormatDetector.__init__(self, tags.open.strip(), tags.close, **options)
        prefix = tags.open if self._in_reasoning else None if force_reasoning is None else ""
        self._splitter = parsers.ReasoningSplitter(self.format, prefix)
        self._thought, self._held, self._has_content = "", "", False

    def detect_and_parse(self, text: str) -> Any:
        found = self._splitter.split(text)
        result = _reasoning.StreamingParseResult(found.content, found.reasoning)
        return self._maybe_apply_force_nonempty_content(result)

    def parse_streaming_increment(self, new_text: str) -> Any:
        return self._result(self._splitter.feed(new_text), is_last=False)

    def finish(self) -> Any:
        return self._result(self._splitter.close(), is_last=True)

    def _result(self, found: parsers.Pieces, is_last: bool) -> Any:
        self._has_content = self._has_content or bool(found.content)
        self._thought, self._held = self._thought + found.reasoning, self._held + found.reasoning
        reasoning = ""
        if self.stream_reasoning or is_last or self._splitter.has_ended:
            reasoning, self._held = self._held, ""
        if is_last and self._force_nonempty_content and not self._has_content:
            return _reasoning.StreamingParseResult(self._thought, "")
        return _reasoning.StreamingParseResult(found.content, reasoning)


def register() -> None:
    """Register a parser for each format. SGLang calls it when it loads its plug-ins."""
    for name, format in parsers.parser_names().items():
        made = type(f"{name}_Detector", (OutspokenDetector,), {"format": format})
        _calls.FunctionCallParser.ToolCallParserEnum[name] = made
    for name, format in parsers.parser_names(of_reasoning=True).items():
        made = type(f"{name}_ReasoningDetector", (OutspokenReasoningDetector,), {"format": format})
        _reasoning.ReasoningParser.DetectorMap[name.lower()] = made
