"""The values of actions' fields: how each is read from what a model wrote, and written again.

A field's type says how it is read. Nothing is ever evaluated, and nothing is guessed: what is no number is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin

from outspoken.notations.coerce import to_json
from outspoken.results.actions.union import BaseAction, ElementRef
from outspoken.results.geometry import Point, Space

from .urls import web_address

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_TAGS = re.compile(r"</?(?:point|bbox|box)>|<\|box_(?:start|end)\|>", re.IGNORECASE)
_BRACKETS = str.maketrans("()[]<>'\"", "        ")
#: a `+` between two keys, of which the second may be `+` itself
_PLUS = re.compile(r"(?<=[^+])\+(?=.)")
_APART = re.compile(r"[\s,;]+")
_SECONDS = re.compile(rf"({_NUMBER.pattern})\s*(ms|milliseconds?|s|secs?|seconds?)?", re.IGNORECASE)
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

#: Other words for keys, in small letters and without `_`, `-` and spaces.
_KEYS = {
    "return": "enter", "kpenter": "enter", "esc": "escape", "del": "delete", "ins": "insert", "spacebar": "space",
    "bksp": "backspace", "control": "ctrl", "lcontrol": "ctrl", "rcontrol": "ctrl", "controlleft": "ctrl",
    "controlright": "ctrl", "ctrlleft": "ctrl", "ctrlright": "ctrl", "lctrl": "ctrl", "option": "alt", "lalt": "alt",
    "altleft": "alt", "altright": "alt", "lshift": "shift", "rshift": "shift", "shiftleft": "shift",
    "shiftright": "shift", "cmd": "meta", "command": "meta", "win": "meta", "windows": "meta", "super": "meta",
    "lwin": "meta", "winleft": "meta", "arrowleft": "left", "arrowright": "right", "arrowup": "up",
    "arrowdown": "down", "pageup": "page_up", "pgup": "page_up", "pagedown": "page_down", "pgdn": "page_down",
    "pgdown": "page_down", "capslock": "caps_lock", "printscreen": "print_screen", "prtsc": "print_screen",
    "numlock": "num_lock", "scrolllock": "scroll_lock",
}  # fmt: skip
_KEY_FIELDS = frozenset({"keys", "modifiers", "key"})
_BUTTONS = {"wheel": "middle", "primary": "left", "secondary": "right"}


class Misfit(ValueError):
    """A value that is not what a field takes: the argument that it was written as, and what is wrong with it."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument


class Conversion(NamedTuple):
    """How a format writes a field in a way of its own: from its value to ours, and back."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


def _negative(value: Any) -> Any:
    return -value


def _thousandth(value: Any) -> Any:
    return value / 1000


def _thousandfold(value: Any) -> Any:
    return value * 1000


def _as_read(value: Any) -> Any:
    return value


def _as_text(value: Any) -> str:
    return str(_short(value))


def _as_list(value: Any) -> list[Any]:
    return [value]


#: What a mapping may put behind a source, after a colon. `submit` is not here: it makes two fields.
CONVERSIONS: dict[str, Conversion] = {
    "up": Conversion(_negative, _negative),
    "left": Conversion(_negative, _negative),
    "ms": Conversion(_thousandth, _thousandfold),
    "space": Conversion(_as_read, " ".join),
    "plus": Conversion(_as_read, "+".join),
    "text": Conversion(_as_read, _as_text),
    "list": Conversion(_as_read, _as_list),
    "web": Conversion(web_address, _as_read),
}
SUBMIT = "submit"


def _short(value: Any) -> Any:
    """A number without a fraction that says nothing."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Kind(NamedTuple):
    """How a field is read: the name of its reader, and the words that it admits, where it does only some."""

    reader: str
    words: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def kind_of(model: type[BaseAction], field: str) -> Kind:
    """How a field of an action is read, by its type."""
    if field in _KEY_FIELDS:
        return Kind({"key": "key", "modifiers": "held"}.get(field, "keys"))
    if field == "actions":
        return Kind("actions")
    admitted = _without_none(model.model_fields[field].annotation)
    if get_origin(admitted) is Literal:
        return Kind("word", get_args(admitted))
    if get_origin(admitted) is list:
        inner = get_args(admitted)[0]
        return Kind("points" if inner is Point else "texts")
    readers: dict[Any, str] = {
        Point: "point", ElementRef: "element", str: "text", int: "whole", float: "number", bool: "truth",
    }  # fmt: skip
    if field.endswith("seconds"):
        return Kind("seconds")
    return Kind(readers.get(admitted, "object"))


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        kept = [part for part in get_args(annotation) if part is not NoneType]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def read_value(kind: Kind, value: Any, argument: str, space: Space) -> Any:
    """What an argument says as the value of a field. Raises Misfit."""
    if kind.reader == "word":
        return _word(value, argument, kind.words)
    if kind.reader == "point":
        return read_point(value, space, argument)
    return _READERS[kind.reader](value, argument)


