"""`python -m tools.check`: every kind of mistake in a sound format, with the whole frame that it gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copy, rmtree
from textwrap import dedent
from typing import NamedTuple

import pytest

from outspoken import UnknownFormatError
from outspoken.authoring.check import check, main, shared_findings
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS
from tests.authoring.grammar_mistakes import ERR, FILES, GRAMMAR, LARK, OK, SEEDS, SOURCES, Seed
from tests.batch.arrows import arrows_in, change, compile_arrows, write


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with the sound format `arrows`, two formats of the house, and what they import."""
    return arrows_in(tmp_path)


def frames(checkout: Checkout, name: str = "arrows") -> str:
    """All frames, but for the notes that what is made from the grammar is not current."""
    found = [d for d in check(checkout, name) if not d.code.startswith("stale")]
    return "\n\n".join([diagnostic.frame() for diagnostic in found])


def test_a_sound_format_has_no_findings(checkout: Checkout) -> None:
    assert check(checkout, "arrows") == []


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name.replace(" ", "_"))
def test_a_mistake(seed: Seed, checkout: Checkout) -> None:
    change(checkout, seed.path, seed.before, seed.after)
    assert frames(checkout) == dedent(seed.expected).strip()


# what is not a change of one file


def found(checkout: Checkout, name: str = "arrows") -> list[str]:
    """The findings, each as one line."""
    return [f"{d.severity} {d}" for d in check(checkout, name)]


def test_a_format_without_a_corpus(checkout: Checkout) -> None:
    rmtree(checkout.corpus / "arrows")
    assert found(checkout) == [
        "error grammars/arrows.lark:1:1 no-cases: `arrows` has no `ok` case",
        "error grammars/arrows.lark:1:1 no-cases: `arrows` has no `err` case",
        "note grammars/arrows.lark:1:1 stale-snapshot: the snapshot of `arrows` does not fit the corpus",
    ]


def test_cases_without_sources(checkout: Checkout) -> None:
    (checkout.root / SOURCES).unlink()
    assert found(checkout) == [
        "error grammars/arrows.lark:1:1 no-source: nothing says where the cases of `arrows` are from"
    ]


def test_files_that_are_not_cases(checkout: Checkout) -> None:
    write(checkout, "tests/corpus/arrows/ok/other.toml", "")
    write(checkout, "tests/corpus/arrows/ok/other.md", "# Other\n")
    write(checkout, "tests/corpus/arrows/odd/case.txt", "Look.")
    assert found(checkout) == [
        "error tests/corpus/arrows/odd/case.txt:1:1 other-file: this file has no place in the corpus",
        "error tests/corpus/arrows/ok/other.md:1:1 other-file: this file has no place in the corpus",
        "error tests/corpus/arrows/ok/other.toml:1:1 other-file: these options belong to no case",
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (ERR, b"Look.\xff", f"error {ERR}:1:6 bad-case: this case is no text"),
        (
            ERR.replace(".txt", ".toml"),
            b"prefix = ",
            "error tests/corpus/arrows/err/cut.toml:1:1 bad-case: the options of this case cannot be read",
        ),
        (
            ERR.replace(".txt", ".toml"),
            b"tools = 5\n",
            "error tests/corpus/arrows/err/cut.toml:1:1 bad-case: the options of this case cannot be read",
        ),
        (
            ERR.replace(".txt", ".toml"),
            b"format_ = 'x'\n",
            "error tests/corpus/arrows/err/cut.toml:1:1 bad-case: the options of this case cannot be read",
        ),
    ],
)
def test_a_case_that_cannot_be_read(path: str, text: bytes, expected: str, checkout: Checkout) -> None:
    write(checkout, path, text)
    assert found(checkout)[0] == expected


def test_one_name_for_two_cases(checkout: Checkout) -> None:
    write(checkout, "tests/corpus/arrows/err/one_call.txt", FILES[ERR])
    assert found(checkout) == [
        "error tests/corpus/arrows/sources.toml:1:1 same-case: `one_call` is an `ok` case and an `err` case",
        "note grammars/arrows.lark:1:1 stale-snapshot: the snapshot of `arrows` does not fit the corpus",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("unicode", "banned-name: a grammar cannot be called `unicode`: Lark has its own"),
        ("Arrows-2", "bad-name: `Arrows-2` is no name for a format"),
    ],
)
def test_a_name_that_cannot_be_used(name: str, expected: str, checkout: Checkout) -> None:
    text = GRAMMAR.replace("// format:  arrows", f"// format:  {name}").replace("arrow_calls", "others")
    write(checkout, f"grammars/{name}.lark", text)
    assert found(checkout, name) == [f"error grammars/{name}.lark:1:1 {expected}"]


