"""Writes what is shown of a response: as JSON, or as one HTML page that loads nothing.

The page holds the data as JSON, which its script draws as nodes and text; nothing of a response is ever read as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from outspoken.results.diagnostics import Repair
from outspoken.results.events import Event
from outspoken.results.printing import one_line, several_lines

from .lines import segment_title, segment_value
from .steps import ViewStep
from .view import Moment, Node, View

#: A page of `show --html` shows at most this many characters.
MOST = 200_000

_HERE = Path(__file__).parent
#: The scripts of what is shown, in the order in which they need each other.
VIEW = ("common", "text", "stream", "panels")
#: What may not stand in a script, whatever its type: it could end it.
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
#: How the events are told to the script, by their types: a letter, the field with the index, and what they add.
_DELTAS = {
    "text_delta": ("t", "", "text"), "reasoning_delta": ("r", "", "text"), "reasoning_end": ("R", "", ""),
    "tool_call_start": ("c", "index", "name"), "tool_call_delta": ("a", "index", "arguments"),
    "tool_call_end": ("e", "index", ""), "tool_call_unfinished": ("u", "index", "call.status"),
    "action_text": ("x", "index", "text"), "action_parsed": ("A", "action.order", "action"),
    "action_unfinished": ("A", "action.order", "action"), "payload_parsed": ("P", "", "payload"),
    "payload_unfinished": ("P", "", "payload"),
}  # fmt: skip


def page(view: View, **more: Any) -> str:
    """The page of a response, as HTML. All but ASCII is escaped in its data.

    `more` goes into the data beside what is shown: `given` is what was asked for, `constraint` and `rendered` map
    choices to answers.
    """
    return document({**view_data(view), **more}, view.headline, script=own_file("page.js"))


def own_file(name: str, folder: Path = _HERE) -> str:
    """A file of this folder, or of another one: a part of the page."""
    return (folder / name).read_text("utf-8")


def document(
    data: dict[str, Any],
    title: str,
    *,
    script: str,
    style: str = "",
    mode: str = "static",
    connect: str = "'none'",
    **parts: str,
) -> str:
    """A page with the view of a response, as HTML: `script` and `style` are added to those of the view.

    The page loads nothing. `connect` is whom its script may ask, as a content security policy says it. The other
    `parts` are HTML: `actions` beside the title, `input` beside the view, `keys` in the list of keys.
    """
    style = own_file("page.css") + style
    script = "\n".join([own_file(f"{name}.js") for name in VIEW] + [script])
    policy = {
        "default-src": "'none'",
        "style-src": f"'{_hash(style)}'",
        "script-src": f"'{_hash(script)}'",
        "connect-src": connect,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    filled = {
        "actions": "",
        "input": "",
        "keys": "",
        **parts,
        "mode": mode,
        "title": html.escape(title),
        "style": style,
        "script": script,
        "policy": "; ".join([f"{name} {value}" for name, value in policy.items()]),
        "data": json.dumps(data, separators=(",", ":")).translate(_UNSAFE),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: filled[m[1]], own_file("page.html"))


def _hash(text: str) -> str:
    """What a content security policy calls a script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def view_data(view: View) -> dict[str, Any]:
    """What the script of a page draws, as JSON can hold it. In the tree, a number is the index of a token."""
    segments = [(s.kind, segment_title(s), segment_value(s), *s.span) for s in view.reply.segments]
    return {
        "source": view.source,
        "format": view.reply.format or "none",
        "status": view.reply.status,
        "raw": view.raw,
        "length": len(view.raw),
        "astral": any(char > "\uffff" for char in view.raw),
        "pieces": list(pieces(view)),
        "tokens": [_token(token, number, view) for number, token in enumerate(view.tokens)],
        "tree": _tree(view.tree),
        "segments": [dict(zip(("kind", "title", "value", "start", "end"), s, strict=True)) for s in segments],
        "moments": [_moment(moment, view) for moment in view.moments],
        "configs": [asdict(config) for config in view.configs.views],
        "events": [one_line(event) for event in view.events],
        "deltas": [delta(event) for event in view.events],
        "edits": [[*repair.span, repair.after, repair.code] for repair in drawn_repairs(view)],
        "refused": sorted({step.start for step in view.steps if step.kind == "refused"}),
        "refusals": view.refusals,
        "repairs": view.repairs,
        "diagnostics": view.diagnostics,
        "difference": view.difference,
    }


