"""Compiled grammars are current and sufficient, and stale ones are never used."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copy, copytree, ignore_patterns, rmtree

import pytest

import outspoken
from outspoken import load_format, parse
from outspoken.authoring.shared.checkout import TOP, Case
from outspoken.detection.opener_index import opener_index
from outspoken.detection.openers import Openers
from outspoken.grammar import registry
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.format_index import VERSION as INDEX_VERSION
from outspoken.grammar.format_index import index_path
from outspoken.grammar.header import read_header
from outspoken.grammar.registry import automaton, compiled_path, generated_path, grammars_folder, names, tables
from outspoken.grammar.sources import is_current, note_not_compiled, sources
from outspoken.grammar.tables import VERSION, Tables
from tests.loops import in_one_item, some
from tools import compile as compiler
from tools.compile import compiling, record
from tools.compile.compiling import format_index
from tools.compile.training import Trainer

NAMES = names()
#: Some, of which two are alike.
SOME = ("harmony", "json", "longcat", "text")
CALL = '<longcat_tool_call>\n{"name": "save", "arguments": {}}\n</longcat_tool_call>'
OTHER = CALL.replace("tool_call", "use")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of some grammars and of all that is shared, compiled."""
    copied = tmp_path_factory.mktemp("whole") / "grammars"
    copytree(grammars_folder() / "shared", copied / "shared")
    for name in SOME:
        copy(grammars_folder() / f"{name}.lark", copied)
    registry.use(copied)
    assert compiler.main(["--jobs", "1"]) == 0
    registry.use(None)
    return copied


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of these for one test, which takes the place of all grammars."""
    copied = tmp_path / "grammars"
    copytree(whole, copied, ignore=ignore_patterns("__pycache__"))
    registry.use(copied)
    yield copied
    registry.use(None)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the grammars that are compiled, as it happens."""
    found: list[str] = []

    def note(path: Path) -> Tables:
        found.append(path.stem)
        return compile_grammar(path)

    monkeypatch.setattr("outspoken.grammar.compiler.compile_grammar", note)
    return found


def files(folder: Path) -> set[str]:
    """The names of the files that are made of the grammars in a folder."""
    return {path.name for path in (folder / "compiled").iterdir() if path.suffix in (".json", ".py")}


def contents(folder: Path) -> dict[str, bytes]:
    """The same with what is in them."""
    return {name: (folder / "compiled" / name).read_bytes() for name in files(folder)}


def change(path: Path, before: str, after: str) -> None:
    """Put other text in a file."""
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def renamed(folder: Path) -> str:
    """The text of a grammar with another name and other markers."""
    text = (folder / "longcat.lark").read_text("utf-8")
    return text.replace("format:  longcat", "format:  mercury").replace("longcat_tool_call>", "longcat_use>")


# they are current


def test_everything_is_compiled_as_it_is_now() -> None:
    assert compiler.is_current(), "run `python -m tools.compile`, or ./tools/test, which does it"
    assert files(grammars_folder()) == {f"{name}.{kind}" for name in NAMES for kind in ("json", "py")} | {
        "index.json",
        "signs.json",
    }


@in_one_item("name", some(NAMES, "tables", 0.05))
def test_tables_equal_those_of_the_grammar(name: str) -> None:
    path = grammars_folder() / f"{name}.lark"
    made = compiling.surveyed(compile_grammar(path))
    assert compiled_path(path).read_text("utf-8") == made.to_json()
    assert Tables.from_json(made.to_json()) == made
    assert tables(name) == made
    assert made.header == read_header(path.read_text("utf-8"), str(path))


@in_one_item("name", NAMES)
def test_a_compiled_grammar_knows_its_files(name: str) -> None:
    path = grammars_folder() / f"{name}.lark"
    recorded = sources(path)
    assert path.name in recorded
    assert "shared/text.lark" in recorded
    assert tables(name).sources == recorded
    assert is_current(grammars_folder(), recorded)