def test_a_file_that_is_too_long(checkout: Checkout) -> None:
    change(checkout, LARK, "start: ", "// more\n" * 60 + "start: ")
    assert "error grammars/arrows.lark:71:1 long-file: the file has 84 lines, 70 is the most" in found(checkout)


def test_grammar_that_is_not_utf8(checkout: Checkout) -> None:
    write(checkout, LARK, b"// format: \xff")
    assert found(checkout) == ["error grammars/arrows.lark:1:1 no-text: `grammars/arrows.lark` is no text"]


def test_a_mistake_in_a_file_that_is_imported(checkout: Checkout) -> None:
    change(checkout, "grammars/shared/think.lark", "think: ", "think ")
    line = _line_of(checkout, "think ")
    assert found(checkout) == [f"error grammars/shared/think.lark:{line}:7 grammar-syntax: a definition has no colon"]


def _line_of(checkout: Checkout, beginning: str) -> int:
    """The number of the first line of the shared file on reasoning that begins so."""
    lines = checkout.grammar("shared/think").read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(beginning))


def test_a_rule_that_nests_without_end(checkout: Checkout) -> None:
    change(checkout, LARK, "_COLON ARG_VALUE", '_COLON (ARG_VALUE | _NEST argument _NEST)\n_NEST: "=="')
    assert found(checkout) == ["error grammars/arrows.lark:1:1 endless-nesting: a rule nests in itself without end"]


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
    assert (
        frames(checkout)
        == dedent("""
        error[not-told-apart]: without its name, this text is not read as `arrows`
          --> tests/corpus/arrows/ok/one_call.txt:2:1 (offset 6)
           |
         2 | =>get_weather
           | ^^^^^^^^^^^^^ `get_weather` read as something else (to offset 30)
         3 | city: 5
         4 | <=
           |
           = note: `format="auto"` reads it as `angles`
           = help: let an opening marker show more of what follows: `(?=...)` with what no other format has there

        note[shared-opener]: `_CALL_OPEN` opens calls of `angles`, too
           --> grammars/arrows.lark:17:1 (offset 341)
            |
         17 | _CALL_OPEN: "\\n=>" | /=>(?=\\w{1,64}\\n)/
            | ^^^^^^^^^^
            |
            = note: they are not told apart in 1 texts
    """).strip()
    )


def test_formats_with_the_same_calls_need_no_distinction(checkout: Checkout) -> None:
    other_format(checkout)
    assert [d.code for d in check(checkout, "arrows")] == ["shared-opener"]


def test_text_detected_as_another_format(checkout: Checkout) -> None:
    write(checkout, OK, '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')
    assert found(checkout) == [
        'note tests/corpus/arrows/ok/one_call.txt:1:1 read-by-others: `format="auto"` reads this text as `hermes`, '
        "where `arrows` reads only text"
    ]


def test_another_format_that_cannot_be_read(checkout: Checkout) -> None:
    other_format(checkout)
    change(checkout, "grammars/angles.lark", "start: (", "start: ")
    assert found(checkout) == [
        "note grammars/arrows.lark:1:1 no-detection: detection is not checked, since another format cannot be read"
    ]


def test_a_case_that_can_be_read_in_two_ways(checkout: Checkout) -> None:
    corpus = "tests/corpus/hermes"
    bare = '<tool_call>\n{"name": "f", "arguments": {"a": "he said "b", "c": "d"}}\n</tool_call>'
    write(checkout, f"{corpus}/err/bare_quotes.txt", bare)
    write(checkout, f"{corpus}/ok/one_call.txt", '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')
    write(checkout, f"{corpus}/sources.toml", "".join([f'[{n}]\norigin = "x"\n' for n in ("bare_quotes", "one_call")]))
    assert (
        frames(checkout, "hermes")
        == dedent("""
        note[two-readings]: this value can be read in two ways that are as likely
          --> tests/corpus/hermes/err/bare_quotes.txt:2:1 (offset 12)
           |
         2 | {"name": "f", "arguments": {"a": "he said "b", "c": "d"}}
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the call is `invalid`
           |
           = note: one is `...: {"a": "he said \\\\"b", "c": "d"}}`
           = note: the other is `...: {"a": "he said \\\\"b\\\\", \\\\"c\\\\": \\\\"d"}}`
           = help: nothing is guessed; a schema of the tool, or rules in `broken_start`, may decide
    """)
        .replace("\\\\", "\\")
        .strip()
    )


