"""What constraints are written as for engines without recursion, for servers, and for lm-format-enforcer."""

from __future__ import annotations

import abc
import json
import re
import sys
from types import ModuleType
from typing import Any

import pytest

from outspoken import Text, render
from outspoken.constraints import constraint
from outspoken.constraints.automata import complement, intersection, matching
from outspoken.constraints.forms import Choice, Form, FreeText, Grammar, Repeat, Seq
from outspoken.constraints.free_text import text_automaton
from outspoken.constraints.matcher import Matcher
from outspoken.constraints.targets.loops import without_rules
from outspoken.constraints.targets.outlines import text_expression
from tests.loops import in_one_item

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 14}, "unit": {"enum": ["c"]}},
        "required": ["city"],
    },
}
TIME: dict[str, Any] = {"name": "get_time", "parameters": {"type": "object", "properties": {}}}
TREE: dict[str, Any] = {
    "name": "plant",
    "parameters": {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}},
    },
}
CALL: dict[str, Any] = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}
TIMES: dict[str, Any] = {"name": "get_time", "arguments": {}}
TEXT = Text(text="Let me look: 3 < 4.", span=(0, 0))
FORMATS = ("hermes", "mistral", "deepseek_v3", "harmony", "qwen3_coder", "react")


def texts(form: Form) -> list[FreeText]:
    """The free text in a form."""
    if isinstance(form, FreeText):
        return [form]
    parts = form.parts if isinstance(form, Seq) else form.options if isinstance(form, Choice) else ()
    parts = (form.part,) if isinstance(form, Repeat) else parts
    return [text for part in parts for text in texts(part)]


@in_one_item("format", FORMATS)
def test_a_grammar_without_rules_reads_the_same(format: str) -> None:
    made = constraint(format, tools=[WEATHER, TIME])
    form, warnings = without_rules(made.grammar)
    assert warnings == []
    alone = Grammar(form)
    for wanted in ([CALL], [TEXT, CALL], [TEXT], [CALL, TIMES]):
        text = render(wanted, format)
        for read in (text, text[:-3], text.replace("3", "30", 1), text.replace("Paris", "Pa</ris"), text + "</x>"):
            assert Matcher(alone).reads(read) == made.accepts(read), (format, read)


@in_one_item("format", FORMATS)
def test_an_expression_matches_calls_and_ends_with_the_terminator(format: str) -> None:
    made = constraint(format, tools=[WEATHER, TIME], tool_choice="required", reasoning="none")
    expression = re.compile(made.to_outlines("<end>"))
    for wanted in ([CALL], [TIMES]):
        text = render(wanted, format)
        assert expression.fullmatch(text + "<end>"), text
        assert not expression.fullmatch(text)
        wrong = text.replace("3", "30").replace("get_time", "get_times")
        assert not expression.fullmatch(wrong + "<end>"), wrong


@in_one_item("format", ("hermes", "mistral", "qwen3_coder"))
def test_text_in_an_expression_is_no_wider_than_text(format: str) -> None:
    grammar = constraint(format, tools=[WEATHER]).grammar
    found = {text for form in (grammar.root, *grammar.rules.values()) for text in texts(form)}
    assert found
    for text in found:
        narrow = matching(text_expression(text, "\x03"), 20_000)
        assert any(narrow.accepts)
        assert not any(intersection(narrow, complement(text_automaton(text)), 40_000).accepts), text


def test_the_expression_of_a_response_with_text() -> None:
    expression = re.compile(constraint("hermes", tools=[WEATHER]).to_outlines())
    call = render([CALL], "hermes")
    for text in ("Use `ls -l` for 3 < 4. “Sí”, he said.", f"Hi.\n{call}", f"<think>\nHm.\n</think>\n\n{call}\n{call}"):
        assert expression.fullmatch(text + "\x03"), text
    for text in ("Hi. <tool_call>", "Hi. <think>", call[:-4]):
        assert not expression.fullmatch(text + "\x03"), text


def test_recursive_values_are_cut_with_a_warning() -> None:
    made = constraint("hermes", tools=[TREE], tool_choice="required", reasoning="none")
    expression = re.compile(made.to_outlines(""))
    assert [warning for warning in made.warnings if "holds itself" in warning]
    tree: dict[str, Any] = {}
    found: list[bool] = []
    for _ in range(6):
        text = render([{"name": "plant", "arguments": {"tree": tree}}], "hermes")
        assert made.accepts(text)
        found.append(bool(expression.fullmatch(text)))
        tree = {"left": tree}
    assert found[0]
    assert found == sorted(found, reverse=True)
    assert not found[-1]
    assert made.to_xgrammar()["format"]["type"] == "grammar"


def test_a_structural_tag_of_required_calls() -> None:
    made = constraint("hermes", tools=[TIME], tool_choice="required", reasoning="none", max_calls=1)
    tag = json.loads(json.dumps(made.to_xgrammar()))
    assert set(tag) == {"type", "format"}
    assert tag["type"] == "structural_tag"
    assert tag["format"]["type"] == "sequence"
    assert {"type": "const_string", "value": "}}\n</tool_call>"} in tag["format"]["elements"]


def test_the_fields_of_servers() -> None:
    made = constraint("hermes", tools=[WEATHER])
    tag, lark = made.to_xgrammar(), made.to_llguidance()
    fields = made.to_vllm()
    assert json.loads(fields.pop("structured_outputs")["structural_tag"]) == tag
    assert fields == {"tool_choice": "none", "skip_special_tokens": False}
    assert made.to_vllm("llguidance") == {"structured_outputs": {"grammar": lark}, **fields}
    assert made.to_sglang() == {"response_format": tag, "skip_special_tokens": False}
    assert made.to_sglang("llguidance") == {"ebnf": lark, "skip_special_tokens": False}
    assert made.to_llama_cpp() == {"grammar": made.to_gbnf(), "tool_choice": "none"}


class _CharacterLevelParser(abc.ABC):  # noqa: B024 - as in the engine, but for its methods
    pass


class _Config:
    alphabet = 'ab<>{}"\n'


def test_a_parser_of_lm_format_enforcer(monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = ModuleType("characterlevelparser")
    engine.CharacterLevelParser, engine.CharacterLevelParserConfig = _CharacterLevelParser, _Config
    monkeypatch.setitem(sys.modules, "lmformatenforcer", ModuleType("lmformatenforcer"))
    monkeypatch.setitem(sys.modules, "lmformatenforcer.characterlevelparser", engine)
    made = constraint("hermes", tools=[TIME], tool_choice="required", reasoning="none", max_calls=1)
    parser = made.to_lm_format_enforcer()
    assert isinstance(parser, _CharacterLevelParser)
    assert (parser.get_allowed_characters(), parser.can_end(), parser.shortcut_key()) == ("<", False, None)
    with pytest.raises(ValueError, match="refuses 'a'"):
        parser.add_character("a")
    last = parser
    for char in render([TIMES], "hermes"):
        last = last.add_character(char)
    assert (last.can_end(), last.get_allowed_characters()) == (True, "")
    assert parser.cache_key() != last.cache_key()
    assert parser.cache_key() == made.to_lm_format_enforcer().cache_key()


def test_lm_format_enforcer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lmformatenforcer.characterlevelparser", None)
    with pytest.raises(ImportError, match="pip install lm-format-enforcer"):
        constraint("hermes").to_lm_format_enforcer()
