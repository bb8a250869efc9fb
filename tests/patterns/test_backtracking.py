"""Which patterns are refused since they backtrack without bound, and which are not."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from outspoken import GrammarError, load_format
from outspoken.grammar.registry import names, tables
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns.backtracking import find_slow
from outspoken.rendering import parse_message

#: Patterns that take exponential time, and those that take more than quadratic time.
EXPONENTIAL = [
    "(a+)+b",
    r"(?:\w+\s*)*x",
    r"(?:\w|0{1,2})+x",
    "(?:(?:ab)*)*c",
    "((a*)*)*",
    "(?:a{1,99}){1,99}b",
    "(?=(a+)+b)",
    "(?:ab|a|b)+c",
    "(?:a?){50}b",
    "(?:|){50}b",
    r"(?:\s*,\s*)*;",
]
CUBIC = [
    "a*a*b",
    "(a|b)*a*c",
    r"\s*\s*x",
    ".*,.*,.*;",
    "<a*a*a*b",
    "(?:ab)*(?:ab)*c",
    "(?:(?=.*x)a)*b",
    "a{0,99}a{0,99}a{0,99}b",
    r"(?:\w+\s)*(?:\w+\s)*x",
    "(?i:a*)A*b",
]
GOOD = [
    r'"(?:[^"\\]|\\.)*"',
    r"(?:\w+\s)*x",
    r"(?:\s*,)*",
    "a+b+",
    "<a*a*b",
    r"\s*x",
    r"(?:[^\n]+\n)*",
    "[ ]{0,3}(?:`{3,16})",
    r"(?P<mark>`{3,16})[\s\S]{0,400}(?P=mark)",
    r"(?:\s{0,9}(?:0?\.\d{1,9}|[01](?:\.0{1,9})?)\s{0,9},){2}",
]

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
        header = tables(name).header
        markers = [one for one in tables(name).terminals.values() if one.short not in FREE_TEXT | EMBEDDED_VALUES]
        for regex in (*[one.regex for one in markers], tables(name).ignore, header.anchor, *header.payloads.values()):
            assert find_slow(regex) is None, (name, regex)


@pytest.mark.parametrize(
    ("name", "pattern", "message"),
    [
        ("slow", "/<(a+)+b/", "slow.lark:5: terminal `_OPEN` backtracks without bound: a repeat can read"),
        ("cubic", "/a*a*b/", "cubic.lark:5: terminal `_OPEN` backtracks without bound: several repeats"),
        ("blank", "/<a>/\n_W: / *\\s*x/\n%ignore _W", "blank.lark:6: terminal `_W` backtracks without bound"),
        ("anchor\n// anchor: a*a*b", "/<a>/", "anchor.lark:2: `anchor` cannot be `a*a*b`"),
        ("payload\n// payloads:\n//   p = (a+)+b", "/<a>/", "payload.lark:3: `payloads` cannot be `(a+)+b`"),
        ("half\n// payloads:\n//   p = (a", "/<a>/", "half.lark:3: `payloads` cannot be `(a`"),
        ("deep", f"/{'(' * 2000}a{')' * 2000}/", "nested too deeply"),
        ("broken", "/<(a/", "broken.lark"),
        ("auto", "/<a>/", "no format may be called `auto`"),
        ("quick\n// aliases: fast, Auto", "/<a>/", "no format may be called `auto`"),
    ],
)
def test_hostile_grammars_are_refused(tmp_path: Path, name: str, pattern: str, message: str) -> None:
    path = tmp_path / f"{name.partition(chr(10))[0]}.lark"
    path.write_text(GRAMMAR.format(name=name, pattern=pattern), "utf-8")
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