def test_damage_that_can_be_repaired_in_two_ways(checkout: Checkout) -> None:
    for name in ("json", "shared/fenced"):
        copy(Checkout().grammar(name), checkout.grammar(name))
    text = '{"toolCalls": [{"name": "f", "arguments": {"a": "b" "c": 2}}], "needsMoreWork": tru'
    write(checkout, "tests/corpus/json/err/cut.txt", text)
    (found,) = [found for found in check(checkout, "json") if found.code == "two-ways"]
    assert (
        found.frame()
        == dedent("""
        note[two-ways]: this damage can be repaired in two ways that cost the same, with another result
          --> tests/corpus/json/err/cut.txt:1:16 (offset 15)
           |
         1 | {"toolCalls": [{"name": "f", "arguments": {"a": "b" "c": 2}}], "needsMoreWork": tru
           |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ read in the first of them
           |
           = note: one gives `...rguments": {"a": "b"}, "id": null, "status": "invalid"}`
           = note: the other gives `...rguments": {"a": "b", "c": 2}, "id": null, "status": "invali...`
           = help: name more of the markers around it, or say in `broken_start` what is meant
    """).strip()
    )


def test_a_case_that_cannot_be_written(checkout: Checkout) -> None:
    write(checkout, OK, "=>f\na: x\n\nb\n<=\n=>f\na: <think>x</think>\n<=")
    change(checkout, LARK, "(TEXT | think | tool_call)*", "(TEXT | _thinking | tool_call)*\n_thinking: think")
    change(
        checkout,
        LARK,
        "%import .shared.think.think",
        "_THINK: /<think>/\n_END: /<.think>/\nthink: _THINK REASONING _END",
    )
    change(checkout, LARK, "(TEXT, TOOL_NAME", "(TEXT, REASONING, TOOL_NAME")
    write(checkout, OK, "<think>Hm.</think>Look.\n=>f\na: x\n<=")
    compile_arrows(checkout)
    assert (
        frames(checkout)
        == dedent("""
        note[unwritten-case]: this case can be read, but not written
          --> tests/corpus/arrows/ok/one_call.txt:1:1 (offset 0)
           |
         1 | <think>Hm.</think>Look.
           | ^^^^^^^^^^^^^^^^^^^^^^^
           |
           = note: `arrows` has no way to write a reasoning and a text and the call of `f`
           = help: a format need not write all that it reads; what its template writes, it should
    """).strip()
    )


# what is made from a grammar


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("grammars/compiled/arrows.json", None, "stale-compiled: the compiled form of `arrows` is missing"),
        ("grammars/compiled/arrows.json", "{}", "stale-compiled: the compiled form of `arrows` is not current"),
        ("snapshots/test_formats/arrows.ambr", None, "stale-snapshot: the snapshot of `arrows` is missing"),
        (
            "snapshots/test_formats/arrows.ambr",
            "# name: test_case[arrows-err-gone]\n",
            "stale-snapshot: the snapshot of `arrows` does not fit the corpus",
        ),
    ],
)
def test_outdated_generated_files(path: str, text: str | None, expected: str, checkout: Checkout) -> None:
    (checkout.root / path).unlink()
    if text is not None:
        write(checkout, path, text)
    assert found(checkout) == [f"note grammars/arrows.lark:1:1 {expected}"]


def test_incomplete_snapshot_is_reported(checkout: Checkout) -> None:
    write(checkout, "snapshots/test_formats/arrows.ambr", "# name: test_case[arrows-err-gone]\n")
    [stale] = check(checkout, "arrows")
    assert stale.notes == ("it lacks `err/cut` and `ok/one_call`", "it has `err/gone`, which are gone")
    assert stale.helps == (
        "run `./tools/test tests/test_formats.py --snapshot-update`, and read `snapshots/test_formats/arrows.ambr`",
    )


def test_what_calls_share_is_read_or_reported(checkout: Checkout) -> None:
    """Where a rule is a call of its own in a list and a part of a call elsewhere, its values belong to one of them."""
    change(
        checkout,
        LARK,
        "tool_call)*\ntool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE\n",
        "tool_call | _list)*\ntool_call: _CALL_OPEN _call _CALL_CLOSE\n_call: TOOL_NAME argument*\n"
        "_list: _LIST_OPEN item+ _LIST_CLOSE\nitem: _call _END -> tool_call\n"
        '_LIST_OPEN: "\\n==>"\n_LIST_CLOSE: "\\n<=="\n_END: "\\n--"\n',
    )
    codes = [d.code for d in check(checkout, "arrows")]
    assert ("lost-part" in codes) == ("ok-with-diagnostic" in codes)


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


# shared files


