"""Patterns as trees, and what relies on private parts of `re` and Lark: these tests fail when those change."""

from __future__ import annotations

from pathlib import Path

import pytest

from outspoken.grammar.compiler import compile_text
from outspoken.patterns.syntax import (
    UNBOUNDED,
    Alternatives,
    Chars,
    Group,
    Look,
    Node,
    Position,
    Reference,
    Repeat,
    parse,
    without_groups,
)

A, B = Chars(("a",)), Chars(("b",))


@pytest.mark.parametrize(
    ("pattern", "node"),
    [
        ("a", A),
        (".", Chars(negated=True)),
        ("[^a]", Chars(("a",), negated=True)),
        (r"[ab0-9\s\D]", Chars(("a", "b"), (("0", "9"),), (r"\s", r"\D"))),
        (r"[^\w\n]", Chars(("\n",), (), (r"\w",), True)),
        (r"\S", Chars(categories=(r"\S",))),
        (r"\W", Chars(categories=(r"\W",))),
        (r"\d", Chars(categories=(r"\d",))),
        ("a?", Repeat(0, 1, (A,), (1, 1))),
        ("a{2,3}?", Repeat(2, 3, (A,), (1, 1))),
        ("a+", Repeat(1, UNBOUNDED, (A,), (1, 1))),
        ("aa|bb", Alternatives(((A, A), (B, B)))),
        ("(ab)", Group((A, B), False, 1)),
        ("(?i:a)", Group((A,), True)),
        ("(?=a)", Look((A,), True, False, (1, 1))),
        ("(?!a)", Look((A,), True, True, (1, 1))),
        ("(?<=a)", Look((A,), False, False, (1, 1))),
        ("(?<!a)", Look((A,), False, True, (1, 1))),
        ("(?:a|bb){2}", Repeat(2, 2, (Alternatives(((A,), (B, B))),), (1, 2))),
        ("$", Position(True)),
        (r"\Z", Position(True)),
        (r"\b", Position(False)),
        ("^", Position(False)),
    ],
)
def test_patterns_are_parsed_as_trees(pattern: str, node: Node) -> None:
    found = parse(pattern)
    assert found == (node,)
    assert type(found[0]) is type(node)


def test_a_reference_names_its_group() -> None:
    assert parse(r"(a)\1") == (Group((A,), False, 1), Reference(1))


def test_groups_are_removed() -> None:
    source = r"(a)(?:b)[(](c)\(()"
    assert without_groups(source) == r"(?:a)(?:b)[(](?:c)\((?:)"


GRAMMAR = """// format: tiny
start: TEXT (tool_call TEXT)*
tool_call: _OPEN TOOL_NAME _CLOSE
TEXT: /[^<]+/
TOOL_NAME: /\\w+/
_OPEN: "<a>" | /<a +>/
_CLOSE: "</a>"
"""


def test_lark_gives_tables_and_definitions() -> None:
    """The compiler reads LALR states with their items, and definitions of terminals before they are joined."""
    tables = compile_text(GRAMMAR, Path("tiny.lark"))
    opener, closer = tables.terminals["_OPEN"], tables.terminals["_CLOSE"]
    assert (opener.canonical, opener.regex, closer.canonical) == ("<a>", "(?:<a +>)", "</a>")
    after_text = tables.states[tables.states[tables.start]["TEXT"]]
    opened = after_text["_OPEN"]
    assert {"$END", "_OPEN"} < set(after_text)
    assert tables.nodes[opened] == "tool_call"
    assert sorted(tables.states[opened]) == ["TOOL_NAME"]
    assert [(rule.short, rule.size) for rule in tables.rules if rule.short == "tool_call"] == [("tool_call", 3)]
