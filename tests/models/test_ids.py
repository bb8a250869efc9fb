"""The formats of models by their ids, as hubs, Ollama, files, gateways and fine-tunes write them."""

from __future__ import annotations

import pytest

from outspoken import Parser, UnknownFormatError, parse, parse_response
from outspoken.grammar import registry
from outspoken.grammar.model_ids import PromptEnds, bare_id

IDS = {
    "hermes": """
        Qwen/Qwen3-0.6B Qwen/Qwen3-8B Qwen/Qwen3-32B Qwen/Qwen3-30B-A3B Qwen/Qwen3-235B-A22B Qwen/Qwen3-8B-AWQ
        Qwen/Qwen3-4B-Instruct-2507 Qwen/Qwen3-4B-Thinking-2507 Qwen/Qwen3-235B-A22B-Thinking-2507-FP8
        Qwen/Qwen3-Next-80B-A3B-Instruct Qwen/Qwen2.5-7B-Instruct Qwen/Qwen2.5-Coder-32B-Instruct
        qwen2.5-coder:7b qwen3:8b qwen3:30b-a3b-thinking-2507-q4_K_M qwen3 unsloth/Qwen3-8B-GGUF
        hf.co/bartowski/Qwen_Qwen3-8B-GGUF:Q4_K_M ./models/Qwen3-14B-Q5_K_M.gguf models--Qwen--Qwen3-8B
        openrouter/qwen/qwen3-235b-a22b:free Qwen/QwQ-32B NousResearch/Hermes-2-Pro-Llama-3-8B
        NousResearch/Hermes-3-Llama-3.1-8B NousResearch/Hermes-3-Llama-3.1-405B-FP8
        NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO hermes3:8b teknium/OpenHermes-2.5-Mistral-7B
        Groq/Llama-3-Groq-8B-Tool-Use ibm-granite/granite-4.0-h-small ibm-granite/granite-4.1-8b
        granite4:micro-h arcee-ai/Trinity-Mini HuggingFaceTB/SmolLM3-3B speakleash/Bielik-11B-v3.0-Instruct
        XiaomiMiMo/MiMo-VL-7B-RL someone/my-qwen3-8b-finetune Qwen2.5-14B-Instruct-1M Qwen/Qwen2.5-0.5B
        RekaAI/reka-edge-2603 qwq:32b
    """,
    "qwen3_coder": """
        Qwen/Qwen3-Coder-30B-A3B-Instruct Qwen/Qwen3-Coder-480B-A35B-Instruct Qwen/Qwen3-Coder-Next
        qwen3-coder:30b unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M Qwen/Qwen3.5-9B Qwen/Qwen3.6-35B-A3B
        Qwen/Qwen3.8-27B Qwen3.5-35B-A3B qwen/qwen3.5-397b-a17b nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16
        stepfun-ai/Step-3.5-Flash ibm-granite/granite-4.2-8b openbmb/MiniCPM-V-4_5 XiaomiMiMo/MiMo-V2-Flash
        nvidia/Nemotron-3-Super-120B-A12B accounts/fireworks/models/qwen3-coder-480b-a35b-instruct
        stepfun-ai/Step-3.7-Flash
    """,
    "qwen3_vl": "Qwen/Qwen3-VL-8B-Instruct Qwen/Qwen3-VL-235B-A22B-Thinking qwen3-vl:8b Qwen/Qwen3-VL-2B-Instruct-FP8",
    "qwen2_5_vl": "Qwen/Qwen2.5-VL-7B-Instruct qwen2.5vl:7b Qwen/Qwen2.5-VL-72B-Instruct-AWQ",
    "deepseek_r1": "deepseek-ai/DeepSeek-R1 deepseek-r1:8b deepseek-ai/DeepSeek-R1-Distill-Qwen-32B Hcompany/Holo2-8B",
    "deepseek_v3": "deepseek-ai/DeepSeek-V3-0324 deepseek-ai/DeepSeek-V3 deepseek-v3:671b "
    "deepseek/deepseek-chat-v3-0324 deepseek-ai/DeepSeek-R1-0528 deepseek-ai/DeepSeek-R1-0528-Qwen3-8B",
    "deepseek_v3_1": "deepseek-ai/DeepSeek-V3.1 deepseek-ai/DeepSeek-V3.1-Terminus deepseek-v3.1:671b-cloud",
    "deepseek_v3_2": "deepseek-ai/DeepSeek-V3.2 deepseek-ai/DeepSeek-V3.2-Speciale deepseek-ai/DeepSeek-V3.2-Exp",
    "deepseek_v4": "deepseek-ai/DeepSeek-V4-Flash deepseek-ai/DeepSeek-V4-Pro deepseek-ai/DeepSeek-V4",
    "deepseek_v4_1": "deepseek-ai/DeepSeek-V4.1-Flash",
    "gemma4": "google/gemma-4-31B-it google/gemma-4-26B-A4B-it gemma4:26b unsloth/gemma-4-12b-it-GGUF",
    "glm_4_5": """
        zai-org/GLM-4.5 zai-org/GLM-4.5-Air zai-org/GLM-4.6 zai-org/GLM-4.7 zai-org/GLM-4.7-Flash
        zai-org/GLM-5.3 zai-org/GLM-4.5V z-ai/glm-4.6 glm-4.7-flash:q8_0 poolside/Laguna-S-2.1
        inclusionAI/Ling-3.0-Flash zai-org/GLM-5-FP8
    """,
    "harmony": "openai/gpt-oss-20b openai/gpt-oss-120b gpt-oss:20b unsloth/gpt-oss-20b-GGUF openai.gpt-oss-120b-1:0",
    "kimi_k2": "moonshotai/Kimi-K2-Instruct moonshotai/Kimi-K2-Instruct-0905 moonshotai/Kimi-K2-Thinking "
    "moonshotai/Kimi-K2.5 moonshotai/Kimi-K2.6 kimi-k2:1t-cloud moonshotai/Kimi-K2.7-Code",
    "kimi_k3": "moonshotai/Kimi-K3 kimi-k3",
    "llama3_json": """
        meta-llama/Llama-3.1-8B-Instruct meta-llama/Llama-3.2-3B-Instruct meta-llama/Llama-3.3-70B-Instruct
        llama3.1:8b meta-llama/Meta-Llama-3.1-405B-Instruct-FP8 us.meta.llama3-1-8b-instruct-v1:0 llama3.2
        llama-3.3-70b-versatile unsloth/Llama-3.2-1B-Instruct-bnb-4bit mlx-community/Llama-3.3-70B-Instruct-4bit
        llama3.3:70b-instruct-q4_K_M cognitivecomputations/Dolphin3.0-Llama3.1-8B
    """,
    "pythonic": "meta-llama/Llama-4-Scout-17B-16E-Instruct meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 "
    "llama4:scout Team-ACE/ToolACE-2-Llama-3.1-8B google/gemma-3-27b-it gemma3:12b google/gemma-3n-E4B-it",
    "mistral": """
        mistralai/Mistral-Small-3.2-24B-Instruct-2506 mistralai/Mistral-7B-Instruct-v0.3
        mistralai/Devstral-Small-2507 mistralai/Magistral-Small-2509 mistralai/Ministral-3-14B-Reasoning-2512
        mistralai/Mistral-Nemo-Instruct-2407 mistral-small3.2:24b mistralai/Mistral-Medium-3.5-128B
        mistralai/Mixtral-8x22B-Instruct-v0.1 devstral-2 mistralai/Devstral-Small-2-24B-Instruct-2512
        magistral:24b mistralai/Mistral-Small-4-119B-2603
    """,
    "minimax_m1": "MiniMaxAI/MiniMax-M1-80k",
    "minimax_m2": "MiniMaxAI/MiniMax-M2 MiniMaxAI/MiniMax-M2.1 minimax-m2.5:cloud",
    "minimax_m3": "MiniMaxAI/MiniMax-M3",
    "granite": "ibm-granite/granite-3.3-8b-instruct granite3.2:8b ibm-granite/granite-3.0-2b-instruct",
    "granite_20b_fc": "ibm-granite/granite-20b-functioncalling",
    "seed_oss": "ByteDance-Seed/Seed-OSS-36B-Instruct",
    "internlm": "internlm/internlm2_5-7b-chat internlm/Intern-S1",
    "cohere": "CohereLabs/c4ai-command-r7b-12-2024 CohereLabs/c4ai-command-a-03-2025 command-a:111b command-r7b:7b",
    "command_r": "CohereLabs/c4ai-command-r-08-2024 command-r-plus:104b CohereForAI/c4ai-command-r-plus",
    "apertus": "swiss-ai/Apertus-8B-Instruct-2509",
    "apriel": "ServiceNow-AI/Apriel-1.6-15b-Thinker",
    "dots": "rednote-hilab/dots.llm1.inst",
    "ernie45": "baidu/ERNIE-4.5-21B-A3B-Thinking",
    "functionary_v3_1": "meetkai/functionary-small-v3.1",
    "functionary_v3_2": "meetkai/functionary-medium-v3.2",
    "functiongemma": "google/functiongemma-270m-it functiongemma:270m",
    "functools": "microsoft/Phi-4-mini-instruct phi4-mini:3.8b fireworks-ai/llama-3-firefunction-v2",
    "gigachat3": "ai-sage/GigaChat3-10B-A1.8B ai-sage/GigaChat3.1-10B-A1.8B",
    "gorilla_openfunctions": "gorilla-llm/gorilla-openfunctions-v2",
    "hunyuan_a13b": "tencent/Hunyuan-A13B-Instruct",
    "hy_v3": "tencent/Hy3",
    "lfm2": "LiquidAI/LFM2-8B-A1B LiquidAI/LFM2.5-8B-A1B",
    "longcat": "meituan-longcat/LongCat-Flash-Chat",
    "minicpm5": "openbmb/MiniCPM5-1B",
    "muse_glimmer": "muse-glimmer",
    "nemotron_toolcall": "nvidia/NVIDIA-Nemotron-Nano-9B-v2 nvidia/Llama-3_3-Nemotron-Super-49B-v1_5 "
    "nvidia/Llama-3.1-Nemotron-Nano-8B-v1",
    "olmo3": "allenai/Olmo-3-7B-Instruct allenai/Olmo-3.1-32B-Think",
    "plamo3": "pfnet/plamo-3-nict-8b-base",
    "solar_open": "upstage/Solar-Open-100B",
    "solar_open2": "upstage/Solar-Open2-250B",
    "step3": "stepfun-ai/step3",
    "tool_calls_json": "ai21labs/AI21-Jamba-Large-1.6",
    "xlam": "Salesforce/Llama-xLAM-2-8b-fc-r Salesforce/xLAM-2-32b-fc-r",
    "aguvis": "xlangai/Aguvis-7B-720P",
    "autoglm": "zai-org/AutoGLM-Phone-9B",
    "cogagent": "zai-org/cogagent-9b-20241220",
    "doubao_ui_tars": "doubao-1.5-ui-tars-250428 doubao-1-5-ui-tars-250428",
    "fara": "microsoft/Fara-7B",
    "mai_ui": "Tongyi-MAI/MAI-UI-8B",
    "opencua": "xlangai/OpenCUA-7B",
    "os_atlas": "OS-Copilot/OS-Atlas-Pro-7B",
    "showui": "showlab/ShowUI-2B",
    "surfer_h": "Hcompany/Holo1.5-7B",
    "ui_tars": "ByteDance-Seed/UI-TARS-1.5-7B",
    "ui_tars_1_0": "ByteDance-Seed/UI-TARS-2B-SFT ByteDance-Seed/UI-TARS-72B-DPO bytedance-research/UI-TARS-7B-DPO",
    "ui_venus": "inclusionAI/UI-Venus-1.5-8B",
    "ui_venus_1_0": "inclusionAI/UI-Venus-Navi-7B",
}
#: Ids that say too little, are of other families, or of models whose responses their providers read.
UNKNOWN = """
        claude-sonnet-4-5 anthropic/claude-opus-4.1 gpt-4o openai/gpt-4.1-mini gpt-5 o3-mini gemini-2.5-pro
        google/gemini-3-pro bert-base-uncased sentence-transformers/all-MiniLM-L6-v2 google/gemma-2-2b-it
        zai-org/GLM-4-9B-0414 qwen3.9 anthropic.claude-3-5-sonnet-20241022-v2:0 amazon.nova-pro-v1:0
        Qwen/Qwen3-Embedding-8B mistral-embed Qwen/Qwen3-ASR-1.7B meta-llama/Llama-3.9-8B
        HuggingFaceH4/zephyr-7b-beta tiiuae/falcon-7b x nonsense 8b
"""
PAIRS = [(model, name) for name, models in IDS.items() for model in models.split()]


