"""Draws the rules of a format as a railroad diagram: one SVG with a track for each rule."""

from __future__ import annotations

from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS, short
from outspoken.results.snippet import visible

from .syntax import Syntax, made_of

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
    for rule, tree in syntax.rules.items():
        about = _ABOUT.get(rule.partition(" ")[0], "")
        place = f'id="{_place(rule)}" x="{_MARGIN}" y="{y + 16:g}"'
        parts.append(f'<text class="head {about}" {place}>{escape(rule)}</text>\n')
        drawn = made_of(tree, _Tracks(syntax), syntax.path)
        track = railroad.Diagram(drawn).format(8, _MARGIN, 0, _MARGIN)
        parts.append(f'<g transform="translate(0 {y + _HEAD - 10:g})">{_svg(track.children)}</g>\n')
        y += _HEAD + float(track.attrs["height"]) + _GAP
        width = max(width, float(track.attrs["width"]))
    said = "\n".join([f"{rule} = {syntax.text(rule)}" for rule in syntax.rules])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title said"'
        f' width="{width:g}" height="{y:g}" viewBox="0 0 {width:g} {y:g}">\n'
        f'<title id="title">{escape(f"{title}: the syntax of {name}")}</title>\n<desc id="said">{escape(said)}</desc>\n'
        f'<style>\n{_STYLE}</style>\n<rect class="paper" width="100%" height="100%" />\n{"".join(parts)}</svg>\n'
    )


def _place(label: str) -> str:
    """The id of a rule's heading."""
    return "rule-" + "-".join(label.replace("(", "").replace(")", "").split())


class _Tracks:
    """Draws the parts of a rule."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax

    def use(self, name: str) -> Any:
        """The box of a rule, which leads to it, or of a terminal."""
        if (label := self._syntax.labels.get(name)) is not None:
            return _box(label, f"rule {_ABOUT.get(short(name), '')}", href=f"#{_place(label)}")
        marker = self._syntax.terminals[name]
        title = "\n".join([marker.name, *[f"reads {read}" for read in marker.read]])
        if marker.name in FREE_TEXT | EMBEDDED_VALUES | TOKENS:
            return _box(marker.name, f"free {_ABOUT[marker.name]}", title)
        return (
            _box(_visible(marker.written), "marker", title) if marker.written else _box(str(marker), "pattern", title)
        )

    def sequence(self, parts: list[Any]) -> Any:
        """Items in a row, or in several rows where one would be too wide."""
        rows: list[list[Any]] = [[]]
        for item in parts:
            if rows[-1] and sum(other.width + 20 for other in [*rows[-1], item]) > _WIDTH:
                rows.append([])
            rows[-1].append(item)
        sequences = [railroad.Sequence(*row) if len(row) != 1 else row[0] for row in rows if row]
        return railroad.Skip() if not sequences else sequences[0] if len(sequences) == 1 else railroad.Stack(*sequences)

    def choice(self, parts: list[Any], is_optional: bool) -> Any:
        """One of several tracks."""
        chosen = parts[0] if len(parts) == 1 else railroad.Choice(0, *parts)
        return railroad.Optional(chosen) if is_optional else chosen

    def repeat(self, part: Any, mark: str) -> Any:
        """A loop."""
        loop = railroad.OneOrMore(part)
        return loop if mark == "+" else railroad.Optional(loop)

    def meant(self, part: Any, name: str) -> Any:
        """A track in a frame with a name."""
        return railroad.Group(part, f"→ {name}")


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
