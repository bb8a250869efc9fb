"""No damage runs a call that nobody made: texts of every format, damaged by unit and cut at any place, tools given.

`python -m tools.damage markup` counts what is read as meant; this asks only what runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from outspoken import Parser, RenderError, Reply, ToolCall, formats, render
from outspoken.grammar import registry
from tests.loops import SEED

Called = tuple[str, dict[str, Any]]

STRING, INTEGER, BOOLEAN, NUMBER = [{"type": name} for name in ("string", "integer", "boolean", "number")]


def tool(name: str, properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(required)}}


TOOLS = [
    tool("book_ferry", {"harbour": STRING, "seats": INTEGER, "note": STRING}, "harbour", "seats"),
    tool("delete_path", {"path": STRING, "force": BOOLEAN}, "path", "force"),
    tool("send_funds", {"account": STRING, "amount": NUMBER}, "account", "amount"),
    tool("list_dir", {"path": STRING}),
]
CALLS: list[Called] = [
    ("book_ferry", {"harbour": "Ystad", "seats": 3, "note": "two dogs, one cat"}),
    ("delete_path", {"path": "/red/old", "force": True}),
    ("send_funds", {"account": "DE-77", "amount": 12.5}),
    ("list_dir", {"path": "/srv/www"}),
]
#: What looks like a tag, besides the markers of a grammar.
_TAG = re.compile(r"</?[\w|:.=｜▁ \-]{1,60}/?>|\[/?[A-Z_]{3,}\]|<\|[^|>]{1,40}\|>|<｜[^>]{1,50}>")
#: So many texts of each kind of damage are made of a format.
_EACH = 3


def called(reply: Reply) -> list[Called]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


def sound_texts(name: str) -> list[tuple[str, list[Called]]]:
    """Responses with one call and with two that the format reads as they were meant."""
    found: list[tuple[str, list[Called]]] = []
    for calls in [*[[one] for one in CALLS], *[[CALLS[at - 1], CALLS[at]] for at in range(4)]]:
        try:
            text = render([ToolCall(name=tool, arguments=arguments) for tool, arguments in calls], name)
        except RenderError:
            continue
        reply = Parser(name, tools=TOOLS).parse(text)
        if called(reply) == calls and reply.status == "ok":
            found.append((text, calls))
    return found


def units(name: str, text: str) -> list[tuple[int, int]]:
    """Where the tags and markers of a text stand, none within another."""
    markers = [t.canonical.strip() for t in registry.automaton(name).tables.terminals.values() if t.short[0] == "_"]
    spans = {match.span() for match in _TAG.finditer(text)}
    for marker in {marker for marker in markers if len(marker) >= 4 and not marker.isalnum()}:
        spans |= {match.span() for match in re.finditer(re.escape(marker), text)}
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def damaged(name: str, text: str, random: Random) -> Iterator[str]:
    """A text with a unit lost, doubled or in capitals, and the text cut at some place."""
    places = units(name, text)
    if places:
        start, end = random.choice(places)
        unit = text[start:end]
        yield from [text[:start] + made + text[end:] for made in ("", unit * 2, unit.upper(), unit.swapcase())]
    yield text[: random.randrange(1, len(text))]


@pytest.mark.parametrize("name", [info.name for info in formats()])
def test_no_damage_runs_a_wrong_call_silently(name: str) -> None:
    random, texts = Random(f"wrong calls {name} {SEED}"), sound_texts(name)
    parser = Parser(name, tools=TOOLS)
    wrong: list[str] = []
    for _ in range(_EACH if texts else 0):
        text, meant = random.choice(texts)
        for made in damaged(name, text, random):
            reply = parser.parse(made, finish_reason="stop")
            if reply.status == "ok" and not reply.diagnostics and any(call not in meant for call in called(reply)):
                wrong.append(made)
    assert wrong == []
