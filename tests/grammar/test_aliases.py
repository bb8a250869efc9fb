"""The names by which servers call their parsers are names of formats here, too."""

from __future__ import annotations

from collections import Counter

import pytest

from outspoken import Reasoning, Text, parse, render
from outspoken.grammar import registry
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

#: The parsers of calls of vLLM 0.33.0, but for `hf`, which reads what a checkpoint says.
VLLM_CALLS = """
    hermes qwen3_json longcat granite4 ernie45 internlm granite-20b-fc llama3_json llama4_json gigachat3 jamba
    hunyuan_a13b phi4_mini_json granite xlam mistral cohere_command3 cohere_command4 apertus deepseek_v3
    deepseek_v31 kimi_k2 plamo3 openai qwen3_coder qwen3_xml step3p5 step5 seed_oss mimo nemotron_v3
    granite_thinking_parser minicpmv minimax_m2 dots step3 muse musespark1x muse_glimmer deepseek_v32
    deepseek_v4 deepseek_v41 minicpm5 glm45 glm47 ling3 poolside_v1 hy_v3 hy_v4 k2_horizon minimax_m3 pythonic
    llama4_pythonic olmo3 lfm2 functiongemma gemma4 inkling kimi_k3 beam
"""

#: Its parsers of reasoning, and the one that finds none.
VLLM_REASONING = """
    deepseek_r1 step5 deepseek_v3 holo2 poolside_v1 deepseek_v4 deepseek_v41 qwen3 mimo nemotron_v3 minicpmv
    step3p5 seed_oss glm45 glm47 ling3 kimi_k2 minimax_m2 minimax_m2_append_think minimax_m3
    granite_thinking_parser granite hunyuan_a13b hy_v3 hy_v4 ernie45 olmo3 step3 k2_horizon kimi_k3 gemma4
    mistral plamo3 inkling openai_gptoss muse musespark1x muse_glimmer cohere_command3 cohere_command4 beam
    identity
"""

#: The parsers of calls of SGLang 0.5.23, but for `response_template`, which reads what a checkpoint says.
SGLANG_CALLS = """
    qwen qwen25 hermes trinity llama3 mistral deepseekv3 deepseekv31 deepseekv32 deepseekv4 deepseekv41 glm
    glm45 glm47 ling3 poolside_v1 spark25 iquest_q1 hunyuan k2_horizon qwen3_coder step3p5 nanbeige mimo
    minicpm5 minimax-m2 minimax-m3 dots muse beam gpt-oss kimi_k2 kimi_k3 gemma4 lfm2 pythonic apertus2509
    cohere_command4 interns1 gigachat3 gigachat35 step3 inkling
"""

#: Its parsers of reasoning.
SGLANG_REASONING = """
    deepseek-r1 step3 step3p5 gigachat35 qwen3 qwen3-thinking minimax nanbeige interns1 dots deepseek-v3 mimo
    poolside_v1 deepseek-v4 deepseek-v41 glm45 ling3 kimi_k2 nemotron_3 granite_thinking_parser iquest_q1
    minimax-append-think minimax-m3 kimi kimi_k3 k2_horizon mistral hunyuan gemma4 apertus2509 cohere_command4
    gpt-oss inkling muse beam
"""

CALLS = sorted({*VLLM_CALLS.split(), *SGLANG_CALLS.split()})
REASONING = sorted({*VLLM_REASONING.split(), *SGLANG_REASONING.split()})

#: Names that are not the format's own, and lead to another one than their spelling says.
ELSEWHERE = TABLES["ELSEWHERE"]


@in_one_item("name", CALLS)
def test_parsers_of_calls(name: str) -> None:
    format_ = registry.resolve(name)
    example = registry.header(format_).example
    reply = parse(example, name)
    assert reply.format == format_
    assert reply.tool_calls, "the format has no calls"


@in_one_item("name", REASONING)
def test_parsers_of_reasoning(name: str) -> None:
    made = [Reasoning(text="The pier is asked for.", span=(0, 0)), Text(text="Pier two.", span=(0, 0))]
    reply = parse(render(made, name), name)
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
