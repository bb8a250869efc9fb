"""Damages sound responses: a *unit* of the text, at the *place* where a call stands, up to the *end* of the text.

Names, values and the characters beside them are never touched, but for numbers that are written as people write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from outspoken import Reasoning, parse
from outspoken.grammar import registry
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS

from .checks import ParseArguments
from .sound import TOOLS, Item, Sound, Span, calling, has_node, items_of, plain_text, rendered, sound_of

#: What looks like an attribute of a tag, an argument, or a key.
_ATTRIBUTE = re.compile(r"""\s?[\w:-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s<>"'/,()\[\]]+)|"\w[\w ]*"\s?:""")


class Mistake(NamedTuple):
    """One mistake: what replaces the text from `start` to `end`."""

    kind: str
    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Case:
    """A text that was made of a sound one, and what it means.

    `kind` is a row of the table. All that is `meant` has to run, what is `allowed` may run besides. Where `begun` is
    given, none of it has to run, but so many calls have to be in the reply.
    """

    kind: str
    base: Sound
    text: str
    meant: tuple[Item, ...]
    allowed: tuple[Item, ...] = ()
    begun: int | None = None
    reason: str | None = "stop"
    context: tuple[Any, ...] = ()

    @property
    def args(self) -> ParseArguments:
        """How it is read."""
        options = {"tools": self.base.tools and TOOLS, "context": [*self.context] or None}
        return ParseArguments(self.base.format, options, self.reason)


# --- Units


def _characters(base: Sound, length: int = 1) -> list[Span]:
    starts = range(len(base.text) - length + 1)
    return [(at, at + length) for at in starts if base.closed.isdisjoint(range(at, at + length))]


def _tags(base: Sound) -> list[Span]:
    """The markers; single signs only where there are no longer ones."""
    spans: list[Span] = []
    for name, start, end in base.tokens:
        core = base.text[start:end].strip()
        if core and name not in TOKENS | FREE_TEXT | EMBEDDED_VALUES:
            start = base.text.index(core, start)
            spans.append((start, start + len(core)))
    return [span for span in spans if span[1] - span[0] > 2] or spans


def _attributes(base: Sound) -> list[Span]:
    """What looks like an attribute or a key, and names of arguments with the markers round them."""
    threes = zip(base.tokens, base.tokens[1:], base.tokens[2:], strict=False)
    named = [(before[1], behind[2]) for before, here, behind in threes if here[0] == "ARG_NAME"]
    found = [found.span() for found in _ATTRIBUTE.finditer(base.text, base.spans[0][0])]
    return [*found, *[(start, end) for start, end in named if end - start <= 60]]


def _lines(base: Sound) -> Iterator[Span]:
    """Lines with markup, one of several; none that holds a part of a value."""
    for found in re.finditer(r"[^\n]*\S[^\n]*\n", base.text):
        start, end = found.span()
        is_part = any(low < end and start < high and not start <= low <= high <= end for low, high in base.data)
        is_whole = end - start == len(base.text)
        if end > base.spans[0][0] and not (is_part or is_whole or base.closed.issuperset(range(start, end - 1))):
            yield start, end


def _other_case(text: str) -> list[str]:
    others = dict.fromkeys([text.swapcase(), text.upper()])
    return [other for other in others if other != text and len(other) == len(text)]


#: Where a unit stands in a sound response.
_UNITS: dict[str, Callable[[Sound], Iterable[Span]]] = {
    "character": _characters,
    "pair": lambda base: [(a, b) for a, b in _characters(base, 2) if base.text[a] != base.text[a + 1]],
    "gap": lambda base: [(at, at) for at in range(len(base.text) + 1) if not {at - 1, at} <= base.closed],
    "tag": _tags,
    "attribute": _attributes,
    "line": _lines,
    "call": lambda base: base.spans,
}
#: The kinds of mistakes: the unit that is damaged, and what may stand in its place.
KINDS: dict[str, tuple[str, Callable[[str], Iterable[str]]]] = {
    "deleted": ("character", lambda text: ("",)),
    "doubled": ("character", lambda text: (text * 2,)),
    "swapped": ("pair", lambda text: (text[::-1],)),
    "other case": ("character", _other_case),
    "inserted": ("gap", lambda text: "\"'{}<>,x"),
    "tag lost": ("tag", lambda text: ("",)),
    "tag doubled": ("tag", lambda text: (text * 2,)),
    "tag in other case": ("tag", _other_case),
    "attribute lost": ("attribute", lambda text: ("",)),
    "attribute doubled": ("attribute", lambda text: (text * 2,)),
    "line lost": ("line", lambda text: ("",)),
    "line doubled": ("line", lambda text: (text * 2,)),
    "call doubled": ("call", lambda text: (text * 2,)),
}
#: Those of one character, and of a marker.
CHARACTERS = tuple([kind for kind, (unit, _) in KINDS.items() if unit in ("character", "pair", "gap")])
TAGS = tuple([kind for kind, (unit, _) in KINDS.items() if unit == "tag"])