@pytest.mark.parametrize(("model", "name"), PAIRS)
def test_a_model_has_its_format(model: str, name: str) -> None:
    assert Parser.for_model(model).format == name


@pytest.mark.parametrize("model", [*UNKNOWN.split(), "x" * 300])
def test_a_model_that_is_not_known_has_no_format(model: str) -> None:
    with pytest.raises(UnknownFormatError, match="there is no format"):
        Parser.for_model(model)


def test_a_provider_is_named_for_models_that_it_alone_serves() -> None:
    with pytest.raises(UnknownFormatError, match="provider='anthropic'") as caught:
        parse("Good evening.", "claude-sonnet-4-5")
    assert caught.value.provider == "anthropic"
    assert caught.value.nearest == []


@pytest.mark.parametrize("name", ["qwen3_codr", "hermes_2_prp", "deepseek_v3_x", "llama3_jsn"])
def test_a_misspelled_name_of_a_format_is_no_model(name: str) -> None:
    with pytest.raises(UnknownFormatError, match="did you mean"):
        Parser(name)


def test_near_families_are_named() -> None:
    with pytest.raises(UnknownFormatError) as caught:
        Parser.for_model("meta-llama/Llama-3.9-8B")
    assert {*caught.value.nearest} <= {"llama_3_1", "llama_3_2", "llama_3_3", "llama3_1", "llama3_2", "llama3_3"}


