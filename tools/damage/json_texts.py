"""JSON texts with known damage and what they stand for, the same ones for the same seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from . import json_damage
from .documents import document, similar_document

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


class Kind(NamedTuple):
    """A kind of damage: its group (structure, strings, guesses, several, cut), and what makes a case of it, or None."""

    group: str
    make: Callable[[str, Random], DamageCase | None]
    #: the number of cases, relative to other kinds
    weight: int = 1


_LEADS = (
    "Sure! Here is the call:",
    "I'll write the file now.",
    'The "path" comes first, as in [see note]:',
    "好的，我来调用这个工具：",
    "Ich rufe jetzt das Werkzeug auf:",
)
_TAILS = ("Let me know if it's right.", 'I left "mode" as it was.', "", "That should do: it is all there.", "完成。")


def _fenced(random: Random, text: str) -> str:
    """A text in a fence, with prose round it."""
    tick = random.choice(("```json\n", "```json\n", "```\n", "```JSON\n"))
    return f"{random.choice(_LEADS)}\n\n{tick}{text}\n```\n\n{random.choice(_TAILS)}".rstrip()


def _structure(mutation: json_damage.Mutation, *, fence: bool = False, group: str = "structure") -> Kind:
    """Damage to the tokens of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant = document(random)
        parts = mutation(random, json_damage.tokens(meant.value, json_damage.style(random)))
        if parts is None:
            return None
        text = _fenced(random, json_damage.joined(parts)) if fence else json_damage.joined(parts)
        return DamageCase(kind, text, [meant.value], meant.schema)

    return Kind(group, make)


def _python_repr(kind: str, random: Random) -> DamageCase:
    """A document as Python writes it."""
    meant = document(random)
    return DamageCase(kind, repr(meant.value), [meant.value], meant.schema)


def _together(kind: str, random: Random) -> DamageCase | None:
    """Two or three kinds of damage to the structure, some of them in a fence."""
    meant = document(random)
    parts: list[json_damage.Token] | None = json_damage.tokens(meant.value, json_damage.style(random))
    ended = True
    for i in sorted(random.sample(range(len(json_damage.TOGETHER)), random.randint(2, 3))):
        name = random.choice(json_damage.TOGETHER[i])
        parts = json_damage.DAMAGE[name](random, parts)
        if parts is None:
            return None
        ended = ended and name != "closer missing"
    text = json_damage.joined(parts)
    text = text if ended and random.random() < 0.8 else _fenced(random, text)
    return DamageCase(kind, text, [meant.value], meant.schema)


def _strings(damage: Callable[[Random, json_damage.Token], json_damage.Token]) -> Kind:
    """Damage to the payload of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant, how = document(random), json_damage.style(random)
        sound = json_damage.quoted(meant.payload, how)
        parts = [damage(random, p) if p.text == sound else p for p in json_damage.tokens(meant.value, how)]
        text = json_damage.joined(parts)
        return DamageCase(kind, text, [meant.value], meant.schema) if '"' in meant.payload else None

    return Kind("strings", make, 3)


def _several(separators: Sequence[str], mutation: json_damage.Mutation = lambda random, parts: parts) -> Kind:
    """Two or three calls of one shape, the first of them damaged."""

    def make(kind: str, random: Random) -> DamageCase | None:
        first, how = document(random), json_damage.style(random)
        meant = [first, *[similar_document(first, random) for _ in range(random.choice((1, 1, 2)))]]
        damaged = mutation(random, json_damage.tokens(first.value, how))
        if damaged is None:
            return None
        texts = [json_damage.joined(one) for one in (damaged, *[json_damage.tokens(d.value, how) for d in meant[1:]])]
        return DamageCase(kind, random.choice(separators).join(texts), [d.value for d in meant], first.schema)

    return Kind("several", make)


def _cut(*, fence: bool = False, weight: int = 1) -> Kind:
    """A document that ends before its end; every second one outside its strings, or in a key."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant = document(random)
        parts = json_damage.tokens(meant.value, json_damage.style(random))
        text = json_damage.joined(parts)
        if random.random() < 0.5:
            kinds = sorted({p.kind for p in parts[:-1] if p.kind not in ("text", "space")})
            spot = random.choice(json_damage.places(random.choice(kinds))(parts[:-1]))
            text = json_damage.joined(parts[:spot]) + parts[spot].text[: random.randint(1, len(parts[spot].text))]
        else:
            text = text[: random.randint(1, len(text) - 1)]
        text = f"{random.choice(_LEADS)}\n\n```json\n{text}" if fence else text
        return DamageCase(kind, text, [meant.value], meant.schema, open_ended=True)

    return Kind("cut", make, weight)


_ANY = ("", "", "\n", "\n\n", " ", ", ", ",\n")


def _kinds() -> dict[str, Kind]:
    """All kinds of damage: what a text is called, and how it is made."""
    names = {"trailing comma": "trailing comma, at the end", "surplus closer": "surplus closer, at the end"}
    names |= {"closer missing": "last closer missing"}
    found = {
        names.get(name, name): _structure(mutation, fence="closer" in name and "missing" in name)
        for name, mutation in json_damage.DAMAGE.items()
        if name != "surplus brace, two readings"
    }
    return found | {
        "Python repr": Kind("structure", _python_repr),
        "fence and prose": _structure(lambda random, parts: parts, fence=True),
        "fence, prose, trailing comma": _structure(json_damage.DAMAGE["trailing comma"], fence=True),
        "two or three of these": Kind("structure", _together, 3),
        **{name: _strings(damage) for name, damage in json_damage.QUOTE_DAMAGE.items()},
        **{name: _structure(damage, group="strings") for name, damage in json_damage.STRING_DAMAGE.items()},
        "surplus brace, two readings": _structure(json_damage.DAMAGE["surplus brace, two readings"], group="guesses"),
        "calls, nothing between": _several(("",)),
        "calls, on lines": _several(("\n", "\n\n")),
        "calls, commas between": _several((", ", ",", ",\n")),
        "calls, first lacks a comma": _several(_ANY, json_damage.DAMAGE["comma missing between members"]),
        "calls, first lacks a closer": _several(_ANY, json_damage.DAMAGE["closer missing"]),
        "calls, first has a trailing comma": _several(_ANY, json_damage.DAMAGE["trailing comma"]),
        "cut": _cut(weight=2),
        "cut, in a fence": _cut(fence=True),
    }


KINDS = _kinds()


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
        random, count = Random(f"{seed} {name}"), 0
        while count < per_kind * kind.weight:
            new = kind.make(name, random)
            if new is not None and (new.text in made or sound(new.text)):
                passed[name] += 1
            elif new is not None:
                made[new.text] = new
                count += 1
    return list(made.values()), passed