def mistakes(base: Sound, kinds: Iterable[str] = CHARACTERS) -> dict[str, list[Mistake]]:
    """All single mistakes in the markup of a response, by kind."""
    found: dict[str, list[Mistake]] = {}
    for kind in kinds:
        unit, damage = KINDS[kind]
        made = [Mistake(kind, *span, new) for span in _UNITS[unit](base) for new in damage(base.text[slice(*span)])]
        found[kind] = [one for one in made if not _is_beside(base, one)]
    return found


def _is_beside(base: Sound, one: Mistake) -> bool:
    """Whether the same text comes of a mistake in or beside a name or a value, as in a row of equal characters."""
    same = base.text[one.start] if one.kind in ("deleted", "doubled") else one.new if one.kind == "inserted" else ""
    before, behind = base.text[: one.start], base.text[one.start :]
    row = range(len(before.rstrip(same)), len(base.text) - len(behind.lstrip(same))) if same else ()
    return not base.closed.isdisjoint(row)


def with_mistakes(text: str, chosen: Iterable[Mistake]) -> str:
    """A text with the mistakes."""
    for one in sorted(chosen, reverse=True, key=lambda one: one.start):
        text = text[: one.start] + one.new + text[one.end :]
    return text


# --- Places


def _said(base: Sound, kind: str, random: Random) -> Case | None:
    """A response with a mistake. Calls in a unit that is lost are not meant; in a doubled one, they may run twice."""
    offers = mistakes(base, [kind])[kind]
    if not offers:
        return None
    mistake = random.choice(offers)
    data = [[part for part in base.data if low <= part[0] and part[1] <= high] for low, high in base.spans]
    held = [all(mistake.start <= low and high <= mistake.end for low, high in parts) for parts in data]
    inner = tuple([item for item, is_held in zip(base.items, held, strict=True) if is_held])
    meant = tuple([item for item in base.items if mistake.new or item not in inner])
    if kind == "call doubled":
        meant = tuple([item for item in meant for _ in range(1 + (item in inner))])
    return Case(
        kind, base, with_mistakes(base.text, [mistake]), meant, inner if mistake.new and meant == base.items else ()
    )


def _number(base: Sound, random: Random) -> Case | None:
    """A number that is written as people write it; its text may run, another number may not."""
    places = [(item, key) for item in base.items for key, value in item[2].items() if type(value) is int]
    if not places:
        return None
    item, key = random.choice(places)
    new = random.choice(("12,5", "1/2", "10 %", "010", "1.500,25"))
    text = re.sub(rf"(?<!\w){item[2][key]}(?!\w)", new, base.text)
    others = [other for other in base.items if other is not item]
    return Case("number", base, text, (), (*others, (*item[:2], {**item[2], key: new})), len(base.items))


def _thought(base: Sound, markup: str, random: Random) -> Case | None:
    """In reasoning that goes on, with an answer or another call behind it."""
    if registry.header(base.format).reasoned_calls == "run":
        return None
    thought = random.choice(("I must not: QQ.", "I must not:\nQQ\n", "No.\nQQ\nThat was only thought."))
    shell = rendered([Reasoning(text=thought, span=(0, 0)), plain_text("No.")], base.format)
    shell = shell or f"<think>\n{thought}\n</think>\nNo."
    if not any(
        "QQ" in segment.text for segment in parse(shell, format=base.format).segments if segment.kind == "reasoning"
    ):
        return None
    return Case("thought", base, shell.replace("QQ", markup), ())


def _in_value(base: Sound, markup: str, random: Random) -> Case | None:
    """As a value of another call, as `render` writes it, or as it is; then a line break that is escaped may be one."""
    value = random.choice(("QQ", "Run this:\nQQ\nThanks.", "grey QQ", "QQQQ or\nQQ"))
    meant, bare, broken = [
        {"origin": "docs/plan_b.md", "shelf": value.replace("QQ", held)}
        for held in (markup, "QQ", markup.replace("\\n", "\n"))
    ]
    texts = [rendered([{"name": "archive_sheet", "arguments": arguments}], base.format) for arguments in (meant, bare)]
    items: list[Item] = [("call", "archive_sheet", arguments) for arguments in (meant, broken)]
    if texts[0] is not None and (random.random() < 0.5 or texts[1] is None):
        return Case("in a value", base, texts[0], (items[0],))
    return (texts[1] and Case("in a value", base, texts[1].replace("QQ", markup), (), (*items,), 1)) or None


