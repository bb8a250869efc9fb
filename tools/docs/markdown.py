"""Pieces of Markdown, escaped so that a reader sees every character."""

from __future__ import annotations

import re
from collections.abc import Iterable

from outspoken.results.snippet import visible

_RUN = re.compile(r"`+")


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\*`\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def code(text: str) -> str:
    """A code span; what cannot be seen in it is an escape, and it may hold backticks."""
    shown = visible(text)
    ticks = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def codes(texts: Iterable[str], empty: str = "") -> str:
    """Code spans, separated by commas."""
    return ", ".join([code(text) for text in texts]) or empty


def fence(text: str, language: str = "text") -> str:
    """A fenced block; the fence is longer than those in the text."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown; their bars are escaped, also in code spans."""
    names = list(head)
    lines = [_row(names), "|" + "---|" * len(names), *[_row(row) for row in rows]]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join([cell.replace('|', chr(92) + '|') for cell in cells])} |"


def _longest(text: str) -> int:
    """The length of the longest run of backticks."""
    return max([len(run) for run in _RUN.findall(text)], default=0)
