"""Reads damaged texts, and compares what was read with what they stand for: JSON, and responses of any format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise, product, takewhile
from random import Random
from typing import Any, NamedTuple, cast

from outspoken import Reply
from outspoken.authoring.fuzz.damage import CHARACTERS, Case, mistakes, with_mistakes
from outspoken.authoring.fuzz.sound import Item, Sound, items_of, outcome
from outspoken.json.read import JsonReading

from .json_texts import KINDS, DamageCase


class Reading(NamedTuple):
    """How a damaged text was read: its class, and the reply; another reply if pieces gave one."""

    case: Case
    outcome: str
    reply: Reply
    streamed: Reply | None = None

    @property
    def differs(self) -> bool:
        """Whether pieces gave another reply."""
        return self.streamed is not None and self.streamed != self.reply

    @property
    def items(self) -> list[Item]:
        """What runs."""
        return items_of(self.reply)


def read(case: Case, format_: str | None = None, *, pieces: bool = False) -> Reading:
    """Read a damaged text; if asked for, in pieces, too."""
    args = replace(case.args, format=format_ or case.base.format)
    reply, random = args.parse(case.text), Random(case.text)
    ends = takewhile(lambda end: end < len(case.text), accumulate(iter(lambda: random.choice((1, 2, 3, 5, 40)), 0)))
    chunks = [case.text[start:end] for start, end in pairwise([0, *ends, len(case.text)])]
    found = outcome(reply, case.meant, case.allowed, case.begun)
    return Reading(case, found, reply, args.stream(chunks)[1] if pieces else None)


def damaged_texts(
    made: list[Sound], random: Random, per_format: int, count: int = 1, kinds: Iterable[str] = CHARACTERS
) -> list[Case]:
    """Different damaged texts of these responses, of all kinds alike, with `count` mistakes each."""
    offers = [{kind: found for kind, found in mistakes(base, kinds).items() if found} for base in made]
    found: dict[str, Case] = {base.text: Case("", base, base.text, base.items) for base in made}
    for _ in range(per_format * 40):
        if len(found) == per_format + len(made) or not made:
            break
        at = random.randrange(len(made))
        if not offers[at]:
            continue
        drawn = [random.choice(list(offers[at])) for _ in range(count)]
        chosen = [random.choice(offers[at][kind]) for kind in drawn]
        if any(one is not other and abs(one.start - other.start) < 3 for one, other in product(chosen, chosen)):
            continue
        text = with_mistakes(made[at].text, chosen)
        found.setdefault(text, Case(drawn[0], made[at], text, made[at].items))
    return [case for case in found.values() if case.kind]


class Evaluation(NamedTuple):
    """Whether a text was read correctly, and if not, whether the result says that it may be wrong."""

    right: bool
    flagged: bool
    why: str = ""

    @property
    def silent(self) -> bool:
        """Wrong, and nothing says so."""
        return not self.right and not self.flagged


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same, with their types and with the order of their keys."""
    return json.dumps(one, default=repr) == json.dumps(other, default=repr)


def is_beginning(token: Any, whole: Any) -> bool:
    """Whether a value is what can be known of another one from the beginning of its text."""
    if isinstance(token, str) and isinstance(whole, str):
        return whole.startswith(token)
    if isinstance(token, dict) and isinstance(whole, dict):
        known, meant = cast("dict[str, Any]", token), cast("dict[str, Any]", whole)
        return list(known) == list(meant)[: len(known)] and is_beginning([*known.values()], [*meant.values()])
    if isinstance(token, list) and isinstance(whole, list):
        items, others = cast("list[Any]", token), cast("list[Any]", whole)
        last = len(items) - 1
        begins = last < len(others) and (last < 0 or is_beginning(items[last], others[last]))
        return begins and equal(items[:-1], others[: max(last, 0)])
    return equal(token, whole)


def evaluate(case: DamageCase, reading: JsonReading) -> Evaluation:
    """Judge the reading of a case.

    A text that was cut has to be called `truncated`, with the beginning of what was meant. Any other has to be read
    whole; it may be called `truncated` only where nothing proves that it is not. A wrong reading is flagged where it
    is `invalid`, ambiguous or json-repair's; or `truncated`, where the text was not cut, as nobody acts on it.
    """
    status, values = reading.status, list(reading.values)
    whole = equal(values, case.values)
    flagged = status == "invalid" or reading.ambiguous or reading.level == "heuristic"
    if KINDS[case.kind].group == "cut":
        if status == "truncated":
            known = len(values) <= 1 and all(is_beginning(value, case.values[0]) for value in values)
            return Evaluation(known, flagged, "" if known else "not the beginning of what was meant")
        return Evaluation(whole and status != "invalid", flagged, "" if whole else f"{status}, but was cut")
    if not whole:
        return Evaluation(False, flagged or status == "truncated", "another value")
    if status == "invalid" or (status == "truncated" and not case.open_ended):
        return Evaluation(False, True, f"the value, but {status}")
    return Evaluation(True, flagged)
