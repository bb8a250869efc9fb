"""Compiled grammars are current and sufficient, and stale ones are never used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import pytest

import outspoken
from outspoken import load_format, parse
from outspoken.detection.opener_index import opener_index
from outspoken.detection.openers import Openers
from outspoken.grammar import registry
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.format_index import VERSION as INDEX_VERSION
from outspoken.grammar.format_index import index_path
from outspoken.grammar.header import read_header
from outspoken.grammar.registry import automaton, compiled_path, generated_path, grammars_folder, names, tables
from outspoken.grammar.sources import is_current, sources
from outspoken.grammar.tables import VERSION, Tables
from tests.loops import in_one_item
from tools import compile as compiler
from tools.compile import format_index
from tools.compile.module import module_of, trainer
from tools.compile.source import WIDTH

NAMES = names()
#: Some that are built in different ways.
SOME = ("glm_4_5", "harmony", "json", "longcat", "pythonic", "text", "ui_tars")
CALL = '<longcat_tool_call>\n{"name": "save", "arguments": {}}\n</longcat_tool_call>'
OTHER = CALL.replace("tool_call", "use")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of some grammars and of all that is shared, which takes the place of all grammars."""
    copied = tmp_path / "grammars"
    copytree(grammars_folder() / "shared", copied / "shared")
    (copied / "compiled").mkdir()
    for path in [grammars_folder() / f"{name}.lark" for name in SOME]:
        copy(path, copied)
        copy(compiled_path(path), copied / "compiled")
    index_path(copied).write_text(format_index({name: tables(name) for name in SOME}).to_json(), "utf-8")
    for name in SOME:
        generated_path(copied / f"{name}.lark").write_text(generated(name), "utf-8")
    registry.use(copied)
    yield copied
    registry.use(None)


@cache
def generated(name: str) -> str:
    """The generated module of one of `SOME`. It is trained on formats like it, so it differs where they are missing."""
    return module_of(name, tables(name), trainer())


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
    return {path.name for path in (folder / "compiled").iterdir() if path.is_file()}


def contents(folder: Path) -> dict[str, bytes]:
    """The same with what is in them."""
    return {name: (folder / "compiled" / name).read_bytes() for name in files(folder)}


def change(path: Path, before: str, after: str) -> None:
    """Put other text in a file."""
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


# they are current


@pytest.mark.parametrize("name", NAMES)
def test_compiled_grammar_is_current_and_equals_its_source(name: str) -> None:
    path = grammars_folder() / f"{name}.lark"
    made = compile_grammar(path)
    text = made.to_json()
    assert compiled_path(path).read_text("utf-8") == text
    assert Tables.from_json(text) == made
    assert tables(name) == made
    assert made.header == read_header(path.read_text("utf-8"), str(path))


def test_compiled_folder_has_no_other_files() -> None:
    assert files(grammars_folder()) == {f"{name}.{kind}" for name in NAMES for kind in ("json", "py")} | {"index.json"}


@pytest.mark.parametrize("name", NAMES)
def test_fast_path_is_current(name: str) -> None:
    written = generated_path(grammars_folder() / f"{name}.lark").read_text("utf-8")
    assert written == module_of(name, tables(name), trainer())
    assert max(map(len, written.splitlines())) <= WIDTH


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


def test_every_format_is_read_and_written_without_lark() -> None:
    program = """
import gc
import sys
from outspoken import formats, parse, render, stream
gc.disable()  # the automata of all formats stay
for info in formats():
    reply = parse(info.example, info.name)
    assert reply.status == "ok" and reply == parse(info.example, info.name)
    assert list(stream([info.example], info.name))[-1].reply == reply
    assert parse(info.example).segments
    try:
        render(reply, info.name)
    except ValueError:
        print(info.name, "cannot be written")
print(len(formats()), "lark" in sys.modules)
"""
    assert run(program) == f"{len(NAMES)} False\n"


def test_a_short_whole_text_is_read_without_regex() -> None:
    program = f"""
import sys
import outspoken
loaded = [name for name in ("pydantic", "lark", "regex", "json_repair", "rich") if name in sys.modules]
reply = outspoken.parse({CALL!r}, "longcat")
late = ("lark", "regex", "rich", "outspoken.recovery.search", "outspoken.json.repair")
print(loaded, reply.tool_calls[0].name, [name for name in late if name in sys.modules])
"""
    assert run(program) == "[] save []\n"


def test_current_grammars_are_not_compiled_again(folder: Path, compiled: list[str]) -> None:
    assert [tables(name).header.format for name in SOME] == list(SOME)
    assert compiled == []


# one that is not current is not read


def test_changed_grammar_is_used_at_once(folder: Path, compiled: list[str]) -> None:
    assert [call.name for call in parse(CALL, "longcat").tool_calls] == ["save"]
    registry.use(folder)
    change(folder / "longcat.lark", "longcat_tool_call>", "longcat_use>")
    assert [call.name for call in parse(OTHER, "longcat").tool_calls] == ["save"]
    assert parse(CALL, "longcat").text == CALL
    assert compiled == ["longcat"]


