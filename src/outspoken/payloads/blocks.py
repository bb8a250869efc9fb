"""The content of a response as one text: the text blocks of an API, joined with nothing between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def joined(content: str | Iterable[str | Mapping[str, Any]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text, and the span of each text block in it; none for a text. Blocks that are not of text are left out."""
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for block in content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str):
            texts.append(text)
            spans.append((at, at + len(text)))
            at += len(text)
    return "".join(texts), tuple(spans)
