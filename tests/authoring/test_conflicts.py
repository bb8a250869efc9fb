"""Conflicts of grammars, each with a text that shows it, and what Lark refuses, in the words of the author."""

from pathlib import Path
from textwrap import dedent

import lark.lexer
import pytest

from outspoken import Diagnostic
from outspoken.authoring.check.conflicts import MOST, conflict_findings
from outspoken.authoring.check.findings import CheckedGrammar
from outspoken.authoring.check.lark_errors import Loaded, load, refusal, syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.compiler import lark_of
from outspoken.patterns.spellings import example
from tests.authoring.checkouts import said
from tests.invariants.cost import calls_in
from tests.tables import tables

TABLES = tables(__file__)

MADE = "grammars/made.lark"
LETTERS = "".join([f'{letter}: "{letter.lower()}"\n' for letter in "ABCDEFG"])
PARTING = "  help: write what both readings begin with once, and let them part behind it, or give them other markers"


def made(tmp_path: Path, text: str, shared: str = "") -> CheckedGrammar:
    """A grammar in a checkout of its own, with a terminal for each capital letter in it."""
    checkout = Checkout(tmp_path)
    (checkout.grammars / "shared").mkdir(parents=True)
    (checkout.grammars / "shared" / "part.lark").write_text(dedent(shared).lstrip(), "utf-8")
    path = checkout.grammar("made")
    imported = "".join([line for line in dedent(text).splitlines() if line.startswith("%import")])
    used = [line for line in LETTERS.splitlines(keepends=True) if line[0] in text and line[0] not in imported]
    path.write_text(dedent(text).lstrip() + "".join(used), "utf-8")
    return CheckedGrammar(checkout, Source.of(path))


def conflicts(tmp_path: Path, text: str, shared: str = "") -> list[Diagnostic]:
    grammar = made(tmp_path, text, shared)
    loaded = load(grammar.source)
    assert isinstance(loaded, Loaded)
    return conflict_findings(grammar, loaded)


@pytest.mark.parametrize("text", TABLES["CONFLICTS"])
def test_a_conflict(text: str, tmp_path: Path) -> None:
    shared = 'part: B _tail?\n_tail: A B | B part\nB: "b"\nA: "a"\n'
    first, note, *helps = TABLES["CONFLICTS"][text]
    span, _, readings = first.partition(" ")
    first = f"error {span} grammar-conflict: two readings where {readings}"
    assert said(conflicts(tmp_path, text, shared), MADE) == [first, note, *(helps or [PARTING])]


def test_a_conflict_lies_in_the_file_of_its_rule(tmp_path: Path) -> None:
    shared = "part: B | B part A | B part\nB: /b/\nA: /a/\n"
    [found] = conflicts(tmp_path, "start: part\n%import .shared.part.part\n", shared)
    assert found.format == "grammars/shared/part.lark"
    assert (found.line, found.column) == (1, 7)
    assert "part.lark, line 1" in found.message


def test_no_conflict(tmp_path: Path) -> None:
    assert conflicts(tmp_path, "start: (A B? | C)*\n") == []


def test_many_conflicts_are_abridged(tmp_path: Path) -> None:
    rules = "".join([f"x{n}: A{' A' * n}\ny{n}: A{' A' * n}\n" for n in range(9)])
    starts = " | ".join([f"x{n} | y{n}" for n in range(9)])
    found = conflicts(tmp_path, f"start: {starts}\n{rules}")
    assert len(found) == MOST
    assert found[0].notes[0].endswith("is `a` (9 conflicts in all)")


def test_a_large_grammar_takes_little_work(tmp_path: Path) -> None:
    """Rules of which each may be empty, in any order: many stacks, and no end of ambiguities."""
    rules = "".join([f"x{n}: (A x{n + 1} B | C x{n + 1})* | D?\n" for n in range(20)])
    grammar = f"start: x0\n{rules}x20: E? E*\n"
    found: list[Diagnostic] = []
    assert calls_in(lambda: found.extend(conflicts(tmp_path, grammar))) < 5_000_000
    assert found


@pytest.mark.parametrize(("pattern", "expected"), TABLES["AN_EXAMPLE_OF_A_PATTERN"])
def test_an_example_of_a_pattern(pattern: str, expected: str) -> None:
    assert example(pattern) == expected


# what Lark refuses


@pytest.mark.parametrize(("text", "expected"), TABLES["REFUSED"])
def test_what_lark_refuses_has_a_place(text: str, expected: str, tmp_path: Path) -> None:
    grammar = made(tmp_path, text)
    (grammar.checkout.grammars / "shared" / "loop.lark").write_text("a: A\n%import .loop.a -> b\n", "utf-8")
    assert syntax(grammar.source, grammar.file) == []
    loaded = load(grammar.source)
    assert isinstance(loaded, str)
    diagnostic = refusal(loaded, grammar.source, grammar.file)
    assert str(diagnostic) == f"{MADE}:{expected}"
    assert diagnostic.helps
    assert not any(word in diagnostic.frame() for word in ("__ANON", "$END", "Token(", "NonTerminal", "Terminal("))


def test_flags_of_parts_may_differ(tmp_path: Path) -> None:
    assert isinstance(load(made(tmp_path, 'start: X\nX: "a"i /b/\n').source), Loaded)


def test_terminals_are_not_compared_where_interegular_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `lark[interegular]` and some engines of constrained decoding install it: it changes what Lark does."""
    monkeypatch.setattr(lark.lexer, "has_interegular", True)
    monkeypatch.setattr(lark.lexer, "interegular", None, raising=False)  # comparing terminals would raise
    text, path = registry.grammar_text("hermes")
    assert lark_of(text, path, ["start"]).terminals
    assert isinstance(load(Source(path, text)), Loaded)
    assert lark.lexer.has_interegular


@pytest.mark.parametrize(("text", "expected"), TABLES["SYNTAX"])
def test_mistakes_of_notation(text: str, expected: str, tmp_path: Path) -> None:
    grammar = made(tmp_path, text)
    [found] = syntax(grammar.source, grammar.file)
    assert str(found) == f"{MADE}:{expected}"
    assert found.helps
