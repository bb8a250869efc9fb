"""Finds the calls in responses by their shape, and the markup around them.

There are three shapes: JSON (or Python) is the whole call; a name stands before a JSON object; a name stands before
keys with values. Whether a shape is right shows when its grammar reads the responses back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar, cast

from outspoken.json import decoder
from outspoken.models.markup_tokens import TAG, tokens
from outspoken.notations import python_literals

_THINK = r"[<\[]%s[^<>\[\]/\n]{0,30}(?:think|thought|reason)[^<>\[\]\n]{0,30}[>\]]"
#: Reasoning at the start of a response, or its end where the prompt had opened it.
_THOUGHT = re.compile(
    rf"\s*({_THINK % ''}\n*|)((?:(?!{_THINK % ''}).)*?)(\s*{_THINK % '/'}\s*)", re.DOTALL | re.IGNORECASE
)

#: What belongs to the markup before a call: tags, brackets, keys, a word that begins a line or is glued to a bracket.
_WORD = r"(?:(?<=\n)|\A)[A-Z][A-Za-z_]{1,30}:|(?<!\w)[A-Za-z]\w{2,30}(?=\[\s*\Z)|(?<=>)\w{2,20}[.:]?\Z"
_BEFORE = re.compile(rf"(?:{TAG}|```\w*|[\[,;({{]|\"[^\"\n]*\"\s*:|{_WORD})\s*\Z")
_BEHIND = re.compile(rf"(?:\s*(?:{TAG}|[\])}}]|```))*")

_NAME, _KEY = r"[\w.\-/$@]{1,100}", r"[\w.\-$]{1,100}"
_ID = rf"(?=[A-Za-z_.\-]{{0,40}}\d){_NAME}"
_GAP = rf"(?:\s|{TAG}|[:=(]|```\w*)*"
#: What stands before the arguments of a call: its name, with an id before or behind it, or a number.
_HEADS = [
    re.compile(rf".*(?<![\w.\-/$@`]){head}(?P<gap>{_GAP})\Z", re.DOTALL)
    for head in (
        rf"(?P<name>{_NAME})[:#](?P<index>\d{{1,9}})",
        rf"(?P<name>{_NAME})\s*{TAG}\s*(?P<id>{_ID})",
        rf"(?P<id>{_ID})\s*{TAG}\s*(?P<name>{_NAME})",
        rf"(?P<name>{_NAME})",
    )
]
#: An argument; in the next one, `key` and `value` are others.
_TOKENS = r"(?:<[|｜][^|｜<>\n]{1,60}[|｜]>|\[/?[A-Z][A-Z0-9_]*\])"
_PAIRS = [
    rf"(?P<open><(?P<t>[^<>\s/=\"']+)>)\s*(?P<key>{_KEY})\s*(?P<mid></(?P=t)>\s*<(?P<u>[^<>\s/=\"']+)>)(?P<value>.*?)"
    r"(?P<close></(?P=u)>)",
    rf"(?P<open><(?P<t>[\w.|｜\-]+)(?:=|:|\s[\w\-]+=)[\"']?)(?P<key>{_KEY})(?P<mid>[\"']?(?:\s[^<>\n]{{0,80}})?>)(?!\s*<)"
    r"(?P<value>.*?)(?P<close></(?P=t)>)",
    rf"(?P<open><[\w:.|｜\-]+\s[\w\-]+=[\"'])(?P<key>{_KEY})(?P<mid>[\"']\s+[\w\-]+=[\"'])(?P<value>.*?)"
    r"(?P<close>[\"']\s*/?>)",
    rf"(?<=\w)(?P<open>{_TOKENS})(?P<key>{_KEY})(?P<mid>{_TOKENS})(?P<value>.*?)(?P<close>{_TOKENS})",
]
_PYTHON = re.compile(r"(?<![\w.])([A-Za-z_][\w.\-]{0,99})\(")
_PYTHON_KEY = re.compile(r"\s*,?\s*([A-Za-z_]\w*)\s*=\s*")


_T = TypeVar("_T")


class UnclearError(Exception):
    """The given texts do not show how calls are written. The message says what is missing."""


class Slot(NamedTuple):
    """A span of a text with a part of a call: `json`, `python`, `name`, `quoted_name`, `id`, `index`, `object`."""

    kind: str
    start: int
    end: int


class Pair(NamedTuple):
    """The markup of an argument. `json` says that its value is JSON."""

    open: str
    mid: str
    close: str
    json: bool = False


@dataclass
class Call:
    """A call in a text: its slots, and its name and the keys of its arguments for comparison.

    `own_keys` are those of a call that is an object. `lead` is the markup before the arguments that stand one by one.
    """

    slots: tuple[Slot, ...]
    end: int
    name: str
    keys: tuple[str, ...]
    own_keys: tuple[str, str] = ("name", "arguments")
    lead: str = ""
    pairs: tuple[Pair, ...] = ()

    @property
    def start(self) -> int:
        """Where its first slot begins."""
        return self.slots[0].start


@dataclass
class Shape:
    """How calls are written. `gaps` is the markup before each slot but the first; `unseen` what no response shows."""

    title: str
    kinds: tuple[str, ...]
    gaps: tuple[str, ...]
    own_keys: tuple[str, str]
    lead: str = ""
    pair: Pair | None = None
    open: str = ""
    close: str = ""
    section: tuple[str, str] = ("", "")
    separator: str = ""
    think: tuple[str, str] | None = None
    unseen: list[str] = field(default_factory=list[str])
    #: by the number of the text, the calls that were found
    calls: list[list[Call]] = field(default_factory=list[list[Call]])

    @property
    def markup(self) -> dict[str, str]:
        """All markup by its place."""
        found = {"before the calls": self.section[0], "before a call": self.open}
        found |= {f"before its {kind}": gap for kind, gap in zip(self.kinds[1:], self.gaps, strict=True)}
        if self.pair:
            found |= {"behind the name": self.lead, "before a key": self.pair.open, "before a value": self.pair.mid}
            found |= {"behind a value": self.pair.close}
        found |= {"behind a call": self.close, "between calls": self.separator, "behind the calls": self.section[1]}
        return {place: markup for place, markup in found.items() if markup}


def is_tag(token: str) -> bool:
    """Whether a token is a tag, a part of one, or a token like `<|call|>` and `[CALL]`."""
    bare = token.strip()
    return bare.startswith("<") or bare.endswith(">") or bool(re.fullmatch(r"\[/?[A-Z][A-Z0-9_]*\]", bare))


class Thought(NamedTuple):
    """The reasoning at the start of a text: where it starts and ends, and where its closing markup is over."""

    start: int = 0
    end: int = 0
    over: int = 0


def thought(text: str, reasoning: str | None = None, behind: str = "") -> Thought:
    """The reasoning of a text, which is known or stands between tags that say so. `behind` is known to follow it."""
    if reasoning:
        start = text.find(reasoning)
        end = start + len(reasoning)
        return Thought(start, end, text.find(behind, end) if behind else end)
    match = _THOUGHT.match(text) if reasoning is None else None
    return Thought(match.start(2) if match[1] else 0, match.end(2), match.end()) if match else Thought()


# finding calls


def objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The JSON objects in a text with their spans, each before those in it."""
    at = text.find("{")
    while at >= 0:
        found = decoder.read_at(text, at, 64)
        if found and isinstance(found[0], dict):
            yield at, found[1], cast("dict[str, Any]", found[0])
        at = text.find("{", at + 1)


