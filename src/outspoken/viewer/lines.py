"""Replies, candidates and views of responses as lines for people, and the rows of tables.

The style of a line is the kind of what it shows (`text`, `tool_call`, `markup`), or empty. Control characters are shown
as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outspoken.results.printing import one_line, several_lines
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
from outspoken.results.snippet import visible

if TYPE_CHECKING:
    from outspoken.parsing.inspection import Candidate

    from .steps import ViewStep
    from .view import Node, View

#: A style and a text.
Line = tuple[str, str]
#: The styles of tokens: of what they are, and of free text.
_STYLES = {"marker": "markup", "value": "tool_call", "none": "error", "TEXT": "text", "REASONING": "reasoning"}


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines, with the first column aligned to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [zip(row, widths, strict=True) for row in rows]
    return ["  ".join([f"{c:>{w}}" if n else f"{c:<{w}}" for n, (c, w) in enumerate(row)]) for row in cells]


def summary(reply: Reply) -> Iterator[Line]:
    """Show a reply: format and status, segments with their values, and diagnostics."""
    yield from _head(reply, "")
    yield from _segments(reply)
    yield from _frames([diagnostic.frame() for diagnostic in reply.diagnostics])


def _segments(reply: Reply) -> Iterator[Line]:
    for segment in reply.segments:
        yield "", ""
        yield segment.kind, segment_title(segment)
        yield from _block(segment.kind, segment_value(segment), "  ")


def explanation(reply: Reply, candidates: list[Candidate], *, named: bool) -> Iterator[Line]:
    """Show a response part by part, the formats that match it, and the diagnostics."""
    yield from _head(reply, "" if not reply.format else "as requested" if named else "detected")
    yield from _candidates(candidates)
    for kind, title, raw in _parts(reply):
        yield "", ""
        yield kind, title
        if raw.strip():
            yield from _block(kind, raw, "  | ")
    yield from _frames([diagnostic.frame() for diagnostic in reply.diagnostics])


def tree_view(view: View) -> Iterator[Line]:
    """Show a response as a tree of rules and tokens, with their offsets."""
    yield from _head(view.reply, "" if not view.reply.format else "as requested" if view.is_named else "detected")
    yield from _tree(view)
    yield from _frames(view.refusals)
    yield from _frames(view.diagnostics)


def tree_as_json(view: View) -> dict[str, Any]:
    """The tree as JSON: rules have `rule`, `span` and `children`, tokens `token`, `span` and `text`."""

    def shown(node: Node | int) -> dict[str, Any]:
        if isinstance(node, int):
            token = view.tokens[node]
            text = view.text.slice(token.start, token.end)
            return {"token": token.name, "span": [token.start, token.end], "text": text}
        return {"rule": node.name, "span": list(view.span(node)), "children": [*map(shown, node.children)]}

    return {"rule": "start", "span": [0, len(view.raw)], "children": [*map(shown, view.tree)]}


def full_view(view: View, *, stream: bool = False, trace: bool = False) -> Iterator[Line]:
    """Show how a response is read; with `stream` the pieces and what came of each, with `trace` every step."""
    yield "head", view.headline
    yield from _frames(view.refusals)
    if view.openers:
        yield "", "\nno opening marker of the format stands in the text; these open something:"
        yield from [("", f"  {expected}") for expected in view.openers]
    yield from _tree(view)
    yield from _segments(view.reply)
    if view.repairs:
        yield from [("head", "\nrepairs"), *[("", f"  {repair}") for repair in view.repairs]]
    yield from _frames(view.diagnostics)
    yield from _stream(view) if stream else ()
    yield from _trace(view) if trace else ()
    if view.difference:
        yield "error", "\nthe stream gives another reply than the whole text"
        yield from [("", line) for line in view.difference]
    elif stream:
        yield "", "\nthe reply is the one of the whole text"


def _tree(view: View) -> Iterator[Line]:
    yield from [("", ""), ("head", f"start 0-{len(view.raw)}")]
    yield from _branches(view, view.tree, "  ")


def _branches(view: View, nodes: list[Node | int], margin: str) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, int):
            token = view.tokens[node]
            repairs = f", {', '.join(view.text.repairs(token))}" if token.edits else ""
            yield _style(token), visible(f"{margin}{_token(view, token)}{repairs}")
            continue
        start, end = view.span(node)
        flag = "" if node.complete else " (not completed)"
        yield node.name, f"{margin}{node.name}{flag} {start}-{end}"
        yield from _branches(view, node.children, f"{margin}  ")


def _token(view: View, token: ViewStep) -> str:
    return f"{token.name} {token.start}-{token.end} {one_line(view.text.slice(token.start, token.end))}".lstrip()


def _style(token: ViewStep) -> str:
    short = token.transition.terminal.short if token.transition else ""
    return _STYLES.get(short) or _STYLES.get(token.kind, "")


def _stream(view: View) -> Iterator[Line]:
    """Show each piece, the events that came of it, and what is held back."""
    yield "head", f"\nstream, {view.size} at a time"
    width = len(str(len(view.raw)))
    for before, after in zip(view.moments, view.moments[1:], strict=False):
        piece = "(the end)" if after is view.moments[-1] else one_line(view.raw[before.arrived : after.arrived])
        held = one_line(view.raw[after.held_from : after.arrived])
        yield "markup", f"{after.arrived:>{width}} {piece}" + (f", held back: {held}" if held != "''" else "")
        for event in view.events[before.events : after.events]:
            yield "", f"{'':>{width}}   {one_line(event)}"


def _trace(view: View) -> Iterator[Line]:
    """Show every step: the configuration, the token or what happened, where it leads, what it does."""
    yield "head", "\ntrace"
    number = view.configs.number
    for step in view.steps:
        if not step.is_token:
            yield "head", f"c{number(step.config)} {step.start}-{step.end} {step.kind}: {step.name}"
        elif step.end > step.start or step.mark or step.operations:
            flag = "(withdrawn) " if step.withdrawn else ""
            target = f" → c{number(step.target)}" if step.target else ""
            does = ", ".join([*step.operations, *view.text.repairs(step)])
            style = "markup" if step.withdrawn else _style(step)
            yield style, visible(f"c{number(step.config)} {flag}{_token(view, step)}{target} {does}".rstrip())
    yield "head", "\nconfigurations: what each accepts"
    for config in view.configs.views:
        yield "", f"{config.name} {config}"


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


def _frames(frames: list[str]) -> Iterator[Line]:
    """Draw diagnostics, each in the colour of its severity."""
    for frame in frames:
        yield "", ""
        for line in frame.split("\n"):
            yield frame.partition("[")[0], line


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
