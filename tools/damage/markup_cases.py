"""Sound responses of every format, and the same with one or more mistakes of a character in their markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, NamedTuple

from outspoken import Reply, parse
from outspoken.actions.encoding import effect_of
from outspoken.grammar import registry
from outspoken.notations.tools import Tools

from . import markup_actions, markup_calls
from .evaluation import equal

SEED = 20261123
PER_FORMAT = 100
BASES = 8
#: characters that are inserted
INSERTED = "\"'{}<>,x"

#: What a response asks for: a kind, a name and what goes with it.
Item = tuple[str, str, Any]


@dataclass(frozen=True)
class Base:
    """A sound response: its text, what it asks for, and which of its characters are no markup or stand beside them."""

    format: str
    text: str
    items: tuple[Item, ...]
    #: characters that are not changed
    closed: frozenset[int]
    #: offsets at which nothing is inserted
    sealed: frozenset[int]
    tools: Tools | None


@dataclass(frozen=True)
class MarkupCase:
    """A damaged response, and the sound one that it was made of."""

    kind: str
    text: str
    base: Base


class Mistake(NamedTuple):
    """One mistake: what replaces the text from `start` to `end`."""

    kind: str
    start: int
    end: int
    new: str


def items_of(reply: Reply) -> list[Item]:
    """The usable calls, actions and payloads of a reply."""
    calls: list[Item] = [("call", call.name, call.arguments) for call in reply.tool_calls]
    actions: list[Item] = [("action", action.type, effect_of(action)) for action in reply.actions]
    return [*calls, *actions, *[("payload", payload.type, payload.data) for payload in reply.payloads]]


def same_items(one: Iterable[Item], other: Iterable[Item]) -> bool:
    """Whether two replies ask for the same, in the same order."""
    return equal([list(item) for item in one], [list(item) for item in other])


def is_writable(name: str) -> bool:
    """Whether the format has calls, actions or payloads."""
    kinds = {kind for kinds in registry.automaton(name).tables.nodes for kind in kinds.split()}
    return not kinds.isdisjoint({"tool_call", "action", "payload"})


# --- Sound responses


def bases(name: str, seed: int, count: int = BASES, *, auto: bool = False) -> list[Base]:
    """Sound responses of a format, the same ones for the same seed.

    With `auto`, they ask for what they are read as where the format is not named.
    """
    header = registry.header(name)
    random = Random(f"{seed} {name}")
    if header.actions:
        known = markup_actions.pool(name, header, random, min(2 * count, markup_actions.ENOUGH))
        texts = [markup_actions.written(name, known, random) for _ in range(count)]
    elif header.payloads or not _has(name, "tool_call"):
        texts = [markup_actions.payload(name, "suggested_values", random) for _ in range(count)]
    else:
        texts = [markup_calls.written(name, random) for _ in range(count)]
        if _has(name, "envelope"):
            texts = [_enveloped(name, text) if i % 2 else text for i, text in enumerate(texts)]
    unique = dict.fromkeys([text for text in texts if text])
    made = [base for text in unique if (base := base_of(name, text)) is not None]
    return [base for one in made if (base := _detected(one)) is not None] if auto else made


def _has(name: str, kind: str) -> bool:
    return any(kind in kinds.split() for kinds in registry.automaton(name).tables.nodes)


def _enveloped(name: str, text: str | None) -> str | None:
    """A response as one object with its calls and its text."""
    return text and json.dumps(parse(text, name, tools=markup_calls.tools()).to_envelope())


def base_of(name: str, text: str) -> Base | None:
    """A sound response with what is known of it; None if it is not sound or asks for nothing."""
    tools = None if registry.header(name).actions else Tools.of(markup_calls.tools())
    reply = parse(text, name, tools=tools, finish_reason="stop")
    if reply.status != "ok" or reply.diagnostics or not items_of(reply):
        return None
    closed, sealed = set[int](), set[int]()
    for start, end in _data_spans(name, text, reply):
        start, end = _padded(text, start, end)
        closed |= {*range(start - 1, end + 1)}
        sealed |= {*range(start, end + 1)}
    for start, end in _text_spans(name, text):
        closed |= {*range(start, end)}
        sealed |= {*range(start + 1, end)}
    return Base(name, text, tuple(items_of(reply)), frozenset(closed), frozenset(sealed), tools)


def _padded(text: str, start: int, end: int) -> tuple[int, int]:
    """A name or a value with the line breaks round it, and the blanks behind a colon: they may be part of it."""
    while start and text[start - 1] == "\n":
        start -= 1
    blanks = start - len(text[:start].rstrip(" "))
    if blanks and text[start - blanks - 1 : start - blanks] == ":":
        start -= blanks
    while end < len(text) and text[end] == "\n":
        end += 1
    return start, end


def _detected(base: Base) -> Base | None:
    """A response that asks for what it is read as where the format is not named; None if that is not sound."""
    reply = parse(base.text, tools=base.tools, finish_reason="stop")
    items = items_of(reply)
    if reply.diagnostics or len(items) != len(base.items):
        return None
    return replace(base, items=tuple(items))


def _data_spans(name: str, text: str, reply: Reply) -> Iterator[tuple[int, int]]:
    """Where names and values stand in a sound response."""
    if not reply.tool_calls:
        yield from markup_actions.data_spans(name, text)
        return
    made = [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    envelope = {reply.envelope_content, "true", "false"} if reply.envelope_content else set[str]()
    for spelling in markup_calls.data_of(made) | envelope:
        for found in re.finditer(rf"(?<!\w){re.escape(spelling)}(?!\w)", text):
            yield found.span()


def _text_spans(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where text for the user stands, without the white space round it."""
    for terminal, start, end in markup_actions.tokens(name, text):
        piece = text[start:end]
        if terminal == "TEXT" and piece.strip():
            at = start + piece.index(piece.strip())
            yield at, at + len(piece.strip())


