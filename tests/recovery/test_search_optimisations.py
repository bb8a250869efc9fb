"""Optimised searches agree with the plain ones: markers, prefilters, plain objects, prompt prefixes, edits of JSON."""

import json
import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from outspoken import Parser, parse
from outspoken.detection.evidence import AT_START, begins_line
from outspoken.detection.opener_index import OpenerIndex, opener_index, openers_of
from outspoken.grammar import registry
from outspoken.grammar.automaton import MissingCloser
from outspoken.grammar.marker_search import compile_search, compile_start_search
from outspoken.json.decoder import read_at
from outspoken.notations.coerce import SchemaView
from outspoken.notations.interface import notation
from outspoken.notations.transcoder import Transcoder
from outspoken.patterns.analysis import first_chars, leading_chars, required_chars
from outspoken.patterns.prefilter import prefilter_pattern
from outspoken.patterns.prefixes import index_prefixes, leading_prefixes
from outspoken.patterns.prepared import PrefixIndex
from outspoken.recovery import one_mistake
from outspoken.results.edits import RepairBudget
from tests.cases import CASES, FORMATS, Case
from tests.loops import DRAWN, IN_TURN, by_format, in_one_item, some
from tests.streams import streamed
from tests.tables import tables
from tools.bench.peers import PEERS, TYPICAL, own_calls, response, wanted

TABLES = tables(__file__)

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}}}


def home_terminals(format_: str) -> list[Any]:
    """The terminals that end the plain text of a format."""
    return [step.terminal for step in registry.automaton(format_, lenient=True).top_level_markers]


@in_one_item("format_", some(FORMATS, "one expression", 0.17))
def test_marker_search_agrees_with_one_expression(format_: str) -> None:
    terminals = home_terminals(format_)
    source = "|".join([f"(?:{t.regex})" for t in terminals])
    find, _ = compile_search(source, terminals)
    plain = re.compile(source)
    texts = [case.text for case in CASES if case.format == format_]
    assert texts
    for text in [*texts, *[re.sub("[ \n]", " \n\n ", t) for t in texts]]:
        pos = 0
        while (wanted_match := plain.search(text, pos)) is not None:
            found = find(text, pos)
            assert found is not None
            assert found.span() == wanted_match.span()
            pos = wanted_match.start() + 1
        assert find(text, pos) is None


@cache
def every_marker() -> tuple[OpenerIndex, str, str]:
    """The markers of all formats, and one expression for them all: without groups, and each in a group of its own.

    A search with the groups takes fifteen times as long.
    """
    openers = opener_index(True, registry.edition())
    regexes = [terminal.regex for terminal in [*openers.terminals, *openers.own]]
    return openers, "|".join([f"(?:{regex})" for regex in regexes]), "|".join([f"({regex})" for regex in regexes])


@cache
def places_that_count() -> dict[int, bool]:
    """The numbers of the markers that count at the start of a line, and whether they count anywhere in it."""
    openers, _, _ = every_marker()
    known = [*openers.openers, *openers_of(registry.edition()).plain_openers]
    patterns = [marker.regex for marker in (*openers.terminals, *openers.own)]
    anywhere = {o.regex: False for o in known} | {o.regex: True for o in known if o.evidence not in AT_START}
    own = {marker.regex: anywhere.get(marker.regex, True) for marker in openers.own}
    counts = anywhere | own
    return {number: counts[pattern] for number, pattern in enumerate(patterns, 1) if pattern in counts}


def first_that_counts(
    search: Callable[[str, int], Any], numbered: Callable[[str, int], Any], text: str, pos: int
) -> tuple[int, int, int] | None:
    """The first marker from a position on that counts where it stands: its start, its end and its number."""
    openers, _, _ = every_marker()
    patterns = [marker.regex for marker in (*openers.terminals, *openers.own)]
    anywhere = places_that_count()
    while (met := search(text, pos)) is not None:
        at = met.start()
        found, is_start = numbered(text, at), begins_line(text, at)
        if anywhere.get(found.lastindex, False) or (is_start and found.lastindex in anywhere):
            return at, found.end(), found.lastindex
        for number in anywhere:
            if (is_start or anywhere[number]) and (found := re.compile(patterns[number - 1]).match(text, at)):
                return at, found.end(), number
        pos = at + 1
    return None


