"""What constraints are written as for structural tags and for servers."""

import json
import re
from typing import Any

from outspoken import render
from outspoken.constraints import constraint
from tests.loops import some
from tests.tables import tables

TABLES = tables(__file__)

WEATHER: dict[str, Any] = TABLES["WEATHER"]
TIME: dict[str, Any] = {"name": "get_time", "parameters": {"type": "object", "properties": {}}}
TREE: dict[str, Any] = TABLES["TREE"]


#: The strings, classes, names and signs of GBNF, of which those of llama.cpp are a part, and the spaces between them.
_ESCAPE = r'\\(?:["\\nrt]|u[0-9A-F]{4}|U[0-9A-F]{8})'
_STRING, _CLASS = rf'"(?:[^"\\\n]|{_ESCAPE})*"', rf"\[\^?(?:[^\]\\\n]|{_ESCAPE})+\]"
_BODY = re.compile(rf"(?:{_STRING}|{_CLASS}|[a-z0-9-]+|\{{\d+(?:,\d*)?\}}|[|()*+? ])+")


def test_one_text_is_the_grammar_of_llama_cpp_and_of_xgrammar() -> None:
    """The engines of `tests.constraints.engines` read it; it holds nothing that llama.cpp's notation lacks."""
    for name in some(("hermes", "qwen3_coder", "pythonic", "gemma4", "deepseek_v3_2"), "targets", 0.4):
        made = constraint(name, tools=[WEATHER, TIME, TREE])
        rules = dict([line.split(" ::= ", 1) for line in made.to_gbnf().splitlines()])
        assert made.to_ebnf() == made.to_gbnf()
        assert "root" in rules
        for rule, body in rules.items():
            assert re.fullmatch("[a-z][a-z0-9-]*", rule)
            assert _BODY.fullmatch(body), body
            used = re.sub(rf"{_STRING}|{_CLASS}|\{{[\d,]+\}}", " ", body)
            assert {*re.findall("[a-z0-9-]+", used)} <= rules.keys(), body


def test_a_structural_tag_of_required_calls() -> None:
    made = constraint("hermes", tools=[TIME], tool_choice="required", reasoning="none", max_calls=1)
    tag = json.loads(json.dumps(made.to_xgrammar()))
    assert tag == {"type": "structural_tag", "format": {"type": "grammar", "grammar": made.to_ebnf()}}


def test_recursive_values_are_rules() -> None:
    made = constraint("hermes", tools=[TREE], tool_choice="required", reasoning="none")
    assert made.to_xgrammar()["format"] == {"type": "grammar", "grammar": made.to_ebnf()}
    tree: dict[str, Any] = {}
    for _ in range(6):
        assert made.accepts(render([{"name": "plant", "arguments": {"tree": tree}}], format="hermes"))
        tree = {"left": tree}


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
