"""The names by which servers call their parsers are names of formats here, too."""

from collections import Counter

import pytest

from outspoken import Reasoning, Text, parse, render
from outspoken.grammar import registry
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

#: The parsers of calls of vLLM 0.33.0, but for `hf`, which reads what a checkpoint says.
VLLM_CALLS = TABLES["VLLM_CALLS"]

#: Its parsers of reasoning, and the one that finds none.
VLLM_REASONING = TABLES["VLLM_REASONING"]

#: The parsers of calls of SGLang 0.5.23, but for `response_template`, which reads what a checkpoint says.
SGLANG_CALLS = TABLES["SGLANG_CALLS"]

#: Its parsers of reasoning.
SGLANG_REASONING = TABLES["SGLANG_REASONING"]

CALLS = sorted({*VLLM_CALLS.split(), *SGLANG_CALLS.split()})
REASONING = sorted({*VLLM_REASONING.split(), *SGLANG_REASONING.split()})

#: Names that are not the format's own, and lead to another one than their spelling says.
ELSEWHERE = TABLES["ELSEWHERE"]


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


@pytest.mark.parametrize("name", ELSEWHERE)
def test_aliases_of_other_formats(name: str) -> None:
    assert registry.resolve(name) == ELSEWHERE[name]


def test_aliases_are_unique() -> None:
    claimed = Counter(
        registry.normalized(alias) for name in registry.names() for alias in {name, *registry.header(name).aliases}
    )
    assert [alias for alias, times in claimed.items() if times > 1] == []
    assert len(claimed) >= 150
