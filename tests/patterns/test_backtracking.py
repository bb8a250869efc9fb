"""Which patterns are refused since they backtrack without bound, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from outspoken import GrammarError, load_format
from outspoken.grammar.registry import names, tables
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns.backtracking import backtracks

REFUSED = [
    "(a+)+b",
    r"(?:\w+\s*)*x",
    r"(?:\w|0{1,2})+x",
    "(?:(?:ab)*)*c",
    "((a*)*)*",
    "(?:a{1,99}){1,99}b",
    "(?=(a+)+b)",
]
ACCEPTED = [r'"(?:[^"\\]|\\.)*"', r"(?:\w+\s)*x", r"(?:\s*,\s*)*", "a+b+", r"(?:[^\n]+\n)*", "[ ]{0,3}(?:`{3,16})"]

GRAMMAR = """// format: {name}
start: (TEXT call)* TEXT
call: _OPEN
TEXT: /(?s:.+)/
_OPEN: {pattern}
"""


@pytest.mark.parametrize("pattern", REFUSED)
def test_patterns_that_read_a_run_in_several_ways_backtrack(pattern: str) -> None:
    assert backtracks(pattern)


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_patterns_that_read_text_in_one_way_do_not(pattern: str) -> None:
    assert not backtracks(pattern)


def test_no_marker_of_a_format_backtracks() -> None:
    for name in names():
        for terminal in tables(name).terminals.values():
            if terminal.short not in FREE_TEXT | EMBEDDED_VALUES:
                assert not backtracks(terminal.regex), (name, terminal.short)


@pytest.mark.parametrize(
    ("name", "pattern", "message"),
    [
        ("slow", "/<(a+)+b/", "`_OPEN` backtracks without bound"),
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
