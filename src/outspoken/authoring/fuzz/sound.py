"""Sound responses with tool calls, of any format that has them, where their markup is, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from outspoken import RenderError, Reply, Text, parse, render
from outspoken.actions.encoding import effect_of
from outspoken.grammar import registry
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.notations.tools import Tools
from outspoken.parsing.tree_parser import parse_tree

#: What a response asks for: a kind, a name and what goes with it.
Item = tuple[str, str, Any]
Span = tuple[int, int]

LEADS = ("I will do this now.", "Two steps are needed here.", "This takes a moment.", "Both go out today, as agreed.")
_LINES = ["First line of it\nsecond line here", "Roof is tight.\nCellar is damp.\nGarden is fine."]
#: The kinds of arguments: a schema, and values.
_KINDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "words": ({}, ["late delivery of paint", "north tower hall", "grey owl", "Ada and Grace", "half past nine"]),
    "path": ({}, ["/srv/data/reports", "docs/plan_b.md", "C:/drafts/rates.csv", "./quarry/index.py"]),
    "lines": ({}, _LINES),
    "number": ({"type": "integer"}, [4711, 36, 8205, 193, 62]),
    "flag": ({"type": "boolean"}, [True, False]),
    "deck": ({"enum": ["upper", "lower", "cabin"]}, ["upper", "lower", "cabin"]),
    "list": ({"type": "array", "items": {"type": "string"}}, [["oak", "late birch"], ["tin", "lead", "old zinc"]]),
    "object": ({"type": "object"}, [{"depth": 27, "kind": "gravel"}, {"kind": "salt", "dry": True}]),
}
#: The tools: for each parameter, of what kind its values are.
_TOOLS: dict[str, dict[str, str]] = {
    "file_report": {"subject": "words", "folder": "path", "priority": "number", "remarks": "lines"},
    "archive_sheet": {"origin": "path", "shelf": "words"},
    "send_parcel": {"recipient": "words", "weight": "number", "notice": "lines"},
    "measure_depth": {"station": "words", "metres": "number"},
    "copy_folder": {"origin": "path", "goal": "path"},
    "book_ferry": {"harbour": "words", "berth": "deck", "seats": "number"},
    "delete_path": {"path": "path", "force": "flag"},
    "tag_samples": {"labels": "list", "facts": "object", "station": "words"},
}


def _parameters(kinds: dict[str, str]) -> dict[str, Any]:
    properties = {key: {"type": "string", **_KINDS[kind][0]} for key, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": [*kinds], "additionalProperties": False}


TOOLS: list[dict[str, Any]] = [{"name": name, "parameters": _parameters(kinds)} for name, kinds in _TOOLS.items()]
_GIVEN = Tools.of(TOOLS)


@dataclass(frozen=True)
class Sound:
    """A sound response: what it asks for, its tokens, and which of its characters are no markup or stand beside it."""

    format: str
    text: str
    items: tuple[Item, ...]
    spans: tuple[Span, ...]
    tokens: tuple[tuple[str, int, int], ...]
    #: Where names and values stand.
    data: tuple[Span, ...]
    #: Characters that are never changed; nothing is inserted between two of them.
    closed: frozenset[int]
    tools: Tools | None


def items_of(reply: Reply) -> list[Item]:
    """The usable calls, actions and payloads of a reply."""
    calls: list[Item] = [("call", call.name, call.arguments) for call in reply.tool_calls]
    acts: list[Item] = [("action", action.type, effect_of(action)) for action in reply.actions]
    return [*calls, *acts, *[("payload", payload.type, payload.data) for payload in reply.payloads]]


def plain_text(text: str) -> Text:
    """A segment of text, to be rendered."""
    return Text(text=text, span=(0, len(text)))


def rendered(items: list[Any], name: str) -> str | None:
    """What `render` writes, or None."""
    try:
        return render(items, format=name, tools=TOOLS)
    except RenderError:
        return None


def has_node(name: str, *wanted: str) -> bool:
    """Whether a format has one of these nodes."""
    return any(not set(wanted).isdisjoint(kinds.split()) for kinds in registry.automaton(name).tables.nodes)


def calling(name: str, random: Random, counts: Iterable[int] = (2, 1), lead: str | None = None) -> str | None:
    """A response with calls of different tools behind a sentence, so many as can be; no value stands in two of them."""
    lead = random.choice(LEADS) if lead is None else lead
    for count in [count for count in counts for _ in range(3)]:
        pools = {kind: random.sample(values, len(values)) for kind, (_, values) in _KINDS.items()}
        names = random.sample(list(_TOOLS), count)
        calls = [{"name": n, "arguments": {k: pools[kind].pop() for k, kind in _TOOLS[n].items()}} for n in names]
        text = rendered([*[plain_text(lead)] * bool(lead), *calls], name)
        if text is not None and lead and (f"{lead}[" in text or f"{lead}{{" in text):
            text = rendered([plain_text(f"{lead}\n"), *calls], name)  # bare calls stand on lines of their own
        if text is not None:
            return text
    return None


def sound_of(name: str, text: str, tools: Tools | None = _GIVEN) -> Sound | None:
    """A response with what is known of it; None if it is not sound or asks for nothing."""
    reply = parse(text, format=name, tools=tools, finish_reason="stop")
    items = items_of(reply)
    if reply.status != "ok" or reply.diagnostics or not items:
        return None
    tree_tokens = parse_tree(text, format=name, tools=tools).scan_values(lambda _: True)
    tokens = tuple([(token.type, max(token.start_pos or 0, 0), max(token.end_pos or 0, 0)) for token in tree_tokens])
    data = tuple(_data(text, tokens))
    padded = [_padded(text, *span) for span in data]
    closed = {at for start, end in padded for at in range(start - 1, end + 1)}
    spans = tuple([part.span for part in (*reply.tool_calls, *reply.actions, *reply.payloads)])
    return Sound(name, text, tuple(items), spans, tokens, data, frozenset(closed), tools)


_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([\w.%-]+)', re.DOTALL)


def _data(text: str, tokens: Iterable[tuple[str, int, int]]) -> Iterator[Span]:
    """Names, free text, strings and words of embedded values. Of prose, the characters at both ends are beside it."""
    for terminal, start, end in tokens:
        if terminal in EMBEDDED_VALUES:
            yield from [found.span(found.lastindex or 0) for found in _QUOTED.finditer(text, start, end)]
        elif terminal in TOKENS | FREE_TEXT:
            inner, edge = text[start:end].strip(" \n\t\"'"), int(terminal == "TEXT")
            at = text.index(inner, start)
            if inner or not edge:
                yield at + edge, at + len(inner) - edge


def _padded(text: str, start: int, end: int) -> Span:
    """A name or a value with the line breaks round it, and the blanks behind a colon: they may be part of it."""
    before = re.sub(r"(?:(?<=:) +)?\n*\Z", "", text[:start])
    return len(before), len(text) - len(text[end:].lstrip("\n"))


#: What may become of a damaged text, from best to worst, each with the head of its column.
CLASSES = {"meant": "meant", "flagged": "flag", "lost": "LOST", "wrong, flagged": "wr-fl", "wrong, ok": "WR-OK"}


def same_items(one: Iterable[Item], other: Iterable[Item]) -> bool:
    """Whether two replies ask for the same, in the same order; types, and the order of members, count."""
    return json.dumps(list(one), default=repr) == json.dumps(list(other), default=repr)


def outcome(reply: Reply, meant: Iterable[Item], allowed: Iterable[Item] = (), begun: int | None = None) -> str:
    """The class of a reply; for the other arguments, see `Case`.

    `wrong` is a usable call, action or payload that was not meant, or was meant once and is there twice. It is flagged
    if it was repaired, or if a diagnostic lies on it.
    """
    items, left = items_of(reply), [*meant]
    if begun is None and same_items(items, left):
        return "meant"
    least = len(left) + 1 if begun is None else begun - len(reply.unfinished_tool_calls)  # one that is allowed runs
    left += allowed
    wrong: list[bool] = []
    for item, segment in zip(items, [*reply.tool_calls, *reply.actions, *reply.payloads], strict=True):
        at = next((i for i, other in enumerate(left) if same_items([item], [other])), None)
        if at is not None:
            del left[at]
            continue
        start, end = segment.span
        said = any(d.span[0] <= end and start <= d.span[1] for d in reply.diagnostics)
        wrong.append(said or segment.status != "ok")
    if wrong:
        return "wrong, flagged" if all(wrong) else "wrong, ok"
    if len(items) >= least:
        return "meant"
    return "flagged" if reply.diagnostics or reply.status != "ok" else "lost"


def table(counts: Mapping[tuple[str, str], int]) -> str:
    """The numbers of texts by row and class as lines, with those of all, and the share that is read as meant."""
    lines = [f"  {'':24} {'texts':>6} {' '.join([f'{head:>6}' for head in CLASSES.values()])} meant%"]
    for label in (*dict.fromkeys([row for row, _ in counts]), "ALL"):
        of = Counter[str]()
        for (row, name), number in counts.items():
            of[name] += number * (label in (row, "ALL"))
        columns = " ".join([f"{of[name]:6}" for name in CLASSES])
        lines.append(f"  {label:24} {of.total():6} {columns} {100 * of['meant'] / max(of.total(), 1):6.1f}")
    return "\n".join(lines)
