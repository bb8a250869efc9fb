"""What the operations of a step do: the binding between the automaton and the builder."""

from __future__ import annotations

from typing import Any

from outspoken.grammar.matchers import Handlers, Operation
from outspoken.grammar.vocabulary import FIELDS, FRAMES

from .action_builder import ActionBuilder as B


class Place:
    """Stands in for a match where a step was not found by a regular expression."""

    __slots__ = ("_end", "_start", "_text")

    def __init__(self, start: int, end: int, text: str = "") -> None:
        self._start, self._end, self._text = start, end, text

    def __getitem__(self, group: int) -> str:
        return self._text

    def start(self, group: int = 0) -> int:
        """Where it begins."""
        return self._start

    def end(self, group: int = 0) -> int:
        """Where it ends."""
        return self._end


def _before(operation: Operation) -> Operation:
    """The operation for something that ended before the token of the match."""

    def run(b: Any, arg: str, m: Any, g: int, base: int) -> None:
        at = m.start(g)
        operation(b, arg, Place(at, at), 0, base)

    return run


_FRAMES: dict[str, Operation] = {f"end_{name}": getattr(B, f"end_{name}") for name in FRAMES}

_BY_NAME: dict[str, Operation] = {
    "begin": B.begin,
    "drop": B.drop,
    "supply": B.supply,
    "markup": B.markup,
    "reopen": B.reopen,
    "before_reopen": B.reopen,
    "island": B.island,
    "token_TOOL_NAME": B.name,
    "token_ACTION_NAME": B.name,
    "token_PAYLOAD_NAME": B.name,
    "token_ARG_NAME": B.argument_name,
    "token_CALL_ID": B.call_id,
    "token_CALL_INDEX": B.call_index,
    **{f"field_{name}": getattr(B, f"field_{name}") for name in FIELDS},
    **_FRAMES,
    **{f"before_{name}": _before(operation) for name, operation in _FRAMES.items()},
}

#: What receives the pieces of a free text: called as `function(builder, piece, start, end)`.
FREE: dict[str, Any] = {"TEXT": B.text, "CODE": B.code, "REASONING": B.reasoning, "ARG_VALUE": B.value}

#: Operations that often follow each other, and the one that does what they do; its group is a tuple of theirs.
_FOLDS: tuple[tuple[tuple[Operation, ...], Any], ...] = (
    ((B.begin, B.begin, B.name, B.call_index, B.end_call_id), B.begin_identified),
    ((B.begin, B.name), B.begin_named),
    ((B.begin, B.island, B.field_tool_name), B.begin_quoted),
)

HANDLERS = Handlers(_BY_NAME, _FOLDS)