#: Cases in which markers are searched for in two ways; other runs draw others.
SEARCHED = some(DRAWN, "marker search", 0.3)


@by_format(SEARCHED)
def test_marker_search_of_all_formats_agrees_with_one_expression(case: Case) -> None:
    openers, together, apart = every_marker()
    search, numbered = re.compile(together).search, re.compile(apart).match
    spaced = re.sub(r"(?<=\w) (?=\w)", "\n" + " " * (len(case.text) % 15), case.text)
    for text in (case.text, spaced, re.sub(r"\s", "\n", case.text)):
        pos: int | None = 0
        while pos is not None:
            place, wanted = openers.find(text, pos), first_that_counts(search, numbered, text, pos)
            found = place and (place[0], place[3].end(), place[1])
            assert found == wanted
            if wanted and wanted[2] <= len(openers.terminals):
                start, _, number = wanted
                regex = openers.terminals[number - 1].regex
                found_openers = [o for o in openers.openers if o.regex == regex]
                named = set(openers.at(text, start, final=True, known=True).names)
                for opener in found_openers:
                    is_code = opener.in_code and not re.compile(opener.followed).match(text, start)
                    is_in_line = opener.evidence in AT_START and not begins_line(text, start)
                    assert is_code or is_in_line or opener.format in named
            pos = wanted[0] + 1 if wanted else None


@pytest.mark.parametrize("format_", IN_TURN)
def test_partial_marker_search_agrees_with_one_expression(format_: str) -> None:
    openers, together, apart = every_marker()
    search, numbered, plain = re.compile(together).search, re.compile(apart).match, regex.compile(apart).search
    for text in [case.text for case in SEARCHED if case.format == format_]:
        for end in range(0, len(text), 7):
            beginning_of_text = text[:end]
            place = openers.find(beginning_of_text, 0, partial=True)
            wanted = first_that_counts(search, numbered, beginning_of_text, 0)
            if place is None:
                open_one = plain(beginning_of_text, partial=True)
                assert wanted is None
                assert (
                    open_one is None or not begins_line(beginning_of_text, open_one.start()) or open_one.start() == end
                )
            elif place[3].partial:  # what is open comes before what has ended
                assert wanted is None or place[0] <= wanted[0]
            else:
                assert (place[0], place[3].end(), place[1]) == wanted


@pytest.mark.parametrize(("patterns", "text", "whole", "partial"), TABLES["PREFILTER_OF_THE_SEARCH"])
def test_prefilter_of_the_search(patterns: list[str], text: str, whole: list[int], partial: list[int]) -> None:
    for wanted_places, how in ((whole, False), (partial, True)):
        found = prefilter_pattern(patterns, partial=how)
        assert found is not None
        assert [m.start() for m in re.finditer(f"(?={found})", text)] == wanted_places


@pytest.mark.parametrize("patterns", [["[^<]a"], [r"\s+", "<a>"], ["<a>", "x?[^y]"]])
def test_patterns_without_a_prefilter(patterns: list[str]) -> None:
    assert prefilter_pattern(patterns) is None


@pytest.mark.parametrize(("pattern", "chars"), TABLES["REQUIRED_TEXT_OF_A_PATTERN"])
def test_required_text_of_a_pattern(pattern: str, chars: str) -> None:
    assert required_chars(pattern) == set(chars)


@in_one_item("format_", some(FORMATS, "known prefix", 0.34))
def test_matches_begin_with_a_known_prefix(format_: str) -> None:
    """What is known of the beginnings of a terminal refuses nothing that it matches."""
    patterns = {t.regex for t in registry.automaton(format_, lenient=True).tables.terminals.values()}
    texts = [case.text for case in CASES if case.format == format_][:12]
    for pattern in sorted(patterns):
        find, guarded_find = re.compile(pattern).finditer, prefilter_pattern([pattern])
        begins, index = re.compile(guarded_find or "").match, PrefixIndex(index_prefixes([pattern]))
        for text in [*texts, "\n".join(texts).replace(" ", " \n ")]:
            for start in [match.start() for match in find(text)]:
                assert begins(text, start) is not None, (pattern, text[start : start + 40])
                assert index.groups[index.at(text, start)] == (0,), (pattern, text[start : start + 40])


