"""Mistakes in the markup of sound responses, and what becomes of them.

Names, values and the characters beside them are never touched. What is damaged is a table: a *unit* of the markup
(`UNITS`: where one can stand) × what is done to it (`KINDS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import NamedTuple

from outspoken import Parser, Reply, parse

from .responses import Base, Item, items_of, same_items

#: What may become of a damaged text, from best to worst, each with the head of its column.
CLASSES = {"meant": "meant", "flagged": "flag", "lost": "LOST", "wrong, flagged": "wr-fl", "wrong, ok": "WR-OK"}
#: Characters that are inserted.
_INSERTED = "\"'{}<>,x"


class Mistake(NamedTuple):
    """One mistake: what replaces the text from `start` to `end`."""

    kind: str
    start: int
    end: int
    new: str


@dataclass(frozen=True)
class MarkupCase:
    """A damaged response, and the sound one that it was made of."""

    kind: str
    text: str
    base: Base


def _characters(base: Base) -> Iterator[tuple[int, int]]:
    """Each character of the markup."""
    return ((at, at + 1) for at in range(len(base.text)) if at not in base.closed)


def _gaps(base: Base) -> Iterator[tuple[int, int]]:
    """Each place in the markup where something may be inserted."""
    return ((at, at) for at in range(len(base.text) + 1) if at not in base.sealed)


def _pairs(base: Base) -> Iterator[tuple[int, int]]:
    """Each two different characters of the markup that follow each other."""
    for start, end in _characters(base):
        two = base.text[start : end + 1]
        if len(two) == 2 and end not in base.closed and two[0] != two[1]:
            yield start, end + 1


def _other_case(text: str) -> tuple[str, ...]:
    other = text.swapcase()
    return (other,) if other != text and len(other) == len(text) else ()


#: Where a unit of the markup stands in a sound response.
UNITS: dict[str, Callable[[Base], Iterator[tuple[int, int]]]] = {"character": _characters, "pair": _pairs, "gap": _gaps}
#: The kinds of mistakes: the unit that is damaged, and what may stand in its place.
KINDS: dict[str, tuple[str, Callable[[str], Iterable[str]]]] = {
    "deleted": ("character", lambda text: ("",)),
    "doubled": ("character", lambda text: (text * 2,)),
    "swapped": ("pair", lambda text: (text[::-1],)),
    "other case": ("character", _other_case),
    "inserted": ("gap", lambda text: _INSERTED),
}


def mistakes(base: Base) -> dict[str, list[Mistake]]:
    """All single mistakes in the markup of a response, by kind.

    One that gives the same text as a mistake at a closed place is none: of several equal characters in a row, of which
    one stands beside a value, each is that one.
    """
    found: dict[str, list[Mistake]] = {}
    for kind, (unit, damage) in KINDS.items():
        made = [Mistake(kind, *span, new) for span in UNITS[unit](base) for new in damage(base.text[slice(*span)])]
        found[kind] = [one for one in made if not _is_beside(base, one)]
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


def _damaged(base: Base, chosen: Iterable[Mistake]) -> str:
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
        text = _damaged(made[at], chosen)
        kind = kinds[0] if count == 1 else f"{count} mistakes"
        found.setdefault(text, MarkupCase(kind, text, made[at]))
    return [case for case in found.values() if case.kind]


@dataclass(frozen=True)
class MarkupReading:
    """How a damaged text was read: its class, what was run, and the reply."""

    case: MarkupCase
    outcome: str
    items: list[Item]
    reply: Reply
    #: the reply to the text in pieces; None where none were fed
    streamed: Reply | None = None

    @property
    def differs(self) -> bool:
        """Whether pieces gave another reply."""
        return self.streamed not in (None, self.reply)


def outcome(reply: Reply, meant: Iterable[Item]) -> str:
    """The class of a reply, by what was meant.

    `wrong` is a usable call, action or payload that was not meant, or was meant once and is there twice. It is flagged
    if it was repaired, or if a diagnostic lies on it.
    """
    found, left = items_of(reply), list(meant)
    if same_items(found, left):
        return "meant"
    usable = [*reply.tool_calls, *reply.actions, *reply.payloads]
    wrong: list[bool] = []
    for item, segment in zip(found, usable, strict=True):
        at = next((i for i, other in enumerate(left) if same_items([item], [other])), -1)
        if at >= 0:
            del left[at]
            continue
        start, end = segment.span
        said = [d for d in reply.diagnostics if d.span[0] <= end and start <= d.span[1]]
        wrong.append(segment.status != "ok" or bool(said))
    if wrong:
        return "wrong, flagged" if all(wrong) else "wrong, ok"
    return "flagged" if reply.diagnostics or reply.status != "ok" else "lost"


def read(case: MarkupCase, format_: str, *, pieces: bool = False) -> MarkupReading:
    """Read a damaged text; if asked for, in pieces, too."""
    tools = case.base.tools
    reply = parse(case.text, format_, tools=tools, finish_reason="stop")
    in_pieces = _streamed(case, format_) if pieces else None
    return MarkupReading(case, outcome(reply, case.base.items), items_of(reply), reply, in_pieces)


def _streamed(case: MarkupCase, format_: str) -> Reply | None:
    """The reply to a damaged text that comes in pieces of 1 to 6 characters."""
    session, random, at = Parser(format_, tools=case.base.tools).session(), Random(case.text), 0
    while at < len(case.text):
        size = random.randint(1, 6)
        session.feed(case.text[at : at + size])
        at += size
    session.close("stop")
    return session.reply
