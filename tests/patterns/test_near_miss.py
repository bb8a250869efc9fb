"""Near misses of markers, and which patterns are refused since they backtrack without bound."""

import re
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from outspoken import GrammarError, load_format, parse, stream
from outspoken.grammar import registry
from outspoken.grammar.registry import names
from outspoken.grammar.registry import tables as tables_of
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns import near_miss
from outspoken.patterns.backtracking import find_slow
from outspoken.patterns.near_miss import fragments, near_miss_pattern, near_misses, place_of_near_miss
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.recovery.near_markers import find_near
from outspoken.rendering import parse_message
from outspoken.semantics.unread_markup import markup_search
from tests.cases import FORMATS
from tests.invariants.cost import calls_in
from tests.loops import in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

MARKERS = ("<tool_call>", "</parameter>", "<|tool_call_begin|>", "Action:", "<ab>", '"name": ')


def mistakes(written: str) -> Iterator[str]:
    """The marker with one mistake: a character missing, swapped, in another case, doubled, or one more."""
    for i, char in enumerate(written):
        yield written[:i] + written[i + 1 :]
        yield written[:i] + written[i + 1 : i + 2] + char + written[i + 2 :]
        yield written[:i] + char.swapcase() + written[i + 1 :]
        yield from (written[:i] + more + written[i:] for more in "\"'{}<>,x" if i)


def test_one_mistake_is_found_and_none_is_not() -> None:
    for written in MARKERS:
        pattern = re.compile(near_miss_pattern(written))
        assert pattern.search(f"of {written} here") is None
        for text in {m for m in mistakes(written) if written not in m}:
            assert pattern.match(f"{text}\n{{"), (written, text)
            assert near_misses(f"{text}\n{{", 0, written)[0][1] == 1, (written, text)
            assert any(part in text for part in fragments(written)), (written, text)
            for begun in [text[:end] for end in range(1, len(text))]:
                found = near_miss.place_of_begun_near_miss(begun, 0, len(begun), written)
                assert 0 in (found, place_of_near_miss(begun, begun, 0, written)), (written, begun)


def test_no_near_miss_begins_before_the_place_that_is_found() -> None:
    for written in (*MARKERS, "to=", ">>>"):
        pattern = re.compile(near_miss_pattern(written))
        for text in {
            f"{lead}{mistake}{rest}"
            for mistake in mistakes(written)
            for lead in ("", "a\n", written)
            for rest in ("", written, "x")
        }:
            match, place = pattern.search(text), place_of_near_miss(text, text.lower(), 0, written)
            assert match is None or 0 <= place <= match.start(), (written, text)
    assert place_of_near_miss('{"action": 1}', '{"action": 1}', 0, "Action:") == -1


def test_nothing_behind_the_first_near_miss_is_looked_at() -> None:
    """Else a text of many calls, of which each has one, would be searched to its end at each of them."""

    def steps(calls: int) -> int:
        text = "x</tool_call>" + "<tool_call>" * calls
        return calls_in(lambda: place_of_near_miss(text, text, 0, "<tool_call>"))

    steps(10)  # what is computed once is not counted
    assert steps(1000) == steps(10)


def test_two_mistakes_are_found_in_long_markers_only() -> None:
    assert near_misses("<|tol_call_bgin|>", 0, "<|tool_call_begin|>") == [(17, 2)]
    assert near_misses("<tol_cal>", 0, "<tool_call>") == []


def test_what_stands_beside_a_marker_is_no_mistake() -> None:
    assert near_misses("x<tool_call>", 0, "<tool_call>") == []
    assert near_misses("<tool_call>>", 0, "<tool_call>")[0] == (11, 0)
    assert near_misses("<tool\n_call>", 0, "<tool_call>") == []


def test_spellings_of_patterns() -> None:
    assert spellings(r"(?:\[/THINK\]|</think>)\s{0,9}") == ("[/THINK]", "</think>")
    assert spellings(r"<function\s{1,9}name=[\"'](?=\w)") == ('<function name="', "<function name='")
    assert spellings(r"\w{1,40}") == ()
    assert without_conditions(r"(?<=x)[(?=]+(?:a|b(?=c))(?!d)") == r"[(?=]+(?:a|b)(?!d)"


def test_near_markers_of_a_text() -> None:
    text = "a <tol_call> b <tool_call> c <tool\n_call> d x<tool_call>"
    assert find_near(text, ["<tool_call>"]) == {2: {"<tool_call>": ((12, 2),)}, 29: {"<tool_call>": ((41, 2),)}}


def closers(format_: str) -> Iterator[str]:
    """The long markers of a format that end with a sign: `</tool_call>`."""
    terminals = registry.automaton(format_).tables.terminals.values()
    written = {terminal.canonical.strip() for terminal in terminals}
    yield from sorted(w for w in written if len(w) >= 8 and not w[-1].isalnum() and w[-1] not in "\"':")


#: What may follow a marker whose last characters are missing: none of it is the marker's.
BEHIND = (" B.", " Bx y", " .B", "B. More", "But so", " \nB", "B", " ")


