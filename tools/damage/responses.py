"""Sound responses of every format, with names and values that stand nowhere else, and where their markup is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, cast

from outspoken import Payload, RenderError, Reply, Text, actions, parse, render
from outspoken.actions.encoding import effect_of
from outspoken.engine.parse_steps import ParseStep
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.notations.tools import Tools
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader
from outspoken.viewer.steps import Text as ViewedText
from outspoken.viewer.steps import steps_of, tokens_of

from .judging import equal

SEED = 20261123
#: How many responses of a format, and how many kinds of actions, are tried at most.
BASES, _ENOUGH = 8, 7

#: What a response asks for: a kind, a name and what goes with it.
Item = tuple[str, str, Any]

_LEADS = ("I will do this now.", "Two steps are needed here.", "This takes a moment.", "Both go out today, as agreed.")
#: Values of arguments by their kind, in the order in which they are drawn.
_VALUES: dict[str, tuple[Any, ...]] = {
    "words": (
        *("late delivery of paint", "north tower hall", "grey owl", "Ada and Grace", "moss on stone", "half past nine"),
    ),
    "path": ("/srv/data/reports", "docs/plan_b.md", "C:/drafts/rates.csv", "./quarry/index.py"),
    "lines": (
        "First line of it\nsecond line here",
        "Roof is tight.\nCellar is damp.\nGarden is fine.",
        "Bring boots\nand a lamp",
    ),
    "number": (4711, 36, 8205, 193, 62),
}
#: The tools: for each parameter, of what kind its values are.
_TOOLS: dict[str, dict[str, str]] = {
    "file_report": {"subject": "words", "folder": "path", "priority": "number", "remarks": "lines"},
    "book_room": {"venue": "words", "seats": "number"},
    "archive_sheet": {"origin": "path", "shelf": "words"},
    "send_parcel": {"recipient": "words", "weight": "number", "notice": "lines"},
    "measure_depth": {"station": "words", "metres": "number"},
    "copy_folder": {"origin": "path", "goal": "path", "remarks": "lines"},
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "integer" if kind == "number" else "string"} for key, kind in kinds.items()},
            "required": list(kinds),
            "additionalProperties": False,
        },
    }
    for name, kinds in _TOOLS.items()
]


@dataclass(frozen=True)
class Base:
    """A sound response: its text, what it asks for, and which of its characters are no markup or stand beside them."""

    format: str
    text: str
    items: tuple[Item, ...]
    #: characters that are not changed
    closed: frozenset[int]
    #: offsets at which nothing is inserted
    sealed: frozenset[int]
    tools: Tools | None


def items_of(reply: Reply) -> list[Item]:
    """The usable calls, actions and payloads of a reply."""
    calls: list[Item] = [("call", call.name, call.arguments) for call in reply.tool_calls]
    acts: list[Item] = [("action", action.type, effect_of(action)) for action in reply.actions]
    return [*calls, *acts, *[("payload", payload.type, payload.data) for payload in reply.payloads]]


def same_items(one: Iterable[Item], other: Iterable[Item]) -> bool:
    """Whether two replies ask for the same, in the same order."""
    return equal([list(item) for item in one], [list(item) for item in other])


def _has(name: str, *wanted: str) -> bool:
    kinds = {kind for kinds in registry.automaton(name).tables.nodes for kind in kinds.split()}
    return not kinds.isdisjoint(wanted)


def is_writable(name: str) -> bool:
    """Whether the format has calls, actions or payloads."""
    return _has(name, "tool_call", "action", "payload")


def bases(name: str, seed: int = SEED, count: int = BASES, *, auto: bool = False) -> list[Base]:
    """Sound responses of a format, the same ones for the same seed.

    With `auto`, they ask for what they are read as where the format is not named.
    """
    header, random = registry.header(name), Random(f"{seed} {name}")
    if header.actions:
        known = _pool(name, header, random, min(2 * count, _ENOUGH))
        texts = [_acting(name, known, random) for _ in range(count)]
    elif header.payloads or not _has(name, "tool_call"):
        texts = [_suggesting(name, random) for _ in range(count)]
    else:
        texts = [_calling(name, random) for _ in range(count)]
        if _has(name, "envelope"):
            texts = [_enveloped(name, text) if text and i % 2 else text for i, text in enumerate(texts)]
    made = [base for text in dict.fromkeys(texts) if text and (base := base_of(name, text)) is not None]
    return [base for one in made if (base := _detected(one)) is not None] if auto else made


def _enveloped(name: str, text: str) -> str:
    """A response as one object with its calls and its text."""
    return json.dumps(parse(text, name, tools=TOOLS).to_envelope())


def base_of(name: str, text: str) -> Base | None:
    """A sound response with what is known of it; None if it is not sound or asks for nothing."""
    tools = None if registry.header(name).actions else Tools.of(TOOLS)
    reply = parse(text, name, tools=tools, finish_reason="stop")
    if reply.status != "ok" or reply.diagnostics or not items_of(reply):
        return None
    closed, sealed = set[int](), set[int]()
    for start, end in _data_spans(name, text, reply):
        start, end = _padded(text, start, end)
        closed |= {*range(start - 1, end + 1)}
        sealed |= {*range(start, end + 1)}
    for terminal, start, end in _tokens(name, text):
        if terminal == "TEXT" and (inner := text[start:end].strip()):
            start += text[start:end].index(inner)
            closed |= {*range(start, start + len(inner))}
            sealed |= {*range(start + 1, start + len(inner))}
    return Base(name, text, tuple(items_of(reply)), frozenset(closed), frozenset(sealed), tools)


def _detected(base: Base) -> Base | None:
    """A response that asks for what it is read as where the format is not named; None if that is not sound."""
    reply = parse(base.text, tools=base.tools, finish_reason="stop")
    items = items_of(reply)
    return None if reply.diagnostics or len(items) != len(base.items) else replace(base, items=tuple(items))


# --- What they ask for


def _text(text: str) -> Text:
    return Text(text=text, span=(0, len(text)))


def _rendered(items: list[Any], name: str) -> str | None:
    """What `render` writes, or None."""
    try:
        return render(items, name, tools=TOOLS)
    except RenderError:
        return None


def _calling(name: str, random: Random) -> str | None:
    """A response with two calls of different tools, or one, behind a sentence; no value stands in two of them."""
    lead = random.choice(_LEADS)
    for count in (2, 1):
        pools = {kind: [*values] for kind, values in _VALUES.items()}
        for pool in pools.values():
            random.shuffle(pool)
        names = random.sample(list(_TOOLS), count)
        made = [{"name": n, "arguments": {key: pools[kind].pop() for key, kind in _TOOLS[n].items()}} for n in names]
        text = _rendered([_text(lead), *made], name)
        if text is not None and (f"{lead}[" in text or f"{lead}{{" in text):
            text = _rendered([_text(f"{lead}\n"), *made], name)  # bare calls stand on lines of their own
        if text is not None:
            return text
    return None


def _suggesting(name: str, random: Random) -> str | None:
    """A response with a payload behind a sentence."""
    offers = [("Add rows", "Put ten rows below"), ("Grey slate", "moss on stone"), ("Sum it", "total of 4711")]
    data = [{"label": label, "value": value} for label, value in random.sample(offers, 2)]
    return _rendered([_text(random.choice(_LEADS)), Payload(type="suggested_values", data=data, span=(0, 0))], name)


def _acting(name: str, known: list[Any], random: Random) -> str | None:
    """A response with two actions, or one, on lines of their own behind a sentence, as far as that can be written."""
    lead = random.choice(_LEADS)
    for count in (2, 1):
        chosen = random.sample(known, min(count, len(known)))
        broken = [part for action in chosen for part in (_text("\n"), action)]
        for before in ([_text(lead)], [_text(f"{lead}\n")], []):
            found = [_rendered([*before, *items], name) for items in (chosen, broken[1:])]
            listed, lines = [text if text and f"{lead}{{" not in text else None for text in found]
            if text := listed if listed and ("}, {" in listed or not lines) else lines:
                return text
    return None


def _pool(name: str, header: Header, random: Random, most: int) -> list[Any]:
    """Some actions that the format can write, at most `most`."""
    offered = _actions(header, random)
    random.shuffle(offered)
    found: list[Any] = []
    for action in offered:
        if _rendered([action], name) is not None:
            found.append(action)
        if len(found) == most:
            break
    return found


def _actions(header: Header, random: Random) -> list[Any]:
    """Actions of many kinds, with points and elements as the format may have them."""
    limit = 1 if header.space == "unit" else 900

    def point() -> actions.Point:
        x, y = [random.uniform(0.11, 0.93) if limit == 1 else random.randint(101, limit) for _ in "xy"]
        return actions.Point(x=round(x, 3), y=round(y, 3), space=cast("Any", header.space))

    def targets() -> list[dict[str, Any]]:
        number = random.randint(11, 99)
        place = random.choice(("the grey search box", "the lower left field", "a link to routes"))
        ways = [{"id": f"AA{number}"}, {"id": str(number)}, {"mark": str(number)}, {"index": number}]
        elements = [actions.ElementRef.model_validate(way) for way in (*ways, {"description": place})]
        return [{"point": point()}, *[{"element": element} for element in elements]]

    words = random.sample(("ferry timetable", "moss on stone", "north tower hall", "half past nine"), 4)
    made: list[Any] = [actions.Click(**target) for target in targets()]
    made += [actions.Click(clicks=2, **target) for target in targets()]
    made += [actions.TypeText(text=words[0], **target) for target in targets()]
    made += [actions.Scroll(direction="down", **target) for target in targets()]
    made += [actions.SelectOption(label="Grey slate", **target) for target in targets()]
    made += [actions.TypeText(text=words[1]), actions.LongPress(point=point())]
    made += [actions.Drag(start=point(), end=point()), actions.Swipe(start=point(), end=point())]
    made += [actions.Scroll(direction="up"), actions.PressKeys(keys=["ctrl", "k"]), actions.Wait(seconds=7)]
    made += [actions.Navigate(url="https://example.com/routes"), actions.OpenApp(app="Ferries")]
    return [*made, actions.PressKeys(keys=["escape"])]


# --- Where names and values stand

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([\w.%-]+)', re.DOTALL)


def _tokens(name: str, text: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a sound text: the name of the terminal, and the span."""
    log: list[ParseStep] = []
    ResponseReader(read_options(name), "", log=log).read(text, "stop")
    for step in tokens_of(steps_of(log, ViewedText("", text), 0)):
        if step.transition is not None:
            yield step.transition.terminal.short, step.start, step.end