def test_prefix_index_knows_what_may_begin_at_the_end_of_a_text() -> None:
    patterns = [t.regex for t in every_marker()[0].terminals]
    index = PrefixIndex(index_prefixes(patterns))
    for number, pattern in enumerate(patterns):
        for spaced, prefix, _ in leading_prefixes(pattern, 24):
            for space in ("\n", " \t") if spaced else ("",):
                text = space + prefix
                for length in range(1, len(text) + 1):
                    assert number in index.groups[index.at(text[:length], 0)], (pattern, text[:length])
    assert not index.groups[index.at("no marker begins like this", 0)]


ATOMS = st.sampled_from(["a", ":", r"\s", r"\n", "[ab]", r"[^\s:]", r"[a\s]", "<", "(?i:b)", r"\w"])
TIMES = st.sampled_from(["", "", "?", "{0,9}", "{1,3}", "{2}"])
PATTERNS = st.recursive(
    st.lists(st.tuples(ATOMS, TIMES).map("".join), min_size=2, max_size=4).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner, TIMES).map(lambda p: f"(?:{p[0]}|{p[1]}){p[2]}"),
        st.tuples(inner, inner).map(lambda p: f"{p[0]}(?={p[1]})"),
        st.tuples(st.sampled_from(["(?<![ab])", r"(?<!\s)", r"(?<![^\n])", "(?<=b)", "(?!a)"]), inner).map("".join),
    ),
    max_leaves=4,
)


@given(PATTERNS, st.data())
@settings(max_examples=100, deadline=None)
def test_matches_of_any_pattern_begin_with_a_known_prefix(pattern: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(pattern, alphabet="ab:< \n"))
    guarded_find, index = prefilter_pattern([pattern]), PrefixIndex(index_prefixes([pattern]))
    begins = re.compile(guarded_find or "").match
    for start in [place for place in range(len(text)) if re.compile(pattern).match(text, place)]:
        assert begins(text, start) is not None
        assert index.groups[index.at(text, start)] == (0,)


def starts_before_end(find: Callable[..., Any], piece: str) -> bool:
    """Does a marker start in a piece of text, complete or not?"""
    match = find(piece, partial=True)
    return match is not None and match.start() < len(piece)


@in_one_item("format_", some(FORMATS, "pieces", 0.17))
def test_piece_without_a_known_prefix_opens_no_marker(format_: str) -> None:
    terminals = home_terminals(format_)
    inside = compile_start_search(terminals)
    if inside is None:
        assert not all(t.first for t in terminals)
        return
    find = regex.compile("|".join([f"(?:{t.regex})" for t in terminals])).search
    # `regex` also reports partial matches of `(?i:<a>)|b` at an `A`, which no alternative has by itself
    finds = [regex.compile(t.regex).search for t in terminals]
    for text in [case.text for case in SEARCHED if case.format == format_]:
        for at in range(0, len(text), 3):
            piece = text[at : at + 7]
            if inside(piece) is None and starts_before_end(find, piece):
                assert not any(starts_before_end(alone, piece) for alone in finds)


@given(PATTERNS, st.text("ab:< \n", max_size=9), st.data())
@settings(max_examples=100, deadline=None)
def test_no_marker_begins_where_none_may(pattern: str, text: str, data: st.DataObject) -> None:
    text += data.draw(st.from_regex(pattern, alphabet="ab:< \n"))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    marker = MissingCloser(pattern, "", first_chars(pattern), "end")
    for before in range(start + 1):
        search, seen = compile_start_search([marker]), text[before:end]
        if search is not None and search(seen, start - before) is None:
            found = regex.compile(pattern).search(text[:end], start, partial=True)
            assert found is None or found.start() == end


