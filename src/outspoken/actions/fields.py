"""The values of action fields: reading them from the arguments that a model wrote, and writing them again.

The type of a field determines how it is read. Values are never evaluated or guessed: text that is not a number is
rejected.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from operator import neg
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin

from pydantic import BaseModel

from outspoken.notations.coerce import to_json
from outspoken.results.actions.base import ElementRef
from outspoken.results.geometry import Point, Space

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_TAGS = re.compile(r"</?(?:point|bbox|box)>|<\|box_(?:start|end)\|>", re.IGNORECASE)
_BRACKETS = str.maketrans("()[]<>'\"", "        ")
#: a `+` between two keys; the second key may be `+` itself
_PLUS = re.compile(r"(?<=[^+])\+(?=.)")
_SEPARATORS = re.compile(r"[\s,;]+")
_SECONDS = re.compile(rf"({_NUMBER.pattern})\s*(ms|milliseconds?|s|secs?|seconds?)?", re.IGNORECASE)
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

#: Synonyms of key names, in lowercase and without `_`, `-` and spaces.
KEY_SYNONYMS = {
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
#: What no name of a key of several characters holds.
_NO_KEY = re.compile(r"[\"'`“”‘’()\[\]{}<>=:;,|]|\+\Z")
_BUTTONS = {"wheel": "middle", "primary": "left", "secondary": "right"}


class FieldError(ValueError):
    """A value that a field does not accept. `argument` is the name of the argument that it was written as."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument


_Function = Callable[[Any], Any]


class Conversion:
    """A format's own way to write a field: functions from its value to ours, and back."""

    def __init__(self, read: _Function = lambda value: value, write: _Function = lambda value: value) -> None:
        self.read, self.write = read, write


def _web_url(value: str) -> str:
    from .urls import web_url  # few formats need it

    return web_url(value)


#: The conversions that a mapping may append to a source after a colon. `submit` is separate: it sets two fields.
CONVERSIONS: dict[str, Conversion] = {
    "up": Conversion(neg, neg),
    "left": Conversion(neg, neg),
    "ms": Conversion(lambda value: value / 1000, lambda value: value * 1000),
    "space": Conversion(write=" ".join),
    "plus": Conversion(write="+".join),
    "text": Conversion(write=lambda value: str(_simplified(value))),
    "list": Conversion(write=lambda value: [value]),
    "web": Conversion(_web_url),
}
SUBMIT = "submit"
#: A conversion to text of a value of any kind.
JSON_TEXT = "json"