def _object_calls(text: str, call_of: Callable[[str, int, int, dict[str, Any]], Call | None]) -> Iterator[Call]:
    """The calls that are made of an object, by what makes one of an object at a place."""
    end = 0
    for start, stop, value in objects(text):
        call = call_of(text, start, stop, value) if start >= end else None
        if call is not None and call.start >= end:
            yield call
            end = stop


def _json_call(_: str, start: int, stop: int, value: dict[str, Any]) -> Call | None:
    """An object with a name, which is a text, and arguments, which are an object; other keys may stand beside them."""
    texts = [key for key, inner in value.items() if isinstance(inner, str) and not key.lower().endswith("id")]
    given = [key for key, inner in value.items() if isinstance(inner, dict)]
    named = [key for key in texts if "name" in key] or texts
    if not named or len(given) != 1:
        return None
    return Call((Slot("json", start, stop),), stop, value[named[0]], tuple(value[given[0]]), (named[0], given[0]))


def _keyed_call(text: str, start: int, stop: int, value: dict[str, Any]) -> Call | None:
    """An object whose only key is the name of the call, and its value the arguments."""
    name, inner = next(iter(value.items()), ("", None))
    if len(value) != 1 or not isinstance(inner, dict):
        return None
    key = text.index('"', start)
    behind = (decoder.read_at(text, key, 64) or ("", key))[1]
    last = text.rindex("}", behind, stop - 1) + 1
    slots = (Slot("quoted_name", key, behind), Slot("object", text.index("{", behind), last))
    return Call(slots, last, name, tuple(cast("dict[str, Any]", inner)))


