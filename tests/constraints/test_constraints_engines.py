"""Constraints in the engines that use them: what `render` writes is admitted, and what is admitted is read as `ok`."""

import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from outspoken import Reasoning, Text, formats, render
from outspoken.constraints import Constraint, constraint
from outspoken.results.errors import ConstraintError, RenderError
from tests.constraints.constraint_cases import ARGUMENTS, TOOL_SETS
from tests.constraints.engines import ENGINES, Engine, bpe_vocabulary, byte_vocabulary, llguidance, no_vocabulary, reads
from tests.constraints.test_constraints import CASES, options_of
from tests.constraints.walks import failures
from tests.loops import for_each, in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

FORMATS = [one.name for one in formats()]
#: So many items test a share of the formats; another run of continuous integration draws another share.
_PARTS = 3
_DRAWN = some(FORMATS, "constraints", 0.05)
#: xgrammar prepares a grammar for long, so it is run with one format of so many.
_SELDOM = 8

_TEXT = Text(text="Let me look. Use `ls -l` for 3 < 4.", span=(0, 0))
_REASONING = Reasoning(text="They ask for it. Maybe two.", span=(0, 0))


def _number(format: str) -> int:
    """A number that stays the same for a format whatever other formats there are."""
    return zlib.crc32(format.encode())


def _tools(format: str) -> str:
    """The name of the set of tools that is tried with a format; another one with another format."""
    return list(TOOL_SETS)[_number(format) % len(TOOL_SETS)]


def _rendered(format: str, tools: str) -> Iterator[str]:
    """Responses with text, reasoning and calls, as far as the format can write them."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in ARGUMENTS[tools].items()]
    for response in ([_TEXT], calls[:1], [_REASONING, *calls], [_TEXT, calls[-1]]):
        try:
            yield render(response, format=format, tools=TOOL_SETS[tools])
        except RenderError:  # the format has no way to write it
            continue


def _engines(format: str) -> list[str]:
    return ["llguidance", *["xgrammar"] * (_number(format) % _SELDOM == 0)]


def _compiled(asked: Constraint) -> dict[str, Engine]:
    vocabularies = {"llguidance": bpe_vocabulary, "xgrammar": no_vocabulary}
    return {name: ENGINES[name](asked, vocabularies[name]()) for name in _engines(asked.format)}


def what_render_writes_is_admitted(format: str) -> None:
    tools = _tools(format)
    asked = constraint(format, tools=TOOL_SETS[tools])
    compiled = _compiled(asked)
    for text in _rendered(format, tools):
        assert _number(format) % 3 or asked.accepts(text), text
        for name, engine in compiled.items():
            assert reads(engine, text), (name, text)


def what_is_admitted_is_read(format: str) -> None:
    for engine in _engines(format):
        for kind, text in failures(format, engine, 1, _number(format)):
            assert kind in ("", "too long"), (engine, kind, text)


_WEATHER: dict[str, Any] = TABLES["WEATHER"]
_SOUND = {"name": "get_weather", "arguments": {"city": "Paris", "unit": "c", "days": 3}}


def _changed(change: dict[str, Any]) -> dict[str, Any]:
    schema = _WEATHER["parameters"]
    properties = {**schema["properties"], **change.get("more", {})}
    properties.pop(change.get("less", ""), None)
    required = change.get("required", schema["required"])
    return {"name": "get_weather", "parameters": {**schema, "properties": properties, "required": required}}


def wrong_calls_are_refused(format: str) -> None:
    try:
        text = render([_SOUND], format=format, tools=[_WEATHER])
        sound = constraint(format, tools=[_WEATHER], tool_choice="required")
    except (RenderError, ConstraintError):  # no tool calls
        return
    # what is asked of the call is another schema, or another name
    wrong = {name: _changed(change) for name, change in TABLES["REFUSING"].items()}
    wrong["unknown tool"] = {**_WEATHER, "name": "get_forecast"}
    asked = {name: constraint(format, tools=[tool], tool_choice="required") for name, tool in wrong.items()}
    for name, one in asked.items():
        assert not one.accepts(text), name
    name = list(asked)[_number(format) % len(asked)]  # the engines, with one of them
    for engine in _compiled(asked[name]).values():
        assert not reads(engine, text), name
    engine = llguidance(sound, byte_vocabulary())
    assert reads(engine, text)
    assert not reads(engine, text[: len(text) // 2]), "a call that is cut"
    assert not reads(engine, f"{text} Hello."), "text behind a call that has to be the whole response"


def test_what_the_cases_let_through_and_refuse() -> None:
    for case in some([case for case in CASES.values() if "raises" not in case], "cases", 0.08):
        engine = llguidance(constraint(case["format"], **options_of(case)), byte_vocabulary())
        for kind in ("accepts", "refuses"):
            for text in case.get(kind, []):
                assert reads(engine, text) == (kind == "accepts"), text


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", range(_PARTS))
def test_constraints_of_formats(part: int) -> None:
    """All checks of some formats in one process, since the first constraint of a format takes longest."""

    def check(format: str) -> None:
        what_render_writes_is_admitted(format)
        what_is_admitted_is_read(format)
        wrong_calls_are_refused(format)

    for_each(_DRAWN[part::_PARTS], check)


if find_spec("llama_cpp") is not None:  # llama.cpp has to be built, so it is tested where it is

    @pytest.mark.timeout(300)
    @in_one_item("format", FORMATS)
    def test_llama_cpp_reads_the_grammar(format: str) -> None:
        llama: Any = import_module("llama_cpp")
        text = constraint(format, tools=TOOL_SETS[_tools(format)]).to_gbnf().encode()
        assert llama.llama_sampler_init_grammar(None, text, b"root"), text
