"""`python -m tools.check`: every kind of mistake in a sound format, and what is said of it."""

from functools import partial
from pathlib import Path
from shutil import rmtree
from textwrap import dedent
from typing import Any

import lark.lexer
import pytest

from outspoken import Diagnostic, UnknownFormatError
from outspoken.authoring.check import check, shared_findings
from outspoken.authoring.check.conflicts import MOST, conflict_findings
from outspoken.authoring.check.findings import CheckedGrammar
from outspoken.authoring.check.lark_errors import Loaded, load, refusal, syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import compiler, registry
from outspoken.grammar.compiler import lark_of
from outspoken.grammar.tables import Tables
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS
from outspoken.patterns.spellings import example
from tests.authoring.checkouts import GRAMMAR, LARK, MISTAKES, OK, arrows_in, change, said, write
from tests.cli.runner import Cli, Ran
from tests.invariants.cost import calls_in
from tests.tables import tables
from tools.shared.command import grammar

TABLES = tables(__file__)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with the sound format `arrows`, two formats of the house, and what they import."""
    return arrows_in(tmp_path)


def found(checkout: Checkout, name: str = "arrows") -> list[str]:
    """The findings, each as one line."""
    return [f"{d.severity} {d}" for d in check(checkout, name)]


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake(mistake: dict[str, str], checkout: Checkout) -> None:
    path = mistake.get("path", LARK)
    change(checkout, path, mistake["before"], mistake["after"])
    assert said(check(checkout, "arrows"), path) == mistake["said"].splitlines()


def loaded(case: dict[str, Any], checkout: Checkout) -> None:
    """Change several files as a row says: copies, whole files, texts in them, and what is removed."""
    for path, source in case.get("copies", {}).items():
        write(checkout, path, (checkout.root / source).read_bytes())
    for path, text in case.get("files", {}).items():
        write(checkout, path, text.encode("latin-1"))
    for path, before, after in case.get("changes", ()):
        change(checkout, path, before, after)
    if "removed" in case:
        rmtree(checkout.root / case["removed"])


@pytest.mark.parametrize("name", TABLES["CHANGED"])
def test_changes_of_files_and_what_is_said(name: str, checkout: Checkout) -> None:
    case = TABLES["CHANGED"][name]
    loaded(case, checkout)
    assert found(checkout, case.get("name", "arrows")) == case["said"]


def _line_of(checkout: Checkout, beginning: str) -> int:
    """The number of the first line of the shared file on reasoning that begins so."""
    lines = checkout.grammar("shared/think").read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(beginning))


def test_a_mistake_in_a_file_that_is_imported(checkout: Checkout) -> None:
    change(checkout, "grammars/shared/think.lark", "think: ", "think ")
    line = _line_of(checkout, "think ")
    assert found(checkout) == [f"error grammars/shared/think.lark:{line}:7 grammar-syntax: a definition has no colon"]


def test_unknown_format(checkout: Checkout) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        check(checkout, "arrow")
    assert caught.value.nearest == ["arrows"]


ANGLES: dict[str, Any] = TABLES["CHANGED"]["another format with the same calls"]


def test_formats_that_cannot_be_distinguished(checkout: Checkout) -> None:
    loaded(ANGLES, checkout)
    change(checkout, OK, "Paris", "5")
    [found] = check(checkout, "arrows")
    assert found.frame() == dedent(TABLES["FORMATS_THAT_CANNOT_BE_DISTINGUISHED"]).strip()


@pytest.mark.parametrize("names", [FIELDS | NODES, TOKENS | FREE_TEXT | EMBEDDED_VALUES], ids=["rules", "terminals"])
def test_a_name_of_the_vocabulary_in_a_place_where_it_means_nothing(names: frozenset[str], checkout: Checkout) -> None:
    """Whatever stands outside of all calls or alone in one, the check ends with findings that have a place."""
    for name in sorted(names):
        for before, after in ((" | tool_call)*", " | tool_call | {})*\n{}"), ("TOOL_NAME argument*", "{}\n{}")):
            used = f"_OTHER {name}" if name.isupper() else name
            more = "" if name.isupper() else f"{name}: _OTHER TOOL_NAME\n"
            write(checkout, LARK, GRAMMAR.replace(before, after.format(used, more), 1) + '_OTHER: "@@"\n')
            for finding in check(checkout, "arrows"):
                assert finding.code != "check-failed", (name, finding)
                assert finding.line >= 1
                assert finding.column >= 1


# shared files, and what is put in their place


def test_mistakes_in_shared_files(checkout: Checkout) -> None:
    change(checkout, "grammars/shared/think.lark", "_THINK_CLOSE\n", "_THINK_CLOSE\n_odd: REASONING\n")
    write(checkout, "grammars/shared/python.lark", "// A file of Lark's own.\n")
    write(checkout, "grammars/old/arrows.lark", GRAMMAR)
    line = _line_of(checkout, "_odd:")
    # what no grammar of this checkout needs is not meant
    found = [str(finding) for finding in shared_findings(checkout)]
    assert [line for line in found if "unused:" not in line or "_odd" in line] == [
        "grammars/old/arrows.lark:1:1 other-file: this grammar has no place here",
        "grammars/shared/python.lark:1:1 banned-name: a grammar cannot be called `python`: Lark has its own",
        f"grammars/shared/think.lark:{line}:1 unused: nothing uses the rule `_odd`",
    ]


# the command


@pytest.fixture
def tool(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch, partial(grammar, "check", checkout))


@pytest.mark.parametrize(("arguments", "ran"), TABLES["THE_COMMAND"])
def test_the_command(tool: Cli, arguments: list[str], ran: list[Any]) -> None:
    assert tool(*arguments) == Ran(*ran)


def test_the_command_prints_frames_and_a_summary(tool: Cli, checkout: Checkout) -> None:
    change(checkout, LARK, "// trim:    text", "// trim:    text\n// mode:    fast")
    assert tool("arrows") == Ran(1, dedent(TABLES["THE_COMMAND_PRINTS_FRAMES_AND_A_SUMMARY"]), "")


def test_notes_are_no_failure_and_shown_only_for_named_formats(tool: Cli, checkout: Checkout) -> None:
    loaded(TABLES["CHANGED"]["another format that cannot be read"], checkout)
    ran = tool("arrows")
    message = "note[no-detection]: detection is not checked, since another format cannot be read"
    assert (ran.code, ran.out.splitlines()[0], ran.out.splitlines()[-1]) == (0, message, "arrows: sound, 1 note")
    everything = tool()
    assert everything.code == 1
    assert "no-detection" not in everything.out
    unused = len(shared_findings(checkout))  # by the grammars of this checkout
    summaries = [line for line in everything.out.splitlines() if line.startswith(("arrows:", "text:", "shared:"))]
    assert summaries == ["arrows: sound, 1 note", "text: 2 errors, 1 note", f"shared: {unused} errors"]
    assert unused > 1


def test_a_grammar_is_compiled_once(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is another format compiled, nor the format again for each of the automata that read it."""
    compiled: list[Path] = []
    compile_grammar = compiler.compile_grammar

    def counted(path: Path) -> Tables:
        compiled.append(path)
        return compile_grammar(path)

    monkeypatch.setattr(compiler, "compile_grammar", counted)
    registry.compiled_path(checkout.grammar("arrows")).unlink()
    assert check(checkout, "arrows") == []
    assert compiled == [checkout.grammar("arrows")]


# conflicts of grammars, each with a text that shows it, and what Lark refuses, in the words of the author


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
