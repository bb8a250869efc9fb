"""Sound responses of any format, GUI actions and payloads too, with mistakes in their markup.

What is damaged, and what becomes of it, is said in `outspoken.authoring.fuzz`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise, product, takewhile
from random import Random
from typing import NamedTuple

from outspoken import Reply
from outspoken.authoring.fuzz.damage import CHARACTERS, Case, mistakes, with_mistakes
from outspoken.authoring.fuzz.sound import Item, Sound, items_of, outcome


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
        drawn = [random.choice(list(offers[at])) for _ in range(count) if offers[at]]
        chosen = [random.choice(offers[at][kind]) for kind in drawn]
        if any(one is not other and abs(one.start - other.start) < 3 for one, other in product(chosen, chosen)):
            continue
        text = with_mistakes(made[at].text, chosen)
        found.setdefault(text, Case(drawn[0], made[at], text, made[at].items))
    return [case for case in found.values() if case.kind]
