"""Conflicts of grammars: the shortest text that shows each, and its readings in the words of the grammar's author."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from outspoken.authoring.check.conflicts import MOST, conflict_findings
from outspoken.authoring.check.findings import CheckedFile, Finding
from outspoken.authoring.check.lark_errors import Loaded, LoadError, load, load_error_finding, starts_of, syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.regex_samples import example
from tests.invariants.cost import calls_in

LETTERS = "".join([f'{letter}: "{letter.lower()}"\n' for letter in "ABCDEFG"])
EXPLAIN = "= help: `python -m tools.check made --explain` prints both derivations"


def made(tmp_path: Path, text: str, shared: str = "") -> tuple[Checkout, Source]:
    """A grammar in a checkout of its own, with a terminal for each capital letter in it."""
    checkout = Checkout(tmp_path)
    (checkout.grammars / "shared").mkdir(parents=True)
    (checkout.grammars / "shared" / "part.lark").write_text(dedent(shared).lstrip(), "utf-8")
    path = checkout.grammar("made")
    imported = "".join([line for line in dedent(text).splitlines() if line.startswith("%import")])
    used = [line for line in LETTERS.splitlines(keepends=True) if line[0] in text and line[0] not in imported]
    path.write_text(dedent(text).lstrip() + "".join(used), "utf-8")
    return checkout, Source.of(path)


def conflicts(tmp_path: Path, text: str, shared: str = "") -> list[Finding]:
    checkout, source = made(tmp_path, text, shared)
    loaded = load(source)
    assert isinstance(loaded, Loaded)
    return conflict_findings(checkout, source, loaded.rules, starts_of(source), loaded.texts)


def frame(finding: Finding) -> str:
    """A frame without its last line, which is the same for all."""
    lines = finding.diagnostic.frame().splitlines()
    assert lines.pop().strip() == EXPLAIN
    return "\n".join(lines)


class TableConflict(NamedTuple):
    """A grammar with one conflict, what it imports, and the frame of the conflict."""

    name: str
    text: str
    frame: str
    shared: str = ""


CLASHES = [
    TableConflict(
        "one text, two readings",
        """
        start: e
        e: e A e | B
        """,
        """
        error[grammar-conflict]: `e` can end or go on where `A` comes next
          --> grammars/made.lark:2:6 (offset 14)
           |
         2 | e: e A e | B
           |      ^ `e` goes on here
           |
           = note: shortest text that shows it: `baba`; `babab` is read in both ways to its end
           = note: either `e: e A e .` (line 2), or `e: e . A e` (line 2)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
    TableConflict(
        "a dangling tail",
        """
        start: a
        a: B a | B a C | D
        """,
        """
        error[grammar-conflict]: `a` can end or go on where `C` comes next
          --> grammars/made.lark:2:14 (offset 22)
           |
         2 | a: B a | B a C | D
           |              ^ `a` goes on here
           |
           = note: shortest text that shows it: `bbdc`, which is read in both ways to its end
           = note: either `a: B a .` (line 2), or `a: B a . C` (line 2)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
    TableConflict(
        "lookahead only",
        """
        start: A x D | B y D | A y E | B x E
        x: C
        y: C
        """,
        """
        error[grammar-conflict]: `x` and `y` can both end where `D` comes next
          --> grammars/made.lark:2:4 (offset 40)
           |
         2 | x: C
           |    ^ `x` ends here
           |
           = note: no text shows it: `acd` and `bcd` are read in one way each, but end up in one state
           = note: either `x: C .` (line 2), or `y: C .` (line 3)
           = help: write a rule of its own for each place where `x` or `y` stands, or one rule for both
        """,
    ),
    TableConflict(
        "two rules that end",
        """
        start: (x | y) D?
        x: A B
        y: A B
        """,
        """
        error[grammar-conflict]: `x` and `y` can both end where the text ends
          --> grammars/made.lark:2:4 (offset 21)
           |
         2 | x: A B
           |    ^^^ `x` ends here
           |
           = note: shortest text that shows it: `ab`, which is read in both ways to its end
           = note: either `x: A B .` (line 2), or `y: A B .` (line 3)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
    TableConflict(
        "not ambiguous, but undecided",
        """
        start: x A B C | y A B D
        x: E
        y: E
        """,
        """
        error[grammar-conflict]: `x` and `y` can both end where `A` comes next
          --> grammars/made.lark:2:4 (offset 28)
           |
         2 | x: E
           |    ^ `x` ends here
           |
           = note: shortest text that shows it: `ea`; what tells is behind it: `eabc` or `eabd`
           = note: either `x: E .` (line 2), or `y: E .` (line 3)
           = help: write what both readings begin with once, and let them part behind it
        """,
    ),
    TableConflict(
        "behind an import",
        """
        start: part A | B A
        %import .shared.part.part
        %import .shared.part.B
        """,
        """
        error[grammar-conflict]: `part` can end or `start` go on where `A` comes next
          --> grammars/made.lark:1:19 (offset 18)
           |
         1 | start: part A | B A
           |                   ^ `start` goes on here
           |
           = note: shortest text that shows it: `ba`, which is read in both ways to its end
           = note: either `part: B .` (part.lark, line 1), or `start: B . A` (line 1)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
        """
        part: B _tail?
        _tail: A B | B part
        B: "b"
        A: "a"
        """,
    ),
    TableConflict(
        "in the broken start",
        """
        start: A B
        broken_start: x | y
        x: A B
        y: A B
        """,
        """
        error[grammar-conflict]: `x` and `y` can both end where the text ends
          --> grammars/made.lark:3:4 (offset 34)
           |
         3 | x: A B
           |    ^^^ `x` ends here
           |
           = note: shortest text that shows it: `ab`, which is read in both ways to its end (from `broken_start`)
           = note: either `x: A B .` (line 3), or `y: A B .` (line 4)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
    TableConflict(
        "nothing at all",
        """
        start: x | y
        x: A*
        y: B*
        """,
        """
        error[grammar-conflict]: `x` and `y` can both be empty where the text ends
          --> grammars/made.lark:2:1 (offset 13)
           |
         2 | x: A*
           | ^ `x` is empty here
           |
           = note: shortest text that shows it: no text at all, which is read in both ways to its end
           = note: either `x: .` (line 2), or `y: .` (line 3)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
    TableConflict(
        "a repetition of what may be empty",
        """
        start: (x B?)* B*
        x: A
        """,
        """
        error[grammar-conflict]: the repetition in `start` can end or go on where `B` comes next
          --> grammars/made.lark:1:11 (offset 10)
           |
         1 | start: (x B?)* B*
           |           ^ the repetition in `start` goes on here
           |
           = note: shortest text that shows it: `ab`, which is read in both ways to its end
           = note: either `start: x .` (line 1), or `start: x . B` (line 1)
           = help: two ways to read one text are one too many: take one of them out, or give them different markers
        """,
    ),
]


@pytest.mark.parametrize("table_conflict", CLASHES, ids=lambda table_conflict: table_conflict.name.replace(" ", "_"))
def test_a_conflict(table_conflict: TableConflict, tmp_path: Path) -> None:
    found = conflicts(tmp_path, table_conflict.text, table_conflict.shared)
    assert [frame(finding) for finding in found] == [dedent(table_conflict.frame).strip()]


def test_both_derivations_of_one_text(tmp_path: Path) -> None:
    [found] = conflicts(tmp_path, "start: (x B?)* B*\nx: A\n")
    assert (
        found.explanation
        == dedent("""\
        reading 1, the repetition in `start` ends: ab
          start
            (x B | x)+
              x
                A  "a"
            B+
              B  "b"
        reading 2, the repetition in `start` goes on: ab
          start
            (x B | x)+
              x
                A  "a"
              B  "b"
    """).rstrip()
    )


def test_derivations_of_two_texts(tmp_path: Path) -> None:
    [found] = conflicts(tmp_path, "start: x A B | y A C\nx: E\ny: E\n")
    assert (
        found.explanation
        == dedent("""\
        reading 1, `x` ends: eab
          start
            x
              E  "e"
            A  "a"
            B  "b"
        reading 2, `y` ends: eac
          start
            y
              E  "e"
            A  "a"
            C  "c"
    """).rstrip()
    )


def test_a_conflict_lies_in_the_file_of_its_rule(tmp_path: Path) -> None:
    shared = "part: B | B part A | B part\nB: /b/\nA: /a/\n"
    [found] = conflicts(tmp_path, "start: part\n%import .shared.part.part\n", shared)
    assert found.diagnostic.format == "grammars/shared/part.lark"
    assert (found.diagnostic.line, found.diagnostic.column) == (1, 18)
    assert "part.lark, line 1" in found.diagnostic.notes[1]


def test_no_conflict(tmp_path: Path) -> None:
    assert conflicts(tmp_path, "start: (A B? | C)*\n") == []


def test_many_conflicts_are_abridged(tmp_path: Path) -> None:
    rules = "".join([f"x{n}: A{' A' * n}\ny{n}: A{' A' * n}\n" for n in range(9)])
    starts = " | ".join([f"x{n} | y{n}" for n in range(9)])
    found = conflicts(tmp_path, f"start: {starts}\n{rules}")
    assert len(found) == MOST
    assert found[0].diagnostic.notes[0].endswith("`a`, which is read in both ways to its end (9 conflicts in all)")


def test_a_large_grammar_takes_little_work(tmp_path: Path) -> None:
    """Rules of which each may be empty, in any order: many stacks, and no end of ambiguities."""
    rules = "".join([f"x{n}: (A x{n + 1} B | C x{n + 1})* | D?\n" for n in range(20)])
    grammar = f"start: x0\n{rules}x20: E? E*\n"
    found: list[Finding] = []
    assert calls_in(lambda: found.extend(conflicts(tmp_path, grammar))) < 5_000_000
    assert found


# samples


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"<tool_call>\s{1,9}", "<tool_call> "),
        (r"(?:ab|c)d{2}", "cdd"),
        (r"[^ax1]\d", " 1"),
        (r"\w\W\D\S", "a aa"),
        (r"(['\"])x\1", '"x"'),
        (r"(?<=\n)a(?=b)(?!c)", "a"),
        (r"[é]", "é"),
        (r".", "a"),
        (r"(", ""),
    ],
)
def test_an_example_of_a_pattern(pattern: str, expected: str) -> None:
    assert example(pattern) == expected


# what Lark refuses


REFUSED = [
    ("start: A~5..2\n", "1:9 bad-range: something is repeated from 5 to 2 times"),
    ('start: X\nX: "a"i /b/\n', None),
    ('start: X\nX: ""\n', "2:4 empty-terminal: a terminal is empty"),
    ("start: X\nX: \n", "2:1 empty-terminal: a terminal is empty"),
    ("start: X\nX: /b*/\n", "2:4 empty-terminal: `X` can match nothing at all"),
    ("start: X\nX: /(b/\n", "2:4 bad-pattern: `X` is no regular expression"),
    ('start: X\nX: "a" -> foo\n', "2:1 alias-in-terminal: a terminal gives a name to an alternative with `->`"),
    (
        "start: _a\n_a: B -> foo\n",
        "2:1 alias-of-structure: `_a` is only structure, so that its alternatives have no names",
    ),
    ("start: X\nX: b\nb: A\n", "2:4 rule-in-terminal: the terminal `X` is made of the rule `b`"),
    ('start: X\nX: "x" X\n', "2:4 endless-terminal: the terminal `X` is made of itself"),
    ("start: _a\n?_a: B\n", "2:1 mark-of-structure: a rule that is only structure is marked with `?`"),
    ("start: B -> x | B -> y\n", "1:1 same-alternative: `start` has the same alternative twice"),
    ('start: X\nX: "\\"\n', "2:4 bad-literal: a string or a regular expression cannot be read"),
    ("%import common\nstart: B\n", "1:1 bad-import: an import does not say what it imports from `common`"),
    ("start: x{B}\nx{y,y}: y\n", "1:8 bad-template: a template is not used as it is defined"),
    ("start: B\n%import .shared.loop.a\n", "1:1 endless-import: the imports of this grammar have no end"),
    ("start: B\n%import gone.X\n", "2:1 missing-import: there is no file `gone.lark` to import from"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), REFUSED)
def test_syntax_errors_have_a_position(text: str, expected: str | None, tmp_path: Path) -> None:
    checkout, source = made(tmp_path, text)
    (checkout.grammars / "shared" / "loop.lark").write_text("a: A\n%import .loop.a -> b\n", "utf-8")
    file = CheckedFile.of(checkout, source.path)
    assert syntax(source, file) == []
    loaded = load(source)
    if expected is None:
        assert isinstance(loaded, Loaded)
        return
    assert isinstance(loaded, LoadError)
    diagnostic = load_error_finding(loaded, source, file).diagnostic
    assert str(diagnostic) == f"grammars/made.lark:{expected}"
    assert not any(word in diagnostic.frame() for word in ("__ANON", "$END", "Token(", "NonTerminal", "Terminal("))


SYNTAX = [
    ("start: (a\n", "1:10 grammar-syntax: `(` is never closed"),
    ("start: B)\n", "1:9 grammar-syntax: `)` closes what was not opened"),
    ("start B\n", "1:7 grammar-syntax: a definition has no colon"),
    ("start: B??\n", "1:10 grammar-syntax: `?` has nothing to work on"),
    ("start: __a\n", "1:8 grammar-syntax: a name begins with two underscores"),
    ('start: "b\n', "1:8 grammar-syntax: a string is never closed"),
    ("start: B $\n", "1:10 grammar-syntax: `$` means nothing in a grammar"),
    ("start: B\nfooBar: B\n", "2:1 mixed-case: `fooBar` is neither in small letters nor in capitals"),
    ("start: B -> \n", "1:13 grammar-syntax: a line ends too early"),
    ("start: B:\n", "1:9 grammar-syntax: `:` has no place here"),
]


@pytest.mark.parametrize(("text", "expected"), SYNTAX)
def test_unsupported_notation(text: str, expected: str, tmp_path: Path) -> None:
    checkout, source = made(tmp_path, text)
    found = syntax(source, CheckedFile.of(checkout, source.path))
    assert str(found[0].diagnostic) == f"grammars/made.lark:{expected}"
