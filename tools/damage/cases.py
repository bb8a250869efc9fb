"""Damaged texts with the values that they stand for, the same ones for the same seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from .documents import Document, document, similar_document
from .mutations import (
    Mutation,
    Token,
    bare_backslashes,
    bare_keys,
    bare_quotes,
    bare_quotes_and_breaks,
    block_comments,
    doubled_braces,
    fullwidth,
    hash_comments,
    joined,
    nested_trailing_comma,
    no_closer,
    no_closers,
    no_closing_quote,
    no_colon,
    no_comma,
    no_comma_between_items,
    places,
    python_words,
    quoted,
    raw_breaks,
    single_quotes,
    slash_comments,
    smart_quotes,
    smart_quotes_inside,
    some_bare_quotes,
    style,
    surplus_brace,
    surplus_closer,
    surplus_closer_inside,
    tokens,
    trailing_comma,
    trailing_commas,
    wrong_closer,
)

SEED = 20261122
PER_KIND = 60


@dataclass(frozen=True)
class DamageCase:
    """A damaged text, what was meant by it, and the schema of each of the values."""

    kind: str
    text: str
    values: list[Any]
    schema: dict[str, Any]
    #: nothing in the text proves that its end was reached
    open_ended: bool = False

    def __str__(self) -> str:
        return f"[{self.kind}] {self.text!r}\nmeant: {self.values!r}\nschema: {json.dumps(self.schema)}"


LEADS = (
    "Sure! Here is the call:",
    "I'll write the file now.",
    'The "path" comes first, as in [see note]:',
    "好的，我来调用这个工具：",
    "Ich rufe jetzt das Werkzeug auf:",
)
TAILS = ("Let me know if it's right.", 'I left "mode" as it was.', "", "That should do: it is all there.", "完成。")


def fenced(random: Random, text: str) -> str:
    """A text in a fence, with prose round it."""
    tick = random.choice(("```json\n", "```json\n", "```\n", "```JSON\n"))
    return f"{random.choice(LEADS)}\n\n{tick}{text}\n```\n\n{random.choice(TAILS)}".rstrip()


class Kind(NamedTuple):
    """A kind of damage: its group (structure, strings, guesses, several, cut), and what makes a case of it, or None."""

    group: str
    make: Callable[[str, Random], DamageCase | None]
    #: the number of cases, relative to other kinds
    weight: int = 1


def case(kind: str, text: str, meant: Document, **more: Any) -> DamageCase:
    """A case with one value."""
    return DamageCase(kind, text, [meant.value], meant.schema, **more)


def structure(mutation: Mutation | None, fence: bool = False, group: str = "structure") -> Kind:
    """Damage to the tokens of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant = document(random)
        parts: list[Token] | None = tokens(meant.value, style(random))
        if mutation is not None:
            parts = mutation(random, parts)
        if parts is None:
            return None
        text = fenced(random, joined(parts)) if fence else joined(parts)
        return case(kind, text, meant)

    return Kind(group, make)


def python_repr(kind: str, random: Random) -> DamageCase | None:
    """A document as Python writes it."""
    meant = document(random)
    return case(kind, repr(meant.value), meant)


#: damage that occurs together, in the order in which it is done
TOGETHER: tuple[tuple[Mutation, ...], ...] = (
    (raw_breaks,),
    (no_comma, no_comma_between_items, no_colon),
    (no_closer, surplus_closer, doubled_braces),
    (trailing_comma, nested_trailing_comma, trailing_commas),
    (bare_keys,),
    (python_words,),
    (single_quotes,),
    (fullwidth,),
    (slash_comments, block_comments, hash_comments),
)


def together(kind: str, random: Random) -> DamageCase | None:
    """Two or three kinds of damage to the structure, some of them in a fence."""
    meant = document(random)
    parts: list[Token] | None = tokens(meant.value, style(random))
    ended = True
    for i in sorted(random.sample(range(len(TOGETHER)), random.randint(2, 3))):
        mutation = random.choice(TOGETHER[i])
        parts = mutation(random, parts)
        if parts is None:
            return None
        ended = ended and mutation is not no_closer
    text = joined(parts)
    return case(kind, text if ended and random.random() < 0.8 else fenced(random, text), meant)