def _named_call(head: re.Pattern[str]) -> Callable[[str, int, int, dict[str, Any]], Call | None]:
    """A name, which is in what stands before the object with the arguments."""

    def call_of(text: str, start: int, stop: int, value: dict[str, Any]) -> Call | None:
        match = head.match(text, max(start - 400, 0), start)
        if match is None:
            return None
        slots = [Slot(kind, *match.span(kind)) for kind in head.groupindex if kind != "gap"]
        return Call((*sorted(slots, key=_start), Slot("object", start, stop)), stop, match["name"], tuple(value))

    return call_of


def _start(slot: Slot) -> int:
    return slot.start


def _python_calls(text: str) -> Iterator[Call]:
    """Calls as Python writes them, with keyword arguments."""
    end = 0
    for match in _PYTHON.finditer(text):
        at, keys = match.end(), list[str]()
        while at >= 0 and (key := _PYTHON_KEY.match(text, at)):
            value = python_literals.read_at(text, key.end(), 64)
            at = value[1] if value else -1
            keys.append(key[1])
        closed = re.compile(r"\s*,?\s*\)").match(text, at) if at >= 0 else None
        if match.start() >= end and closed:
            end = closed.end()
            yield Call((Slot("python", match.start(), end),), end, match[1], tuple(keys))


def _named_pairs(text: str, first: re.Pattern[str]) -> Iterator[Call]:
    """A name, and behind it keys and values between tags; the tags of the first argument are those of all."""
    match = first.search(text)
    if match is None:
        return
    parts = [r"\s*".join(re.escape(t.strip()) for t in tokens(match[part])) for part in ("open", "mid", "close")]
    mid = r"[\"']?[^<>\n]{0,80}>(?!\Z)" if match["mid"].strip().endswith(">") and "<" not in match["mid"] else parts[1]
    pair = re.compile(rf"(\s*{parts[0]})\s*({_KEY})\s*({mid})(.*?)({parts[2]})", re.DOTALL)
    end = 0
    while first_pair := pair.search(text, end):
        head = _HEADS[-1].match(text, max(first_pair.start() - 400, end), first_pair.start())
        matches = [first_pair]
        while following := pair.match(text, matches[-1].end()):
            matches.append(following)
        if head is not None and head.end("name") > end:
            pairs = tuple([_pair(*each.group(1, 3, 4, 5)) for each in matches])
            slots, keys = (Slot("name", *head.span("name")),), tuple([each[2] for each in matches])
            yield Call(slots, matches[-1].end(), head["name"], keys, lead=head["gap"], pairs=pairs)
        end = matches[-1].end()


def _pair(opened: str, mid: str, value: str, close: str) -> Pair:
    """The markup of an argument. Line breaks round a value belong to it."""
    if value.startswith("\n") and value.endswith("\n") and len(value) > 2:
        value, mid, close = value[1:-1], f"{mid}\n", f"\n{close}"
    whole = decoder.read_at(value, 0, 64)
    return Pair(opened, mid, close, whole is not None and whole[1] == len(value) and isinstance(whole[0], str))


# what is common to calls


#: By what is said of a shape: what finds its calls in a text. Likely shapes come first.
_FINDERS: list[tuple[str, Callable[[str], Iterator[Call]]]] = [
    ("a call is a JSON object", partial(_object_calls, call_of=_json_call)),
    ("a call is an object whose key is the name", partial(_object_calls, call_of=_keyed_call)),
    ("a call is written as in Python", _python_calls),
    *[("a name, then a JSON object", partial(_object_calls, call_of=_named_call(head))) for head in _HEADS],
    *[("a name, then keys and values", partial(_named_pairs, first=re.compile(pair, re.DOTALL))) for pair in _PAIRS],
]


def shapes(texts: Sequence[str], thoughts: Sequence[Thought]) -> Iterator[Shape]:
    """The ways in which the calls of texts may be written, likely ones first."""
    for title, finder in _FINDERS:
        found = [list(finder(text)) for text in texts]
        if any(found):
            yield _shape(title, texts, thoughts, found)