def test_every_pattern_is_of_one_format() -> None:
    patterns = [pattern for _, pattern, _ in registry.ids(registry.edition())]
    assert sorted(set(patterns)) == sorted(patterns)


ENDS = [
    ("Qwen/Qwen3-8B", None, ""),
    ("Qwen/Qwen3-8B", False, "<think>\n\n</think>\n\n"),
    ("Qwen/Qwen3-4B-Thinking-2507", None, "<think>\n"),
    ("Qwen/Qwen3.5-9B", None, "<think>\n"),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", None, None),
    ("deepseek-ai/DeepSeek-V3.1", None, "</think>"),
    ("deepseek-ai/DeepSeek-V3.1", True, "<think>"),
    ("zai-org/GLM-4.7", None, "<think>"),
    ("zai-org/GLM-4.6", None, ""),
    ("moonshotai/Kimi-K3", False, "<|open|>response<|sep|>"),
    ("google/gemma-4-31B-it", False, "<|channel>thought\n<channel|>"),
    ("openai/gpt-oss-20b", True, None),
]


@pytest.mark.parametrize(("model", "thinking", "end"), ENDS)
def test_the_end_of_the_prompt_is_known(model: str, thinking: bool | None, end: str | None) -> None:
    assert Parser.for_model(model, thinking=thinking).options.prefix == end