def strings(damage: Callable[[Random, Token], Token]) -> Kind:
    """Damage to the payload of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant, how = document(random), style(random)
        sound = quoted(meant.payload, how)
        parts = [damage(random, p) if p.text == sound else p for p in tokens(meant.value, how)]
        return case(kind, joined(parts), meant) if '"' in meant.payload else None

    return Kind("strings", make, 3)


def several(separators: Sequence[str], mutation: Mutation | None = None) -> Kind:
    """Two or three calls of one shape, the first of them damaged."""

    def make(kind: str, random: Random) -> DamageCase | None:
        first, how = document(random), style(random)
        meant = [first, *[similar_document(first, random) for _ in range(random.choice((1, 1, 2)))]]
        parts = tokens(first.value, how)
        damaged = parts if mutation is None else mutation(random, parts)
        if damaged is None:
            return None
        texts = [joined(damaged), *[joined(tokens(d.value, how)) for d in meant[1:]]]
        return DamageCase(kind, random.choice(separators).join(texts), [d.value for d in meant], first.schema)

    return Kind("several", make)


def cut(fence: bool) -> Kind:
    """A document that ends before its end; every second one outside its strings, or in a key."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant = document(random)
        parts = tokens(meant.value, style(random))
        text = joined(parts)
        if random.random() < 0.5:
            kinds = sorted({p.kind for p in parts[:-1] if p.kind not in ("text", "space")})
            spot = random.choice(places(parts[:-1], random.choice(kinds)))
            text = joined(parts[:spot]) + parts[spot].text[: random.randint(1, len(parts[spot].text))]
        else:
            text = text[: random.randint(1, len(text) - 1)]
        text = f"{random.choice(LEADS)}\n\n```json\n{text}" if fence else text
        return case(kind, text, meant, open_ended=True)

    return Kind("cut", make)


ANY = ("", "", "\n", "\n\n", " ", ", ", ",\n")
KINDS: dict[str, Kind] = {
    "trailing comma, at the end": structure(trailing_comma),
    "trailing comma, nested": structure(nested_trailing_comma),
    "trailing commas, all": structure(trailing_commas),
    "comma missing between members": structure(no_comma),
    "comma missing between items": structure(no_comma_between_items),
    "colon missing": structure(no_colon),
    "last closer missing": structure(no_closer, fence=True),
    "both closers missing": structure(no_closers, fence=True),
    "doubled outer braces": structure(doubled_braces),
    "surplus closer, at the end": structure(surplus_closer),
    "surplus closer, inside": structure(surplus_closer_inside),
    "wrong closer": structure(wrong_closer),
    "Python repr": Kind("structure", python_repr),
    "Python literals": structure(python_words),
    "single quotes": structure(single_quotes),
    "bare keys": structure(bare_keys),
    "comments with //": structure(slash_comments),
    "comments with /* */": structure(block_comments),
    "comments with #": structure(hash_comments),
    "fence and prose": structure(None, fence=True),
    "fence, prose, trailing comma": structure(trailing_comma, fence=True),
    "fullwidth punctuation": structure(fullwidth),
    "smart quotes": structure(smart_quotes),
    "raw line breaks and tabs": structure(raw_breaks),
    "two or three of these": Kind("structure", together, 3),
    "inner quotes bare": strings(bare_quotes),
    "inner quotes and breaks bare": strings(bare_quotes_and_breaks),
    "some inner quotes bare": strings(some_bare_quotes),
    "closing quote lost": structure(no_closing_quote, group="strings"),
    "backslashes not doubled": structure(bare_backslashes, group="strings"),
    "smart quotes, in strings too": structure(smart_quotes_inside, group="strings"),
    "surplus brace, two readings": structure(surplus_brace, group="guesses"),
    "calls, nothing between": several(("",)),
    "calls, on lines": several(("\n", "\n\n")),
    "calls, commas between": several((", ", ",", ",\n")),
    "calls, first lacks a comma": several(ANY, no_comma),
    "calls, first lacks a closer": several(ANY, no_closer),
    "calls, first has a trailing comma": several(ANY, trailing_comma),
    "cut": Kind("cut", cut(False).make, 2),
    "cut, in a fence": cut(True),
}


def sound(text: str) -> bool:
    """Whether the text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def generate(
    seed: int = SEED, per_kind: int = PER_KIND, only: str | None = None
) -> tuple[list[DamageCase], Counter[str]]:
    """Cases of each kind, and how often one of a kind was passed over: it was still JSON, or seen before."""
    made: dict[str, DamageCase] = {}
    passed: Counter[str] = Counter()
    for name, kind in KINDS.items():
        if only is not None and only not in (name, kind.group):
            continue
        random = Random(f"{seed} {name}")
        count = 0
        while count < per_kind * kind.weight:
            new = kind.make(name, random)
            if new is None:
                continue
            if new.text in made or sound(new.text):
                passed[name] += 1
                continue
            made[new.text] = new
            count += 1
    return list(made.values()), passed


def cases(seed: int = SEED, per_kind: int = PER_KIND) -> list[DamageCase]:
    """Cases of each kind; the same ones for the same seed."""
    return generate(seed, per_kind)[0]