def _token(token: ViewStep, number: int, view: View) -> dict[str, Any]:
    terminal = token.transition.terminal if token.transition else None
    fields: dict[str, Any] = {
        "name": terminal.short if terminal else "",
        "kind": token.kind,
        "start": token.start,
        "end": token.end,
        "mark": token.mark,
        "config": view.configs.number(token.config),
        "target": token.target and view.configs.number(token.target),
        "operations": token.operations,
        "repairs": view.text.repairs(token),
        "rules": view.rules.get(number, ()),
    }
    if token.start < 0:
        fields["text"] = view.text.slice(token.start, token.end)
    if token.mark == "missing" and terminal:
        fields["missing"] = terminal.canonical
    return fields


def _moment(moment: Moment, view: View) -> list[Any]:
    held = [[moment.held_from, moment.arrived]] if moment.held_from < moment.arrived else []
    places = [(name, view.configs.number(config)) for name, config in moment.places]
    one = len(places) == 1 and not places[0][0]
    return [moment.arrived, held, moment.events, places[0][1] if one else places]


def _tree(nodes: list[Node | int]) -> list[Any]:
    return [n if isinstance(n, int) else [n.name, n.complete, n.is_meaningful, _tree(n.children)] for n in nodes]


def delta(event: Event) -> str:
    """What an event adds to the reply: a letter for its kind, the index of what it belongs to, `:`, and a text.

    `t` text, `r` reasoning, `R` the end of it; `c` a call and its name, `a` more of its arguments, `e` its end, `u` its
    status if it is unfinished; `x` more of the text of an action, `A` an action, `P` a payload. "" adds nothing.
    """
    if event.type not in _DELTAS:
        return ""
    letter, index, value = _DELTAS[event.type]
    told: Any = attrgetter(value)(event) if value else ""
    shown = told if isinstance(told, str) else several_lines(told)
    return f"{letter}{attrgetter(index)(event) if index else ''}:{shown}"


def drawn_repairs(view: View) -> list[Repair]:
    """The repairs that are drawn in the text, in its order; a missing marker is a token without text."""
    size = len(view.raw)
    inside = [r for r in view.reply.repairs if r.code != "missing-marker" and 0 <= r.span[0] <= r.span[1] <= size]
    return sorted(inside, key=lambda repair: repair.span)


def pieces(view: View) -> Iterator[tuple[int, int, int, int, int]]:
    """The text cut where a token, a segment or a repair begins or ends, or the grammar refused it.

    Each piece is its span, and the numbers of its token, of its segment and of its repair, -1 for none. What has no
    text but says something is a piece without text: a token whose marker is missing, what a repair inserts.
    """
    size, edits = len(view.raw), [repair.span for repair in drawn_repairs(view)]
    tokens = [(t.start, t.end, n) for n, t in enumerate(view.tokens) if t.end >= 0]
    tokens = [(start, end, n) for start, end, n in tokens if end > max(start, 0) or view.tokens[n].mark == "missing"]
    segments = [segment.span for segment in view.reply.segments]
    edges = {0, size, *[edge for spanned in (*tokens, *segments, *edits) for edge in spanned[:2]]}
    edges |= {step.start for step in view.steps if step.kind == "refused"}
    marks = sorted(edge for edge in edges if 0 <= edge <= size)
    token = segment = edit = 0
    for start, end in zip(marks, [*marks[1:], size], strict=True):
        while token < len(tokens) and tokens[token][1] <= start:
            if tokens[token][:2] == (start, start):
                yield start, start, tokens[token][2], -1, -1
            token += 1
        while segment < len(segments) and segments[segment][1] <= start:
            segment += 1
        own = tokens[token][2] if token < len(tokens) and tokens[token][0] <= start else -1
        within = segment if segment < len(segments) and segments[segment][0] <= start else -1
        while edit < len(edits) and edits[edit][1] <= start:
            if edits[edit] == (start, start):
                yield start, start, own, within, edit
            edit += 1
        if end > start:
            yield start, end, own, within, edit if edit < len(edits) and edits[edit][0] <= start else -1
