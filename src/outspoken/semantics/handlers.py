"""What the operations of the automaton do: each calls the part of the builder that knows what a rule means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from outspoken.grammar.vocabulary import FIELDS, NODES

from . import blocks
from .builder import Builder


class TokenMatch(Protocol):
    """The match of a step of the automaton: a `re.Match`, or a `Place`."""

    def __getitem__(self, group: int, /) -> str: ...

    def start(self, group: int = ..., /) -> int: ...

    def end(self, group: int = ..., /) -> int: ...


#: Called as `operation(builder, argument, match, group, base)`: the group of the match is the token of the operation,
#: `base` the offset of the matched text in the raw text.
Operation = Callable[[Builder, str, TokenMatch, int, int], None]


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


def _begin(b: Builder, kinds: str, m: TokenMatch, g: int, base: int) -> None:
    b.begin(kinds, base + m.start(g))


def _reopen(b: Builder, kinds: str, m: TokenMatch, g: int, base: int) -> None:
    blocks.reopen(b, kinds)


def _name(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    b.nodes[-1].name = b.header.read_name(m[g])


def _named(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    """The name is known, and written with a mistake."""
    b.nodes[-1].name = arg


def _call_id(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    b.nodes[-1].id = m[g]


def _call_index(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    """The number of a call is a part of its id, and means nothing by itself."""


def _before(operation: Operation) -> Operation:
    """The operation for a node that ended before the token of the match."""

    def run(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
        at = m.start(g)
        operation(b, arg, Place(at, at), 0, base)

    return run


#: By the kind of node, what its end does.
_ENDS: dict[str, Operation] = {
    "think": lambda b, _, m, g, base: blocks.end_think(b, base + m.end(g)),
    "code": lambda b, _, m, g, base: blocks.end_code(b, base + m.end(g)),
    "json": lambda b, _, m, g, base: blocks.end_json(b, base + m.end(g)),
    "envelope": lambda b, _, m, g, base: blocks.end_envelope(b, base + m.end(g)),
    "unread": lambda b, _, m, g, base: blocks.end_unread(b, base + m.end(g)),
    "mention": lambda b, _, m, g, base: blocks.end_mention(b, base + m.end(g)),
    "payload": lambda b, _, m, g, base: blocks.end_payload(b, base + m.end(g)),
    "call_id": lambda b, _, m, g, base: blocks.end_call_id(b, base + m.end(g)),
    "tool_call": lambda b, _, m, g, base: b.calls.end_tool_call(base + m.end(g)),
    "answer": lambda b, _, m, g, base: b.answers.end_answer(base + m.end(g)),
    "invented": lambda b, _, m, g, base: b.answers.end_invented(base + m.end(g)),
    "action": lambda b, _, m, g, base: b.actions.end_action(base + m.end(g)),
    "quoted": lambda b, _, m, g, base: b.actions.end_quoted(base + m.end(g)),
}

#: By the name of a field rule, what its end does with the value that was read.
_FIELDS: dict[str, Operation] = {
    "tool_name": lambda b, _, m, g, base: b.calls.field_tool_name(),
    "arguments": lambda b, _, m, g, base: b.calls.field_arguments(base + m.start(g), base + m.end(g)),
    "argument": lambda b, _, m, g, base: b.calls.field_argument(base + m.start(g), base + m.end(g)),
    "id": lambda b, _, m, g, base: b.calls.field_id(),
    "content": lambda b, _, m, g, base: blocks.field_content(b, base + m.start(g), base + m.end(g)),
    "needs_more_work": lambda b, _, m, g, base: blocks.field_needs_more_work(b, base + m.start(g), base + m.end(g)),
    "no_calls": lambda b, _, m, g, base: blocks.field_no_calls(b),
    "unknown": lambda b, _, m, g, base: blocks.field_unknown(b, base + m.start(g), base + m.end(g)),
    "is_text": lambda b, _, m, g, base: blocks.field_is_text(b),
    "is_true": lambda b, _, m, g, base: blocks.field_is_true(b),
    "odd": lambda b, _, m, g, base: blocks.field_odd(b, base + m.start(g), base + m.end(g)),
}

#: The operations, by name.
HANDLERS: dict[str, Operation] = {
    "begin": _begin,
    "drop": lambda b, _, m, g, base: blocks.drop(b),
    "insert": lambda b, marker, m, g, base: b.recorder.add_missing_opener(marker, base + m.start(g)),
    "replace": lambda b, marker, m, g, base: b.recorder.add_damaged_opener(marker, base + m.start(g), base + m.end(g)),
    "stray": lambda b, _, m, g, base: b.recorder.add_stray(base + m.start(g), base + m.end(g)),
    "odd": lambda b, _, m, g, base: b.recorder.add_odd(base + m.start(g), base + m.end(g)),
    "markup": lambda b, _, m, g, base: blocks.markup(b),
    "reopen": _reopen,
    "before_reopen": _reopen,
    "named": _named,
    "token_TOOL_NAME": _name,
    "token_ACTION_NAME": _name,
    "token_PAYLOAD_NAME": _name,
    "token_ARG_NAME": lambda b, _, m, g, base: b.calls.argument_name(b.header.read_name(m[g]), base + m.start(g)),
    "token_CALL_ID": _call_id,
    "token_CALL_INDEX": _call_index,
    **{f"field_{name}": _FIELDS[name] for name in FIELDS},
    **{f"end_{name}": _ENDS[name] for name in NODES},
    **{f"before_end_{name}": _before(_ENDS[name]) for name in NODES},
}

#: What receives the pieces of a free text: called as `function(builder, piece, start, end)`.
FREE: dict[str, Callable[[Builder, str, int, int], None]] = {
    "TEXT": lambda b, piece, start, end: b.output.text(piece, start, end),
    "CODE": lambda b, _piece, _start, end: b.output.show(end),  # it is text, together with its fence
    "REASONING": Builder.reasoning,
    "ARG_VALUE": lambda b, piece, start, end: b.calls.value(piece, start, end),
}
