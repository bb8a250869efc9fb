"""Draws the rules of a format as a railroad diagram: one SVG with a track for each rule."""

from __future__ import annotations

from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS, short
from outspoken.results.snippet import visible

from .syntax import NOTHING, Expression, Marker, Syntax

railroad: Any = import_module("railroad")

#: Wider tracks go on in a new line, longer texts end in `…`; in pixels and characters.
_WIDTH, _LONGEST = 940, 56
_COLUMN, _MARGIN, _HEAD, _GAP = 8.5, 24, 34, 26

#: What rules and terminals are about, by name; other rules are structure, other terminals markers.
_ABOUT = {
    **dict.fromkeys(("TEXT", "CODE", "code", "content"), "text"),
    **dict.fromkeys(("REASONING", "think"), "reasoning"),
    **dict.fromkeys(("tool_call", "call_id", "tool_name", "arguments", "argument", "id"), "call"),
    **dict.fromkeys(("TOOL_NAME", "ARG_NAME", "ARG_VALUE", "CALL_ID", "CALL_INDEX"), "call"),
    **dict.fromkeys(("action", "ACTION_NAME"), "action"),
    **dict.fromkeys(("payload", "PAYLOAD_NAME"), "payload"),
    **dict.fromkeys((*EMBEDDED_VALUES, "json", "envelope"), "json"),
}

_STYLE = Path(__file__).with_name("diagram.css").read_text("utf-8") + "".join(
    f".{about} rect {{ stroke: var(--{about}); }}\n.{about} text, .head.{about} {{ fill: var(--{about}); }}\n"
    for about in ("reasoning", "call", "action", "payload", "json")
)


def draw(name: str, title: str, syntax: Syntax) -> str:
    """The SVG of a format, the same for the same grammar on every machine."""
    parts: list[str] = []
    y, width = float(_MARGIN), 0.0
    for rule, expression in syntax.rules.items():
        if rule in syntax.damaged and not any(part.startswith('<text class="part"') for part in parts):
            parts.append(f'<text class="part" x="{_MARGIN}" y="{y + 16:g}">Only where a response is damaged</text>\n')
            y += _HEAD
        parts.append(_heading(rule, expression, syntax, y))
        inside = expression.parts[0] if expression.kind == "meant" else expression
        track = railroad.Diagram(_item(inside, syntax)).format(8, _MARGIN, 0, _MARGIN)
        parts.append(f'<g transform="translate(0 {y + _HEAD - 10:g})">{_svg(track.children)}</g>\n')
        y += _HEAD + float(track.attrs["height"]) + _GAP
        width = max(width, float(track.attrs["width"]))
    said = "\n".join(f"{syntax.labels[rule]} = {notation(e, syntax)}" for rule, e in syntax.rules.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title said"'
        f' width="{width:g}" height="{y:g}" viewBox="0 0 {width:g} {y:g}">\n'
        f'<title id="title">{escape(f"{title}: the syntax of {name}")}</title>\n<desc id="said">{escape(said)}</desc>\n'
        f'<style>\n{_STYLE}</style>\n<rect class="paper" width="100%" height="100%" />\n{"".join(parts)}</svg>\n'
    )


def notation(expression: Expression, syntax: Syntax) -> str:
    """An expression on one line: `[a]` may be left out, of `{a}` are none or more, of `{a / ","}+` one or more."""
    if expression.kind == "use":
        return syntax.labels.get(expression.name) or _shown(syntax.terminals[expression.name])
    parts = [notation(part, syntax) for part in expression.parts if part != NOTHING]
    if expression.kind == "sequence":
        loose = [part.kind == "choice" and NOTHING not in part.parts for part in expression.parts]
        return " ".join([f"({said})" if is_loose else said for said, is_loose in zip(parts, loose, strict=True)])
    if expression.kind == "choice":
        return f"[{' | '.join(parts)}]" if NOTHING in expression.parts else " | ".join(parts)
    if expression.kind == "meant":
        return f"{parts[0]} -> {expression.name}"
    return f"{{{' / '.join(parts)}}}{expression.name}"