def read_point(value: Any, space: Space, argument: str = "point") -> Point:
    """A point from two numbers, or a box from four, in any of the shapes in which models write them.

    That is a list, nested or not, an object with `x` and `y`, or text with brackets, commas and tags round the numbers.
    Raises Misfit for anything else: another count, no numbers, infinite ones, booleans, expressions.
    """
    try:
        numbers = _numbers(value, argument)
    except Misfit:
        numbers = []
    if len(numbers) not in (2, 4):
        got = f"{len(numbers)}" if numbers else repr(value)[:40]
        raise Misfit(argument, f"needs a point or a box in `{argument}`: 2 or 4 numbers, got {got}")
    return Point.of(numbers, space)


def _numbers(value: Any, argument: str) -> list[float]:
    """All numbers of a value, in order."""
    if isinstance(value, str):
        bare = _TAGS.sub(" ", value).translate(_BRACKETS).strip()
        value = _APART.split(bare) if bare else []
        return [_number(part, argument) for part in value if part]
    if isinstance(value, dict):
        return _of_object(cast("dict[str, Any]", value), argument)
    if isinstance(value, (list, tuple)):
        found: list[float] = []
        for item in cast("list[Any]", value):
            nested = isinstance(item, (list, tuple, dict))
            found += _numbers(item, argument) if nested else [_number(item, argument)]
        return found
    return [_number(value, argument)]


def _of_object(value: dict[str, Any], argument: str) -> list[float]:
    for keys in (("x1", "y1", "x2", "y2"), ("x", "y")):
        if all(key in value for key in keys):
            return [_number(value[key], argument) for key in keys]
    return []


def _number(value: Any, argument: str) -> float:
    """A finite number. Raises Misfit."""
    number: float | None = None
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip())
        number = float(match[0]) if match else None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = None
    if number is None or not math.isfinite(number):
        raise Misfit(argument, f"needs a number in `{argument}`, got {repr(value)[:40]}")
    return number


def _whole(value: Any, argument: str) -> int:
    number = _number(value, argument)
    if not number.is_integer():
        raise Misfit(argument, f"needs a whole number in `{argument}`, got {value!r}")
    return int(number)


def _seconds(value: Any, argument: str) -> float | None:
    """Seconds, with or without their unit; None for empty text."""
    if value == "":
        return None
    match = _SECONDS.fullmatch(value.strip()) if isinstance(value, str) else None
    number = _number(match[1] if match else value, argument)
    return number / 1000 if match and (match[2] or "").lower().startswith("m") else number


def _truth(value: Any, argument: str) -> bool:
    found = value if isinstance(value, bool) else _TRUTHS.get(str(value).strip().lower())
    if found is None:
        raise Misfit(argument, f"needs true or false in `{argument}`, got {repr(value)[:40]}")
    return found


def _text(value: Any, argument: str) -> str:
    if isinstance(value, (dict, list)):
        return to_json(cast("Any", value))
    return value if isinstance(value, str) else str(value)


def _word(value: Any, argument: str, words: tuple[str, ...]) -> str:
    found = str(value).strip().lower().replace(" ", "_")
    found = found if found in words else _BUTTONS.get(found, found)
    if found not in words:
        said = f"{', '.join(words[:-1])} or {words[-1]}"
        raise Misfit(argument, f"needs {said} in `{argument}`, got {value!r}")
    return found


def _texts(value: Any, argument: str) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_text(item, argument) for item in cast("list[Any]", value)]
    return [_text(value, argument)]


