"""Draws a response in a terminal, or as plain text if the output is not one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from outspoken.results.snippet import visible
from outspoken.terminal.outputs import COLORS, wants_color

from .model import Moment, ResponseView, StepView
from .tree import Node

#: From this width on, tokens, tree and segments stand side by side.
WIDE = 100
#: The width where the output is no terminal, and `COLUMNS` does not say it.
_PLAIN = 120
#: Of a token's text, this many characters are shown.
_TEXT = 60

_STYLES = {"marker": "dim", "free": COLORS["text"], "value": COLORS["tool_call"], "none": COLORS["error"]}


def draw(view: ResponseView, out: TextIO, *, stream: bool = False, trace: bool = False, color: str = "auto") -> None:
    """Write what is shown; with `stream` the pieces and what came of each, with `trace` every step.

    `color` is "always", "never", or "auto" for a terminal; see `outspoken.terminal.outputs.wants_color`.
    """
    width = None if out.isatty() else int(os.environ.get("COLUMNS") or _PLAIN)
    colored = wants_color(color, out)
    console = Console(
        file=out, width=width, highlight=False, markup=False, emoji=False, force_terminal=colored, no_color=not colored
    )
    with console.capture() as captured:
        for part in _parts(view, console.width, stream=stream, trace=trace):
            console.print(part, soft_wrap=isinstance(part, Text))
    drawn = captured.get()
    if not out.isatty():
        drawn = "".join([f"{line.rstrip()}\n" for line in drawn.splitlines()])
    out.write(drawn)


def _parts(view: ResponseView, width: int, *, stream: bool, trace: bool) -> Iterable[RenderableType]:
    yield Text(view.headline, "bold")
    yield from _frames(view.refusals)
    if not view.refusals and view.opens_nothing:
        yield Text("\nno opening marker of the format stands in the text; these open something:")
        yield Text("\n".join([f"  {expected}" for expected in view.openers]))
    columns = [("tokens", _tokens(view)), ("tree", _tree(view)), ("segments", _segments(view))]
    if width >= WIDE:
        yield ""
        yield _beside([Group(Text(title, "bold"), body) for title, body in columns])
    else:
        for title, body in columns:
            yield from (_head(title), body)
    if view.repairs:
        yield _head("repairs")
        yield from [Text(f"  {repair}") for repair in view.repairs]
    yield from _frames(view.diagnostics)
    if stream:
        yield from _stream(view)
    if trace:
        yield from _trace(view)
    yield from _difference(view, stream)


def _beside(columns: list[Group]) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0), expand=True)
    for ratio in (4, 3, 3):
        table.add_column(ratio=ratio)
    table.add_row(*columns)
    return table


def _head(title: str) -> Text:
    return Text(f"\n{title}", "bold")


def _frames(frames: list[str]) -> Iterable[Text]:
    for frame in frames:
        title, _, rest = f"\n{frame}".partition("[")
        style = COLORS.get(title.strip(), "")
        head, _, body = rest.partition("\n")
        yield Text.assemble((f"{title}[{head}", style), f"\n{body}")


def _grid(*justify: str) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for number, side in enumerate(justify):
        last = number == len(justify) - 1
        table.add_column(justify="right" if side == "right" else "left", no_wrap=not last, overflow="fold")
    return table


def _tokens(view: ResponseView) -> RenderableType:
    """The tokens: where each is, its terminal, its text."""
    table = _grid("right", "left", "left")
    for token in view.tokens:
        if token.text or token.mark:
            table.add_row(_span(token), Text(_name(token), _STYLES[token.kind]), Text(excerpt(token.text)))
    return table


def _span(step: StepView) -> Text:
    return Text(f"{step.start}-{step.end}", "dim")


def _name(step: StepView) -> str:
    return " ".join([part for part in (step.name, f"({step.mark})" if step.mark else "") if part])


def excerpt(text: str) -> str:
    """A text on one line, with escapes, and shortened in the middle where it is long."""
    view = visible(text)
    return view if len(view) <= _TEXT else f"{view[: _TEXT // 2]} … {view[-_TEXT // 3 :]}"


def _tree(view: ResponseView) -> Text:
    text = Text()
    _branch(text, view, view.tree, 0)
    text.rstrip()
    return text


def _branch(text: Text, view: ResponseView, nodes: list[Node | int], depth: int) -> None:
    """Add rules, and what is in them, to a text."""
    for node in nodes:
        text.append("  " * depth)
        if isinstance(node, int):
            token = view.tokens[node]
            text.append(f"{_name(token)}\n", _STYLES[token.kind])
            continue
        text.append(node.name, "bold" if node.is_meaningful else "")
        text.append("\n" if node.complete else " (not completed)\n", COLORS["error"])
        _branch(text, view, node.children, depth + 1)


def _segments(view: ResponseView) -> Group:
    found: list[RenderableType] = []
    for segment in view.segments:
        style = COLORS.get(segment.kind, "")
        found.append(Text(segment.title, style))
        value = "\n".join([visible(line) for line in segment.value.split("\n")])
        found.append(Padding(Text(value), (0, 0, 0, 2)))
    return Group(*(found or [Text("none", "dim")]))


# streams


def _stream(view: ResponseView) -> Iterable[RenderableType]:
    """Each piece, the events that came of it, and what is held back."""
    yield _head(f"stream, {view.size} at a time")
    table = _grid("right", "left", "left", "left")
    table.add_row("", Text("piece", "dim"), Text("events", "dim"), Text("held back", "dim"))
    for before, after in zip(view.moments, view.moments[1:], strict=False):
        ended = after is view.moments[-1]
        piece = "(the end)" if ended else excerpt(view.raw[before.arrived : after.arrived])
        events = "\n".join([excerpt(event) for event in view.events[before.events : after.events]])
        table.add_row(Text(str(after.arrived), "dim"), Text(piece), Text(events), Text(_held(view, after), "yellow"))
    yield table


def _held(view: ResponseView, moment: Moment) -> str:
    return " … ".join([excerpt(view.raw[start:end]) for start, end in moment.held])


def _difference(view: ResponseView, stream: bool) -> Iterable[RenderableType]:
    """Whether the reply is the one of the whole text."""
    if view.difference:
        yield Text("\nthe stream gives another reply than the whole text", COLORS["error"])
        yield Text("\n".join(view.difference))
    elif stream:
        yield Text("\nthe reply is the one of the whole text")


# the trace


def _trace(view: ResponseView) -> Iterable[RenderableType]:
    """Every step: the configuration, the terminal, the span, what it does, where it leads."""
    yield _head("trace")
    table = _grid("left", "right", "left", "left", "left", "left")
    for step in view.steps:
        if step.is_token and not (step.text or step.mark or step.operations):
            continue  # free text that is empty
        config = Text(view.configs[step.config].name, "dim")
        if not step.is_token:
            table.add_row(config, _span(step), Text(step.kind, "bold"), Text(step.name), "", "")
            continue
        style = "strike dim" if step.withdrawn else _STYLES[step.kind]
        name = f"{_name(step)} (withdrawn)" if step.withdrawn else _name(step)
        target = f"→ {view.configs[step.target].name}" if step.target is not None else ""
        does = ", ".join([*step.operations, *step.repairs])
        table.add_row(config, _span(step), Text(name, style), Text(excerpt(step.text)), Text(target), Text(does))
    yield table
    yield _head("configurations: what each accepts")
    table = _grid("left", "left")
    for config in view.configs:
        table.add_row(Text(config.name, "dim"), Text(str(config)))
    yield table
