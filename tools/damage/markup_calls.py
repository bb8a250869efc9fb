"""Sound responses with tool calls: as `render` writes them, with names and values that stand nowhere else."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from outspoken import RenderError, Text, render

Call = dict[str, Any]

LEADS = (
    "I will do this now.",
    "Two steps are needed here.",
    "This takes a moment.",
    "Both go out today, as agreed.",
)
_LINES = (
    "First line of it\nsecond line here",
    "Roof is tight.\nCellar is damp.\nGarden is fine.",
    "Bring boots\nand a lamp",
)
_WORDS = ("late delivery of paint", "north tower hall", "grey owl", "Ada and Grace", "moss on stone", "half past nine")
_PATHS = ("/srv/data/reports", "docs/plan_b.md", "C:/drafts/rates.csv", "./quarry/index.py")
#: The tools: for each parameter, of what kind its values are.
_TOOLS: dict[str, dict[str, str]] = {
    "file_report": {"subject": "words", "folder": "path", "priority": "number", "remarks": "lines"},
    "book_room": {"venue": "words", "seats": "number"},
    "archive_sheet": {"origin": "path", "shelf": "words"},
    "send_parcel": {"recipient": "words", "weight": "number", "notice": "lines"},
    "measure_depth": {"station": "words", "metres": "number"},
    "copy_folder": {"origin": "path", "goal": "path", "remarks": "lines"},
}
_TYPES = {"words": "string", "path": "string", "lines": "string", "number": "integer"}


def tools() -> list[dict[str, Any]]:
    """The tools with their schemas."""
    return [
        {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": _TYPES[kind]} for key, kind in parameters.items()},
                "required": list(parameters),
                "additionalProperties": False,
            },
        }
        for name, parameters in _TOOLS.items()
    ]


def calls(random: Random, count: int) -> list[Call]:
    """Calls of different tools; no value stands in two of them."""
    pools = {"words": [*_WORDS], "path": [*_PATHS], "lines": [*_LINES], "number": [4711, 36, 8205, 193, 62]}
    for pool in pools.values():
        random.shuffle(pool)
    names = random.sample(list(_TOOLS), count)
    return [
        {"name": name, "arguments": {key: pools[kind].pop() for key, kind in _TOOLS[name].items()}} for name in names
    ]


def written(name: str, random: Random) -> str | None:
    """A response of the format with two calls, or one, behind a sentence; None if it has no calls."""
    lead = random.choice(LEADS)
    for count in (2, 1):
        made = calls(random, count)
        text = rendered([_text(lead), *made], name)
        if text is not None and (f"{lead}[" in text or f"{lead}{{" in text):
            text = rendered([_text(f"{lead}\n"), *made], name)  # bare calls stand on lines of their own
        if text is not None:
            return text
    return None


def _text(text: str) -> Text:
    return Text(text=text, span=(0, len(text)))


def rendered(items: list[Any], name: str) -> str | None:
    """What `render` writes, or None."""
    try:
        return render(items, name, tools=tools())
    except RenderError:
        return None


def spellings(value: Any) -> set[str]:
    """How a name or a value may stand in a text, without its quotes."""
    if isinstance(value, str):
        return {value, json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    return {json.dumps(value), repr(value)}


def data_of(made: list[Call]) -> set[str]:
    """The spellings of all names and values of calls."""
    values = [part for call in made for part in (call["name"], *call["arguments"], *call["arguments"].values())]
    return {text for value in values for text in spellings(value)}
