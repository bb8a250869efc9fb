"""Replies and candidates as lines for people.

A line is a style and a text. The style is the kind of what the line shows (`text`, `tool_call`, `markup`) or empty.
Control characters are shown as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outspoken.results.printing import one_line, several_lines
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
from outspoken.results.snippet import visible

from .outputs import COLORS, Line

if TYPE_CHECKING:
    from lark import Token, Tree

    from outspoken.parsing.inspection import Candidate

#: The styles of terminals.
_STYLES = {"TEXT": "text", "REASONING": "reasoning"}


def summary(reply: Reply) -> Iterator[Line]:
    """Show a reply: format and status, segments with their values, and diagnostics."""
    yield from _head(reply, "")
    for segment in reply.segments:
        yield "", ""
        yield segment.kind, segment_title(segment)
        yield from _block(segment.kind, segment_value(segment), "  ")
    yield from _frames(reply)


def explanation(reply: Reply, candidates: list[Candidate], *, named: bool) -> Iterator[Line]:
    """Show a response part by part, the formats that match it, and the diagnostics."""
    yield from _head(reply, "" if not reply.format else "as requested" if named else "detected")
    yield from _candidates(candidates)
    for kind, title, raw in _parts(reply):
        yield "", ""
        yield kind, title
        if raw.strip():
            yield from _block(kind, raw, "  | ")
    yield from _frames(reply)


def tree_view(reply: Reply, tree: Tree[Token] | None, *, named: bool) -> Iterator[Line]:
    """Show a response as a tree of rules and tokens, with their offsets; None if the grammar refuses a part of it."""
    yield from _head(reply, "" if not reply.format else "as requested" if named else "detected")
    yield "", ""
    if tree is None:
        yield "error", "there is no tree: the grammar refuses a part of the text"
    else:
        yield from _branch(tree, "")
    yield from _frames(reply)


def _branch(tree: Tree[Token], margin: str) -> Iterator[Line]:
    name = str(tree.data)
    place = "" if tree.meta.empty else f" {tree.meta.start_pos}-{tree.meta.end_pos}"
    yield name if name in COLORS else "head", f"{margin}{name}{place}"
    for child in tree.children:
        if isinstance(child, str):
            style = _STYLES.get(child.type, "markup" if child.type.startswith("_") else "note")
            yield style, visible(f"{margin}  {child.type} {child.start_pos}-{child.end_pos} {one_line(str(child))}")
        else:
            yield from _branch(child, f"{margin}  ")


def _head(reply: Reply, why: str) -> Iterator[Line]:
    yield "head", f"format: {reply.format or 'none, all of it is plain text'}" + (f" ({why})" if why else "")
    yield "head", f"status: {reply.status}"
    if reply.needs_more_work is not None:
        yield "head", f"needs more work: {'yes' if reply.needs_more_work else 'no'}"


def _candidates(candidates: list[Candidate]) -> Iterator[Line]:
    """Show how each format reads the response, best first."""
    if not candidates:
        yield "head", "candidates: none; every format reads it as plain text"
        return
    yield "head", "candidates:"
    width = max(len(c.format) for c in candidates)
    for number, c in enumerate(candidates, 1):
        calls = f", calls {', '.join(c.calls)}" if c.calls else ""
        unknown = "" if c.known else " (not a given tool)"
        line = f"  {number}. {c.format:<{width}}  {c.status}, claims {c.covered:.0%} of the text{calls}{unknown}"
        yield "", visible(line)


def segment_title(segment: Segment) -> str:
    """Return the kind, the place and the name of a segment."""
    status = getattr(segment, "status", "ok")
    start, end = segment.span
    title = f"{segment.kind.replace('_', ' ')} {start}-{end}"
    if isinstance(segment, ToolCall):
        title += f": {segment.name}" + (f" (id {segment.id})" if segment.id is not None else "")
    elif isinstance(segment, Payload):
        title += f": {segment.type}"
    elif segment.kind == "action":
        title += f": {segment.name}"
    return visible(title + ("" if status == "ok" else f", {status}"))


def segment_value(segment: Segment) -> str:
    """Return the text of a segment, or its `repr`."""
    if isinstance(segment, (Text, Reasoning)):
        return segment.text
    return segment.raw if isinstance(segment, JsonValue) else several_lines(segment)


def _parts(reply: Reply) -> Iterator[tuple[str, str, str]]:
    """Split the raw text into segments and the markup around them, each as (kind, title, text)."""
    at = 0
    for segment in reply.segments:
        start, end = segment.span
        if start > at:
            yield _markup(reply.raw, at, start)
        yield segment.kind, segment_title(segment), reply.raw[max(start, at) : end]
        at = max(at, end)
    if at < len(reply.raw):
        yield _markup(reply.raw, at, len(reply.raw))


def _markup(raw: str, start: int, end: int) -> tuple[str, str, str]:
    text = raw[start:end]
    return "markup", f"{'markup' if text.strip() else 'white space'} {start}-{end}", text


def _block(style: str, text: str, margin: str) -> Iterator[Line]:
    for line in text.split("\n"):
        yield style, f"{margin}{visible(line)}".rstrip()


def _frames(reply: Reply) -> Iterator[Line]:
    for diagnostic in reply.diagnostics:
        yield "", ""
        for line in diagnostic.frame().split("\n"):
            yield diagnostic.severity, line
