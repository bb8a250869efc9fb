"""Sound responses with GUI actions and payloads, and where names and values stand in any sound response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any, cast

from outspoken import Payload, Text
from outspoken.actions import (
    Click,
    Drag,
    ElementRef,
    LongPress,
    Navigate,
    OpenApp,
    Point,
    PressKeys,
    Scroll,
    SelectOption,
    Swipe,
    TypeText,
    Wait,
)
from outspoken.engine.parse_steps import ParseStep
from outspoken.grammar.header import Header
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader
from outspoken.viewer.steps import Text as ViewedText
from outspoken.viewer.steps import steps_of, tokens_of

from .markup_calls import LEADS, rendered

Span = tuple[int, int]

#: More actions of one format are not tried.
ENOUGH = 7
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([\w.%-]+)', re.DOTALL)


def actions(header: Header, random: Random) -> list[Any]:
    """Actions of many kinds, with points and elements as the format may have them."""
    limit = 1 if header.space == "unit" else 900

    def point() -> Point:
        x, y = [random.uniform(0.11, 0.93) if limit == 1 else random.randint(101, limit) for _ in "xy"]
        return Point(x=round(x, 3), y=round(y, 3), space=cast("Any", header.space))

    def targets() -> list[dict[str, Any]]:
        number = random.randint(11, 99)
        place = random.choice(("the grey search box", "the lower left field", "a link to routes"))
        elements = [ElementRef(id=f"AA{number}"), ElementRef(id=str(number)), ElementRef(mark=str(number))]
        elements += [ElementRef(index=number), ElementRef(description=place)]
        return [{"point": point()}, *[{"element": element} for element in elements]]

    words = random.sample(("ferry timetable", "moss on stone", "north tower hall", "half past nine"), 4)
    made: list[Any] = [Click(**target) for target in targets()]
    made += [Click(clicks=2, **target) for target in targets()]
    made += [TypeText(text=words[0], **target) for target in targets()]
    made += [Scroll(direction="down", **target) for target in targets()]
    made += [SelectOption(label="Grey slate", **target) for target in targets()]
    made += [TypeText(text=words[1]), LongPress(point=point()), Drag(start=point(), end=point())]
    made += [Swipe(start=point(), end=point()), Scroll(direction="up"), PressKeys(keys=["ctrl", "k"]), Wait(seconds=7)]
    return [*made, Navigate(url="https://example.com/routes"), OpenApp(app="Ferries"), PressKeys(keys=["escape"])]


def pool(name: str, header: Header, random: Random, most: int = ENOUGH) -> list[Any]:
    """Some actions that the format can write, at most `most`."""
    offered = actions(header, random)
    random.shuffle(offered)
    found: list[Any] = []
    for action in offered:
        if rendered([action], name) is not None:
            found.append(action)
        if len(found) == most:
            break
    return found


def written(name: str, known: list[Any], random: Random) -> str | None:
    """A response with two actions, or one, on lines of their own behind a sentence, as far as that can be written."""
    lead = random.choice(LEADS)
    for count in (2, 1):
        chosen = random.sample(known, min(count, len(known)))
        broken = [part for action in chosen for part in (_text("\n"), action)]
        for before in ([_text(lead)], [_text(f"{lead}\n")], []):
            found = [rendered([*before, *items], name) for items in (chosen, broken[1:])]
            listed, lines = [text if text and f"{lead}{{" not in text else None for text in found]
            if text := listed if listed and ("}, {" in listed or not lines) else lines:
                return text
    return None


def _text(text: str) -> Text:
    return Text(text=text, span=(0, len(text)))


def payload(name: str, type_: str, random: Random) -> str | None:
    """A response with a payload behind a sentence."""
    data = [
        {"label": label, "value": value}
        for label, value in random.sample(
            [("Add rows", "Put ten rows below"), ("Grey slate", "moss on stone"), ("Sum it", "total of 4711")], 2
        )
    ]
    made = Payload(type=type_, data=data, span=(0, 0))
    return rendered([_text(random.choice(LEADS)), made], name)


def tokens(name: str, text: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a sound text: the name of the terminal, and the span."""
    log: list[ParseStep] = []
    ResponseReader(read_options(name), "", log=log).read(text, "stop")
    for step in tokens_of(steps_of(log, ViewedText("", text), 0)):
        if step.transition is not None:
            yield step.transition.terminal.short, step.start, step.end


def data_spans(name: str, text: str) -> Iterator[Span]:
    """Where names and values stand: names, free text of arguments, strings and words of embedded values."""
    for terminal, start, end in tokens(name, text):
        piece = text[start:end]
        if terminal in TOKENS or (terminal in FREE_TEXT and terminal != "TEXT"):
            inner = piece.strip(" \n\t\"'")
            at = start + piece.find(inner)
            yield at, at + len(inner)
        elif terminal in EMBEDDED_VALUES:
            for found in _QUOTED.finditer(piece):
                group = found.lastindex or 0
                yield start + found.start(group), start + found.end(group)