def test_reasoning_that_the_prompt_opened_needs_no_prefix() -> None:
    text = "They greet me.\n</think>\n\nGood evening!"
    parser = Parser.for_model("Qwen/Qwen3-30B-A3B-Thinking-2507")
    for reply in (parser.parse(text), parse(text, "Qwen/Qwen3-30B-A3B-Thinking-2507")):
        assert (reply.reasoning, reply.text, reply.diagnostics) == ("They greet me.", "Good evening!", [])
    session = parser.session()
    for character in text:
        session.feed(character)
    session.close()
    assert session.reply == parser.parse(text)
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert parse_response(body, format="Qwen/Qwen3-30B-A3B-Thinking-2507").reasoning == "They greet me."
    assert parser.parse(text, prefix="").reasoning != "They greet me."
    assert parser.replace(repair="none").parse(text).reasoning == "They greet me."
    assert parser.replace(format="hermes").options.prefix is None


def test_the_prompt_of_a_model_that_does_not_think_opens_nothing() -> None:
    reply = Parser.for_model("Qwen/Qwen3.5-9B", thinking=False).parse("Good evening!")
    assert (reply.reasoning, reply.text) == (None, "Good evening!")


def test_ends_are_written_as_the_header_says() -> None:
    assert PromptEnds.of("") == PromptEnds()
    assert PromptEnds.of(r"plain </think> | thinking <think>\n") == PromptEnds("<think>\n", "</think>", False)
    for wrong in ("<think>", "thinking <a> | thinking <b>", "plain"[:3]):
        with pytest.raises(ValueError, match="the default first"):
            PromptEnds.of(wrong)


def test_ids_are_compared_without_owner_and_file() -> None:
    assert bare_id("C:\\models\\Qwen3-8B.Q4_K_M.gguf") == "qwen3-8b.q4-k-m"
    assert bare_id("  models--Qwen--Qwen3-8B ") == "qwen3-8b"
    assert len(bare_id("a" * 100_000)) == 300
