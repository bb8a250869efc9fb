"""Diagnostics drawn as code snippets: lines of the text with carets under the span.

`locate` runs when a diagnostic is created and keeps the few characters that `draw` needs later. The output is plain
text without colours; invisible characters are shown as escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .diagnostics import Diagnostic

#: The most lines of a text that are kept and drawn: the text may be private.
_LINES = 3
#: The most columns of a line that are drawn.
_COLUMNS = 96
#: The most characters that are kept before the start of the span, and from it on.
_BEFORE, _AFTER = _COLUMNS, 200 - _COLUMNS
_CUT = "..."


def locate(raw: str, span: tuple[int, int], known: tuple[int, int] = (0, 1)) -> tuple[int, int, str, int]:
    """The line and column (from 1) where a span starts, an excerpt of the text, and the offset of the excerpt.

    The excerpt is the lines that the span touches, at most three of them and at most 200 characters. A span that
    exceeds the text is clipped. `known` is an offset and its line number; lines are counted from there if it lies
    before the span.
    """
    start = min(max(span[0], 0), len(raw))
    last = max(start, min(span[1], len(raw)) - 1)
    line_start = raw.rfind("\n", 0, start) + 1
    offset, number = known if known[0] <= line_start else (0, 1)
    line = number + raw.count("\n", offset, line_start)
    first = max(line_start, start - _BEFORE)
    window = raw[first : start + _AFTER]
    touched = window.count("\n", start - first, last - first) + 1
    excerpt = "\n".join(window.split("\n")[: min(touched, _LINES)])
    end = first + len(excerpt)
    if excerpt.endswith("\r") and raw.startswith("\n", end):
        excerpt = excerpt[:-1]
    return line, start - line_start + 1, excerpt, first


def draw(diagnostic: Diagnostic) -> str:
    """The snippet as lines of plain text, without a final line break."""
    start, end = diagnostic.span
    lines, cut = _lines(diagnostic)
    lead = max(0, start - diagnostic.excerpt_start)
    shown = _window(
        lines[0], lead, end - diagnostic.excerpt_start, diagnostic.column - 1 > lead, cut and len(lines) == 1
    )
    label = diagnostic.label
    if len(lines) > 1 or shown.goes_on:
        label = f"{label} (to offset {end})"
    margin = " " * len(str(diagnostic.line + len(lines) - 1))
    rows = [
        f"{diagnostic.severity}[{diagnostic.code}]: {visible(diagnostic.message)}",
        f"{margin} --> {diagnostic.format or 'text'}:{diagnostic.line}:{diagnostic.column} (offset {start})",
        f" {margin} |",
        f" {diagnostic.line:>{len(margin)}} | {shown.text}",
        f" {margin} | {shown.carets} {visible(label.strip())}",
    ]
    for number, line in enumerate(lines[1:], diagnostic.line + 1):
        whole = number < diagnostic.line + len(lines) - 1 or not cut
        rows.append(f" {number:>{len(margin)}} | {_window(line, 0, 0, False, not whole).text}")
    if diagnostic.notes or diagnostic.helps:
        rows.append(f" {margin} |")
    rows += [f" {margin} = note: {visible(note)}" for note in diagnostic.notes]
    rows += [f" {margin} = help: {visible(help_)}" for help_ in diagnostic.helps]
    return "\n".join(row.rstrip() for row in rows)


def _lines(diagnostic: Diagnostic) -> tuple[list[str], bool]:
    """The lines to draw, and whether the last one is cut.

    An excerpt of maximal length may end at a line end by chance; dropping its last character makes it cut for certain.
    """
    cut = len(diagnostic.excerpt) - (diagnostic.span[0] - diagnostic.excerpt_start) >= _AFTER
    lines = [line.removesuffix("\r") for line in diagnostic.excerpt.split("\n")][:_LINES]
    if cut:
        lines[-1] = lines[-1][:-1]
    return lines, cut


class _Window(NamedTuple):
    """The part of a line that is drawn, its row of carets, and whether the span continues after it."""

    text: str
    carets: str
    goes_on: bool


def _window(line: str, start: int, end: int, more_left: bool, more_right: bool) -> _Window:
    """Cut a line so that the start of the span is visible, and as much of the span as fits.

    `more_left` and `more_right` tell whether the line is a part of a longer one.
    """
    cells = [visible(char) for char in line]
    widths = [_columns(cell) for cell in cells]
    start = min(start, len(cells))
    stop = min(max(start, end), len(cells))
    left, right = _edges(widths, start, stop)
    more_left = more_left or left > 0
    more_right = more_right or right < len(cells)
    goes_on = end > right and more_right
    text = _CUT * more_left + "".join(cells[left:right]) + _CUT * more_right
    indent = len(_CUT) * more_left + sum(widths[left:start])
    carets = max(1, sum(widths[start : min(stop, right)]) + len(_CUT) * goes_on)
    return _Window(text, " " * indent + "^" * carets, goes_on)


def _edges(widths: list[int], start: int, stop: int) -> tuple[int, int]:
    """The range of cells to draw for a span from `start` to `stop`.

    If the line must be cut on the left, two thirds of the columns that the span leaves free show the text before it.
    """
    left, right = 0, len(widths)
    if sum(widths[:stop]) > _COLUMNS:
        room = (_COLUMNS - min(sum(widths[start:stop]), _COLUMNS * 2 // 3)) * 2 // 3
        left = start
        while left and sum(widths[left - 1 : start]) <= room:
            left -= 1
    while sum(widths[left:right]) > _COLUMNS:
        right -= 1
    return left, right


def visible(text: str) -> str:
    """The text with escapes for control characters, format characters and unusual spaces."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _columns(text: str) -> int:
    """The width of printable text in terminal columns."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # only for what is drawn

    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in text)