@in_one_item("format_", some(FORMATS, "lacking ends", 0.34))
def test_what_follows_a_marker_that_lacks_its_end_is_no_part_of_it(format_: str) -> None:
    """Neither white space nor a letter behind a marker is taken for a character that it lacks.

    What it lacks itself may stand behind another character.
    """
    for written in closers(format_):
        pattern = re.compile(near_miss_pattern(written))
        for cut in (1, 2):
            for behind in some(BEHIND, f"{format_} {written} {cut}", 0.5):
                begun = written[:-cut]
                text = f"{begun}{behind}\nMore"
                ends = [end for end, _ in near_misses(text, 0, written)]
                ends += [match.end() for match in [pattern.match(text)] if match and cut == 1]
                ends += [end for end, _ in find_near(text, [written]).get(0, {}).get(written, ())]
                own = next((at for at, char in enumerate(behind) if char in written[-cut:]), -1)
                assert all(end <= len(begun) + own + 1 for end in ends), (text, ends)


@in_one_item("format_", FORMATS)
def test_text_behind_a_closer_that_lacks_its_end_stays_text(format_: str) -> None:
    """Of an example that ends with a closing marker; a call that is not run may keep it in its raw text."""
    example = registry.header(format_).example.rstrip()
    if not any(example.endswith(written) for written in closers(format_)):
        return
    for behind in (" B.", "B. More"):
        reply = parse(example[:-2] + behind, format=format_)
        runs = [call for call in (*reply.tool_calls, *reply.actions) if call.status in ("ok", "repaired")]
        assert not runs or behind.strip() in f"{reply.text} {reply.reasoning}", (example[:-2] + behind, reply)


@in_one_item("format_", some(FORMATS, "quick look", 0.34))
def test_the_quick_look_for_markup_overlooks_no_marker_with_wrong_signs(format_: str) -> None:
    """Whole text is searched only if it passes the quick look; streams are always searched."""
    search = markup_search(registry.automaton(format_, lenient=True))
    for marker in search.markers:
        signs = [at for at, char in enumerate(marker) if not char.isalnum() and char not in "_ \n"]
        for first, second in combinations_with_replacement(signs, 2):
            text = "".join(["i" if at in (first, second) else char for at, char in enumerate(marker)])
            if any(search.find(f"H{text} x")):
                assert search.may_hold(f"H{text} x"), text


def test_a_marker_with_two_wrong_signs_is_reported_in_whole_text_as_in_streams() -> None:
    text = "Hi function>> x"
    events = stream([text], format="gorilla_openfunctions")
    assert [event.type for event in events][-1] == "done"
    assert [diagnostic.code for diagnostic in events.reply.diagnostics] == ["unread-markup"]
    assert parse(text, format="gorilla_openfunctions") == events.reply


# which patterns are refused since they backtrack without bound, and which are not


@pytest.mark.parametrize("pattern", [*TABLES["EXPONENTIAL"], *TABLES["CUBIC"]])
def test_patterns_that_take_more_than_quadratic_time(pattern: str) -> None:
    slow = find_slow(pattern)
    assert slow is not None
    assert ("several ways" in slow.why) == (pattern in TABLES["EXPONENTIAL"])


@pytest.mark.parametrize("pattern", TABLES["GOOD"])
def test_patterns_that_take_less(pattern: str) -> None:
    assert find_slow(pattern) is None


def test_a_pattern_that_is_too_long_to_be_looked_at() -> None:
    assert find_slow("a" * 3000) is not None
    assert find_slow("|".join(["a*b"] * 400)) is None


def test_every_marker_of_the_own_formats_is_good() -> None:
    for name in names():
        header = tables_of(name).header
        markers = [one for one in tables_of(name).terminals.values() if one.short not in FREE_TEXT | EMBEDDED_VALUES]
        for regex in (
            *[one.regex for one in markers],
            tables_of(name).ignore,
            header.anchor,
            *header.payloads.values(),
        ):
            assert find_slow(regex) is None, (name, regex)


@pytest.mark.parametrize(("name", "pattern", "message"), TABLES["HOSTILE"])
def test_hostile_grammars_are_refused(tmp_path: Path, name: str, pattern: str, message: str) -> None:
    path = tmp_path / f"{name.partition(chr(10))[0]}.lark"
    text = TABLES["GRAMMAR"].format(name=name, pattern=pattern).replace("DEEP", f"{'(' * 2000}a{')' * 2000}")
    path.write_text(text, "utf-8")
    with pytest.raises(GrammarError) as caught:
        load_format(path)
    assert message in str(caught.value)


OPEN: dict[str, Any] = {"content": "text", "close": "</t>"}


@pytest.mark.parametrize(("field", "key"), TABLES["HOSTILE_FIELDS"])
def test_hostile_templates_are_refused(field: dict[str, Any], key: str) -> None:
    given = {name: value for name, value in field.items() if value is not None}
    with pytest.raises(GrammarError) as caught:
        load_format({"start_anchor": "<s>", "fields": {"notes": given}}, "hostile_template")
    assert f"response template `hostile_template`, key `fields.notes.{key}`: " in str(caught.value)


def test_the_white_space_of_templates_is_limited() -> None:
    pattern = r"<(?P<key>\w+)>\s*(?P<value>.*?)\s*</\1>"
    notes = {"open": "<t>", **OPEN, "content": "xml-inline", "content_args": {"tag_pattern": pattern}}
    template: dict[str, Any] = {"start_anchor": "<s>", "fields": {"notes": notes}}
    name = load_format(template, "spaced_template")
    text = f"<t><a> 1 </a><b>{' ' * 3000}</t>"
    started = process_time()
    assert parse_message(text, name)["notes"] == {"a": "1"}
    assert process_time() - started < 5
