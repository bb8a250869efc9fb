"""Outspoken as an engine of CanIToolCall, the neutral suite of recorded outputs (PyPI `canitoolcall`).

    canitoolcall run --engine tools.integrations.canitoolcall_adapter:OutspokenAdapter --python .venv/bin/python

There is no tokenizer: the units of chunks are the markers of a family, words, and single characters between them.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from canitoolcall.adapters.base import Adapter, ReplayInput, Support, ToolSpec
from canitoolcall.fixtures import load_families
from canitoolcall.results import ParsedToolCall, ParseResult

import outspoken
from outspoken import Parser, Reply, UnknownFormatError


@lru_cache(maxsize=64)
def format_of(model: str) -> str:
    """The format of a model id; "" if there is none."""
    try:
        return Parser.for_model(model).format
    except UnknownFormatError:
        return ""


@lru_cache(maxsize=64)
def pieces_of(text: str, family: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """A text in markers, words and single characters, which are its text again if they are joined; and the markers."""
    known = load_families().get(family)
    markers = sorted(known.markers if known else (), key=len, reverse=True)
    found = re.findall("|".join([*map(re.escape, markers), r"\w+", r"[\s\S]"]), text)
    return tuple(found), frozenset(markers)


def result_of(reply: Reply) -> ParseResult:
    """A reply as the suite compares it."""
    calls = [ParsedToolCall(c.name, json.dumps(c.arguments, ensure_ascii=False)) for c in reply.tool_calls]
    return ParseResult(reply.text or None, reply.reasoning or None, tuple(calls))


class OutspokenAdapter(Adapter):
    """Replays fixtures through `Parser.parse` and `Parser.stream`; for its methods see `Adapter`."""

    name: ClassVar[str] = "outspoken"
    pinned_version: ClassVar[str] = outspoken.__version__
    #: the format that texts are read in; "" for that of the model
    format: ClassVar[str] = ""

    def version(self) -> str:
        return outspoken.__version__

    def supports(self, family: str, model: str) -> Support:
        return Support(bool(format_of(model)), None if format_of(model) else f"no format for {model}")

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        return {"format": self.format or format_of(raw.model), **self._request(raw)}

    def units(self, raw: ReplayInput) -> list[int]:
        return list(range(len(pieces_of(raw.text, raw.family)[0])))

    def special_token_ids(self, raw: ReplayInput) -> Collection[int]:
        pieces, markers = pieces_of(raw.text, raw.family)
        return {number for number, piece in enumerate(pieces) if piece in markers}

    def parse(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> ParseResult:
        return result_of(self._parser(raw, tools).parse(raw.text, **self._request(raw)))

    def parse_stream(self, raw: ReplayInput, chunks: Sequence[Sequence[int]], tools: Sequence[ToolSpec]) -> ParseResult:
        pieces, _ = pieces_of(raw.text, raw.family)
        texts = ["".join([pieces[number] for number in chunk]) for chunk in chunks]
        stream = self._parser(raw, tools).stream(texts, **self._request(raw))
        deque(stream, maxlen=0)
        return result_of(stream.reply)

    def _parser(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> Parser:
        return Parser(self.format or format_of(raw.model), tools=list(tools) or None)

    @staticmethod
    def _request(raw: ReplayInput) -> dict[str, Any]:
        return {"prefix": raw.generation_prompt, "finish_reason": "length" if raw.truncated else "stop"}


class DetectingAdapter(OutspokenAdapter):
    """Reads every text with the format "auto"."""

    name: ClassVar[str] = "outspoken-auto"
    format: ClassVar[str] = "auto"


class ModelAdapter(OutspokenAdapter):
    """Knows of a text no more than the id of the model, and whether it was to think: no format, and no prompt."""

    name: ClassVar[str] = "outspoken-model"

    def _parser(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> Parser:
        return Parser.for_model(raw.model, thinking=raw.thinking, tools=list(tools) or None)

    @staticmethod
    def _request(raw: ReplayInput) -> dict[str, Any]:
        return {"finish_reason": "length" if raw.truncated else "stop"}
