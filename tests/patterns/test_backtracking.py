"""Which patterns are refused since they backtrack without bound, and which are not."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from outspoken import GrammarError, load_format
from outspoken.grammar.registry import names
from outspoken.grammar.registry import tables as tables_of
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns.backtracking import find_slow
from outspoken.rendering import parse_message
from tests.tables import tables

TABLES = tables(__file__)

#: Patterns that take exponential time, and those that take more than quadratic time.
EXPONENTIAL = TABLES["EXPONENTIAL"]
CUBIC = TABLES["CUBIC"]
GOOD = TABLES["GOOD"]

GRAMMAR = """// format: {name}
start: (TEXT call)* TEXT
call: _OPEN
TEXT: /(?s:.+)/
_OPEN: {pattern}
"""


@pytest.mark.parametrize("pattern", [*EXPONENTIAL, *CUBIC])
def test_patterns_that_take_more_than_quadratic_time(pattern: str) -> None:
    slow = find_slow(pattern)
    assert slow is not None
    assert ("several ways" in slow.why) == (pattern in EXPONENTIAL)


@pytest.mark.parametrize("pattern", GOOD)
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
    text = GRAMMAR.format(name=name, pattern=pattern).replace("DEEP", f"{'(' * 2000}a{')' * 2000}")
    path.write_text(text, "utf-8")
    with pytest.raises(GrammarError) as caught:
        load_format(path)
    assert message in str(caught.value)


OPEN: dict[str, Any] = {"content": "text", "close": "</t>"}


def tags(pattern: str) -> dict[str, Any]:
    return {"open": "<t>", **OPEN, "content": "xml-inline", "content_args": {"tag_pattern": pattern}}


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ({**OPEN, "open_pattern": "a*a*b"}, "open_pattern"),
        ({**OPEN, "open_pattern": "(?:a|aa)+b"}, "open_pattern"),
        ({**OPEN, "open": "<t>", "close": None, "close_pattern": ".*,.*,.*;"}, "close_pattern"),
        ({**OPEN, "open_pattern": "(a"}, "open_pattern"),
        (tags("(?P<key>.*)=(?P<value>.*),.*;"), "content_args.tag_pattern"),
    ],
)
def test_hostile_templates_are_refused(field: dict[str, Any], key: str) -> None:
    given = {name: value for name, value in field.items() if value is not None}
    with pytest.raises(GrammarError) as caught:
        load_format({"start_anchor": "<s>", "fields": {"notes": given}}, "hostile_template")
    assert f"response template `hostile_template`, key `fields.notes.{key}`: " in str(caught.value)


def test_the_white_space_of_templates_is_limited() -> None:
    notes = tags(r"<(?P<key>\w+)>\s*(?P<value>.*?)\s*</\1>")
    template: dict[str, Any] = {"start_anchor": "<s>", "fields": {"notes": notes}}
    name = load_format(template, "spaced_template")
    text = f"<t><a> 1 </a><b>{' ' * 3000}</t>"
    started = process_time()
    assert parse_message(text, name)["notes"] == {"a": "1"}
    assert process_time() - started < 5