# --- Mistakes


def _deleted(base: Base, at: int) -> Iterator[Mistake]:
    yield Mistake("deleted", at, at + 1, "")


def _doubled(base: Base, at: int) -> Iterator[Mistake]:
    yield Mistake("doubled", at, at + 1, base.text[at] * 2)


def _swapped(base: Base, at: int) -> Iterator[Mistake]:
    two = base.text[at : at + 2]
    if len(two) == 2 and at + 1 not in base.closed and two[0] != two[1]:
        yield Mistake("swapped", at, at + 2, two[::-1])


def _in_other_case(base: Base, at: int) -> Iterator[Mistake]:
    other = base.text[at].swapcase()
    if other != base.text[at] and len(other) == 1:
        yield Mistake("other case", at, at + 1, other)


def _inserted(base: Base, at: int) -> Iterator[Mistake]:
    for new in INSERTED:
        yield Mistake("inserted", at, at, new)


KINDS: dict[str, Callable[[Base, int], Iterator[Mistake]]] = {
    "deleted": _deleted,
    "doubled": _doubled,
    "swapped": _swapped,
    "other case": _in_other_case,
    "inserted": _inserted,
}


def mistakes(base: Base) -> dict[str, list[Mistake]]:
    """All mistakes of one character in the markup of a response, by kind.

    One that gives the same text as a mistake at a closed place is none: of several equal characters in a row, of which
    one stands beside a value, each is that one.
    """
    found: dict[str, list[Mistake]] = {kind: [] for kind in KINDS}
    for kind, make in KINDS.items():
        for at in range(len(base.text) + (kind == "inserted")):
            if at not in (base.sealed if kind == "inserted" else base.closed):
                found[kind] += [one for one in make(base, at) if not _is_beside(base, one)]
    return found


def _is_beside(base: Base, one: Mistake) -> bool:
    """Whether the same text comes of a mistake in or beside a name or a value."""
    run = base.text[one.start] if one.kind in ("deleted", "doubled") else one.new if one.kind == "inserted" else ""
    if not run:
        return False
    start = end = one.start
    while start and base.text[start - 1] == run:
        start -= 1
    while end < len(base.text) and base.text[end] == run:
        end += 1
    return not base.closed.isdisjoint(range(start, end))


def damaged(base: Base, chosen: Iterable[Mistake]) -> str:
    """The text with the mistakes."""
    text = base.text
    for one in sorted(chosen, reverse=True, key=lambda one: one.start):
        text = text[: one.start] + one.new + text[one.end :]
    return text


def damaged_texts(made: list[Base], random: Random, per_format: int, count: int = 1) -> list[MarkupCase]:
    """Different damaged texts of these responses, of all kinds alike, with `count` mistakes each."""
    offers = [mistakes(base) for base in made]
    found: dict[str, MarkupCase] = {base.text: MarkupCase("", base.text, base) for base in made}
    for _ in range(per_format * 40):
        if len(found) == per_format + len(made) or not made:
            break
        at = random.randrange(len(made))
        kinds = [random.choice([kind for kind in KINDS if offers[at][kind]]) for _ in range(count)]
        chosen = [random.choice(offers[at][kind]) for kind in kinds]
        if any(one is not other and abs(one.start - other.start) < 3 for one, other in product(chosen, chosen)):
            continue
        text = damaged(made[at], chosen)
        kind = kinds[0] if count == 1 else f"{count} mistakes"
        found.setdefault(text, MarkupCase(kind, text, made[at]))
    return [case for case in found.values() if case.kind]