# they are enough


def run(program: str) -> str:
    """What a program prints."""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    return ran.stdout


def test_formats_are_read_and_written_without_lark() -> None:
    program = f"""
import gc
import sys
from outspoken import formats, parse, render, stream
gc.disable()  # the automata of all formats stay
drawn = {some(NAMES, "without lark", 0.05)}
for info in [info for info in formats() if info.name in drawn]:
    reply = parse(info.example, info.name)
    assert reply.status == "ok" and reply == parse(info.example, info.name)
    assert list(stream([info.example], info.name))[-1].reply == reply
    assert parse(info.example).segments
    try:
        render(reply, info.name)
    except ValueError:
        print(info.name, "cannot be written")
print("lark" in sys.modules)
"""
    assert run(program) == "False\n"


def test_a_short_whole_text_is_read_without_regex() -> None:
    program = f"""
import sys
import outspoken
loaded = [name for name in ("pydantic", "lark", "regex", "json_repair", "rich") if name in sys.modules]
reply = outspoken.parse({CALL!r}, format="longcat")
late = ("lark", "regex", "rich", "outspoken.recovery.search", "outspoken.json.repair")
print(loaded, reply.tool_calls[0].name, [name for name in late if name in sys.modules])
"""
    assert run(program) == "[] save []\n"


def test_current_grammars_are_not_compiled_again(folder: Path, compiled: list[str]) -> None:
    assert [tables(name).header.format for name in SOME] == list(SOME)
    assert compiled == []


