"""Each grammar passes `tools.check`, servers' names of parsers are names of formats, and the code names no format."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import outspoken
from outspoken import Reasoning, Text, formats, parse, render
from outspoken.authoring.check import findings, shared_findings
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar import registry
from tests.loops import in_one_item, some
from tests.tables import tables

HOUSE = Checkout()
NAMES = HOUSE.names()
PACKAGE = Path(outspoken.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

#: A grammar has at most so many lines. What several formats have lies in `shared`.
LONGEST = 70

#: Formats whose names are also words of their own, companies whose APIs are read, or fields of a framework.
WORDS = {"text", "json", "cohere", "mistral", "thinking_tags"}
OWN = {*NAMES} - WORDS


def test_there_are_grammars() -> None:
    assert len(NAMES) >= 14
    assert [found.name for found in formats()] == NAMES


@pytest.mark.parametrize("name", some(NAMES, "check", 0.1))
def test_check_finds_nothing_wrong(name: str) -> None:
    wrong = [finding for finding in findings(HOUSE, name) if finding.severity != "note"]
    assert "\n".join([diagnostic.frame() for diagnostic in wrong]) == ""


def test_check_finds_nothing_wrong_in_shared_files() -> None:
    assert "\n".join([finding.frame() for finding in shared_findings(HOUSE)]) == ""


@in_one_item("path", sorted(HOUSE.grammars.rglob("*.lark")))
def test_grammars_are_short_and_without_needless_blanks(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) <= LONGEST
    assert [line for line in lines if line != line.rstrip() or "\t" in line] == []


# the rest of the house


def strings(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    return (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@in_one_item("path", SOURCES)
def test_python_code_names_no_format(path: Path) -> None:
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    assert [f"{path.name}:{node.lineno}" for node in strings(nodes) if node.value in OWN] == []
    for compared in (node for node in nodes if isinstance(node, ast.Compare)):
        sides = [compared.left, *compared.comparators]
        called = {getattr(side, "id", getattr(side, "attr", "")).strip("_") for side in sides}
        if called & {"format", "name", "detected", "stem"}:
            words = {node.value for side in sides for node in strings(ast.walk(side))}
            assert not words & set(NAMES), f"{path.name}:{compared.lineno} compares a format's name"


# the names by which servers call their parsers


TABLES = tables(__file__)


CALLS = sorted({*TABLES["VLLM_CALLS"].split(), *TABLES["SGLANG_CALLS"].split()})
REASONING = sorted({*TABLES["VLLM_REASONING"].split(), *TABLES["SGLANG_REASONING"].split()})


@in_one_item("name", CALLS)
def test_parsers_of_calls(name: str) -> None:
    format_ = registry.resolve(name)
    example = registry.header(format_).example
    reply = parse(example, format=name)
    assert reply.format == format_
    assert reply.tool_calls, "the format has no calls"


@in_one_item("name", REASONING)
def test_parsers_of_reasoning(name: str) -> None:
    made = [Reasoning(text="The pier is asked for.", span=(0, 0)), Text(text="Pier two.", span=(0, 0))]
    reply = parse(render(made, format=name), format=name)
    assert (reply.reasoning, reply.text.strip()) == ("The pier is asked for.", "Pier two.")


@pytest.mark.parametrize("name", TABLES["ELSEWHERE"])
def test_aliases_of_other_formats(name: str) -> None:
    assert registry.resolve(name) == TABLES["ELSEWHERE"][name]


def test_aliases_are_unique() -> None:
    claimed = Counter(
        registry.normalized(alias) for name in registry.names() for alias in {name, *registry.header(name).aliases}
    )
    assert [alias for alias, times in claimed.items() if times > 1] == []
    assert len(claimed) >= 150
