"""Whole text and streams have one meaning of white space, letters, digits and case, on every character of Unicode."""

import re
from functools import cache
from itertools import pairwise
from random import Random

import pytest
import regex

from outspoken import parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.patterns import alike
from outspoken.patterns.alike import compile_alike
from tests.cases import FORMATS
from tests.loops import IN_TURN, SEED, in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

EVERY = "".join(map(chr, range(0x110000)))
#: A class, or an escape that stands for one.
CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
LETTERS = [f"(?i:{letter})" for letter in "aIifkKstSz0_"]


def spans(compiled: re.Pattern[str]) -> list[tuple[int, int]]:
    return [match.span() for match in compiled.finditer(EVERY)]


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_classes_hold_the_same_characters() -> None:
    for pattern in (*TABLES["CATEGORIES"], *LETTERS, *TABLES["CASES"]):
        assert spans(compile_alike(f"(?:{pattern})+")) == spans(re.compile(f"(?:{pattern})+")), pattern


def test_classes_of_grammars_hold_the_same_characters() -> None:
    regexes = [t.regex for name in FORMATS for t in registry.automaton(name, lenient=True).tables.terminals.values()]
    classes = {found for pattern in regexes for found in CLASS.findall(pattern)}
    classes = {found for found in classes if found[0] == "[" or found[1] in "sSwWdD"}
    assert len(classes) > 20
    for pattern in some(sorted(classes), "classes", 0.2):
        assert spans(compile_alike(f"{pattern}+")) == spans(re.compile(f"{pattern}+")), pattern


def test_conditions_hold_at_the_same_places() -> None:
    text = "".join([f"a{char}a " for char in EVERY[Random(SEED).randrange(30) :: 30]])
    for pattern in (r"\b", r"\B", r"(?<!\w)a", r"a(?!\w)", r"(?<![^\n\w])a", r"a(?=\s)", "(?i:ss|fi|st)"):
        assert spans_in(compile_alike(pattern), text) == spans_in(re.compile(pattern), text), pattern
    for text in ("ß", "ﬁ", "ﬆ", "ſs"):
        assert bool(compile_alike("(?i:ss|fi|st)").match(text)) == bool(re.match("(?i:ss|fi|st)", text)), text


def spans_in(compiled: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in compiled.finditer(text)]


def test_what_regex_lacks_is_listed() -> None:
    """`regex` may know fewer letters than `re`, too: where it is older than Python."""
    unknown, lacking = alike.differences()
    assert not any(re.match(r"\w", char) for char in unknown[0::3] + unknown[2::3])
    assert all(re.match(r"\w", char) for char in lacking[0::3])
    for unknown, lacking in (("", "☃-☃"), ("a-a", "☃-☃")):
        letters = regex.compile(f"[{alike.in_class('w', unknown, lacking)}]", regex.V1)
        assert [char for char in "☃☄é-7" if letters.match(char)] == ["☃", "é", "7"]


@cache
def doubtful() -> str:
    """The characters on which `re` and `regex` disagree, a few for each reason, and others like them."""
    found = ""
    for pattern in (r"\s", r"\w", r"\d", "(?i:i)", "(?i:k)", "(?i:s)"):
        differ = sorted({*re.findall(pattern, EVERY)} ^ {*regex.findall(pattern, EVERY)})
        found += "".join(differ[:3] + differ[3 :: len(differ) // 3 + 1])
    return "".join(dict.fromkeys(f"{found}\x1c\x1f\x85\xa0\u200b\u2028\u3000\ufeffıİſK²é"))


@in_one_item("format_", IN_TURN)
def test_streams_read_every_character_as_whole_text_does(format_: str) -> None:
    """A character beside, in, before or in place of a marker; each run tries a share of them in each format."""
    example = registry.header(format_).example or "text"
    places = sorted({found.start() for found in re.finditer(r"\b|\s|[<\[{(]", example)})
    args = ParseArguments(format_)
    for number, char in some(enumerate(doubtful()), f"doubtful {format_}", 0.03):
        at = places[number * 7 % len(places)]
        text = example[:at] + char + example[at + number % 2 :]
        parts = [text[start:end] for start, end in pairwise([0, at, min(at + 1, len(text)), len(text)])]
        assert args.stream(parts)[1] == args.parse(text), text


def test_found_text() -> None:
    for format_, text in (("hermes", "<|im_start|>assistant\x1fHello"), ("ui_tars", "<thinkt></think_²>")):
        assert ParseArguments(format_).stream([text])[1] == parse(text, format=format_)