def test_a_checkout_that_is_not_compiled_says_so_once_and_reads_with_the_parser(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(TOP / "src")
    copytree(grammars_folder(), tmp_path / "grammars", ignore=ignore_patterns("compiled", "pages"))
    program = f"""
from outspoken import parse
for name in ("longcat", "longcat", "text"):
    print(parse({CALL!r}, name).tool_calls)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == "[ToolCall(save)]\n[ToolCall(save)]\n[]\n"
    assert ran.stderr == (
        "the grammars are not compiled, or by another version, so responses are read more slowly: "
        f"run `python -m tools.compile` in {tmp_path}\n"
    )


# one that is not current is not read


def test_changed_grammar_is_used_at_once(folder: Path, compiled: list[str]) -> None:
    assert [call.name for call in parse(CALL, format="longcat").tool_calls] == ["save"]
    registry.use(folder)
    change(folder / "longcat.lark", "longcat_tool_call>", "longcat_use>")
    assert [call.name for call in parse(OTHER, format="longcat").tool_calls] == ["save"]
    assert parse(CALL, format="longcat").text == CALL
    assert compiled == ["longcat"]


def test_changed_import_is_used_at_once(folder: Path, compiled: list[str]) -> None:
    change(folder / "shared" / "json_call.lark", 'name\\"', 'tool\\"')
    change(folder / "shared" / "json_call.lark", '/"name"', '/"tool"')
    text = CALL.replace('"name"', '"tool"')
    assert [call.name for call in parse(text, format="longcat").tool_calls] == ["save"]
    assert parse(CALL, format="longcat").status == "repaired"
    assert parse("Hi.", format="text").text == "Hi."
    assert compiled == ["longcat"]


def test_new_grammar_works_without_compiling(folder: Path, compiled: list[str]) -> None:
    (folder / "mercury.lark").write_text(renamed(folder), "utf-8")
    assert [call.name for call in parse(OTHER, format="mercury").tool_calls] == ["save"]
    assert compiled == ["mercury"]


@pytest.mark.parametrize("damage", ["version", "half written", "missing"])
def test_tables_that_cannot_be_read_are_compiled(folder: Path, compiled: list[str], damage: str) -> None:
    path = compiled_path(folder / "longcat.lark")
    if damage == "version":
        change(path, f'"version": {VERSION}', f'"version": {VERSION + 1}')
    elif damage == "half written":
        path.write_text(path.read_text("utf-8")[:400], "utf-8")
    else:
        path.unlink()
    assert parse(CALL, format="longcat").tool_calls  # by the fast path, which needs no tables
    assert automaton("longcat").tables.header.format == "longcat"
    assert compiled == ["longcat"]


def test_a_fast_path_for_another_version_of_the_library_is_not_used(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note_not_compiled.cache_clear()
    change(generated_path(folder / "longcat.lark"), " lazy", " of_another_version")
    for _ in range(2):
        assert [call.name for call in parse(CALL, format="longcat").tool_calls] == ["save"]
    assert [(found.levelno, found.name) for found in caplog.records] == [(logging.WARNING, "outspoken")]


def test_compiled_file_without_its_source_is_out_of_date(folder: Path) -> None:
    recorded = sources(folder / "longcat.lark")
    assert is_current(folder, recorded)
    (folder / "shared" / "code.lark").unlink()
    assert not is_current(folder, recorded)


def test_files_of_an_installed_package_are_not_compared() -> None:
    installed = Path(outspoken.__file__).parent / "grammars"
    assert is_current(installed, {"longcat.lark": 0})
    assert not is_current(grammars_folder(), {"longcat.lark": 0})


# the index


def test_index_equals_what_the_grammars_say() -> None:
    known = registry.index()
    assert known is not None
    assert {name: known.headers[name].get("aliases", []) for name in NAMES} == {
        name: [*registry.header(name).aliases] for name in NAMES
    }
    assert [registry.like(name) for name in NAMES] == [registry.header(name).like for name in NAMES]
    made = format_index({name: automaton(name, lenient=True) for name in NAMES})
    assert json.dumps(Openers.from_data(known.openers).to_data()) == json.dumps(made.openers)


def test_strict_index_has_the_markers_of_the_strict_grammars() -> None:
    strict = opener_index(False, registry.edition())
    for name in NAMES:
        markers = {step.terminal.regex for step in registry.automaton(name, lenient=False).top_level_markers}
        indexed = {o.regex for o in strict.openers if o.format == name}
        # of a marker that plain text has, too, only the other spellings count
        assert all(regex in markers or any(regex.endswith(f")(?:{m})") for m in markers) for regex in indexed)
        assert not any(o.inserted for o in strict.openers)
        followed = {o.regex: o.following for o in strict.openers if o.format == name}
        for step in registry.automaton(name, lenient=False).top_level_markers:
            if step.terminal.regex in indexed and step.target.free is None:
                assert followed[step.terminal.regex]


@pytest.mark.parametrize("damage", ["missing", "version", "grammar", "new", "removed"])
def test_index_that_is_not_current_is_not_used(folder: Path, damage: str) -> None:
    path = index_path(folder)
    if damage == "missing":
        path.unlink()
    elif damage == "version":
        change(path, f'"version": {INDEX_VERSION}', '"version": 0')
    elif damage == "grammar":
        change(folder / "longcat.lark", "longcat_tool_call>", "longcat_use>")
    elif damage == "new":
        (folder / "mercury.lark").write_text(renamed(folder), "utf-8")
    else:
        (folder / "longcat.lark").unlink()
    assert (registry.index() is None) == (damage != "new")  # a new format is read beside those of the index
    names = {text: parse(text).format for text in (CALL, OTHER)}
    # between tags that no format knows, there is plain JSON
    assert names[CALL] == ("json" if damage in ("grammar", "removed") else "longcat")
    assert names[OTHER] == {"grammar": "longcat", "new": "mercury"}.get(damage, "json")


def test_formats_that_are_added_are_detected_beside_those_of_the_index(folder: Path) -> None:
    other = folder.parent / "mercury.lark"
    other.write_text(re.sub(r"(?m)^// aliases:.*$", "// aliases: quick", renamed(folder)), "utf-8")
    assert parse(OTHER).format == "json"
    assert load_format(other) == "mercury"
    assert registry.index() is not None
    assert [parse(written).format for written in (CALL, OTHER)] == ["longcat", "mercury"]
    assert registry.resolve("Quick") == "mercury"


# the tool


def run_tool(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of the tool, and what it prints."""
    code = compiler.main([*arguments] or ["--jobs", "1"])
    out, err = capsys.readouterr()
    return code, out, err


def test_tool_compiles_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {name: (folder / "compiled" / name).stat().st_mtime_ns for name in files(folder)}
    assert run_tool(capsys) == (0, "", "")
    change(folder / "longcat.lark", "longcat_tool_call>", "longcat_use>")
    compiled_path(folder / "json.lark").unlink()
    change(generated_path(folder / "text.lark"), "FORMAT", "# by hand\nFORMAT")
    (folder / "compiled" / "gone.json").write_text("{}", "utf-8")
    (folder / "compiled" / "gone.py").write_text("", "utf-8")

    assert run_tool(capsys) == (0, "compiled: json, longcat, text\n", "")
    assert {Path(name).stem for name in files(folder)} == {*SOME, "index", "signs"}
    written = {name for name, time in before.items() if (folder / "compiled" / name).stat().st_mtime_ns != time}
    assert written == {"longcat.json", "longcat.py", "json.json", "text.py", "index.json", "signs.json"}
    assert run_tool(capsys) == (0, "", "")
    registry.use(folder)
    assert parse(OTHER).format == "longcat"


def test_an_import_counts_for_all_that_import_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    importing = {name for name in SOME if "shared/json_call.lark" in tables(name).sources}
    assert {"longcat"} <= importing < {*SOME}
    with (folder / "shared" / "json_call.lark").open("a", encoding="utf-8") as file:
        file.write("\n// a comment\n")
    assert run_tool(capsys) == (0, f"compiled: {', '.join(sorted(importing))}\n", "")


def test_a_fast_path_depends_on_the_responses_that_it_is_trained_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [Case("longcat", "ok", "one", CALL)]
    keys: dict[str, set[str]] = {"longcat": set(), "harmony": set()}
    for more in ([], [Case("longcat", "ok", "two", f"{CALL}\n{CALL}")]):
        trainer = Trainer(cases + more)
        monkeypatch.setattr(compiling, "trainer", lambda trainer=trainer: trainer)
        for name, found in keys.items():
            ((key, source),) = compiling._modules({}, [name])  # pyright: ignore[reportPrivateUsage]
            assert source
            found.add(key)
            assert compiling._modules({name: key}, [name]) == [(key, "")]  # pyright: ignore[reportPrivateUsage]
    assert {name: len(found) for name, found in keys.items()} == {"longcat": 2, "harmony": 1}


def test_another_compiler_compiles_everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler.is_current()
    monkeypatch.setattr(record, "compiler", lambda: "another")
    assert not compiler.is_current()


def test_a_record_that_cannot_be_read_counts_for_nothing(folder: Path) -> None:
    (folder / "compiled" / ".record").write_text('{"inputs": "", "files": {"json.py": 0}}', "utf-8")
    assert record.Record.read(folder).files == {}


def test_several_processes_make_the_same_in_a_new_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    rmtree(folder / "compiled")
    assert run_tool(capsys, "--jobs", "2") == (0, f"compiled: {', '.join(SOME)}\n", "")
    assert contents(folder) == before


def test_tool_reports_grammar_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder / "longcat.lark", '_CALL_OPEN: "', '_CALL_OPEN: /x$/ | "')
    before = contents(folder)
    message = (
        f"{folder / 'longcat.lark'}: terminal `_CALL_OPEN` cannot be read in a stream: "
        "`$` is true at the end of every chunk; the end of the text needs no marker\n"
    )
    assert run_tool(capsys) == (1, "", message)
    assert contents(folder) == before
