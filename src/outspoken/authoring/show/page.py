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

from .configurations import ConfigView
from .model import Moment, ResponseView, StepView
from .tree import Node

#: A page shows at most this many characters.
MOST = 200_000

_HERE = Path(__file__).parent
#: What may not stand in a script, whatever its type: it could end it.
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def page(view: ResponseView) -> str:
    """The page, as HTML. All but ASCII is escaped in its data."""
    template, style, script = [(_HERE / f"page.{end}").read_text("utf-8") for end in ("html", "css", "js")]
    parts = {
        "title": html.escape(view.headline),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": json.dumps(_data(view), separators=(",", ":")).translate(_UNSAFE),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], template)


def _hash(text: str) -> str:
    """What a content security policy calls a script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(view: ResponseView) -> dict[str, Any]:
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


def pieces(view: ResponseView) -> Iterator[tuple[int, int, int, int]]:
    """The text cut where a token or a segment begins or ends, or the grammar refused it.

    Each piece is its span, and the numbers of its token and of its segment, -1 for none. A token without text that says
    something, since its marker is missing, is a piece without text.
    """
    size = len(view.raw)
    tokens = [t for t in view.tokens if t.end >= 0 and (t.end > max(t.start, 0) or t.mark == "missing")]
    edges = {0, size, *[e for s in (*tokens, *view.segments) for e in (s.start, s.end)]}
    edges |= {step.start for step in view.steps if step.kind == "refused"}
    marks = sorted(edge for edge in edges if 0 <= edge <= size)
    token = segment = 0
    for start, end in zip(marks, [*marks[1:], size], strict=True):
        while token < len(tokens) and tokens[token].end <= start:
            if tokens[token].start == tokens[token].end == start:
                yield start, start, tokens[token].number, -1
            token += 1
        while segment < len(view.segments) and view.segments[segment].end <= start:
            segment += 1
        if end > start:
            own = tokens[token] if token < len(tokens) and tokens[token].start <= start else None
            inside = segment < len(view.segments) and view.segments[segment].start <= start
            yield start, end, own.number if own else -1, segment if inside else -1