def _shape(title: str, texts: Sequence[str], thoughts: Sequence[Thought], found: list[list[Call]]) -> Shape:
    """What most calls have in common."""
    calls = [(text, call) for text, own in zip(texts, found, strict=True) for call in own]
    kinds = _most(tuple(slot.kind for slot in call.slots) for _, call in calls)
    same = [(text, call) for text, call in calls if tuple(slot.kind for slot in call.slots) == kinds]
    gaps = [
        _agreed(text[call.slots[i].end : call.slots[i + 1].start] for text, call in same) for i in range(len(kinds) - 1)
    ]
    pairs = [pair for _, call in same for pair in call.pairs]
    shape = Shape(title, kinds, tuple(gaps), _most(call.own_keys for _, call in same), calls=found)
    if pairs:
        broken = [pair for pair in pairs if pair.mid.endswith("\n") and pair.close.startswith("\n")]
        shown = broken if len(broken) * 3 >= len(pairs) else pairs
        opened, mid, close = (_agreed(str(pair[part]) for pair in shown) for part in range(3))
        shape.pair = Pair(opened, mid, close, sum(p.json for p in pairs) * 2 > len(pairs))
        shape.lead = _agreed(call.lead for _, call in same)
    opened = [
        (text[: t.start], text[t.end : t.over])
        for text, t in zip(texts, thoughts, strict=True)
        if t.over > t.end and t.start
    ]
    if opened:
        shape.think = _agreed(tags[0] for tags in opened), _agreed(tags[1] for tags in opened)
    _edges(shape, texts, [thought.over for thought in thoughts])
    return shape


def _edges(shape: Shape, texts: Sequence[str], starts: Sequence[int]) -> None:
    """Set the markup around calls, from what stands before, between and behind them."""
    before: list[str] = []
    behind_text: list[str] = []
    between: list[str] = []
    behind: list[str] = []
    for text, start, calls in zip(texts, starts, shape.calls, strict=True):
        last = -1
        for number, call in enumerate(calls):
            floor = calls[number - 1].end if number else start
            opened = _run_before(text, floor, call.start)
            if last >= 0 and not text[last:opened].strip():
                between.append(text[calls[number - 1].end : call.start])
                behind.pop()
            else:
                (behind_text if text[floor:opened].strip() else before).append(text[opened : call.start])
            run = _BEHIND.match(text, call.end)
            last = run.end() if run else call.end
            behind.append(text[call.end : last])
    opening, closing, inner = _agreed([*before, *behind_text]), _agreed(behind), _agreed(between)
    if _bare(_agreed(behind_text)) == _bare(opening):
        opening = _agreed(behind_text)
    shape.open, shape.close = opening, closing
    if not between:
        shape.unseen.append("no response has two calls in a row: what stands between them is not known")
        if opening.rstrip().endswith("[") and closing.lstrip().startswith("]"):
            shape.open, shape.close, shape.section, shape.separator = "", "", (opening, closing), ", "
        return
    if _bare(inner) == _bare(closing) + _bare(opening):
        return
    shape.open = "".join(_common(tokens(opening)[::-1], tokens(inner)[::-1])[::-1])
    rest = inner[: len(inner) - len(shape.open)] if shape.open else inner
    shape.close = "".join(_common(tokens(closing), tokens(rest)))
    shape.separator = rest[len(rest) - len(rest.lstrip()) if not shape.close else len(shape.close) :]
    shape.section = (opening[: len(opening) - len(shape.open)], closing[len(shape.close) :])


def _run_before(text: str, start: int, end: int) -> int:
    """The start of the markup that ends at `end`, at least `start`, with the white space before it."""
    at = end
    while at > start and (match := _BEFORE.search(text[start:at])):
        at = start + match.start()
    while start < at < end and text[at - 1].isspace():
        at -= 1
    return at


def _bare(markup: str) -> list[str]:
    return [token.strip() for token in tokens(markup) if token.strip()]


def _common(some: list[str], others: list[str]) -> list[str]:
    """The first tokens that both have, white space aside."""
    return [
        one for one, _ in takewhile(lambda both: both[0].strip() == both[1].strip(), zip(some, others, strict=False))
    ]


def _most(values: Iterable[_T]) -> _T:
    """The most common of some values."""
    return Counter(values).most_common(1)[0][0]


def _agreed(markups: Iterable[str]) -> str:
    """The most common markup, white space aside, in its most common spelling; "" for none."""
    found = list(markups)
    if not found:
        return ""
    bare = _most(tuple(_bare(markup)) for markup in found)
    return _most(markup for markup in found if tuple(_bare(markup)) == bare)
