"""What the operations of a step do: the binding between the automaton and the builder.

Every operation is called as `function(builder, argument, match, group, base)`, where the group of the match is the
token it speaks of and `base` is the offset of the match's text in the raw text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .deeds import ActionBuilder as B
from .vocabulary import FIELDS, FRAMES

Operation = Callable[[Any, str, Any, int, int], None]


class Place:
    """Stands in for a match where a step was not found by a regular expression."""

    __slots__ = ("_start", "_end")

    def __init__(self, start: int, end: int) -> None:
        self._start, self._end = start, end

    def start(self, group: int = 0) -> int:
        """Where it begins."""
        return self._start

    def end(self, group: int = 0) -> int:
        """Where it ends."""
        return self._end


def _begin(b: Any, arg: str, m: Any, g: int, base: int) -> None:
    b.begin(base + m.start(g), arg)


def _drop(b: Any, arg: str, m: Any, g: int, base: int) -> None:
    b.drop()


def _reopen(b: Any, arg: str, m: Any, g: int, base: int) -> None:
    b.reopen(arg)


def _island(b: Any, arg: str, m: Any, g: int, base: int) -> None:
    b.last_text = text = m[g]
    b.last = text[1:-1]


def _token(function: Any) -> Operation:
    def run(b: Any, arg: str, m: Any, g: int, base: int) -> None:
        function(b, m[g])

    return run


def _field(function: Any) -> Operation:
    def run(b: Any, arg: str, m: Any, g: int, base: int) -> None:
        function(b, b.frames[-1], base + m.start(g), base + m.end(g))

    return run


def _end(function: Any) -> Operation:
    def run(b: Any, arg: str, m: Any, g: int, base: int) -> None:
        function(b, b.frames.pop(), base + m.end(g))

    return run


def _before_end(function: Any) -> Operation:
    def run(b: Any, arg: str, m: Any, g: int, base: int) -> None:
        function(b, b.frames.pop(), base + m.start(g))

    return run


HANDLERS: dict[str, Operation] = {
    "begin": _begin,
    "drop": _drop,
    "reopen": _reopen,
    "before_reopen": _reopen,
    "island": _island,
    "token_TOOL_NAME": _token(B.name),
    "token_ACTION_NAME": _token(B.name),
    "token_PAYLOAD_NAME": _token(B.name),
    "token_ARG_NAME": _token(B.argument_name),
    "token_CALL_ID": _token(B.call_id),
    "token_COORDINATES": _token(B.coordinates),
    **{f"field_{name}": _field(getattr(B, f"field_{name}")) for name in FIELDS},
    **{f"end_{name}": _end(getattr(B, f"end_{name}")) for name in FRAMES},
    **{f"before_end_{name}": _before_end(getattr(B, f"end_{name}")) for name in FRAMES},
}

#: What receives the pieces of a free text: called as `function(builder, piece, start, end)`.
FREE: dict[str, Any] = {"TEXT": B.text, "CODE": B.code, "REASONING": B.reasoning, "ARG_VALUE": B.value}
