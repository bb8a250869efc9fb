"""What constraints let a model write, what is said of the rest, and what they are written as for servers."""

import json
import re
import zlib
from collections.abc import Iterator
from decimal import Decimal
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from outspoken import Reasoning, Screen, Text, formats, parse, render
from outspoken.constraints import Constraint, constraint
from outspoken.constraints.action_skeleton import learned_actions
from outspoken.constraints.number_ranges import number_pattern
from outspoken.constraints.schema_parts import search_pattern
from outspoken.grammar import registry
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.results.errors import ConstraintError, RenderError
from tests.constraints.constraint_cases import ARGUMENTS, TOOL_SETS
from tests.constraints.engines import ENGINES, Engine, bpe_vocabulary, byte_vocabulary, llguidance, no_vocabulary, reads
from tests.constraints.walks import failures
from tests.loops import for_each, in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)
CASES: dict[str, dict[str, Any]] = TABLES["CASES"]

_NAME = "act"


def _lets_through(made: Constraint, accepts: list[str], refuses: list[str]) -> None:
    for text in accepts:
        assert made.accepts(text), text
    for text in refuses:
        assert not made.accepts(text), text


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """The options of a constraint."""
    options = {**case.get("options", {})}
    if isinstance(tools := options.get("tools"), str):
        options["tools"] = TOOL_SETS[tools]
    if "screen" in options:
        options["screen"] = Screen(*options["screen"])
    return options


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_constraint(case: dict[str, Any]) -> None:
    format, options, warnings = case["format"], options_of(case), case.get("warnings", [])
    if "raises" in case:
        with pytest.raises((ConstraintError, ValueError, TypeError), match=re.escape(case["raises"])):
            constraint(format, **options)
        return
    made = constraint(format, **options)
    assert [said[: len(warning)] for said, warning in zip(made.warnings, warnings, strict=True)] == warnings
    _lets_through(made, case.get("accepts", []), case.get("refuses", []))
    for text in case.get("accepts", []):
        assert parse(text, format=format, tools=options.get("tools"), finish_reason="stop").status == "ok", text
    if warnings:
        with pytest.raises(ConstraintError, match=re.escape(warnings[0])):
            constraint(format, **options, strict=True)


# schemas


def _tool(schema: Any) -> dict[str, Any]:
    return {"name": _NAME, "parameters": {"type": "object", "properties": {"x": schema}, "required": ["x"]}}


def _call(value: Any) -> str:
    arguments = json.dumps({"name": _NAME, "arguments": {"x": value}}, ensure_ascii=False)
    return f"<tool_call>\n{arguments}\n</tool_call>"


def test_values_by_schema() -> None:
    for schema, admitted, refused in TABLES["ENFORCED"]:
        made = constraint("hermes", tools=[_tool(schema)], tool_choice="required")
        assert not made.warnings, schema
        _lets_through(made, [*map(_call, admitted)], [*map(_call, refused)])


_DEEP: dict[str, Any] = reduce(
    lambda inner, _: {"type": "object", "properties": {"k": inner}}, range(200), {"type": "string"}
)
_TOO_DEEP = ".k: the schema is not enforced: it is nested more than 40 levels deep"


@pytest.mark.parametrize(("schema", "warning"), [*TABLES["NOT_ENFORCED"], (_DEEP, _TOO_DEEP)])
def test_what_is_not_enforced_is_named(schema: Any, warning: str) -> None:
    made = constraint("hermes", tools=[_tool(schema)], tool_choice="required")
    assert len(made.warnings) == 1, made.warnings
    assert warning in made.warnings[0], made.warnings
    with pytest.raises(ConstraintError, match="is not enforced"):
        constraint("hermes", tools=[_tool(schema)], tool_choice="required", strict=True)


def test_a_dollar_that_is_escaped_is_no_anchor() -> None:
    assert search_pattern(r"cost\$") == r"[\s\S]*(?:cost\$)[\s\S]*"
    assert search_pattern(r"cost$") == r"[\s\S]*(?:cost)"


_BOUNDS = (None, -12, -1.5, -0.25, 0, 0.5, 0.95, 1, 1.05, 3.5, 20)
_NUMBERS = tuple([Decimal(n) / 100 for n in (*range(-205, 406, 5), -1250, -1201, -1200, 49, 51, 94, 96, 1999)])