@pytest.mark.parametrize(("pattern", "blank", "solid", "begins"), TABLES["PREFIXES_OF_A_MARKER"])
def test_prefixes_of_a_marker(pattern: str, blank: str, solid: str, begins: str) -> None:
    found = leading_chars(pattern)
    assert found is not None
    assert ("".join(sorted(found[0])), "".join(sorted(found[1]))) == (blank, solid)
    assert first_chars(pattern) == begins


@pytest.mark.parametrize("pattern", [r"\s*", r"[^<]a", r".a", r"\n{0,2}"])
def test_patterns_that_begin_with_anything_or_are_blank(pattern: str) -> None:
    assert leading_chars(pattern) is None


@pytest.mark.parametrize(("kind", "spelling", "text"), TABLES["PLAIN_OBJECT_SHORTCUT_AGREES_WITH_THE_SCANNER"])
def test_plain_object_shortcut_agrees_with_the_scanner(kind: str, spelling: str, text: str) -> None:
    how, schema_view = notation(kind, spelling), SchemaView(SCHEMA, SCHEMA, "json")
    scanner = how.scanner(9, schema_view)
    assert isinstance(scanner, Transcoder)
    end, done = scanner.feed(text, 0)
    assert how.read_at(text, 0, 9, True, schema_view) == ((scanner.value, end, scanner.text) if done else None)


@pytest.mark.parametrize("format_", [f for f in FORMATS if registry.header(f).opened])
def test_prompt_prefix_is_cached_correctly(format_: str) -> None:
    registry.automaton(format_, lenient=True).prompt_state = None
    for case in [c for c in CASES if c.format == format_][:6]:
        replies = [parse(case.text, format=format_) for _ in range(2)]
        assert replies[0] == replies[1]
        registry.automaton(format_, lenient=True).prompt_state = False
        assert parse(case.text, format=format_) == replies[0]
        registry.automaton(format_, lenient=True).prompt_state = None
        for _ in range(2):
            assert streamed(Parser(format_), [case.text]) == replies[0]


@in_one_item("format_", PEERS)
def test_benchmark_responses_are_parsed(format_: str) -> None:
    assert format_ in FORMATS
    for size in TYPICAL:
        assert own_calls(response(format_, *size), format_) == wanted(*size)


# edits that are skipped without decoding never make a sound value


# pyright: reportPrivateUsage=false

_STRINGS = ("Paris", "a, b", "x: y", "{z}", "", 'he said "x"', "back\\slash", "line\nbreak")
_SCALARS = (1, -2.5, 1e9, 0, True, None)


def _value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(4 if depth < 3 else 2)
    if kind < 2:
        return random.choice(_SCALARS if kind else _STRINGS)
    values = [_value(random, depth + 1) for _ in range(random.randrange(4))]
    return values if kind == 2 else {random.choice(("name", "arguments", "a b", "k")): value for value in values}


def _damaged(random: Random) -> str:
    text = json.dumps({"name": "f", "arguments": _value(random), "z": _value(random)}, indent=random.choice((None, 2)))
    at = random.randrange(len(text))
    return text[:at] + random.choice(("", *'{}[]",:x\n\\ 1.')) + text[at + random.randrange(2) :]


def test_a_skipped_edit_makes_no_sound_value() -> None:
    random, skipped, decoded = Random(77), 0, 0
    for _ in range(600):
        text = _damaged(random)
        search = one_mistake.OneMistake(text, 0, 100, RepairBudget.of(len(text)), quotes=True)
        mistake = search._mistake
        if mistake is None:
            continue
        for start, end, after in one_mistake._edits(text, search._tokens, mistake, only_there=False, quotes=True):
            if search._may_help(start, end, after, mistake):
                decoded += 1
                continue
            skipped += 1
            read = read_at(text[:start] + after + text[end:], 0, 100)
            assert read is None or read[1] < min(mistake, start) or read[1] <= start, (text, start, end, after)
    assert skipped > decoded