def _shown(marker: Marker) -> str:
    """A terminal on one line: as it is written, else by its name where that means something, else as it is read."""
    if marker.name in FREE_TEXT | EMBEDDED_VALUES | TOKENS:
        return marker.name
    return f'"{visible(marker.written)}"' if marker.written else " | ".join(marker.read)


def _heading(rule: str, expression: Expression, syntax: Syntax, y: float) -> str:
    meaning = expression.name if expression.kind == "meant" else ""
    label = escape(syntax.labels[rule])
    about = _ABOUT.get(meaning or short(rule), "")
    becomes = f'<tspan class="meaning" dx="8">→ {escape(meaning)}</tspan>' if meaning else ""
    return f'<text class="head {about}" id="{_place(label)}" x="{_MARGIN}" y="{y + 16:g}">{label}{becomes}</text>\n'


def _place(label: str) -> str:
    """The id of a rule's heading."""
    return "rule-" + "-".join(label.replace("(", "").replace(")", "").split())


# From expressions to what is drawn


def _item(expression: Expression, syntax: Syntax) -> Any:
    if expression.kind == "use":
        return _use(expression.name, syntax)
    parts = [_item(part, syntax) for part in expression.parts if part != NOTHING]
    if expression.kind == "sequence":
        return _lines(parts)
    if expression.kind == "repeat":
        loop = railroad.OneOrMore(*parts)
        return loop if expression.name else railroad.Optional(loop)
    if expression.kind == "meant":
        return railroad.Group(parts[0], f"→ {expression.name}")
    chosen = parts[0] if len(parts) == 1 else railroad.Choice(0, *parts)
    return railroad.Optional(chosen) if NOTHING in expression.parts else chosen


def _lines(items: list[Any]) -> Any:
    """Items in a row, or in several rows where one would be too wide."""
    rows: list[list[Any]] = [[]]
    for item in items:
        if rows[-1] and sum(other.width + 20 for other in [*rows[-1], item]) > _WIDTH:
            rows.append([])
        rows[-1].append(item)
    sequences = [railroad.Sequence(*row) if len(row) != 1 else row[0] for row in rows if row]
    return railroad.Skip() if not sequences else sequences[0] if len(sequences) == 1 else railroad.Stack(*sequences)


def _use(name: str, syntax: Syntax) -> Any:
    if name in syntax.labels:
        label = syntax.labels[name]
        return _box(label, f"rule {_ABOUT.get(short(name), '')}", href=f"#{_place(label)}")
    marker = syntax.terminals[name]
    title = "\n".join([marker.name, *[f"reads {read}" for read in marker.read]])
    if marker.name in FREE_TEXT | EMBEDDED_VALUES | TOKENS:
        return _box(marker.name, f"free {_ABOUT[marker.name]}", title)
    if marker.written:
        return _box(_visible(marker.written), "marker", title)
    return _box(" | ".join(marker.read), "pattern", title)


def _visible(text: str) -> str:
    """Text with signs for line breaks, and for the spaces that would not be seen."""
    inner = text.strip(" ")
    before, after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    return visible(("␣" * before + inner + "␣" * after if inner else "␣" * len(text)).replace("\n", "⏎"))


class _Link(railroad.NonTerminal):
    """The box of a rule; its text leads there. The library would write the text twice."""

    def format(self, x: float, y: float, width: float) -> _Link:
        """Draw the box with lines up to it on both sides."""
        link, self.href = self.href, None
        railroad.NonTerminal.format(self, x, y, width)
        self.children[-1:] = [railroad.DiagramItem("a", {"href": link}, self.children[-1])]
        return self


def _box(text: str, kind: str, title: str | None = None, href: str | None = None) -> Any:
    """A text in a box that is as wide as its characters. The boxes of rules have square corners."""
    shown = text if cell_len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    box = (_Link if href else railroad.Terminal)(shown, href, title, f"box {kind}".strip())
    box.width = cell_len(shown) * _COLUMN + 20
    return box


def _svg(items: list[Any]) -> str:
    written: list[str] = []
    for item in items:
        item.writeSvg(written.append)
    return "".join(written).replace("]]>", "]]&gt;")  # which XML forbids in text, and the library leaves as it is
