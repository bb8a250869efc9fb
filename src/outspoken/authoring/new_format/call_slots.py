"""Texts with the spans of the names, ids and arguments of their calls; the rest is markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

from outspoken.json import scanner
from outspoken.notations import python_literals

#: What a slot of a call may hold. `call` is a whole JSON object with a name and arguments, `object` all arguments as
#: JSON. `value` is an argument that is bare text, `quoted_json` and `quoted_python` are texts in quotes, `json` and
#: `python` are values that are no text, and `either` is one that both write alike.
SlotKind = Literal[
    "name", "quoted_name", "id", "quoted_id", "index", "call", "object", "key",
    "value", "json", "python", "quoted_json", "quoted_python", "either",
]  # fmt: skip

#: The keys that the shared rules for a call in JSON know.
NAME_KEY, ARGUMENTS_KEYS, ID_KEYS = "name", ("arguments", "parameters", "args"), ("id", "call_id", "tool_call_id")

_DEPTH = 64
_PUNCTUATION: Any = re.compile(r"[\s,:]*")
_FINE = re.compile(
    r'\s*(?:<[^<>\n]*>|<+[^<>\n]*\Z|\A[^<>\n]*?>|\[/?[A-Z][A-Z0-9_]*\]|"[^"\n]*"\s*:|[\[\](){},]'
    r"|(?:(?!\[/?[A-Z])[^\s<\[\](){},])+|[^\s])|\s+\Z",
    re.DOTALL,
)


class UnclearError(Exception):
    """The given texts do not show how calls are written. The message says what is missing."""


class Slot(NamedTuple):
    """A span of a text that holds a part of a call."""

    kind: SlotKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the slots before its arguments in order, and its arguments if they are written one by one."""

    head: tuple[Slot, ...]
    arguments: tuple[tuple[Slot, Slot], ...] = ()

    @property
    def start(self) -> int:
        """Where its first slot begins."""
        return self.head[0].start

    @property
    def end(self) -> int:
        """Where its last slot ends."""
        return self.arguments[-1][1].end if self.arguments else self.head[-1].end


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with calls that follow each other. `start` and `end` are where markup begins and ends around them.

    `after` is what precedes the markup: "text", "reasoning" or "". `thought` is the span of reasoning.
    """

    text: str
    calls: tuple[Call, ...] = ()
    start: int = 0
    end: int = 0
    after: str = ""
    thought: tuple[int, int] | None = None
    thought_end: int = 0

    @property
    def opening(self) -> str:
        """The markup before the first call."""
        return self.text[self.start : self.calls[0].start]

    @property
    def closing(self) -> str:
        """The markup behind the last call."""
        return self.text[self.calls[-1].end : self.end]

    @property
    def between(self) -> list[str]:
        """The markup between neighbouring calls."""
        return [self.text[one.end : two.start] for one, two in pairwise(self.calls)]


def tokens(markup: str) -> list[str]:
    """Markup in its smallest parts, each with the white space before it: tags, keys, brackets, words."""
    return _FINE.findall(markup)


def is_tag(token: str) -> bool:
    """Whether a token is a tag, a part of one, or a token like `<|call|>` and `[CALL]`."""
    bare = token.strip()
    return bare.startswith("<") or bare.endswith(">") or bool(re.fullmatch(r"\[/?[A-Z][A-Z0-9_]*\]", bare))


def json_value(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON value at a place of a text and where it ends; None if there is none."""
    found = scanner.read_at(text, start, _DEPTH)
    return found[:2] if found else None


def python_value(text: str, start: int) -> tuple[Any, int] | None:
    """The value of the Python literal at a place of a text and where it ends; None if there is none."""
    return python_literals.read_at(text, start, _DEPTH)


def slots_of_object(text: str, start: int) -> tuple[Slot, ...]:
    """The slots of a JSON object that is a call; none if it cannot be distinguished from other objects.

    A call has a name, which is a text, and its arguments, which are an object. One whose only key has an object for
    its value is a call whose name is the key. Keys that the shared rules know make the whole of it one slot.
    """
    found = json_value(text, start)
    if found is None or not isinstance(found[0], dict):
        return ()
    value, end = cast("dict[str, Any]", found[0]), found[1]
    if isinstance(value.get(NAME_KEY), str) and any(key in value for key in ARGUMENTS_KEYS):
        return (Slot("call", start, end),)
    members = list(_members(text, start, len(value)))
    if len(value) == 1 and isinstance(next(iter(value.values())), dict):
        return (Slot("quoted_name", *members[0][0]), Slot("object", *members[0][1]))
    kinds: list[SlotKind | None] = [_kind(key, inner) for key, inner in value.items()]
    if {"quoted_name", "object"} <= set(kinds) and len(kinds) == len(set(kinds)) and None not in kinds:
        return tuple(Slot(kind, *span) for kind, (_, span) in zip(kinds, members, strict=True) if kind)
    return ()


def _kind(key: str, value: Any) -> SlotKind | None:
    """What the member of a call's object is, by its key; None if unknown."""
    if isinstance(value, dict):
        return "object"
    if isinstance(value, str):
        return "quoted_id" if key in ID_KEYS or key.endswith("_id") else "quoted_name"
    return None


def _members(text: str, start: int, count: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The spans of the keys and values of a sound JSON object with this many members."""
    at = start + 1
    for _ in range(count):
        places: list[tuple[int, int]] = []
        for _ in range(2):
            begin = _PUNCTUATION.match(text, at).end()
            found = json_value(text, begin)
            at = found[1] if found else begin
            places.append((begin, at))
        yield places[0], places[1]
