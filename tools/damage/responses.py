"""Sound responses of every format, with names and values that stand nowhere else, and where their markup is."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any, cast

from outspoken import Payload, actions, parse
from outspoken.authoring.fuzz.sound import (
    LEADS,
    TOOLS,
    Sound,
    calling,
    has_node,
    items_of,
    plain_text,
    rendered,
    sound_of,
)
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.notations.tools import Tools

SEED = 20261123
#: How many responses of a format, and how many kinds of actions, are tried at most.
BASES, _ENOUGH = 8, 7


def is_writable(name: str) -> bool:
    """Whether the format has calls, actions or payloads."""
    return has_node(name, "tool_call", "action", "payload")


def bases(name: str, seed: int = SEED, count: int = BASES, *, auto: bool = False) -> list[Sound]:
    """Sound responses of a format, the same ones for the same seed.

    With `auto`, they ask for what they are read as where the format is not named.
    """
    header, random = registry.header(name), Random(f"{seed} {name}")
    if header.actions:
        known = _pool(name, header, random, min(2 * count, _ENOUGH))
        texts = [_acting(name, known, random) for _ in range(count)]
    elif header.payloads or not has_node(name, "tool_call"):
        texts = [_suggesting(name, random) for _ in range(count)]
    else:
        texts = [calling(name, random) for _ in range(count)]
        if has_node(name, "envelope"):
            texts = [_enveloped(name, text) if text and i % 2 else text for i, text in enumerate(texts)]
    tools = None if header.actions else Tools.of(TOOLS)
    found = [sound_of(name, text, tools) for text in dict.fromkeys(texts) if text]
    made = [base for base in found if base is not None]
    return [base for one in made if (base := _detected(one)) is not None] if auto else made


def _enveloped(name: str, text: str) -> str:
    """A response as one object with its calls and its text."""
    return json.dumps(parse(text, format=name, tools=TOOLS).to_envelope())


def _detected(base: Sound) -> Sound | None:
    """A response that asks for what it is read as where the format is not named; None if that is not sound."""
    reply = parse(base.text, tools=base.tools, finish_reason="stop")
    items = items_of(reply)
    return None if reply.diagnostics or len(items) != len(base.items) else replace(base, items=tuple(items))


# --- What they ask for


def _suggesting(name: str, random: Random) -> str | None:
    """A response with a payload behind a sentence."""
    offers = [("Add rows", "Put ten rows below"), ("Grey slate", "moss on stone"), ("Sum it", "total of 4711")]
    data = [{"label": label, "value": value} for label, value in random.sample(offers, 2)]
    return rendered([plain_text(random.choice(LEADS)), Payload(type="suggested_values", data=data, span=(0, 0))], name)


def _acting(name: str, known: list[Any], random: Random) -> str | None:
    """A response with two actions, or one, on lines of their own behind a sentence, as far as that can be written."""
    lead = random.choice(LEADS)
    for count in (2, 1):
        chosen = random.sample(known, min(count, len(known)))
        broken = [part for action in chosen for part in (plain_text("\n"), action)]
        for before in ([plain_text(lead)], [plain_text(f"{lead}\n")], []):
            found = [rendered([*before, *items], name) for items in (chosen, broken[1:])]
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
        if rendered([action], name) is not None:
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
