"""Conflicts of grammars, each with a text that shows it, and what Lark refuses, in the words of the author."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from outspoken import Diagnostic
from outspoken.authoring.check.conflicts import MOST, conflict_findings
from outspoken.authoring.check.findings import CheckedGrammar
from outspoken.authoring.check.lark_errors import Loaded, load, refusal, syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.regex_samples import example
from tests.authoring.grammar_mistakes import said
from tests.invariants.cost import calls_in

MADE = "grammars/made.lark"
LETTERS = "".join([f'{letter}: "{letter.lower()}"\n' for letter in "ABCDEFG"])
SAME = "  help: two ways to read one text are one too many: take one of them out, or give them different markers"
SHOWN = "  note: the shortest text that shows it is"


def made(tmp_path: Path, text: str, shared: str = "") -> CheckedGrammar:
    """A grammar in a checkout of its own, with a terminal for each capital letter in it."""
    checkout = Checkout(tmp_path)
    (checkout.grammars / "shared").mkdir(parents=True)
    (checkout.grammars / "shared" / "part.lark").write_text(dedent(shared).lstrip(), "utf-8")
    path = checkout.grammar("made")
    imported = "".join([line for line in dedent(text).splitlines() if line.startswith("%import")])
    used = [line for line in LETTERS.splitlines(keepends=True) if line[0] in text and line[0] not in imported]
    path.write_text(dedent(text).lstrip() + "".join(used), "utf-8")
    return CheckedGrammar.of(checkout, Source.of(path))


def conflicts(tmp_path: Path, text: str, shared: str = "") -> list[Diagnostic]:
    grammar = made(tmp_path, text, shared)
    loaded = load(grammar.source)
    assert isinstance(loaded, Loaded)
    return conflict_findings(grammar, loaded)


CONFLICTS = {
    "start: e\ne: e A e | B\n": [
        "2:4+9 `A` comes next: `e: e A e .` (line 2) or `e: e . A e` (line 2)",
        f"{SHOWN} `babab`, read as `start(e(e(e(b) a e(b)) a e(b)))` or as `start(e(e(b) a e(e(b) a e(b))))`",
    ],
    "start: a\na: B a | B a C | D\n": [
        "2:4+15 `C` comes next: `a: B a .` (line 2) or `a: B a . C` (line 2)",
        f"{SHOWN} `bbdc`, read as `start(a(b a(b a(d)) c))` or as `start(a(b a(b a(d) c)))`",
    ],
    "start: (x | y) D?\nx: A B\ny: A B\n": [
        "2:4+3 the text ends: `x: A B .` (line 2) or `y: A B .` (line 3)",
        f"{SHOWN} `ab`, read as `start(x(a b))` or as `start(y(a b))`",
    ],
    "start: part A | B A\n%import .shared.part (part, B)\n": [
        "1:8+12 `A` comes next: `part: B .` (part.lark, line 1) or `start: B . A` (line 1)",
        f"{SHOWN} `ba`, read as `start(part(b) a)` or as `start(b a)`",
    ],
    "start: A B\nbroken_start: x | y\nx: A B\ny: A B\n": [
        "3:4+3 the text ends: `x: A B .` (line 3) or `y: A B .` (line 4)",
        f"{SHOWN} `ab`, read as `broken_start(x(a b))` or as `broken_start(y(a b))` (from `broken_start`)",
    ],
    "start: x | y\nx: A*\ny: B*\n": [
        "2:4+2 the text ends: `x: .` (line 2) or `y: .` (line 3)",
        "  note: the empty text shows it, read as `start(x())` or as `start(y())`",
    ],
    "start: (x B?)* B*\nx: A\n": [
        "1:8+10 `B` comes next: `start: x .` (line 1) or `start: x . B` (line 1)",
        f"{SHOWN} `ab`, read as `start([x(a)] [b])` or as `start([x(a) b])`",
    ],
    # one text has one reading, but one terminal ahead does not say which
    "start: x A B C | y A B D\nx: E\ny: E\n": [
        "2:4+1 `A` comes next: `x: E .` (line 2) or `y: E .` (line 3)",
        f"{SHOWN} `ea`",
        "  help: write what both readings begin with once, and let them part behind it",
    ],
    # there is one terminal ahead that says which, but LALR joins the states
    "start: A x D | B y D | A y E | B x E\nx: C\ny: C\n": [
        "2:4+1 `D` comes next: `x: C .` (line 2) or `y: C .` (line 3)",
        "  note: no text shows it: different texts lead to one state",
        "  help: write a rule of its own for each place where one of them stands, or one rule for both",
    ],
}


@pytest.mark.parametrize("text", CONFLICTS)
def test_a_conflict(text: str, tmp_path: Path) -> None:
    shared = 'part: B _tail?\n_tail: A B | B part\nB: "b"\nA: "a"\n'
    first, note, *helps = CONFLICTS[text]
    span, _, readings = first.partition(" ")
    first = f"error {span} grammar-conflict: two readings where {readings}"
    assert said(conflicts(tmp_path, text, shared), MADE) == [first, note, *(helps or [SAME])]


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
    assert found[0].notes[0].endswith("is `a`, read as `start(x0(a))` or as `start(y0(a))` (9 conflicts in all)")


def test_a_large_grammar_takes_little_work(tmp_path: Path) -> None:
    """Rules of which each may be empty, in any order: many stacks, and no end of ambiguities."""
    rules = "".join([f"x{n}: (A x{n + 1} B | C x{n + 1})* | D?\n" for n in range(20)])
    grammar = f"start: x0\n{rules}x20: E? E*\n"
    found: list[Diagnostic] = []
    assert calls_in(lambda: found.extend(conflicts(tmp_path, grammar))) < 5_000_000
    assert found


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
    ('start: X\nX: ""\n', "2:4 empty-terminal: a terminal is empty"),
    ("start: X\nX: \n", "2:1 empty-terminal: a terminal is empty"),
    ("start: X\nX: /b*/\n", "2:4 empty-terminal: `X` can match nothing at all"),
    (
        "start: X\nX: /(b/\n",
        "2:4 bad-pattern: `X` is no regular expression: missing ), unterminated subpattern at position 0",
    ),
    ('start: X\nX: "a" -> foo\n', "2:1 alias-in-terminal: a terminal gives a name to an alternative with `->`"),
    (
        "start: _a\n_a: B -> c\n",
        "2:1 alias-of-structure: `_a` is only structure, so that its alternatives have no names",
    ),
    ('start: X\nX: "x"\nX: "y"\n', "3:4 defined-twice: `X` is defined twice, or defined and imported"),
    ("start: X\nX: b\nb: A\n", "2:4 rule-in-terminal: the terminal `X` is made of the rule `b`"),
    ('start: X\nX: "x" X\n', "2:4 endless-terminal: the terminal `X` is made of itself"),
    ("start: _a\n?_a: B\n", "2:1 mark-of-structure: a rule that is only structure is marked with `?`"),
    ("start: B -> x | B -> y\n", "1:1 same-alternative: `start` has the same alternative twice"),
    ('start: X\nX: "\\"\n', "2:4 bad-literal: a string or a regular expression cannot be read"),
    ("%import common\nstart: B\n", "1:1 bad-import: an import does not say what it imports from `common`"),
    ("start: x{B}\nx{y,y}: y\n", "1:8 bad-template: a template is not used as it is defined"),
    ("start: B\n%import .shared.loop.a\n", "1:1 endless-import: the imports of this grammar have no end"),
    ("start: B\n%import gone.X\n", "2:1 missing-import: there is no file `gone.lark` to import from"),
]


@pytest.mark.parametrize(("text", "expected"), REFUSED)
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


SYNTAX = [
    ("start: (a\n", "1:10 grammar-syntax: `(` is never closed"),
    ("start: B)\n", "1:9 grammar-syntax: `)` closes what was not opened"),
    ("start B\n", "1:7 grammar-syntax: a definition has no colon"),
    ("start: B??\n", "1:10 grammar-syntax: `?` has nothing to work on"),
    ("start: __a\n", "1:8 grammar-syntax: a name begins with two underscores"),
    ('start: "b\n', "1:8 grammar-syntax: a string is never closed"),
    ("start: X\nX: /b\n", "2:4 grammar-syntax: a regular expression is never closed"),
    ("start: B $\n", "1:10 grammar-syntax: `$` means nothing in a grammar"),
    ("start: B\nfooBar: B\n", "2:1 mixed-case: `fooBar` is neither in small letters nor in capitals"),
    ("start: B -> \n", "1:13 grammar-syntax: a line ends too early"),
    ("start: B:\n", "1:9 grammar-syntax: `:` has no place here"),
]


@pytest.mark.parametrize(("text", "expected"), SYNTAX)
def test_mistakes_of_notation(text: str, expected: str, tmp_path: Path) -> None:
    grammar = made(tmp_path, text)
    [found] = syntax(grammar.source, grammar.file)
    assert str(found) == f"{MADE}:{expected}"
    assert found.helps
