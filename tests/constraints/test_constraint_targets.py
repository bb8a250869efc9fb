"""What constraints are written as for structural tags, which know no recursion, and for servers."""

import json
from typing import Any

import pytest

from outspoken import Text, render
from outspoken.constraints import constraint
from outspoken.constraints.forms import Grammar
from outspoken.constraints.matcher import Matcher
from outspoken.constraints.targets.loops import without_rules
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

WEATHER: dict[str, Any] = TABLES["WEATHER"]
TIME: dict[str, Any] = {"name": "get_time", "parameters": {"type": "object", "properties": {}}}
TREE: dict[str, Any] = TABLES["TREE"]
CALL: dict[str, Any] = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}
TIMES: dict[str, Any] = {"name": "get_time", "arguments": {}}
TEXT = Text(text="Let me look: 3 < 4.", span=(0, 0))
FORMATS = ("hermes", "mistral", "deepseek_v3", "harmony", "qwen3_coder", "react")


@in_one_item("format", FORMATS)
def test_a_grammar_without_rules_reads_the_same(format: str) -> None:
    made = constraint(format, tools=[WEATHER, TIME])
    alone = Grammar(without_rules(made.grammar))
    for wanted in ([CALL], [TEXT, CALL], [TEXT], [CALL, TIMES]):
        text = render(wanted, format=format)
        for read in (text, text[:-3], text.replace("3", "30", 1), text.replace("Paris", "Pa</ris"), text + "</x>"):
            assert Matcher(alone).reads(read) == made.accepts(read), (format, read)


def test_recursive_values_need_rules() -> None:
    made = constraint("hermes", tools=[TREE], tool_choice="required", reasoning="none")
    with pytest.raises(ValueError, match="holds itself"):
        without_rules(made.grammar)
    tag = made.to_xgrammar()["format"]
    assert tag == {"type": "grammar", "grammar": made.to_ebnf()}
    tree: dict[str, Any] = {}
    for _ in range(6):
        assert made.accepts(render([{"name": "plant", "arguments": {"tree": tree}}], format="hermes"))
        tree = {"left": tree}


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
