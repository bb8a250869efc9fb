"""Texts of a format, made by Hypothesis from its grammar: responses, and responses that are damaged.

The rules are those of the grammar file. Markers have their canonical spelling or another one that their pattern spells
out; names and values are those of the format's example, or drawn. What a pattern looks ahead at is not known here, so a
few responses are not sound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from outspoken.grammar import registry
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, SPELLED_VALUES, TOKENS
from outspoken.notations.interface import notation_of
from outspoken.parsing.tree_parser import parse_tree
from outspoken.patterns.spellings import example as example_of
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.results.edits import REPAIR_LIMITS
from outspoken.results.errors import ResponseError
from outspoken.trees.lark_parser import lark_grammar

from .checks import ParseArguments

#: The name of these choices, as `settings(backend=…)` takes it.
_BACKEND = "outspoken"


class PlainChoices(HypothesisProvider):
    """Hypothesis's choices without constants of the modules that are imported, so that a seed gives the same texts."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[_BACKEND] = PlainChoices
#: Nothing depends on the machine, on earlier runs or on time.
SETTINGS = settings(
    backend=_BACKEND,
    database=None,
    deadline=None,
    derandomize=False,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
_WORDS = (
    "the", " ", "\n", "weather in Köln", ", ", "\n\n", "don't", "a<b", "x>y", "&amp;", "{x}", "[1]", '"word"', "'",
    "</", "C:\\dir", "\t", "\r\n", "東京.", "```", "null", ":", "🦉", "\x1c", "\x1f", "\xa0", "\u2028", "\xb2",
    "\u0130", "\u0131", "\u017f", "\u212a", "\u093e", "\U0001e4d0",
)  # fmt: skip
_NAMES = ("get_weather", "f", "Run2", "tools.find", "save-note", "x_1", "größe", "city", "days", "3")
_JSON = st.recursive(
    st.sampled_from([0, 1, "Paris", "", -0.25, 1e21, True, None, 12345678901234567890, "3", "true"])
    | st.lists(st.sampled_from(_WORDS), max_size=4).map("".join),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3),
    max_leaves=5,
)
_OBJECTS = st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=3)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "JSON_VALUE": _OBJECTS | _JSON,
    "JSON_OBJECT": _OBJECTS,
    "JSON_ARRAY": st.lists(_OBJECTS, max_size=3),
    "JSON_STRING": st.sampled_from(_NAMES) | st.lists(st.sampled_from(_WORDS), max_size=4).map("".join),
    "JSON_NUMBER": st.sampled_from([0, 1, -1, 42, 3.5, 1e21]),
    "JSON_BOOLEAN": st.booleans(),
    "JSON_NULL": st.none(),
    "PYTHON_VALUE": _JSON,
    **dict.fromkeys(SPELLED_VALUES, _OBJECTS),
}
_CHARS = "\"'`{}[]()<>|:=,.\\/ \n\tae0é“”’🦉\x00\x1f\u2028\ufeff"
_QUOTES = str.maketrans("\"'“", '\'""')
_MARKUP = re.compile(r"<[^<>\n]{1,40}>|```\w*|[\[\]{}(),:=]|[A-Z][A-Za-z_]{3,20}:")


class Example(NamedTuple):
    """A text, how it is read, and where it is cut. `is_whole` says that it is not damaged.

    `expected` is the kind of a damaged call, and what `outcome` takes.
    """

    text: str
    args: ParseArguments
    cuts: tuple[int, ...] = ()
    is_whole: bool = False
    expected: Sequence[Any] | None = None


@cache
def _strategy(name: str, edition: int) -> st.SearchStrategy[str]:
    tables = registry.automaton(name).tables
    tokens = _tokens_of(name, tables.header.example)
    explicit = {terminal.name: _written(terminal, tokens) for terminal in tables.terminals.values()}
    grammar = lark_grammar(name)
    ignored = dict.fromkeys(grammar.ignore_tokens, st.sampled_from([" ", "\n", "\t"]))
    known = {definition.name for definition in grammar.terminals}
    return from_lark(grammar, explicit={key: value for key, value in {**ignored, **explicit}.items() if key in known})


