"""Writes a response as one HTML page that loads nothing.

The page holds the data as JSON, which its script draws as nodes and text; nothing of a response is ever read as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from outspoken.results.diagnostics import Repair

from .configurations import ConfigView
from .model import Moment, ResponseView, StepView
from .tree import Node

#: A page of `show --html` shows at most this many characters.
MOST = 200_000

_HERE = Path(__file__).parent
#: The scripts of what is shown, in the order in which they need each other.
VIEW = ("common", "text", "stream", "panels")
#: What may not stand in a script, whatever its type: it could end it.
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def page(view: ResponseView, **more: Any) -> str:
    """The page of a response, as HTML. All but ASCII is escaped in its data.

    `more` goes into the data beside what is shown: `given` is what was asked for, `constraint` and `rendered` map
    choices to answers.
    """
    return document({**view_data(view), **more}, view.headline, script=own_file("page.js"))


def own_file(name: str) -> str:
    """A file of this folder: a part of the page."""
    return (_HERE / name).read_text("utf-8")


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


def view_data(view: ResponseView) -> dict[str, Any]:
    """What the script of a page draws, as JSON can hold it."""
    return {
        "source": view.source,
        "format": view.reply.format or "none",
        "status": view.reply.status,
        "raw": view.raw,
        "length": len(view.raw),
        "astral": any(char > "\uffff" for char in view.raw),
        "pieces": list(pieces(view)),
        "tokens": [_token(token, view) for token in view.tokens],
        "tree": _tree(view.tree),
        "segments": [vars(segment) for segment in view.segments],
        "configs": [_config(config) for config in view.configs],
        "moments": [_moment(moment) for moment in view.moments],
        "events": view.events,
        "deltas": view.deltas,
        "edits": [[*repair.span, repair.after, repair.code] for repair in drawn_repairs(view)],
        "refused": sorted({step.start for step in view.steps if step.kind == "refused"}),
        "refusals": view.refusals,
        "repairs": view.repairs,
        "diagnostics": view.diagnostics,
        "difference": view.difference,
    }


def _token(token: StepView, view: ResponseView) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": token.name,
        "kind": token.kind,
        "start": token.start,
        "end": token.end,
        "mark": token.mark,
        "config": token.config,
        "target": token.target,
        "operations": token.operations,
        "repairs": token.repairs,
        "rules": view.rules.get(token.number, ()),
    }
    if token.start < 0:
        found["text"] = token.text
    if token.mark == "missing":
        found["missing"] = token.written
    return found


def _config(config: ConfigView) -> dict[str, Any]:
    expected = [f"{e.name} {e.spelled}".strip() for e in config.expected]
    return {
        "name": config.name,
        "inside": config.inside,
        "free": config.free,
        "expected": expected,
        "mayEnd": config.may_end,
    }


def _moment(moment: Moment) -> list[Any]:
    one = len(moment.places) == 1 and not moment.places[0][0]
    return [moment.arrived, moment.held, moment.events, moment.places[0][1] if one else moment.places]


def _tree(nodes: list[Node | int]) -> list[Any]:
    return [n if isinstance(n, int) else [n.name, n.complete, n.is_meaningful, _tree(n.children)] for n in nodes]


def drawn_repairs(view: ResponseView) -> list[Repair]:
    """The repairs that are drawn in the text, in its order; a missing marker is a token without text."""
    size = len(view.raw)
    inside = [r for r in view.reply.repairs if r.code != "missing-marker" and 0 <= r.span[0] <= r.span[1] <= size]
    return sorted(inside, key=lambda repair: repair.span)


def pieces(view: ResponseView) -> Iterator[tuple[int, int, int, int, int]]:
    """The text cut where a token, a segment or a repair begins or ends, or the grammar refused it.

    Each piece is its span, and the numbers of its token, of its segment and of its repair, -1 for none. What has no
    text but says something is a piece without text: a token whose marker is missing, what a repair inserts.
    """
    size, edits = len(view.raw), [repair.span for repair in drawn_repairs(view)]
    tokens = [t for t in view.tokens if t.end >= 0 and (t.end > max(t.start, 0) or t.mark == "missing")]
    edges = {0, size, *[e for s in (*tokens, *view.segments) for e in (s.start, s.end)], *[e for s in edits for e in s]}
    edges |= {step.start for step in view.steps if step.kind == "refused"}
    marks = sorted(edge for edge in edges if 0 <= edge <= size)
    token = segment = edit = 0
    for start, end in zip(marks, [*marks[1:], size], strict=True):
        while token < len(tokens) and tokens[token].end <= start:
            if tokens[token].start == tokens[token].end == start:
                yield start, start, tokens[token].number, -1, -1
            token += 1
        while segment < len(view.segments) and view.segments[segment].end <= start:
            segment += 1
        own = tokens[token].number if token < len(tokens) and tokens[token].start <= start else -1
        within = segment if segment < len(view.segments) and view.segments[segment].start <= start else -1
        while edit < len(edits) and edits[edit][1] <= start:
            if edits[edit] == (start, start):
                yield start, start, own, within, edit
            edit += 1
        if end > start:
            yield start, end, own, within, edit if edit < len(edits) and edits[edit][0] <= start else -1