def test_changed_import_is_used_at_once(folder: Path, compiled: list[str]) -> None:
    change(folder / "shared" / "json_call.lark", 'name\\"', 'tool\\"')
    change(folder / "shared" / "json_call.lark", '/"name"', '/"tool"')
    text = CALL.replace('"name"', '"tool"')
    assert [call.name for call in parse(text, "longcat").tool_calls] == ["save"]
    assert parse(CALL, "longcat").status == "repaired"
    assert parse("Hi.", "text").text == "Hi."
    assert compiled == ["longcat"]


def test_new_grammar_works_without_compiling(folder: Path, compiled: list[str]) -> None:
    text = (
        (folder / "longcat.lark")
        .read_text("utf-8")
        .replace("format:  longcat", "format:  mercury")
        .replace("longcat_tool_call>", "longcat_use>")
    )
    (folder / "mercury.lark").write_text(text, "utf-8")
    assert [call.name for call in parse(OTHER, "mercury").tool_calls] == ["save"]
    assert compiled == ["mercury"]


def test_compiled_file_of_another_version_is_ignored(folder: Path, compiled: list[str]) -> None:
    path = compiled_path(folder / "longcat.lark")
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert data["version"] == VERSION
    path.write_text(json.dumps({"version": VERSION + 1, "sources": data["sources"]}), "utf-8")
    assert automaton("longcat").tables.header.format == "longcat"
    assert compiled == ["longcat"]


def test_missing_compiled_file_is_tolerated(folder: Path, compiled: list[str]) -> None:
    compiled_path(folder / "longcat.lark").unlink()
    assert parse(CALL, "longcat").tool_calls  # by the fast path, which needs no tables
    assert automaton("longcat").tables.header.format == "longcat"
    assert compiled == ["longcat"]


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
    assert known.aliases == {name: [*registry.header(name).aliases] for name in NAMES}
    assert known.like == {name: registry.header(name).like for name in NAMES}
    made = format_index({name: tables(name) for name in NAMES})
    assert index_path(grammars_folder()).read_text("utf-8") == made.to_json()
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
        text = (folder / "longcat.lark").read_text("utf-8")
        text = text.replace("format:  longcat", "format:  mercury").replace("longcat_tool_call>", "longcat_use>")
        (folder / "mercury.lark").write_text(text, "utf-8")
    else:
        (folder / "longcat.lark").unlink()
    assert (registry.index() is None) == (damage != "new")  # a new format is read beside those of the index
    names = {text: parse(text).format for text in (CALL, OTHER)}
    # between tags that no format knows, there is plain JSON
    assert names[CALL] == ("json" if damage in ("grammar", "removed") else "longcat")
    assert names[OTHER] == {"grammar": "longcat", "new": "mercury"}.get(damage, "json")


def test_formats_that_are_added_are_detected_beside_those_of_the_index(folder: Path) -> None:
    text = (folder / "longcat.lark").read_text("utf-8")
    text = text.replace("format:  longcat", "format:  mercury").replace("longcat_tool_call>", "longcat_use>")
    other = folder.parent / "mercury.lark"
    other.write_text(re.sub(r"(?m)^// aliases:.*$", "// aliases: quick", text), "utf-8")
    assert parse(OTHER).format == "json"
    assert load_format(other) == "mercury"
    assert registry.index() is not None
    assert [parse(written).format for written in (CALL, OTHER)] == ["longcat", "mercury"]
    assert registry.resolve("Quick") == "mercury"


# the tool


def test_tool_compiles_what_is_out_of_date(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder / "longcat.lark", "longcat_tool_call>", "longcat_use>")
    old = compiled_path(folder / "longcat.lark").read_text("utf-8")
    compiled_path(folder / "json.lark").unlink()
    (folder / "compiled" / "gone.json").write_text("{}", "utf-8")
    (folder / "compiled" / "gone.py").write_text("", "utf-8")
    index_path(folder).unlink()
    stale = {"longcat.json", "longcat.py", "json.json", "gone.json", "gone.py", "index.json"}

    assert compiler.main(["--check"]) == 1
    printed = capsys.readouterr()
    assert set(printed.out.splitlines()) == {f"out of date: {name}" for name in stale}
    assert compiled_path(folder / "longcat.lark").read_text("utf-8") == old

    assert compiler.main([]) == 0
    printed = capsys.readouterr()
    assert set(printed.out.splitlines()) == {
        *[f"written: {name}" for name in ("longcat.json", "longcat.py", "json.json", "index.json")],
        *[f"removed: {name}" for name in ("gone.json", "gone.py")],
    }
    assert {Path(name).stem for name in files(folder)} == {*SOME, "index"}

    assert compiler.main(["--check"]) == 0
    assert compiler.main([]) == 0
    assert capsys.readouterr() == ("", "")


def test_tool_creates_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    (folder / "compiled").rename(folder / "moved")
    assert compiler.main([]) == 0
    assert contents(folder) == before
    assert len(capsys.readouterr().out.splitlines()) == 2 * len(SOME) + 1


def test_tool_reports_grammar_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder / "longcat.lark", '_CALL_OPEN: "', '_CALL_OPEN: /x$/ | "')
    before = contents(folder)
    assert compiler.main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"{folder / 'longcat.lark'}: terminal `_CALL_OPEN` cannot be read in a stream: "
        "`$` is true at the end of every chunk; the end of the text needs no marker\n"
    )
    assert contents(folder) == before