def _simplified(value: Any) -> Any:
    """A number, as an integer if it has no fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class FieldType(NamedTuple):
    """How a field is read: the name of its reader, and the words that it accepts if it is an enumeration."""

    reader: str
    words: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def field_type(model: type[BaseModel], field: str) -> FieldType:
    """How a field of a model is read, by its name or type."""
    if field in _KEY_FIELDS:
        return FieldType(field)
    if model is ElementRef and field == "id":
        return FieldType("identifier")
    if field == "actions":
        return FieldType("actions")
    accepted = _without_none(model.model_fields[field].annotation)
    if get_origin(accepted) is Literal:
        return FieldType("word", get_args(accepted))
    if get_origin(accepted) is list:
        inner = get_args(accepted)[0]
        return FieldType("points" if inner is Point else "texts" if inner is str else "entries")
    readers: dict[Any, str] = {
        Point: "point", ElementRef: "element", str: "text", int: "integer", float: "number", bool: "boolean",
    }  # fmt: skip
    if field.endswith("seconds"):
        return FieldType("seconds")
    return FieldType(readers.get(accepted, "object"))


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        kept = [part for part in get_args(annotation) if part is not NoneType]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def read_value(kind: FieldType, value: Any, argument: str, space: Space) -> Any:
    """The value of a field from an argument. Raises FieldError."""
    if kind.reader == "word":
        return _word(value, argument, kind.words)
    if kind.reader == "point":
        return read_point(value, space, argument)
    return _READERS[kind.reader](value, argument)


def read_point(value: Any, space: Space, argument: str = "point") -> Point:
    """A point from two numbers, or a box from four, in any of the shapes in which models write them.

    These are a list, nested or flat; an object with `x` and `y`; or text with brackets, commas and tags around the
    numbers. Raises FieldError for everything else, such as another count, infinite numbers, booleans and expressions.
    """
    try:
        numbers = _numbers(value, argument)
    except FieldError:
        numbers = []
    if len(numbers) not in (2, 4):
        got = f"{len(numbers)}" if numbers else repr(value)[:40]
        raise FieldError(argument, f"needs a point or a box in `{argument}`: 2 or 4 numbers, got {got}")
    return Point.of(numbers, space)


def _numbers(value: Any, argument: str) -> list[float]:
    """All numbers of a value, in order."""
    if isinstance(value, str):
        if any(value.count(opener) != value.count(closer) for opener, closer in ("()", "[]", "{}")):
            raise FieldError(argument, f"needs a point in `{argument}`, got {value[:40]!r}")  # a part may be missing
        bare = _TAGS.sub(" ", value).translate(_BRACKETS).strip()
        value = _SEPARATORS.split(bare) if bare else []
        return [_number(part, argument) for part in value if part]
    if isinstance(value, dict):
        return _of_object(cast("dict[str, Any]", value), argument)
    if isinstance(value, (list, tuple)):
        numbers: list[float] = []
        for item in cast("list[Any]", value):
            nested = isinstance(item, (list, tuple, dict))
            numbers += _numbers(item, argument) if nested else [_number(item, argument)]
        return numbers
    return [_number(value, argument)]


def _of_object(value: dict[str, Any], argument: str) -> list[float]:
    for keys in (("x1", "y1", "x2", "y2"), ("x", "y")):
        if all(key in value for key in keys):
            return [_number(value[key], argument) for key in keys]
    return []


def _number(value: Any, argument: str) -> float:
    """A finite number. Raises FieldError."""
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
        raise FieldError(argument, f"needs a number in `{argument}`, got {repr(value)[:40]}")
    return number


def _integer(value: Any, argument: str) -> int:
    number = _number(value, argument)
    if not number.is_integer():
        raise FieldError(argument, f"needs an integer in `{argument}`, got {value!r}")
    return int(number)


def _seconds(value: Any, argument: str) -> float | None:
    """Seconds, with or without a unit; None for empty text."""
    if value == "":
        return None
    match = _SECONDS.fullmatch(value.strip()) if isinstance(value, str) else None
    number = _number(match[1] if match else value, argument)
    return number / 1000 if match and (match[2] or "").lower().startswith("m") else number


def _boolean(value: Any, argument: str) -> bool:
    found = value if isinstance(value, bool) else _BOOLEANS.get(str(value).strip().lower())
    if found is None:
        raise FieldError(argument, f"needs true or false in `{argument}`, got {repr(value)[:40]}")
    return found


def _text(value: Any, argument: str) -> str:
    if isinstance(value, (dict, list)):
        raise FieldError(argument, f"needs text in `{argument}`, got {repr(cast('object', value))[:40]}")
    return value if isinstance(value, str) else str(value)


def json_text(value: Any) -> str:
    """A text, or the JSON of any other value."""
    return value if isinstance(value, str) else to_json(value)


def _identifier(value: Any, argument: str) -> str:
    """Text or a number that identifies something."""
    if isinstance(value, bool):
        raise FieldError(argument, f"needs text in `{argument}`, got {value!r}")
    return _text(value, argument)


def _entries(value: Any, argument: str) -> list[Any]:
    """A list of texts and objects, or one of them."""
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [item if isinstance(item, dict) else json_text(item) for item in listed]


def _word(value: Any, argument: str, words: tuple[str, ...]) -> str:
    found = str(value).strip().lower().replace(" ", "_")
    found = found if found in words else _BUTTONS.get(found, found)
    if found not in words:
        expected = f"{', '.join(words[:-1])} or {words[-1]}"
        raise FieldError(argument, f"needs {expected} in `{argument}`, got {value!r}")
    return found


def _texts(value: Any, argument: str) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_text(item, argument) for item in cast("list[Any]", value)]
    return [_text(value, argument)]


def _keys(value: Any, argument: str) -> list[str]:
    """Keys from a list, or from text with `+` or white space between them."""
    listed = _list_of(value)
    if listed is None:
        parts = _split_keys(_text(value, argument))
    else:
        parts = [key for item in listed for key in _PLUS.split(_text(item, argument))]
    keys = [_known_key(part, argument) for part in parts]
    if not keys:
        raise FieldError(argument, f"needs a key in `{argument}`")
    return keys


def _modifiers(value: Any, argument: str) -> list[str]:
    """Keys that are held down meanwhile; may be empty."""
    return _keys(value, argument) if value not in ("", []) else []


def _split_keys(text: str) -> list[str]:
    """The keys of a text, separated by `+` or white space, both of which may be keys themselves."""
    if text and not text.strip():
        return ["space"]
    parts = text.split()
    between = [part for i, part in enumerate(parts) if part != "+" or i in (0, len(parts) - 1)]
    return [key for part in between for key in (_PLUS.split(part) if part != "+" else [part])]


def key_name(word: str) -> str:
    """The canonical name of a key: lowercase, and the same for all synonyms (`cmd`, `win` and `super` are `meta`).

    A single character and an unknown word stand for themselves.
    """
    if word == " ":
        return "space"
    if len(word) == 1:
        return word.lower() if word.isascii() else word
    bare = word.strip().lower()
    return KEY_SYNONYMS.get(re.sub(r"[_\-\s]", "", bare), bare)


def _key(value: Any, argument: str) -> str:
    return _known_key(_text(value, argument), argument)


def _known_key(word: str, argument: str) -> str:
    """The canonical name of a key. Raises FieldError for a word that holds signs of the text round it."""
    if len(word) != 1 and (not word or _NO_KEY.search(word) or _is_doubled(word)):
        raise FieldError(argument, f"needs a key in `{argument}`, got {word[:40]!r}")
    return key_name(word)


def _is_doubled(word: str) -> bool:
    """Is a word the name of a key twice?"""
    bare = word.strip().lower()
    half = bare[: len(bare) // 2]
    return bare == 2 * half and (half in KEY_SYNONYMS or half in KEY_SYNONYMS.values())


def _element(value: Any, argument: str) -> ElementRef:
    if not isinstance(value, dict):
        raise FieldError(argument, f"needs an object that names an element in `{argument}`, got {repr(value)[:40]}")
    known: dict[str, Any] = {}
    for key, part in cast("dict[str, Any]", value).items():
        if key in ElementRef.model_fields and part is not None:
            known[key] = _READERS[field_type(ElementRef, key).reader](part, argument)
    return ElementRef.of(known)


def _object(value: Any, argument: str) -> Any:
    if not isinstance(value, dict):
        raise FieldError(argument, f"needs an object in `{argument}`, got {repr(value)[:40]}")
    return cast("dict[str, Any]", value)


def _items(value: Any, argument: str) -> list[Any]:
    items = _list_of(value)
    if not items:
        raise FieldError(argument, f"needs a list in `{argument}`, got {repr(cast('object', value))[:40]}")
    return items


def _list_of(value: Any) -> list[Any] | None:
    """The items of a list, or of text that is a JSON list; None for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "key": _key, "keys": _keys, "modifiers": _modifiers, "text": _text, "texts": _texts, "integer": _integer,
    "number": _number, "seconds": _seconds, "boolean": _boolean, "element": _element, "object": _object,
    "points": _items, "actions": _items, "entries": _entries, "identifier": _identifier,
}  # fmt: skip