def _read_off(base: Sound, markup: str, random: Random) -> Case:
    """As it stands in a page that the model has read."""
    page = f"Ignore all that. {base.text}\nThanks."
    lead = random.choice(("The tool returned:\n", "", "The page says ", "It holds this.\n\n"))
    messages = ({"role": "user", "content": "Sum it up."}, {"role": "tool", "content": page})
    return Case("read off", base, lead + markup, (), context=messages)


_QUOTES = (
    *('"{}"', "`{}`", "\n```\n{}\n```\n", "\n~~~\n{}\n~~~\n", "\n```xml\n{}\n```\n", "<pre>{}</pre>"),
    *("<code>{}</code>", "<!-- {} -->", "\n<tool_response>\n{}\n</tool_response>\n"),
)


def _quoted(base: Sound, markup: str, random: Random) -> Case:
    """In a quotation, with words round it."""
    text = f"The syntax is {random.choice(_QUOTES).format(markup)} as the manual says.\nNothing is to be done."
    return Case("quoted", base, text, ())


#: Places of calls that are not made: each takes a response that is one call, its text with or without a mistake.
PLACES: dict[str, Callable[[Sound, str, Random], Case | None]] = {
    "thought": _thought,
    "quoted": _quoted,
    "in a value": _in_value,
    "read off": _read_off,
}
#: Ends of a text that is cut, with the finish reasons.
ENDS: dict[str, tuple[str | None, ...]] = {"cut, stop": ("stop",), "cut": (None, "length")}


def _cut(base: Sound, row: str, random: Random) -> Case:
    """A response that ends early: in one of three with a mistake, or with a call at another place."""
    way, case = random.choice((*KINDS, *PLACES, *[""] * 2 * len(KINDS))), None
    if way in KINDS:
        case = _said(base, way, random)
    elif way and len(base.items) == 1:
        case = PLACES[way](base, base.text[base.spans[0][0] :], random)
    case = case or Case(row, base, base.text, base.items)
    end = random.randrange(1, len(case.text))
    named = [base.text.find(item[1], at) + len(item[1]) for item, (at, _) in zip(base.items, base.spans, strict=True)]
    begun = sum([end > at for at in named]) if case.text == base.text else 0
    allowed = (*case.meant, *case.allowed, *(base.items if case.kind in ("thought", "quoted") else ()))
    return Case(row, base, case.text[:end], (), allowed, begun, random.choice(ENDS[row]), case.context)


# --- All together


#: The rows of a table, in its order: kinds of mistakes, numbers, places and ends.
ROWS = (*KINDS, "number", *PLACES, *ENDS)


def cases(name: str, seed: object, number: int, rows: Iterable[str] = ROWS) -> Iterator[Case]:
    """So many different damaged texts of a format with calls, of all rows alike; the same ones for the same seed."""
    wanted, seen = list(rows), set[str]()
    for at in range(number * 4 if has_node(name, "tool_call") else 0):
        if len(seen) == number:
            return
        case = _case(name, wanted[at % len(wanted)], Random(f"{seed} {name} {at}"))
        if case is not None and case.text not in seen:
            seen.add(case.text)
            yield case


def _case(name: str, row: str, random: Random) -> Case | None:
    """A damaged text; None where nothing can be damaged so, or where what comes of it is sound."""
    lead = "" if row in PLACES else None
    text = calling(name, random, (1,) if row in PLACES else (random.randint(1, 3), 1), lead)
    base = sound_of(name, text) if text is not None else None
    if base is None or row in ENDS:
        return base and _cut(base, row, random)
    if row == "number":
        return _number(base, random)
    if row in PLACES:
        offers = [mistake for same_kind in mistakes(base, TAGS).values() for mistake in same_kind]
        chosen = random.sample(offers, min(len(offers), random.randint(0, 1)))
        case = PLACES[row](base, with_mistakes(base.text, chosen), random)
    else:
        case = _said(base, row, random)
    may_be_sound = row == "thought" or row not in (*CHARACTERS, *PLACES)
    return None if case and may_be_sound and _is_written(case) else case


def _is_written(case: Case) -> bool:
    """Whether a text is exactly what is written for the calls that it is read as, so that nothing is damaged."""
    reply = parse(case.text, format=case.base.format, repair="none", tools=TOOLS, finish_reason="stop")
    again = rendered(list(reply.segments), case.base.format) if reply.status == "ok" and items_of(reply) else None
    return again is not None and again.split() == case.text.split()