def _data_spans(name: str, text: str, reply: Reply) -> Iterator[tuple[int, int]]:
    """Where names and values stand in a sound response."""
    if not reply.tool_calls:
        yield from _action_spans(name, text)
        return
    values = [v for call in reply.tool_calls for v in (call.name, *call.arguments, *call.arguments.values())]
    spellings = {spelling for value in values for spelling in _spellings(value)}
    if reply.envelope_content:
        spellings |= {reply.envelope_content, "true", "false"}
    for spelling in spellings:
        for found in re.finditer(rf"(?<!\w){re.escape(spelling)}(?!\w)", text):
            yield found.span()


def _spellings(value: Any) -> set[str]:
    """How a name or a value may stand in a text, without its quotes."""
    if isinstance(value, str):
        return {value, json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    return {json.dumps(value), repr(value)}


def _action_spans(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Names, free text of arguments, strings and words of embedded values."""
    for terminal, start, end in _tokens(name, text):
        piece = text[start:end]
        if terminal in TOKENS or (terminal in FREE_TEXT and terminal != "TEXT"):
            inner = piece.strip(" \n\t\"'")
            at = start + piece.find(inner)
            yield at, at + len(inner)
        elif terminal in EMBEDDED_VALUES:
            for found in _QUOTED.finditer(piece):
                group = found.lastindex or 0
                yield start + found.start(group), start + found.end(group)


def _padded(text: str, start: int, end: int) -> tuple[int, int]:
    """A name or a value with the line breaks round it, and the blanks behind a colon: they may be part of it."""
    while start and text[start - 1] == "\n":
        start -= 1
    blanks = start - len(text[:start].rstrip(" "))
    if blanks and text[start - blanks - 1 : start - blanks] == ":":
        start -= blanks
    while end < len(text) and text[end] == "\n":
        end += 1
    return start, end
