"""Outspoken as an engine of CanIToolCall, the neutral suite of recorded outputs (PyPI `canitoolcall`).

    canitoolcall run --engine tools.integrations.canitoolcall_adapter:OutspokenAdapter --python .venv/bin/python

There is no tokenizer: the units of chunks are the markers of a family, words, and single characters between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from canitoolcall.adapters.base import Adapter, ReplayInput, Support, ToolSpec
from canitoolcall.fixtures import Family, load_families
from canitoolcall.results import ParsedToolCall, ParseResult

import outspoken
from outspoken import Parser, Reply

#: The format of a model, by how its id begins; the first that fits counts.
FORMATS = {
    "deepseek-ai/DeepSeek-V3-": "deepseek_v3",
    "deepseek-ai/DeepSeek-V3.1": "deepseek_v3_1",
    "deepseek-ai/DeepSeek-V3.2": "deepseek_v3_2",
    "deepseek-ai/DeepSeek-V4-": "deepseek_v4",
    "deepseek-ai/DeepSeek-V4.1": "deepseek_v4_1",
    "google/gemma-4": "gemma4",
    "zai-org/GLM-": "glm_4_5",
    "openai/gpt-oss": "harmony",
    "moonshotai/Kimi-K2": "kimi_k2",
    "moonshotai/Kimi-K3": "kimi_k3",
    "meta-llama/Llama-3": "llama3_json",
    "meta-llama/Llama-4": "pythonic",
    "mistralai/": "mistral",
    "Qwen/Qwen3-0.6B": "hermes",
    "Qwen/Qwen3-4B": "hermes",
    "Qwen/": "qwen3_coder",
}


def format_of(model: str) -> str:
    """The format of a model id; "" if there is none."""
    return next((name for begins, name in FORMATS.items() if model.startswith(begins)), "")


@lru_cache(maxsize=1)
def _families() -> dict[str, Family]:
    return dict(load_families())


@lru_cache(maxsize=64)
def pieces_of(text: str, family: str) -> tuple[str, ...]:
    """A text in markers, words and single characters, which are its text again if they are joined."""
    known = _families().get(family)
    markers = sorted(known.markers if known else (), key=len, reverse=True)
    return tuple(re.findall("|".join([*map(re.escape, markers), r"\w+", r"[\s\S]"]), text))


def result_of(reply: Reply) -> ParseResult:
    """A reply as the suite compares it."""
    calls = [ParsedToolCall(c.name, json.dumps(c.arguments, ensure_ascii=False)) for c in reply.tool_calls]
    return ParseResult(reply.text or None, reply.reasoning or None, tuple(calls))


class OutspokenAdapter(Adapter):
    """Replays fixtures through `Parser.parse` and `Parser.stream`."""

    name: ClassVar[str] = "outspoken"
    pinned_version: ClassVar[str] = outspoken.__version__
    #: the format that texts are read in; "" for that of the model
    format: ClassVar[str] = ""

    def version(self) -> str:
        """The version of Outspoken."""
        return outspoken.__version__

    def supports(self, family: str, model: str) -> Support:
        """Is there a format for a model?"""
        return Support(bool(format_of(model)), None if format_of(model) else f"no format for {model}")

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        """The format, the end of the prompt and the finish reason."""
        format_ = self.format or format_of(raw.model)
        return {"format": format_, "prefix": self._prefix(raw), "finish_reason": self._reason(raw)}

    def units(self, raw: ReplayInput) -> list[int]:
        """The numbers of the pieces of a text."""
        return list(range(len(pieces_of(raw.text, raw.family))))

    def special_token_ids(self, raw: ReplayInput) -> Collection[int]:
        """The numbers of the pieces that are markers."""
        known = _families().get(raw.family)
        markers = set(known.markers if known else ())
        return {number for number, piece in enumerate(pieces_of(raw.text, raw.family)) if piece in markers}

    def parse(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> ParseResult:
        """Read the whole text."""
        parser, reason = self._parser(raw, tools), self._reason(raw)
        return result_of(parser.parse(raw.text, prefix=self._prefix(raw), finish_reason=reason))

    def parse_stream(self, raw: ReplayInput, chunks: Sequence[Sequence[int]], tools: Sequence[ToolSpec]) -> ParseResult:
        """Read the text in pieces."""
        pieces = pieces_of(raw.text, raw.family)
        return self._streamed(raw, ["".join([pieces[number] for number in chunk]) for chunk in chunks], tools)

    def parse_stream_text(self, raw: ReplayInput, deltas: Sequence[str], tools: Sequence[ToolSpec]) -> ParseResult:
        """Read the text in pieces of any size."""
        return self._streamed(raw, deltas, tools)

    supports_text_deltas: ClassVar[bool] = True

    def _streamed(self, raw: ReplayInput, chunks: Iterable[str], tools: Sequence[ToolSpec]) -> ParseResult:
        reason = self._reason(raw)
        stream = self._parser(raw, tools).stream(chunks, prefix=self._prefix(raw), finish_reason=reason)
        for _ in stream:
            pass
        return result_of(stream.reply)

    def _parser(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> Parser:
        return Parser(self.format or format_of(raw.model), tools=list(tools) or None)

    @staticmethod
    def _prefix(raw: ReplayInput) -> str | None:
        return raw.generation_prompt

    @staticmethod
    def _reason(raw: ReplayInput) -> Literal["length", "stop"]:
        return "length" if raw.truncated else "stop"


class DetectingAdapter(OutspokenAdapter):
    """Reads every text with the format "auto"."""

    name: ClassVar[str] = "outspoken-auto"
    format: ClassVar[str] = "auto"