def _keys(value: Any, argument: str) -> list[str]:
    """Keys from a list, or from text with `+` or white space between them."""
    listed = _listed(value)
    parts = _apart(_text(value, argument)) if listed is None else [_text(item, argument) for item in listed]
    keys = [key_named(part) for part in parts]
    if not keys:
        raise Misfit(argument, f"needs a key in `{argument}`")
    return keys


def _held(value: Any, argument: str) -> list[str]:
    """Keys that are held meanwhile: none, where that is what is said."""
    return _keys(value, argument) if value not in ("", []) else []


def _apart(text: str) -> list[str]:
    """The keys of a text: between `+` or white space, both of which may be a key, too."""
    if text and not text.strip():
        return ["space"]
    parts = text.split()
    between = [part for i, part in enumerate(parts) if part != "+" or i in (0, len(parts) - 1)]
    return [key for part in between for key in (_PLUS.split(part) if part != "+" else [part])]


def key_named(word: str) -> str:
    """The name of a key, as all actions have it: in small letters, one of several words for the same key.

    A single character stands for itself, and so does a word that is not known; `cmd`, `win` and `super` are `meta`.
    """
    if word == " ":
        return "space"
    if len(word) == 1:
        return word.lower() if word.isascii() else word
    bare = word.strip().lower()
    return _KEYS.get(re.sub(r"[_\-\s]", "", bare), bare)


def _one_key(value: Any, argument: str) -> str:
    return key_named(_text(value, argument))


def _element(value: Any, argument: str) -> ElementRef:
    if not isinstance(value, dict):
        raise Misfit(argument, f"needs an object that names an element in `{argument}`, got {repr(value)[:40]}")
    known: dict[str, Any] = {}
    for key, part in cast("dict[str, Any]", value).items():
        if key in ElementRef.model_fields and part is not None:
            known[key] = _whole(part, argument) if key == "index" else _text(part, argument)
    return ElementRef(**known)


def _object(value: Any, argument: str) -> Any:
    if not isinstance(value, dict):
        raise Misfit(argument, f"needs an object in `{argument}`, got {repr(value)[:40]}")
    return cast("dict[str, Any]", value)


def _items(value: Any, argument: str) -> list[Any]:
    items = _listed(value)
    if not items:
        raise Misfit(argument, f"needs a list in `{argument}`, got {repr(cast('object', value))[:40]}")
    return items


def _listed(value: Any) -> list[Any] | None:
    """The items of a list, or of text that is one in JSON, as a bare argument is; None for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None


_READERS: dict[str, Any] = {
    "key": _one_key, "keys": _keys, "held": _held, "text": _text, "texts": _texts, "whole": _whole, "number": _number,
    "seconds": _seconds, "truth": _truth, "element": _element, "object": _object, "points": _items,
    "actions": _items,
}  # fmt: skip


def read_path(value: Any, space: Space, argument: str, *, begun: bool = False) -> dict[str, Any]:
    """The fields of a drag from a list of two or more points, or of the others if its start is known. Raises Misfit."""
    places = [read_point(item, space, argument) for item in _items(value, argument)]
    if begun:
        return {"end": places[-1], "via": places[:-1]}
    if len(places) < 2:
        raise Misfit(argument, f"needs two points or more in `{argument}`, got {len(places)}")
    return {"start": places[0], "end": places[-1], "via": places[1:-1]}


def write_point(point: Point, spelling: str) -> Any:
    """A point as a format spells it: `{x}` and `{y}` stand for its numbers, "" for a list of them, "tuple" for a tuple,
    "nested" for a list in a list.

    The numbers of a box stand where `{x}` and `{y}` do, with what stands between these between all of them.
    """
    numbers = [_short(number) for number in point.numbers()]
    if "{x}" not in spelling:
        return {"tuple": tuple(numbers), "nested": [numbers]}.get(spelling, numbers)
    head, _, rest = spelling.partition("{x}")
    between, _, tail = rest.partition("{y}")
    return f"{head}{between.join([f'{Decimal(repr(number)):f}' for number in numbers])}{tail}"


def write_value(value: Any) -> Any:
    """A field's value as an argument."""
    if isinstance(value, ElementRef):
        return value.model_dump(exclude_none=True)
    return _short(value)