def test_mistakes_in_shared_files(checkout: Checkout) -> None:
    change(checkout, "grammars/shared/think.lark", "_THINK_CLOSE\n", "_THINK_CLOSE \n_odd: REASONING\n")
    write(checkout, "grammars/shared/python.lark", "// A file of Lark's own.\n")
    write(checkout, "grammars/old/arrows.lark", GRAMMAR)
    line = _line_of(checkout, "think:")
    blank = len(checkout.grammar("shared/think").read_text("utf-8").splitlines()[line - 1])
    # what no grammar of this checkout needs is not meant
    found = [str(finding.diagnostic) for finding in shared_findings(checkout)]
    assert [line for line in found if "unused:" not in line or "_odd" in line] == [
        "grammars/old/arrows.lark:1:1 other-file: this grammar has no place here",
        "grammars/shared/python.lark:1:1 banned-name: a grammar cannot be called `python`: Lark has its own",
        f"grammars/shared/think.lark:{line}:{blank} blank-end: a line ends in blanks",
        f"grammars/shared/think.lark:{line + 1}:1 unused: nothing uses the rule `_odd`",
    ]


# the command


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(*arguments: str) -> Ran:
        code = main(list(arguments), checkout)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


THINK = "%import .shared.think.think"
OWN_TAGS = """%import .shared.think (think, _THINK_OPEN, _THINK_CLOSE)
%override _THINK_OPEN: "<thought>"
%override _THINK_CLOSE: {closer}
"""


def test_a_variant_of_shared_rules_is_sound(checkout: Checkout) -> None:
    change(checkout, LARK, THINK, OWN_TAGS.format(closer='"</thought>"'))
    compile_arrows(checkout)
    assert found(checkout) == []


def test_mistake_in_an_overridden_rule(checkout: Checkout) -> None:
    change(checkout, LARK, THINK, OWN_TAGS.format(closer="/<.thought>\\s*/"))
    (first, *_) = found(checkout)
    assert first == (
        "error grammars/arrows.lark:26:38 unbounded-repeat: the marker `_THINK_CLOSE` has a repetition without a limit"
    )


def test_overridden_rules_must_be_imported(checkout: Checkout) -> None:
    change(checkout, LARK, THINK, f'{THINK}\n%override _THINK_OPEN: "<thought>"')
    (first, *_) = [one.frame() for one in check(checkout, "arrows")]
    assert (
        first
        == dedent("""
        error[undefined]: `_THINK_OPEN` is overridden, but not imported
           --> grammars/arrows.lark:25:11 (offset 561)
            |
         25 | %override _THINK_OPEN: "<thought>"
            |           ^^^^^^^^^^^
            |
            = help: import it together with the rules that use it: `(tool_call, _THINK_OPEN)`
    """).strip()
    )


def test_the_command_finds_nothing(command: Callable[..., Ran]) -> None:
    assert command("arrows") == Ran(0, "arrows: sound\n", "")


def test_the_command_prints_frames_and_a_summary(command: Callable[..., Ran], checkout: Checkout) -> None:
    change(checkout, LARK, "// trim:    text", "// trim:    text\n// mode:    fast")
    assert command("arrows") == Ran(
        1,
        dedent("""\
            error[unknown-field]: the header has no field `mode`
              --> grammars/arrows.lark:7:4 (offset 139)
               |
             7 | // mode:    fast
               |    ^^^^
               |
               = help: did you mean `models`?

            arrows: 1 error
        """),
        "",
    )


def test_notes_are_no_failure_and_shown_only_for_named_formats(command: Callable[..., Ran], checkout: Checkout) -> None:
    (checkout.grammars / "compiled" / "arrows.json").unlink()
    ran = command("arrows")
    assert (ran.code, ran.out.splitlines()[0], ran.out.splitlines()[-1]) == (
        0,
        "note[stale-compiled]: the compiled form of `arrows` is missing",
        "arrows: sound, 1 note",
    )


def test_without_a_name_everything_is_checked(command: Callable[..., Ran], checkout: Checkout) -> None:
    (checkout.grammars / "compiled" / "arrows.json").unlink()
    ran = command()
    assert ran.code == 1
    summaries = [line for line in ran.out.splitlines() if line.startswith(("arrows:", "hermes:", "text:", "shared:"))]
    unused = len(shared_findings(checkout))  # by the three grammars of this checkout
    assert summaries == ["arrows: sound, 1 note", "hermes: 2 errors", "text: 2 errors", f"shared: {unused} errors"]
    assert unused > 1
    assert "stale-compiled" not in ran.out


def test_an_unknown_name(command: Callable[..., Ran]) -> None:
    assert command("arrows", "herms") == Ran(
        2, "", "there is no format `herms`; did you mean `hermes`? (`outspoken formats` lists all 3 names)\n"
    )


def test_an_unknown_option(command: Callable[..., Ran]) -> None:
    with pytest.raises(SystemExit) as caught:
        command("--what")
    assert caught.value.code == 2


def test_both_derivations(command: Callable[..., Ran], checkout: Checkout) -> None:
    change(checkout, LARK, "argument* _CALL_CLOSE", "argument* argument* _CALL_CLOSE")
    ran = command("arrows", "--explain")
    assert ran.code == 1
    assert "reading 1" in ran.out
    assert "reading 1" not in command("arrows").out
