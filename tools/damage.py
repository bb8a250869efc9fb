"""Damage tool calls as models do, and measure how many are read as they were meant. Run as `python -m tools.damage`.

Every case is a sound document of `tools/payloads.py`, written as JSON and then damaged in one known way, so that what
was meant is known. Beside `read_json`, with the schema and without, stands json-repair alone on the same text.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from json.encoder import encode_basestring, encode_basestring_ascii
from random import Random
from typing import Any, NamedTuple, Protocol, cast

from outspoken.json_reading import read_json

from .payloads import Document, again, document

SEED = 20261122
PER_KIND = 60


# --- A document as tokens


class Part(NamedTuple):
    """A token, or the white space between two. `kind` is open, close, comma, colon, key, text, word or space."""

    kind: str
    text: str
    #: the bracket of the container that it lies in, and how many are open round it
    inside: str = ""
    depth: int = 0


class Style(NamedTuple):
    """How a document is written: indentation for each level (None: on one line), gaps, and only ASCII or not."""

    indent: str | None
    gap: str
    ascii: bool


def style(random: Random) -> Style:
    """One of the ways in which models write JSON."""
    indent = random.choice((None, None, None, "  ", "  ", "    "))
    return Style(indent, "" if indent is None and random.random() < 0.3 else " ", random.random() < 0.3)


def quoted(text: str, how: Style) -> str:
    """A string as JSON."""
    return encode_basestring_ascii(text) if how.ascii else encode_basestring(text)


_WORDS = {"True": "true", "False": "false", "None": "null"}


def tokens(value: Any, how: Style, depth: int = 0) -> list[Part]:
    """A value as tokens."""
    if isinstance(value, str):
        return [Part("text", quoted(value, how))]
    if not isinstance(value, (dict, list)):
        return [Part("word", _WORDS.get(str(value)) or repr(value))]
    bracket, members = "[]", cast("list[tuple[str | None, Any]]", [])
    if isinstance(value, dict):
        bracket, members = "{}", list(cast("dict[str | None, Any]", value).items())
    else:
        members += [(None, item) for item in cast("list[Any]", value)]
    parts = [Part("open", bracket[0], bracket[0], depth)]
    for i, (key, item) in enumerate(members):
        if i:
            parts.append(Part("comma", ",", bracket[0], depth))
        if how.indent is not None:
            parts.append(Part("space", "\n" + how.indent * (depth + 1)))
        elif i and how.gap:
            parts.append(Part("space", how.gap))
        if key is not None:
            parts += [Part("key", quoted(key, how)), Part("colon", ":", bracket[0], depth)]
            parts += [Part("space", how.gap)] if how.gap else []
        parts += tokens(item, how, depth + 1)
    if members and how.indent is not None:
        parts.append(Part("space", "\n" + how.indent * depth))
    return [*parts, Part("close", bracket[1], bracket[0], depth)]


def joined(parts: list[Part]) -> str:
    """The text of tokens."""
    return "".join([part.text for part in parts])


def document_text(seed: int) -> tuple[Document, str]:
    """A sound document, and its text."""
    random = Random(seed)
    meant = document(random)
    return meant, joined(tokens(meant.value, style(random)))


# --- Damage to the structure: from tokens to tokens, or None where a document gives no occasion

Mend = Callable[[Random, list[Part]], "list[Part] | None"]


def places(parts: list[Part], kind: str, inside: str = "{[", deeper: int = 0) -> list[int]:
    """Where tokens of a kind are, in containers of these brackets, at least so deep."""
    return [i for i, p in enumerate(parts) if p.kind == kind and p.inside in inside and p.depth >= deeper]


def put(parts: list[Part], place: int, *new: Part, drop: int = 0) -> list[Part]:
    """Tokens with others put in at a place, for so many that were there."""
    return [*parts[:place], *new, *parts[place + drop :]]


def before_closer(parts: list[Part], place: int) -> int:
    """The place of a comma that trails before a closer: before its white space, too. -1 for an empty container."""
    place -= parts[place - 1].kind == "space"
    return -1 if parts[place - 1].kind == "open" else place


def trailing_comma(random: Random, parts: list[Part], nested: bool = False) -> list[Part] | None:
    closers = places(parts, "close", deeper=1 if nested else 0)
    spots = [spot for i in (closers if nested else closers[-1:]) if (spot := before_closer(parts, i)) > 0]
    return put(parts, random.choice(spots), Part("comma", ",")) if spots else None


def nested_trailing_comma(random: Random, parts: list[Part]) -> list[Part] | None:
    return trailing_comma(random, parts, nested=True)


def trailing_commas(random: Random, parts: list[Part]) -> list[Part] | None:
    for i in reversed(places(parts, "close")):
        if (spot := before_closer(parts, i)) > 0:
            parts = put(parts, spot, Part("comma", ","))
    return parts


def no_comma(random: Random, parts: list[Part], inside: str = "{") -> list[Part] | None:
    spots = places(parts, "comma", inside)
    if not spots:
        return None
    spot = random.choice(spots)
    fused = parts[spot - 1].kind == parts[spot + 1].kind == "word"
    return put(parts, spot, *([Part("space", " ")] if fused else []), drop=1)


def no_comma_between_items(random: Random, parts: list[Part]) -> list[Part] | None:
    return no_comma(random, parts, "[")


def no_colon(random: Random, parts: list[Part]) -> list[Part] | None:
    return put(parts, random.choice(spots), drop=1) if (spots := places(parts, "colon")) else None


def without_last(parts: list[Part], count: int) -> list[Part] | None:
    """Tokens without their last closers; white space before them is lost with them."""
    for _ in range(count):
        if parts[-1].kind != "close":
            return None
        parts = parts[:-2] if parts[-2].kind == "space" else parts[:-1]
    return parts


def no_closer(random: Random, parts: list[Part]) -> list[Part] | None:
    return without_last(parts, 1)


def no_closers(random: Random, parts: list[Part]) -> list[Part] | None:
    return without_last(parts, 2)


def doubled_braces(random: Random, parts: list[Part]) -> list[Part] | None:
    return [Part("open", "{"), *parts, Part("close", "}")]


def surplus_closer(random: Random, parts: list[Part]) -> list[Part] | None:
    return [*parts, Part("close", random.choice("}}}]"))]


def surplus_closer_inside(random: Random, parts: list[Part], open_to_guess: bool = False) -> list[Part] | None:
    """A closer twice. A second brace that also closes the object round it, not the outermost one, has two readings."""
    closers = [i for i in places(parts, "close", deeper=1) if parts[i + 1].kind == "comma"]
    spots = [i for i in closers if open_to_guess == (parts[i].depth > 1 and parts[i].text == "}")]
    return put(parts, spot := random.choice(spots), parts[spot]) if spots else None


def surplus_brace(random: Random, parts: list[Part]) -> list[Part] | None:
    return surplus_closer_inside(random, parts, open_to_guess=True)


def wrong_closer(random: Random, parts: list[Part]) -> list[Part] | None:
    spot = random.choice(places(parts, "close"))
    return put(
        parts, spot, parts[spot]._replace(text=random.choice("]]])" if parts[spot].text == "}" else "}}})")), drop=1
    )


def bare_keys(random: Random, parts: list[Part]) -> list[Part] | None:
    bare: list[Part] = []
    for part in parts:
        kinds = (bare[-1].kind, part.kind) if bare else ("", "")
        if kinds in (("word", "key"), ("key", "word")):  # what stood between them is missing
            bare.append(Part("space", " "))
        name = part.text[1:-1]
        bare.append(part._replace(text=name) if part.kind == "key" and name.isidentifier() else part)
    return bare


REMARKS = ("the user's file", "as asked", 'not "final" yet', "see https://example.com/a", "TODO: check", "a, b: {c}")


def comment(random: Random, parts: list[Part], opener: str, closer: str) -> list[Part] | None:
    for _ in range(random.randint(1, 3)):
        spots = [i for i, p in enumerate(parts) if p.kind == "space" and ("\n" in p.text or closer)]
        if not spots:
            return None
        parts = put(parts, random.choice(spots), Part("note", f" {opener} {random.choice(REMARKS)}{closer}"))
    return parts


def slash_comments(random: Random, parts: list[Part]) -> list[Part] | None:
    return comment(random, parts, "//", "")


def hash_comments(random: Random, parts: list[Part]) -> list[Part] | None:
    return comment(random, parts, "#", "")


def block_comments(random: Random, parts: list[Part]) -> list[Part] | None:
    return comment(random, parts, "/*", " */")


def in_quotes(part: Part) -> bool:
    """Is it a string, or a key that is not bare?"""
    return part.kind == "text" or (part.kind == "key" and part.text[:1] in "\"'")


def requoted(parts: list[Part], opener: str, closer: str) -> list[Part] | None:
    """Other quotes round every string; None where one of them stands in a string."""
    if any(in_quotes(p) and (opener in p.text or closer in p.text) for p in parts):
        return None
    return [p._replace(text=opener + p.text[1:-1] + closer) if in_quotes(p) else p for p in parts]


def smart_quotes(random: Random, parts: list[Part]) -> list[Part] | None:
    return requoted(parts, *random.choice(("“”", "“”", "“”", "„“", "””", "‘’")))


def fullwidth(random: Random, parts: list[Part]) -> list[Part] | None:
    chosen = set(random.sample(("colon", "comma", "braces", "brackets"), random.randint(1, 3)))
    swaps = {"colon": ":：", "comma": ",，", "braces": "{｛}｝", "brackets": random.choice(("[［]］", "[【]】"))}
    pairs = {s[i]: s[i + 1] for name, s in swaps.items() if name in chosen for i in range(0, len(s), 2)}
    wide = [
        p._replace(text=pairs.get(p.text, p.text)) if p.kind in ("colon", "comma", "open", "close") else p
        for p in parts
    ]
    return requoted(wide, "＂", "＂") if random.random() < 0.15 else wide


_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_RAW = {"n": "\n", "t": "\t"}


def respelled(part: Part, spell: Callable[[str], str | None]) -> Part:
    """A string whose escapes are written as `spell` says of what follows the backslash; None leaves one as it is."""
    body = _ESCAPE.sub(lambda escape: escape[0] if (new := spell(escape[1])) is None else new, part.text[1:-1])
    return part._replace(text=f'"{body}"')


def raw_breaks(random: Random, parts: list[Part]) -> list[Part] | None:
    return [respelled(p, _RAW.get) if p.kind == "text" else p for p in parts]


def python_words(random: Random, parts: list[Part]) -> list[Part] | None:
    words = {word: name for name, word in _WORDS.items()}
    return [p._replace(text=words.get(p.text, p.text)) if p.kind == "word" else p for p in parts]


def single_quotes(random: Random, parts: list[Part]) -> list[Part] | None:
    def single(part: Part) -> Part:
        body = respelled(part._replace(text=part.text.replace("'", "\\'")), {'"': '"'}.get).text[1:-1]
        return part._replace(text=f"'{body}'")

    return [single(p) if in_quotes(p) else p for p in parts]


# --- Damage to strings


def bare_quotes(random: Random, part: Part, raw: bool = False, after: int = 0) -> Part:
    """A string whose quotes are bare, but for the first ones."""
    seen = 0

    def spell(escape: str) -> str | None:
        nonlocal seen
        if escape == '"':
            seen += 1
            return '"' if seen > after else None
        return _RAW.get(escape) if raw else None

    return respelled(part, spell)


def some_bare_quotes(random: Random, part: Part) -> Part:
    return bare_quotes(random, part, after=random.randint(1, max(1, part.text.count('\\"') - 1)))


def bare_quotes_and_breaks(random: Random, part: Part) -> Part:
    return bare_quotes(random, part, raw=True)


_DOUBLED = re.compile(r'(?<!\\)\\\\(?![\\"/bfnrt]|u[0-9a-fA-F]{4}|$)')


def bare_backslashes(random: Random, parts: list[Part]) -> list[Part] | None:
    """Backslashes are single where what follows them makes no escape."""
    single = "\\\\"
    return [p._replace(text=_DOUBLED.sub(single, p.text[:-1]) + '"') if p.kind == "text" else p for p in parts]


def no_closing_quote(random: Random, parts: list[Part]) -> list[Part] | None:
    kind = "key" if random.random() < 0.25 else "text"
    spot = random.choice([i for i, p in enumerate(parts) if p.kind == kind])
    return put(parts, spot, parts[spot]._replace(text=parts[spot].text[:-1]), drop=1)


def smart_quotes_inside(random: Random, parts: list[Part]) -> list[Part] | None:
    opener, closer = random.choice(("“”", "“”", "„“"))
    if all(opener not in p.text and closer not in p.text for p in parts):
        return None
    return [p._replace(text=opener + p.text[1:-1] + closer) if in_quotes(p) else p for p in parts]


# --- Cases


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
    #: so many times as many cases as of other kinds
    weight: int = 1


def case(kind: str, text: str, meant: Document, **more: Any) -> DamageCase:
    """A case with one value."""
    return DamageCase(kind, text, [meant.value], meant.schema, **more)


def structure(mend: Mend | None, fence: bool = False, group: str = "structure") -> Kind:
    """Damage to the tokens of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant = document(random)
        parts: list[Part] | None = tokens(meant.value, style(random))
        if mend is not None:
            parts = mend(random, parts)
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
TOGETHER: tuple[tuple[Mend, ...], ...] = (
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
    parts: list[Part] | None = tokens(meant.value, style(random))
    ended = True
    for i in sorted(random.sample(range(len(TOGETHER)), random.randint(2, 3))):
        mend = random.choice(TOGETHER[i])
        parts = mend(random, parts)
        if parts is None:
            return None
        ended = ended and mend is not no_closer
    text = joined(parts)
    return case(kind, text if ended and random.random() < 0.8 else fenced(random, text), meant)


def strings(damage: Callable[[Random, Part], Part]) -> Kind:
    """Damage to the payload of a document."""

    def make(kind: str, random: Random) -> DamageCase | None:
        meant, how = document(random), style(random)
        sound = quoted(meant.payload, how)
        parts = [damage(random, p) if p.text == sound else p for p in tokens(meant.value, how)]
        return case(kind, joined(parts), meant) if '"' in meant.payload else None

    return Kind("strings", make, 3)


def several(separators: Sequence[str], mend: Mend | None = None) -> Kind:
    """Two or three calls of one shape, the first of them damaged."""

    def make(kind: str, random: Random) -> DamageCase | None:
        first, how = document(random), style(random)
        meant = [first, *[again(first, random) for _ in range(random.choice((1, 1, 2)))]]
        parts = tokens(first.value, how)
        damaged = parts if mend is None else mend(random, parts)
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
    """Is the text JSON?"""
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


# --- Judging


class Change(Protocol):
    """A repair, as far as it is looked at here."""

    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


class Reading(Protocol):
    """What `read_json` returns, as far as it is looked at here."""

    @property
    def values(self) -> Sequence[Any]: ...
    @property
    def status(self) -> str: ...
    @property
    def rung(self) -> str | None: ...
    @property
    def ambiguous(self) -> bool: ...
    @property
    def repairs(self) -> Sequence[Change]: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def spans(self) -> Sequence[tuple[int, int]]: ...


@dataclass(frozen=True)
class Verdict:
    """Was a text read as it was meant, and if not, does the reading say that it may be wrong?"""

    right: bool
    flagged: bool
    why: str = ""

    @property
    def silent(self) -> bool:
        """Wrong, and nothing says so."""
        return not self.right and not self.flagged


def same(one: Any, other: Any) -> bool:
    """Are two values the same, with their types and with the order of their keys?"""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        mine, yours = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return list(mine) == list(yours) and all(same(mine[k], yours[k]) for k in mine)
    if isinstance(one, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(map(same, items, others))
    return one == other


def begins(part: Any, whole: Any) -> bool:
    """Is a value what can be known of another one from the beginning of its text?"""
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, dict) and isinstance(whole, dict):
        known, meant = cast("dict[str, Any]", part), cast("dict[str, Any]", whole)
        if list(known) != list(meant)[: len(known)]:
            return False
        return _begin([(known[k], meant[k]) for k in known])
    if isinstance(part, list) and isinstance(whole, list):
        items, others = cast("list[Any]", part), cast("list[Any]", whole)
        return len(items) <= len(others) and _begin(list(zip(items, others, strict=False)))
    return same(part, whole)


def _begin(pairs: list[tuple[Any, Any]]) -> bool:
    return all(same(*pair) for pair in pairs[:-1]) and all(begins(*pair) for pair in pairs[-1:])


def judge(case: DamageCase, reading: Reading) -> Verdict:
    """Judge the reading of a case.

    A text that was cut has to be called `truncated`, with the beginning of what was meant. Any other has to be read
    whole; it may be called `truncated` only where nothing proves that it is not. A wrong reading is flagged where it
    is `invalid`, ambiguous or json-repair's; or `truncated`, where the text was not cut, as nobody acts on it.
    """
    status, values = reading.status, list(reading.values)
    whole = same(values, case.values)
    flagged = status == "invalid" or reading.ambiguous or reading.rung == "heuristic"
    if KINDS[case.kind].group == "cut":
        if status == "truncated":
            known = len(values) <= 1 and all(begins(value, case.values[0]) for value in values)
            return Verdict(known, flagged, "" if known else "not the beginning of what was meant")
        return Verdict(whole and status != "invalid", flagged, "" if whole else f"{status}, but was cut")
    if not whole:
        return Verdict(False, flagged or status == "truncated", "another value")
    if status == "invalid" or (status == "truncated" and not case.open_ended):
        return Verdict(False, True, f"the value, but {status}")
    return Verdict(True, flagged)


def replay(raw: str, reading: Reading) -> list[str]:
    """The raw text of each value with the repairs in it done. They come in order, those of one value together."""
    texts: list[str] = []
    left = list(reading.repairs)
    for start, end in reading.spans:
        pieces: list[str] = []
        at = start
        while left and at <= left[0].span[0] and left[0].span[1] <= end:
            first, last = left[0].span
            pieces += [raw[at:first], left.pop(0).after]
            at = last
        texts.append("".join([*pieces, raw[at:end]]))
    return texts


# --- Measuring


def alone(case: DamageCase) -> bool:
    """Does json-repair alone read a text as it was meant? It has no status; of a cut text a beginning is right."""
    repair: Any = import_module("json_repair").repair_json
    try:
        got = repair(case.text, return_objects=True)
    except Exception:  # whatever it raises, it did not read the text
        return False
    if KINDS[case.kind].group == "cut":
        return begins(got, case.values[0])
    return same(got, case.values if len(case.values) > 1 else case.values[0])


Judged = list[tuple[DamageCase, Reading, Verdict]]


def timed(chosen: list[DamageCase], schema: bool) -> tuple[Judged, float]:
    """The verdicts on cases, and the seconds that reading took."""
    start = time.perf_counter()
    readings = [read_json(case.text, case.schema if schema else None) for case in chosen]
    taken = time.perf_counter() - start
    return [(case, reading, judge(case, reading)) for case, reading in zip(chosen, readings, strict=True)], taken


def percent(count: int, of: int) -> str:
    """A share; only all of them are 100."""
    return f"{min(100 * count / of, 99.9 if count < of else 100):6.1f}" if of else "     –"


def row(label: str, number: int, runs: list[list[Verdict]], others: list[bool]) -> str:
    """A row of the table: right, wrong and flagged, silently wrong; each with and without the schema."""
    columns = [
        percent(sum(counts), len(counts))
        for of in (_right, _flagged, _silent)
        for counts in [[of(verdict) for verdict in run] for run in runs]
    ]
    if others:
        columns.append(percent(sum(others), len(others)))
    return f"  {label:36} {number:5} {' '.join(columns)}"


def _right(verdict: Verdict) -> bool:
    return verdict.right


def _flagged(verdict: Verdict) -> bool:
    return verdict.flagged and not verdict.right


def _silent(verdict: Verdict) -> bool:
    return verdict.silent


def table(chosen: list[DamageCase], runs: dict[str, tuple[Judged, float]], others: list[bool]) -> None:
    """Print a row for each kind, for each group and for all."""
    labels = [f"{of}{mark}" for of in ("right", "flagd", "silnt") for mark in runs] + ["j-rep"] * bool(others)
    print(f"  {'':36} {'cases':>5} {' '.join([f'{label:>6}' for label in labels])}")
    groups = list(dict.fromkeys([KINDS[case.kind].group for case in chosen]))
    for group in [*groups, "all"]:
        kinds = [k for k in dict.fromkeys([c.kind for c in chosen]) if group in (KINDS[k].group, "all")]
        for label, wanted in [*([(k, {k}) for k in kinds] if group != "all" else []), (group.upper(), set(kinds))]:
            at = [i for i, case in enumerate(chosen) if case.kind in wanted]
            verdicts = [[judged[i][2] for i in at] for judged, _ in runs.values()]
            print(row(label, len(at), verdicts, [others[i] for i in at] if others else []))


def show(judged: Judged, number: int, mark: str) -> None:
    """Print the first misses of each kind."""
    shown: Counter[str] = Counter()
    for case, reading, verdict in judged:
        if verdict.right or shown[case.kind] == number:
            continue
        shown[case.kind] += 1
        print(f"\n--- {case.kind} {mark}: {verdict.why}, {'flagged' if verdict.flagged else 'silently wrong'}")
        print(f"{case.text}\nmeant: {case.values!r}\ngot:   {list(reading.values)!r}")
        print(f"{reading.status}, {reading.rung}, ambiguous {reading.ambiguous}")
        print("\n".join([f"  {repair}" for repair in reading.repairs[:12]]))
        print(f"  and {len(reading.repairs) - 12} more repairs" if len(reading.repairs) > 12 else "")


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and misses if they are asked for."""
    parser = argparse.ArgumentParser(description="Measure how many damaged texts are read as they were meant.")
    parser.add_argument("--schema", action=argparse.BooleanOptionalAction, help="only with, or without, the schema")
    parser.add_argument("--only", metavar="KIND", help="only one kind, or one group of them")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print the first N misses of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--per-kind", type=int, default=PER_KIND)
    parser.add_argument("--ours", action="store_true", help="leave out json-repair alone")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    chosen, passed = generate(options.seed, options.per_kind, options.only)
    print(f"{len(chosen)} cases in {time.perf_counter() - start:.2f} s; + with the schema, - without")
    runs: dict[str, tuple[Judged, float]] = {}
    for mark, schema in (("+", True), ("-", False)):
        if options.schema in (None, schema):
            runs[mark] = timed(chosen, schema)
    start = time.perf_counter()
    others = [] if options.ours else [alone(case) for case in chosen]
    taken = time.perf_counter() - start
    table(chosen, runs, others)
    times = [f"{mark} {seconds:.2f} s" for mark, (_, seconds) in runs.items()]
    print(f"\ntime: {', '.join([*times, *([] if options.ours else [f'json-repair {taken:.2f} s'])])}")
    print(f"passed over, as they were still JSON or made before: {dict(passed)}")
    for mark, (judged, _) in runs.items():
        show(judged, options.show, mark)
    return 0


if __name__ == "__main__":
    sys.exit(main())
