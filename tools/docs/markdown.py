"""Pieces of Markdown, escaped so that a reader sees every character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from outspoken.results.snippet import visible


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\*`\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def code(text: str) -> str:
    """A code span; what cannot be seen in it is an escape, and it may hold backticks."""
    shown = visible(text)
    ticks = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def codes(texts: Iterable[str]) -> str:
    """Code spans, separated by commas."""
    return ", ".join([code(text) for text in texts])


def fence(text: str) -> str:
    """A fenced block of text; the fence is longer than those in it."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}text\n{text}\n{ticks}"


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown; their bars are escaped, also in code spans."""
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([shown[0], "|" + "---|" * len(head), *shown[1:]])


def _longest(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