def responses(name: str) -> st.SearchStrategy[str]:
    """Responses of a format, by its exact name."""
    example = registry.header(name).example
    made = _strategy(name, registry.edition())
    part = made | st.just(example) if example else made
    return st.lists(part, min_size=1, max_size=3).map("".join)


def _tokens_of(name: str, example: str) -> dict[str, list[str]]:
    """The texts of the tokens of an example, by the names of their terminals."""
    found: dict[str, list[str]] = {}
    try:
        tree = parse_tree(example, format=name)
    except ResponseError:
        return found
    for token in tree.scan_values(lambda _: True):
        found.setdefault(token.type, []).append(str(token))
    return found


def _written(terminal: Terminal, tokens: dict[str, list[str]]) -> st.SearchStrategy[str]:
    """The texts of a terminal."""
    own_tokens = tokens.get(terminal.short, [])
    if terminal.short in FREE_TEXT:
        free = st.lists(st.sampled_from(_WORDS), max_size=8).map("".join)
        return st.sampled_from(own_tokens) | free if own_tokens else free
    if terminal.short in EMBEDDED_VALUES:
        write = notation_of(terminal).write
        values = _VALUES[terminal.short].map(write).filter(bool).map(str)
        if terminal.short.startswith("JSON"):
            values |= st.builds(json.dumps, _VALUES[terminal.short], ensure_ascii=st.booleans(), indent=st.just(1))
        return st.sampled_from(own_tokens) | values if own_tokens else values
    plain = without_conditions(terminal.regex)
    if terminal.short in TOKENS and not terminal.canonical:
        forms = own_tokens + [text for text in _NAMES if re.fullmatch(plain, text)]
    else:
        others = [text for text in spellings(terminal.regex) if re.fullmatch(plain, text)]
        forms = [text for text in (terminal.canonical, *others) if text]
    return st.sampled_from(forms or [example_of(terminal.regex)])


@st.composite
def examples(draw: st.DrawFn, name: str, others: Sequence[str]) -> Example:
    """A text of a format, and how it is read. `others` are responses of which pieces are put into it."""
    text, is_whole = draw(responses(name)), draw(st.booleans())
    args = ParseArguments(name)
    if not is_whole:
        text = damaged(text, others, draw(st.randoms(use_true_random=False)))
        repair, reason = draw(st.sampled_from(REPAIR_LIMITS[::-1])), draw(st.sampled_from([None, "stop", "length"]))
        args = ParseArguments(draw(st.sampled_from([name, name, "auto"])), {"repair": repair}, reason)
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=6))
    return Example(text, args, tuple(sorted(cuts)), is_whole)


def damaged(text: str, others: Sequence[str], random: Random, most: int = 3) -> str:
    """A text with a change or more: parts cut, doubled, swapped, misspelt, or mixed with pieces of `others`."""
    for _ in range(random.randint(1, most)):
        (a, b), (c, d) = sorted((_part(text, random), _part(text, random)))
        b, other, char = min(b, c), random.choice(others), random.choice(_CHARS)
        start, end = _part(other, random)
        changed = (
            text[:a] + text[b:],
            text[:a],
            text[b:],
            text[:b] + text[a:],
            text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:],
            text[:a] + other[start:end] + text[a:],
            text[:a] + other[start:],
            other[:end] + text[b:],
            text[:a] + char + text[a:],
            text[:a] + char + text[a + 1 :],
            text[:a] + text[a + 1 :],
            text[: b - 1] + text[b:] if b > a else text[b:],
            text[:a] + text[a:b].swapcase() + text[b:],
            text[:a] + text[a:d].translate(_QUOTES) + text[d:],
        )
        text = random.choice(changed)
    return text


def _part(text: str, random: Random) -> tuple[int, int]:
    """A part of a text: something like a marker, or any few characters."""
    spans = [found.span() for found in _MARKUP.finditer(text)] if random.random() < 0.5 else []
    if spans:
        return random.choice(spans)
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.randint(1, 16))
