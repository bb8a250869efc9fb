"""`python -m tools.check`: every kind of mistake in a sound format, and what is said of it."""

from functools import partial
from pathlib import Path
from shutil import rmtree
from textwrap import dedent

import pytest

from outspoken import UnknownFormatError
from outspoken.authoring.check import check, shared_findings
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar import compiler, registry
from outspoken.grammar.tables import Tables
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS
from tests.authoring.grammar_mistakes import ERR, GRAMMAR, LARK, MISTAKES, OK, said
from tests.batch.arrows import arrows_in, change, write
from tests.cli.runner import Cli, Ran
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


def test_a_sound_format_has_no_findings(checkout: Checkout) -> None:
    assert check(checkout, "arrows") == []


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake(mistake: dict[str, str], checkout: Checkout) -> None:
    path = mistake.get("path", LARK)
    change(checkout, path, mistake["before"], mistake["after"])
    assert said(check(checkout, "arrows"), path) == mistake["said"].splitlines()


# what is not a change of one file


def test_a_format_without_a_corpus(checkout: Checkout) -> None:
    rmtree(checkout.corpus / "arrows")
    assert found(checkout) == [f"error {LARK}:1:1 no-cases: `arrows` has no `{kind}` case" for kind in ("ok", "err")]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (ERR, b"Look.\xff", f"error {ERR}:1:1 bad-case: this case is no text"),
        (ERR, b"\nprefix = x\n", "error {}:2:1 bad-case: the options of this case cannot be read"),
        (ERR, b"tools = 5\n", "error {}:1:1 bad-case: the options of this case cannot be read"),
        (ERR, b"format_ = 'x'\n", "error {}:1:1 bad-case: the options of this case cannot be read"),
    ],
)
def test_a_case_that_cannot_be_read(path: str, text: bytes, expected: str, checkout: Checkout) -> None:
    path = path.replace(".txt", ".toml") if "options" in expected else path
    write(checkout, path, text)
    assert found(checkout)[0].startswith(expected.format(path))


@pytest.mark.parametrize(("name", "expected"), TABLES["A_NAME_THAT_CANNOT_BE_USED"])
def test_a_name_that_cannot_be_used(name: str, expected: str, checkout: Checkout) -> None:
    text = GRAMMAR.replace("// format:  arrows", f"// format:  {name}").replace("arrow_calls", "others")
    write(checkout, f"grammars/{name}.lark", text)
    assert found(checkout, name) == [f"error grammars/{name}.lark:1:1 {expected}"]


def test_grammar_that_is_not_utf8(checkout: Checkout) -> None:
    write(checkout, LARK, b"// format: \xff")
    assert found(checkout) == [f"error {LARK}:1:1 no-text: `{LARK}` is no text"]


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


# detection and writing


def other_format(checkout: Checkout) -> None:
    """A format that writes calls as `arrows` does, and means text by their values."""
    text = GRAMMAR.replace("// format:  arrows", "// format:  angles").replace("// aliases: arrow_calls\n", "")
    write(checkout, "grammars/angles.lark", text.replace("// trim:    text", "// trim:    text\n// values:  text"))


def test_formats_that_cannot_be_distinguished(checkout: Checkout) -> None:
    other_format(checkout)
    change(checkout, OK, "Paris", "5")
    [found] = check(checkout, "arrows")
    assert found.frame() == dedent(TABLES["FORMATS_THAT_CANNOT_BE_DISTINGUISHED"]).strip()


def test_formats_with_the_same_calls_need_no_distinction(checkout: Checkout) -> None:
    other_format(checkout)
    assert check(checkout, "arrows") == []


def test_a_text_of_another_format_is_no_mistake(checkout: Checkout) -> None:
    write(checkout, OK, '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')
    assert found(checkout) == []


def test_another_format_that_cannot_be_read(checkout: Checkout) -> None:
    other_format(checkout)
    change(checkout, "grammars/angles.lark", "start: (", "start: ")
    message = "no-detection: detection is not checked, since another format cannot be read"
    assert found(checkout) == [f"note {LARK}:1:1 {message}"]


def test_what_calls_share_is_reported_where_it_is_lost(checkout: Checkout) -> None:
    """Where a rule is a call of its own in a list and a part of a call elsewhere, a value that is lost is reported."""
    change(
        checkout,
        LARK,
        "tool_call)*\ntool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE\n",
        "tool_call | _list)*\ntool_call: _CALL_OPEN _call _CALL_CLOSE\n_call: TOOL_NAME argument*\n"
        "_list: _LIST_OPEN item+ _LIST_CLOSE\nitem: _call _END -> tool_call\n"
        '_LIST_OPEN: "\\n==>"\n_LIST_CLOSE: "\\n<=="\n_END: "\\n--"\n',
    )
    codes = [d.code for d in check(checkout, "arrows")]
    assert codes == ["bad-example", "ok-with-diagnostic", "writes-no-calls"]


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


THINK = "%import .shared.think.think"
OWN_TAGS = TABLES["OWN_TAGS"]


def test_a_variant_of_shared_rules_is_sound(checkout: Checkout) -> None:
    change(checkout, LARK, THINK, OWN_TAGS.format(closer='"</thought>"'))
    assert found(checkout) == []


# the command


@pytest.fixture
def tool(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch, partial(grammar, "check", checkout))


def test_the_command_finds_nothing(tool: Cli) -> None:
    assert tool("arrows") == Ran(0, "arrows: sound\n", "")


def test_the_command_prints_frames_and_a_summary(tool: Cli, checkout: Checkout) -> None:
    change(checkout, LARK, "// trim:    text", "// trim:    text\n// mode:    fast")
    assert tool("arrows") == Ran(1, dedent(TABLES["THE_COMMAND_PRINTS_FRAMES_AND_A_SUMMARY"]), "")


def test_notes_are_no_failure_and_shown_only_for_named_formats(tool: Cli, checkout: Checkout) -> None:
    other_format(checkout)
    change(checkout, "grammars/angles.lark", "start: (", "start: ")
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


def test_an_unknown_name(tool: Cli) -> None:
    message = "there is no format `herms`; did you mean `hermes`? (`outspoken formats` lists all 3 names)"
    assert tool("arrows", "herms") == Ran(2, "", f"outspoken: error: {message}\n")


def test_an_unknown_option(tool: Cli) -> None:
    message = "there is no option `--what`; see `python -m tools.check --help`"
    assert tool("--what") == Ran(2, "", f"outspoken: error: {message}\n")


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
