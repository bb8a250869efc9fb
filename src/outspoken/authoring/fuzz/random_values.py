"""Random values and texts: JSON, Python literals, prose, code and names."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, cast

WORDS = (
    "the", "a", "of", "weather", "in", "Paris", "is", "sunny", "I", "will", "look", "that", "up", "now", "it's", "Köln",
    "東京", "naïve", "42", "3.5", "ok", "true", "null", "f(x)", "a<b", "x>y", "&amp;", "“quoted”", "don't", "🦉",
    "<b>", "</b>", "{x}", "[1]", '"word"', "'word'", "C:\\dir", "a|b", "#1", "--", "...", "(see", "below)", "Note:",
)  # fmt: skip
GAPS = (" ", " ", " ", " ", "\n", "\n\n", "  ", "\t", "\r\n", ", ", ". ", ": ")
CODE = (
    "def f(x):\n    return x + 1\n",
    "if a < b and c > d:\n    print('x')\n",
    "SELECT * FROM t;\n",
    '{"a": [1, 2]}\n',
)
NAMES = ("get_weather", "search", "read_file", "a", "Run2", "tools.find", "save-note", "x_1", "größe")
KEYS = ("city", "days", "query", "path", "a", "B", "x_1", "limit", "unit", "name_of_it", "from_", "text", "to", "k9")
SCALARS: tuple[Any, ...] = (
    0, 1, -1, 42, 3.5, -0.25, 1e21, 123456789012345678901234567890, True, False, None, "", " ", "Paris", "3", "true",
)  # fmt: skip
#: What the fields of actions take.
FIELDS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("point", "start", "end"), ("(10,20)", "<point>3 4</point>", [1, 2.5, 3, 4])),
    "keys": ("ctrl c", "enter", "ctrl+shift+p"),
    "key": ("ctrl", "Return", "a"),
    "button": ("left", "Right", "middle"),
    "seconds": (2, 0.5, "3 s", ""),
    "direction": ("up", "Down", "left ", "right"),
}


def prose(random: Random, pieces: tuple[str, ...] = (), most: int = 8) -> str:
    """A few words with what stands between them; `pieces` may be among the words."""
    parts: list[str] = []
    for _ in range(random.randint(0, most)):
        parts.append(random.choice(pieces) if pieces and random.random() < 0.2 else random.choice(WORDS))
        parts.append(random.choice(GAPS))
    if parts and random.random() < 0.5:
        parts.pop()
    return "".join(parts)


def value(random: Random, pieces: tuple[str, ...] = (), depth: int = 0) -> Any:
    """A value that JSON can say, not too deep; its strings may hold `pieces`."""
    draw = random.random()
    if draw < 0.15 and depth < 3:
        return [value(random, pieces, depth + 1) for _ in range(random.randint(0, 3))]
    if draw < 0.35 and depth < 3:
        return mapping(random, pieces, depth + 1)
    return text_value(random, pieces) if draw < 0.7 else random.choice(SCALARS)


def mapping(random: Random, pieces: tuple[str, ...] = (), depth: int = 0) -> dict[str, Any]:
    """A value that is an object."""
    keys = random.sample(KEYS, random.randint(0, 3)) + [text_value(random, pieces)] * (random.random() < 0.1)
    return {key: value(random, pieces, depth) for key in keys}


def text_value(random: Random, pieces: tuple[str, ...] = ()) -> str:
    """A string with what has to be escaped, or looks like markup."""
    special = ('"', "\\", "\n", "\t", "/", "\u2028", "\x7f", "🦉", "'", "</", "}}", "]", "\\n", "\\u00e9", *pieces)
    return prose(random, special, 4)


def as_json(random: Random, what: Any) -> str:
    """A value as JSON, in one of the ways in which models write it."""
    ascii_, indent = random.random() < 0.3, random.choice((None, None, None, 2))
    gaps = random.choice(((", ", ": "), (",", ":"), (" , ", " : "))) if indent is None else None
    text = json.dumps(what, ensure_ascii=ascii_, indent=indent, separators=gaps)
    return text.replace("/", "\\/") if random.random() < 0.1 else text


def as_python(random: Random, what: Any) -> str:
    """A value as a Python literal, in one of the ways in which models write it."""
    if isinstance(what, str):
        return json.dumps(what, ensure_ascii=False) if random.random() < 0.4 else repr(what)
    if isinstance(what, list):
        inside = [as_python(random, item) for item in cast("list[Any]", what)]
        return f"({', '.join(inside)},)" if inside and random.random() < 0.2 else f"[{', '.join(inside)}]"
    if isinstance(what, dict):
        pairs = cast("dict[str, Any]", what).items()
        return f"{{{', '.join([f'{as_python(random, k)}: {as_python(random, v)}' for k, v in pairs])}}}"
    return repr(what)


def bare(random: Random, pieces: tuple[str, ...] = ()) -> str:
    """An argument as bare text: prose, code, a word, JSON, or nothing."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: prose(random, pieces),
        lambda: random.choice(CODE) * random.randint(1, 2),
        lambda: random.choice(WORDS),
        lambda: as_json(random, value(random, pieces)),
        lambda: "",
    )
    return random.choice(makers)()


def broken(random: Random, marker: str) -> str:
    """What is nearly a marker: cut, with a character missing, or with a space in it."""
    if len(marker) < 3:
        return marker
    at = random.randrange(1, len(marker) - 1)
    return random.choice((marker[:at], marker[at:], marker[:at] + marker[at + 1 :], f"{marker[:at]} {marker[at:]}"))
