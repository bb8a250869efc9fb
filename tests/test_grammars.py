"""Every grammar keeps to the rules of the house, and no format is named anywhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lark import Lark

import outspoken
from outspoken import formats, parse
from outspoken.grammar import compile_grammar
from outspoken.header import Header, read_header
from outspoken.registry import normal
from outspoken.vocabulary import FREE_TEXT, ISLANDS, is_meaningful, short

ROOT = Path(__file__).parents[1]
GRAMMARS = sorted((ROOT / "grammars").glob("*.lark"))
SHARED = sorted((ROOT / "grammars" / "shared").glob("*.lark"))
SOURCES = sorted(Path(outspoken.__file__).parent.rglob("*.py"))
NAMES = [path.stem for path in GRAMMARS]

#: Formats whose names are also words of their own.
WORDS = {"text", "json"}
#: Lark looks for these in a folder of its own, or they say nothing.
BANNED = {"common", "python", "lark", "unicode"}

every_grammar = pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.stem)
every_file = pytest.mark.parametrize("path", [*GRAMMARS, *SHARED], ids=lambda path: f"{path.parent.name}-{path.stem}")

_DEFINED = re.compile(r"^(\w+)(?:\.\d+)?:", re.MULTILINE)
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|/(?!/)(?:[^/\\\n]|\\.)+/[a-z]*')
_IMPORT = re.compile(r"^%import (\S+?)(?:\.(\w+)|\s+\(([^)]*)\))$", re.MULTILINE)

#: The rules that nothing refers to: of what is sound, and of what is only read where a response is damaged.
STARTS = {"start", "broken_start"}


def header(path: Path) -> Header:
    return read_header(path.read_text("utf-8"), str(path))


def body(path: Path) -> str:
    """The grammar without its comments."""
    return "".join(line for line in path.read_text("utf-8").splitlines(keepends=True) if not line.startswith("//"))


def definitions(path: Path) -> dict[str, str]:
    """The text of each rule and terminal that a file defines, by name."""
    rest = re.sub(r"^%.*$", "", body(path), flags=re.MULTILINE)
    found = list(_DEFINED.finditer(rest))
    ends = [match.start() for match in found[1:]] + [len(rest)]
    return {match[1]: rest[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """What a file imports: the name of each file, with the name of each rule or terminal."""
    for match in _IMPORT.finditer(body(path)):
        module = match[1].lstrip(".").rpartition(".")[2]
        yield from ((module, name.strip()) for name in (match[2] or match[3]).split(","))


def used(path: Path) -> set[str]:
    """The names that the definitions of a file speak of, or that it ignores."""
    names: set[str] = set()
    for name, text in definitions(path).items():
        plain = re.sub(r"->\s*\w+", "", _QUOTED.sub(" ", text))
        names |= set(_WORD.findall(plain)) - {name}
    return names | set(re.findall(r"^%ignore (\w+)$", body(path), re.MULTILINE))


def test_there_are_grammars() -> None:
    assert len(GRAMMARS) >= 14
    assert [found.name for found in formats()] == NAMES


# the header


@every_grammar
def test_header_is_complete(path: Path) -> None:
    found = header(path)
    assert found.format == path.stem
    assert re.fullmatch(r"[a-z][a-z0-9_]*", found.format)
    for field in ("title", "models", "source", "example"):
        assert getattr(found, field), field
    assert len(found.title) <= 40


@every_grammar
def test_example_is_read(path: Path) -> None:
    example = header(path).example
    reply = parse(example, path.stem)
    assert [str(diagnostic) for diagnostic in reply.diagnostics] == []
    assert reply.status == "ok"
    assert {segment.kind for segment in reply.segments} - {"text"}


def test_every_name_means_one_format() -> None:
    named: dict[str, str] = {normal(name): name for name in NAMES}
    for path in GRAMMARS:
        for alias in header(path).aliases:
            assert re.fullmatch(r"[a-z][a-z0-9_]*", alias), alias
            assert named.setdefault(normal(alias), path.stem) == path.stem, alias
            assert normal(alias) != path.stem, alias


# the file


@every_file
def test_file_is_short(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) <= 70
    assert all(line == line.rstrip() and "\t" not in line for line in lines)


def test_no_file_has_a_banned_name() -> None:
    assert not BANNED & {path.stem for path in [*GRAMMARS, *SHARED]}
    assert [path.name for path in (ROOT / "grammars").rglob("*.lark") if path not in {*GRAMMARS, *SHARED}] == []


@every_grammar
def test_grammar_compiles(path: Path) -> None:
    assert compile_grammar(path).header == header(path)


@every_grammar
def test_every_marker_is_named(path: Path) -> None:
    lark: Any = Lark(path.read_text("utf-8"), parser="lalr", source_path=str(path), maybe_placeholders=False)
    known = {name for file in [path, *SHARED] for name in definitions(file)} | {"WS"}
    assert {short(str(terminal.name)) for terminal in lark.terminals} <= known


@every_file
def test_every_repetition_in_a_marker_has_a_limit(path: Path) -> None:
    """What may still grow is looked at again with every chunk: without a limit, a stream takes quadratic time."""
    for name, text in definitions(path).items():
        if name.strip("_").isupper() and name not in FREE_TEXT | ISLANDS:
            for pattern in (quoted for quoted in _QUOTED.findall(text) if quoted.startswith("/")):
                plain = re.sub(r"\[(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\[^\[\]]", "x", pattern))
                assert not re.search(r"[*+]|,\}", plain), name


@every_file
def test_every_name_is_of_the_vocabulary_or_only_structure(path: Path) -> None:
    for name, text in definitions(path).items():
        aliases = re.findall(r"->\s*(\w+)", text)
        assert all(is_meaningful(alias) for alias in aliases), name
        assert name.startswith("_") or name in STARTS or is_meaningful(name) or aliases, name


@every_file
def test_markers_are_written_in_capitals(path: Path) -> None:
    assert all(name.strip("_") in (name.strip("_").upper(), name.strip("_").lower()) for name in definitions(path))


@every_grammar
def test_nothing_in_a_grammar_is_unused(path: Path) -> None:
    names = {*definitions(path), *(name for _, name in imports(path))}
    assert names - used(path) in ({"start"}, STARTS)


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.stem)
def test_nothing_shared_is_unused(path: Path) -> None:
    wanted = {name for file in [*GRAMMARS, *SHARED] for module, name in imports(file) if module == path.stem}
    assert wanted <= set(definitions(path))
    assert {name for _, name in imports(path)} <= used(path)
    assert set(definitions(path)) <= wanted | used(path)


# the rest of the house


def strings(tree: ast.AST) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_format_is_named_in_python(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    for node in strings(tree):
        assert node.value not in set(NAMES) - WORDS, f"{path.name}:{node.lineno}"
    for compared in (node for node in ast.walk(tree) if isinstance(node, ast.Compare)):
        sides = [compared.left, *compared.comparators]
        called = {getattr(side, "id", getattr(side, "attr", "")).strip("_") for side in sides}
        if called & {"format", "name", "detected", "stem"}:
            said = {node.value for side in sides for node in strings(side)}
            assert not said & set(NAMES), f"{path.name}:{compared.lineno} compares a format's name"
