"""Patterns as trees, and what relies on private parts of `re` and Lark: these tests fail when those change."""

from pathlib import Path

import pytest
import regex

from outspoken import parse as read
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.grammar.compiler import compile_text
from outspoken.patterns import syntax
from outspoken.patterns.arriving import while_arriving
from outspoken.results.errors import GrammarError
from tests.cases import CASES
from tests.invariants.replies import pieces
from tests.loops import for_each, in_one_item
from tests.tables import tables

TABLES = tables(__file__)

A, B = syntax.Chars(("a",)), syntax.Chars(("b",))


@pytest.mark.parametrize(
    ("pattern", "node"),
    [
        ("a", A),
        (".", syntax.Chars(negated=True)),
        ("[^a]", syntax.Chars(("a",), negated=True)),
        (r"[ab0-9\s\D]", syntax.Chars(("a", "b"), (("0", "9"),), (r"\s", r"\D"))),
        (r"[^\w\n]", syntax.Chars(("\n",), (), (r"\w",), True)),
        (r"\S", syntax.Chars(categories=(r"\S",))),
        (r"\W", syntax.Chars(categories=(r"\W",))),
        (r"\d", syntax.Chars(categories=(r"\d",))),
        ("a?", syntax.Repeat(0, 1, (A,), (1, 1))),
        ("a{2,3}?", syntax.Repeat(2, 3, (A,), (1, 1))),
        ("a+", syntax.Repeat(1, syntax.UNBOUNDED, (A,), (1, 1))),
        ("aa|bb", syntax.Alternatives(((A, A), (B, B)))),
        ("(ab)", syntax.Group((A, B), False, 1)),
        ("(?i:a)", syntax.Group((A,), True)),
        ("(?=a)", syntax.Look((A,), True, False, (1, 1))),
        ("(?!a)", syntax.Look((A,), True, True, (1, 1))),
        ("(?<=a)", syntax.Look((A,), False, False, (1, 1))),
        ("(?<!a)", syntax.Look((A,), False, True, (1, 1))),
        ("(?:a|bb){2}", syntax.Repeat(2, 2, (syntax.Alternatives(((A,), (B, B))),), (1, 2))),
        ("$", syntax.Position(True)),
        (r"\Z", syntax.Position(True)),
        (r"\b", syntax.Position(False)),
        ("^", syntax.Position(False)),
    ],
)
def test_patterns_are_parsed_as_trees(pattern: str, node: syntax.Node) -> None:
    found = syntax.parse(pattern)
    assert found == (node,)
    assert type(found[0]) is type(node)


def test_a_reference_names_its_group() -> None:
    assert syntax.parse(r"(a)\1") == (syntax.Group((A,), False, 1), syntax.Reference(1))


def test_groups_are_removed() -> None:
    source = r"(a)(?:b)[(](c)\(()"
    assert syntax.without_groups(source) == r"(?:a)(?:b)[(](?:c)\((?:)"


def test_lark_gives_tables_and_definitions() -> None:
    """The compiler reads LALR states with their items, and definitions of terminals before they are joined."""
    tables = compile_text(TABLES["GRAMMAR"], Path("tiny.lark"))
    opener, closer = tables.terminals["_OPEN"], tables.terminals["_CLOSE"]
    assert (opener.canonical, opener.regex, closer.canonical) == ("<a>", "(?:<a +>)", "</a>")
    after_text = tables.states[tables.states[tables.start]["TEXT"]]
    opened = after_text["_OPEN"]
    assert {"$END", "_OPEN"} < set(after_text)
    assert tables.nodes[opened] == "tool_call"
    assert sorted(tables.states[opened]) == ["TOOL_NAME"]
    assert [(rule.short, rule.size) for rule in tables.rules if rule.short == "tool_call"] == [("tool_call", 3)]


def is_undecided(pattern: str) -> bool:
    """Does the pattern look ahead to what it must not find, or to a boundary, inside of what it looks ahead to?"""
    return while_arriving(pattern) != pattern


@in_one_item("pattern, text, more", TABLES["LOOK_AHEADS"])
def test_a_look_ahead_waits_where_more_text_can_undo_it(pattern: str, text: str, more: str) -> None:
    """The pattern for chunks holds wherever one of two characters more would change what the whole pattern says."""
    arriving = regex.compile(while_arriving(pattern))
    for end in range(1, len(text) + 1):
        held = arriving.match(text[:end], partial=True)
        answers = [regex.match(pattern, text[:end] + char) is not None for char in (*more, *text[end : end + 1])]
        if held is None or not held.partial:
            assert answers == [held is not None] * len(answers), text[:end]
    held = arriving.match(text, partial=True)
    assert held is not None
    assert held.partial
    assert {regex.match(pattern, text + char) is None for char in more} == {True, False}


def around_look_aheads(name: str) -> list[str]:
    """Beginnings of responses that end behind such a marker, where its look-ahead is not decided."""
    terminals = registry.automaton(name).tables.terminals.values()
    patterns = [regex.compile(t.regex) for t in terminals if t.regex and is_undecided(t.regex)]
    texts = [case.text for case in CASES if case.format == name and case.kind == "ok" and len(case.text) < 250]
    found = dict[str, None]()
    for text in [*TABLES["MORE"].get(name, ()), *texts]:
        for match in [found for pattern in patterns for found in list(pattern.finditer(text))[:1]]:
            found |= dict.fromkeys([text[:end] for end in range(match.end(), min(match.end() + 25, len(text) + 1))])
    return list(found)


def has_undecided(name: str) -> bool:
    return any(is_undecided(terminal.regex) for terminal in registry.automaton(name).tables.terminals.values())


def test_look_aheads_in_look_aheads_read_alike_in_pieces() -> None:
    """Texts that end at each place inside of what a marker looks ahead to, with another character or none behind."""
    names = [name for name in registry.names() if has_undecided(name)]
    assert names
    for_each(names, check_pieces)


def check_pieces(name: str) -> None:
    texts = around_look_aheads(name)
    assert texts
    for i, beginning in enumerate(texts[:: max(len(texts) // 10, 1)]):
        for k, more in enumerate(("", " A."[i % 3], '\n<[:`"{9'[i % 8])):
            text = beginning + more
            format_ = "auto" if (i + k) % 20 == 0 else name
            assert ParseArguments(format_).stream(pieces(text, (1, 3)[(i + k) % 2]))[1] == read(text, format=format_), (
                text
            )


def test_the_end_of_the_text_in_a_look_ahead_is_refused(tmp_path: Path) -> None:
    grammar = "// format: f\nstart: (TEXT | _OPEN)*\n_OPEN: /<a>(?=b|\\s*$)/\n%import .shared.text (TEXT)\n"
    with pytest.raises(GrammarError, match="end of every chunk"):
        compile_text(grammar, tmp_path / "f.lark")