@pytest.mark.parametrize("names", list(product(("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))))
def test_numbers_within_bounds(names: tuple[str, str]) -> None:
    """The regular expression of a range agrees with the bounds themselves."""
    excluded = ["exclusive" in name for name in names]
    for bounds in product(_BOUNDS, _BOUNDS):
        schema = {name: bound for name, bound in zip(names, bounds, strict=True) if bound is not None}
        pattern = number_pattern(schema)
        low, high = [None if bound is None else Decimal(str(bound)) for bound in bounds]
        for number in _NUMBERS:
            above = low is None or number > low or (number == low and not excluded[0])
            below = high is None or number < high or (number == high and not excluded[1])
            text = f"{number.normalize():f}"
            assert bool(pattern and re.fullmatch(pattern, text)) == (above and below), (schema, text)


# actions

#: A share of the formats that differ from each other.
FORMATS = some(TABLES["FORMATS"], "actions", 0.17)


@pytest.mark.parametrize("format", FORMATS)
def test_rendered_actions_are_accepted(format: str) -> None:
    made = constraint(format)
    learned = learned_actions(registry.automaton(format))
    assert len(learned) > 8
    for number, paths in enumerate(learned[:: max(len(learned) // 3, 1)]):
        for action in list(paths.spans.values())[:1]:
            for what in ([action], [Reasoning(text="They ask.", span=(0, 9)), action])[: 1 + (number == 0)]:
                try:
                    text = render(what, format=format)
                except RenderError:
                    continue
                assert made.accepts(text), text


@in_one_item("format", FORMATS)
def test_what_is_let_through_is_read(format: str) -> None:
    """Random models write actions."""
    found = list(failures(format, "llguidance", 3, 1, kind="actions"))
    assert all(kind in ("", "too long") for kind, _ in found), found
    assert found or not learned_actions(registry.automaton(format))


# payloads


class Value(BaseModel):
    """One suggested value."""

    label: str = Field(min_length=1)
    value: int = Field(ge=0, le=20)


class Mode(BaseModel):
    """How to go on."""

    kind: Literal["fast", "slow"]
    note: str | None = None


def test_the_payloads_of_a_page() -> None:
    suggested = PayloadType("suggested", "SUGGESTED_VALUES", Value, kind="array", pages=("form",))
    registry = PayloadRegistry([suggested, PayloadType("mode", "MODE", Mode, beside=True), PayloadType("raw", "RAW")])
    registry.add_page("start")
    form = registry.constraint("form")
    assert form.warnings == ()
    _lets_through(form, **TABLES["FORM"])
    value = 'SUGGESTED_VALUES: [{"label": "a", "value": 3}]\n'
    _lets_through(registry.constraint("start"), ['MODE: {"kind": "slow"}\n'], [value])
    _lets_through(registry.constraint("form", text=False), [value], ["Hello."])
    with pytest.raises(ValueError, match="no page"):
        registry.constraint("nowhere")


def test_random_pages_in_the_engines() -> None:
    for engine in ("llguidance", "xgrammar"):
        found = [one for one in failures("payloads", engine, 4, 1, kind="payloads") if one[0] not in ("", "too long")]
        assert not found, (engine, found)


def test_models_that_are_not_enforced_are_named() -> None:
    made = PayloadRegistry([PayloadType("a", "A", int), PayloadType("b", "B", Mode)]).constraint()
    assert made.warnings == ("a: the model admits no JSON that is an object, so the payload is left out",)
    _lets_through(made, ['B: {"kind": "fast"}\n'], ["A: 3\n"])
    parsed = PayloadRegistry([PayloadType("mode", "MODE", Mode, parser=lambda data: data)]).constraint()
    assert parsed.warnings == ("mode: the model is not enforced, since a parser reads the JSON",)


# what they are written as

TIME: dict[str, Any] = {"name": "get_time", "parameters": {"type": "object", "properties": {}}}
#: The strings, classes, names and signs of GBNF, of which those of llama.cpp are a part, and the spaces between them.
_ESCAPE = r'\\(?:["\\nrt]|u[0-9A-F]{4}|U[0-9A-F]{8})'
_STRING, _CLASS = rf'"(?:[^"\\\n]|{_ESCAPE})*"', rf"\[\^?(?:[^\]\\\n]|{_ESCAPE})+\]"
_BODY = re.compile(rf"(?:{_STRING}|{_CLASS}|[a-z0-9-]+|\{{\d+(?:,\d*)?\}}|[|()*+? ])+")


def test_one_text_is_the_grammar_of_llama_cpp_and_of_xgrammar() -> None:
    """The engines of `tests.constraints.engines` read it; it holds nothing that llama.cpp's notation lacks."""
    for name in some(("hermes", "qwen3_coder", "pythonic", "gemma4", "deepseek_v3_2"), "targets", 0.4):
        made = constraint(name, tools=[TABLES["WEATHER"], TIME, TABLES["TREE"]])
        rules = dict([line.split(" ::= ", 1) for line in made.to_gbnf().splitlines()])
        assert made.to_ebnf() == made.to_gbnf()
        assert "root" in rules
        for rule, body in rules.items():
            assert re.fullmatch("[a-z][a-z0-9-]*", rule)
            assert _BODY.fullmatch(body), body
            used = re.sub(rf"{_STRING}|{_CLASS}|\{{[\d,]+\}}", " ", body)
            assert {*re.findall("[a-z0-9-]+", used)} <= rules.keys(), body


def test_the_fields_of_servers() -> None:
    made = constraint("hermes", tools=[TABLES["WEATHER"]])
    tag, lark, more = made.to_xgrammar(), made.to_llguidance(), {"skip_special_tokens": False}
    assert tag == {"type": "structural_tag", "format": {"type": "grammar", "grammar": made.to_ebnf()}}
    fields = made.to_vllm()
    assert json.loads(fields.pop("structured_outputs")["structural_tag"]) == tag
    assert fields == {"tool_choice": "none", **more}
    assert made.to_vllm("llguidance") == {"structured_outputs": {"grammar": lark}, **fields}
    assert made.to_sglang() == {"response_format": tag, **more}
    assert made.to_sglang("llguidance") == {"ebnf": lark, **more}
    assert made.to_llama_cpp() == {"grammar": made.to_gbnf(), "tool_choice": "none"}
    for written in (made.to_vllm, made.to_sglang):
        with pytest.raises(ValueError, match="`backend` is 'outlines'; expected"):
            written("outlines")  # pyright: ignore[reportArgumentType]


# constraints in the engines that use them: what `render` writes is admitted, and what is admitted is read as `ok`


NAMES = [one.name for one in formats()]
#: So many items test a share of the formats; another run of continuous integration draws another share.
_PARTS = 3
_DRAWN = some(NAMES, "constraints", 0.05)
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


_WEATHER: dict[str, Any] = TABLES["OFFERED"]
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
    @in_one_item("format", NAMES)
    def test_llama_cpp_reads_the_grammar(format: str) -> None:
        llama: Any = import_module("llama_cpp")
        text = constraint(format, tools=TOOL_SETS[_tools(format)]).to_gbnf().encode()
        assert llama.llama_sampler_init_grammar(None, text, b"root"), text
