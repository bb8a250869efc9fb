"""Constraints in the engines that use them: what `render` writes is admitted, and what is admitted is read as `ok`."""

import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from outspoken import Reasoning, Text, formats, render
from outspoken.constraints import Constraint, constraint
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.errors import ConstraintError, RenderError
from tests.constraints.constraint_cases import TOOL_SETS, arguments
from tests.constraints.engines import (
    Engine,
    Llguidance,
    Xgrammar,
    bpe_vocabulary,
    byte_vocabulary,
    no_vocabulary,
    reads,
)
from tests.constraints.walks import failures
from tests.loops import for_each, in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

FORMATS = [one.name for one in formats()]
#: So many sets of tools are tried with each format, other ones with another format.
_SHARE = 1
_WALKS = 1
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


def _shared(format: str) -> list[Sequence[ToolLike]]:
    sets = list(TOOL_SETS.values())
    return [sets[(_number(format) + 7 * number) % len(sets)] for number in range(_SHARE)]


def _rendered(format: str, tools: Sequence[ToolLike]) -> Iterator[str]:
    """Responses with text, reasoning and calls, as far as the format can write them."""
    known = Tools.of(tools)
    assert known is not None
    calls = [
        {"name": name, "arguments": arguments(known.schema(name) or {}, seed)}
        for seed, name in enumerate(list(known.names)[:3])
    ]
    for response in ([_TEXT], calls[:1], [_REASONING, *calls], [_TEXT, calls[-1]]):
        try:
            yield render(response, format=format, tools=tools)
        except RenderError:  # the format has no way to write it
            continue


def _engines(asked: Constraint) -> list[Engine]:
    engines: list[Engine] = [Llguidance(asked, bpe_vocabulary())]
    if _number(asked.format) % _SELDOM == 0:
        engines.append(Xgrammar(asked, no_vocabulary()))
    return engines


def what_render_writes_is_admitted(format: str) -> None:
    for tools in _shared(format):
        asked = constraint(format, tools=tools)
        engines = _engines(asked)
        for text in _rendered(format, tools):
            assert _number(format) % 3 or asked.accepts(text), text
            for engine in engines:
                assert reads(engine, text), (type(engine).__name__, text)


def what_is_admitted_is_read(format: str) -> None:
    for engine in ("llguidance", *["xgrammar"] * (_number(format) % _SELDOM == 0)):
        for kind, text in failures(format, engine, _WALKS, _number(format)):
            assert kind in ("", "too long"), (engine, kind, text)


_WEATHER: dict[str, Any] = TABLES["WEATHER"]
_SOUND = {"name": "get_weather", "arguments": {"city": "Paris", "unit": "c", "days": 3}}
#: Tools with which the call is refused: what is asked of it is another schema, or another name.
_REFUSING: dict[str, dict[str, Any]] = TABLES["REFUSING"]


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
    wrong = {name: _changed(change) for name, change in _REFUSING.items()}
    wrong["unknown tool"] = {**_WEATHER, "name": "get_forecast"}
    asked = {name: constraint(format, tools=[tool], tool_choice="required") for name, tool in wrong.items()}
    for name, one in asked.items():
        assert not one.accepts(text), name
    name = list(asked)[_number(format) % len(asked)]  # the engines, with one of them
    for engine in _engines(asked[name]):
        assert not reads(engine, text), (type(engine).__name__, name)
    engine = Llguidance(sound, byte_vocabulary())
    assert reads(engine, text)
    assert not reads(engine, text[: len(text) // 2]), "a call that is cut"
    assert not reads(engine, f"{text} Hello."), "text behind a call that has to be the whole response"


#: Texts that were admitted once, and are read as something else: the format, the set of tools, and the text.
_ONCE_ADMITTED: list[tuple[str, str, str]] = TABLES["ONCE_ADMITTED"]


def test_what_is_read_as_something_else_is_refused() -> None:
    for format, name, text in some(_ONCE_ADMITTED, "once admitted", 0.17):
        asked = constraint(format, tools=TOOL_SETS[name])
        assert not asked.accepts(text), text
        assert not reads(Llguidance(asked, byte_vocabulary()), text), text


def test_what_render_writes_was_refused_once() -> None:
    """An optional argument between two others is left out; objects are indented far."""
    for format, name, call in TABLES["WHAT_RENDER_WRITES_WAS_REFUSED_ONCE"]:
        asked = constraint(format, tools=TOOL_SETS[name])
        text = render([call], format=format, tools=TOOL_SETS[name])
        assert asked.accepts(text), text
        assert reads(Llguidance(asked, byte_vocabulary()), text), text


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", range(_PARTS))
def test_constraints_of_formats(part: int) -> None:
    """All checks of some formats in one process, since the first constraint of a format takes longest."""

    def check(format: str) -> None:
        what_render_writes_is_admitted(format)
        what_is_admitted_is_read(format)
        wrong_calls_are_refused(format)

    for_each(_DRAWN[part::_PARTS], check)


@cache
def _llama() -> Any:
    import llama_cpp  # pyright: ignore[reportMissingImports]

    return llama_cpp


if find_spec("llama_cpp") is not None:  # llama.cpp has to be built, so it is tested where it is

    @pytest.mark.timeout(300)
    @in_one_item("format", FORMATS)
    def test_llama_cpp_reads_the_grammar(format: str) -> None:
        for tools in _shared(format):
            text = constraint(format, tools=tools).to_gbnf().encode()
            assert _llama().llama_sampler_init_grammar(None, text, b"root"), text