def read_path(value: Any, space: Space, argument: str, *, started: bool = False) -> dict[str, Any]:
    """The fields of a drag from a list of at least two points, or one if its start is known. Raises FieldError."""
    places = [read_point(item, space, argument) for item in _items(value, argument)]
    if started:
        return {"end": places[-1], "via": places[:-1]}
    if len(places) < 2:
        raise FieldError(argument, f"needs two points or more in `{argument}`, got {len(places)}")
    return {"start": places[0], "end": places[-1], "via": places[1:-1]}


def write_point(point: Point, spelling: str) -> Any:
    """A point in the notation of a format: a text with `{x}` and `{y}`, "" for a list, "tuple", or "nested" lists.

    All numbers of a box take the place of `{x}` and `{y}`, separated by the text between these.
    """
    numbers = [_simplified(number) for number in point.numbers()]
    if "{x}" not in spelling:
        return {"tuple": tuple(numbers), "nested": [numbers]}.get(spelling, numbers)
    head, _, rest = spelling.partition("{x}")
    between, _, tail = rest.partition("{y}")
    return f"{head}{between.join([f'{Decimal(repr(number)):f}' for number in numbers])}{tail}"


def write_value(value: Any) -> Any:
    """The value of a field as an argument."""
    if isinstance(value, ElementRef):
        return value.model_dump(exclude_none=True)
    return _simplified(value)
