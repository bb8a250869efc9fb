"""What vendors' chat templates wrote reads back to the message that they were given, and `render` writes it again.

The data is not part of the project. Where it is missing, these tests have nothing to read and say so by their counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from outspoken import Reasoning, RenderError, Reply, Text, ToolCall, parse, render

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "templates_rendered.jsonl"

#: The format that a template writes, by a part of the template's name; the first that fits counts.
FORMATS = {
    "/Apertus-8B": "apertus",
    "_apertus": "apertus",
    "Apriel-1": "apriel",
    "Bielik-11B": "hermes",
    "ByteDance-Seed-OSS": "seed_oss",
    "Cohere2MoE": "cohere_command4",
    "command-r7b": "cohere",
    "command-r-plus": "command_r",
    "c4ai_command_r_v01": "command_r",
    "/GLM-4": "glm_4_5",
    "GigaChat3": "gigachat3",
    "SmolLM3": "hermes",
    "Kimi-K3": "kimi_k3",
    "Kimi-K2": "kimi_k2",
    "/LFM2": "lfm2",
    "MiMo-VL": "hermes",
    "MiniMax-M1": "minimax_m1",
    "MiniMax-M2": "minimax_m2",
    "MiniMax-M3": "minimax_m3",
    "istral": "mistral",
    "Devstral": "mistral",
    "Nemotron-3-Nano": "qwen3_coder",
    "Nemotron-Nano-v2": "nemotron_toolcall",
    "Hermes-": "hermes",
    "_hermes": "hermes",
    "QwQ-32B": "hermes",
    "Qwen2.5-7B": "hermes",
    "Qwen3-0.6B": "hermes",
    "rusttests_qwen35": "qwen3_coder",
    "rusttests_qwen3.": "hermes",
    "qwen3coder": "qwen3_coder",
    "Qwen3-Coder": "qwen3_coder",
    "Qwen3.5-4B": "qwen3_coder",
    "Reka-Edge": "hermes",
    "Spark2.5": "glm_4_5",
    "StepFun3.5": "qwen3_coder",
    "DeepSeek-V3.2": "deepseek_v3_2",
    "DeepSeek-V4": "deepseek_v4",
    "DeepSeek-V3.1": "deepseek_v3_1",
    "deepseekv31": "deepseek_v3_1",
    "deepseekv32": "deepseek_v3_1",
    "deepseekv3": "deepseek_v3",
    "deepseekr1": "deepseek_v3",
    "cpp-deepseek-r1": "deepseek_v3",
    "DeepSeek-R1-Distill": "deepseek_v3",
    "firefunction": "functools",
    "phi4_mini": "functools",
    "gemma-4": "gemma4",
    "_gemma4": "gemma4",
    "functiongemma": "functiongemma",
    "granite_20b_fc": "granite_20b_fc",
    "granite-4": "hermes",
    "granite": "granite",
    "ling-3.0": "glm_4_5",
    "functionary-medium-v3.1": "functionary_v3_1",
    "functionary-medium-v3.2": "functionary_v3_2",
    "Llama-3": "llama3_json",
    "llama3.1_json": "llama3_json",
    "llama3.2_json": "llama3_json",
    "llama4_json": "llama3_json",
    "muse": "muse",
    "gpt-oss": "harmony",
    "MiniCPM5": "minicpm5",
    "minicpmv45": "hermes",
    "Laguna": "glm_4_5",
    "Hy3": "hy_v3",
    "Solar-Open": "solar_open",
    "hunyuan_a13b": "hunyuan_a13b",
    "internlm2": "internlm",
    "xlam": "xlam",
    "pythonic": "pythonic",
    "toolace": "pythonic",
}

#: What says something else than the message did, which no comparison of the two can tell: where, and why.
UNFAITHFUL = {
    r"command-r7b.* (?:reasoning_|content_only)": "the data begins inside a marker, behind the one that opens",
    r"Nemotron-Nano-v2.* (?:content_|reasoning_and_content)": "reasoning is opened before the content and not closed",
    r"gpt-oss.* content_and_call": "content before a call is written as reasoning",
    r"gemma-4.*_call.* string|gemma-4.* tricky_string string": "arguments that are text get a second pair of braces",
    r"LFM2\.5-8B.* tricky_string": "a string between quotes is written without escapes",
    r"(?:pythonic|toolace).* no_arg_call string": "arguments that are text are taken apart into characters",
    r"llama4_pythonic.* (?:\w+_and_call|one_call|two_calls|tricky_\w+) dict": "every value is written as a string",
    r"gemma3_pythonic.* (?:\w+_and_call|one_call|two_calls|tricky_\w+) dict": "no comma stands between arguments",
    r"(?:llama3\.2_pythonic|toolace).* (?:\w+_and_call|one_call|two_calls|tricky_\w+) dict": "strings have no quotes",
    r"phi4_mini.* (?:reasoning_and_call|one_call|no_arg|two_calls|tricky_)": "no marker before the calls",
}

#: Templates that write a format in a spelling of their own, which is read, and why it is not the one that is written.
DIALECTS = {
    "GLM-4.7": "no line breaks between the tags, as of GLM-4.7; the format is written as GLM-4.5 does",
    "Spark2.5": "no line breaks between the tags",
    "Laguna-S-2.1": "no line breaks between the tags",
    "ling-3.0": "no line breaks before keys",
    "StepFun3.5": "no line breaks round the calls",
    "Mistral-Nemo": "a list of calls, as of Mistral's older models",
    "chat_template_mistral": "a list of calls, as of Mistral's older models",
    "functiongemma": "marks round every value, where Google's page has them round strings",
    "_granite.jinja": "indented JSON, where the models themselves write the list on one line",
    "internlm2": "`arguments`, where the models themselves write `parameters`",
    "GigaChat3-10B": "a message of its own for the call, where GigaChat 3.1 has a token",
    "chat_template_deepseekv31": "the template's own indentation stands between the markers",
    "chat_template_deepseekv32": "the template's own indentation stands between the markers",
    "vllm/tool_chat_template_deepseekv3.": "the template's own indentation stands between the markers",
}


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


#: The tools that the messages call.
TOOLS = [
    _tool(
        "get_weather",
        city={"type": "string"},
        days={"type": "integer"},
        metric={"type": "boolean"},
        tags={"type": "array", "items": {"type": "string"}},
    ),
    _tool("get_time", tz={"type": "string"}),
    _tool("ping"),
]


class Row(NamedTuple):
    """One message that a template wrote: the end of the prompt, the text behind it, and what the text says."""

    name: str
    format: str
    prefix: str
    text: str
    said: list[Any]
    #: is the arguments' text written as a string, which is read but not written?
    quoted: bool


@cache
def _written() -> list[dict[str, Any]]:
    """The messages that a template had words for."""
    lines = DATA.read_text("utf-8").splitlines() if DATA.exists() else []
    return [row for row in map(json.loads, lines) if "assistant_part" in row]


def _calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [call["function"] | {"id": call["id"]} for call in row["message"].get("tool_calls") or ()]


def _format(template: str) -> str | None:
    return next((name for part, name in FORMATS.items() if part in template), None)


def _is_unfaithful(name: str) -> bool:
    return any(re.search(pattern, name) for pattern in UNFAITHFUL)


@cache
def rows(*, unfaithful: bool = False) -> list[Row]:
    """The messages that their texts still say; or those of which `UNFAITHFUL` says that they do not."""
    made = [_row(row) for row in _written() if _format(row["template"])]
    return [row for row in made if row and _is_unfaithful(row.name) is unfaithful]


def _row(row: dict[str, Any]) -> Row | None:
    """A row, of which is expected what of the message was written; None where a call was written in part."""
    prefix, text = _split(row)
    said: list[Any] = []
    quoted = False
    for call in _calls(row):
        held = call["arguments"]
        arguments = json.loads(held) if isinstance(held, str) else held
        if call["name"] not in text:
            continue
        if not _holds(text, arguments):
            return None
        quoted |= isinstance(held, str) and json.dumps(held, ensure_ascii=False) in text
        id_ = call["id"] if call["id"] in text else None
        said.append(ToolCall(name=call["name"], arguments=arguments, id=id_))
    content, reasoning = row["message"].get("content"), row["message"].get("reasoning_content")
    if content and content in text:
        before = [call for call in said if text.find(call.name) < text.find(content)]
        said.insert(len(before), Text(text=content, span=(0, 0)))
    if reasoning and reasoning in text:
        said.insert(0, Reasoning(text=reasoning, span=(0, 0)))
    name = f"{row['template']} {row['scenario']} {row['argument_form']}"
    return Row(name, _format(row["template"]) or "", prefix, text, said, quoted)


#: Some templates write the beginning of the next turn, too, and one writes calls and content as two turns.
_NEXT_TURN = re.compile(
    r"(?s)(<\|eot_id\|>|<\|end\|>|<｜end▁of▁sentence｜>|```\n|<\|END_OF_TURN_TOKEN\|>)"
    r"(?:<\|start_header_id\|>assistant|<\|assistant\|>|<｜Assistant｜>|<\|START_OF_TURN_TOKEN\|>).*"
)


def _split(row: dict[str, Any]) -> tuple[str, str]:
    """The end of the prompt, and the text behind it, which the model would have written.

    Where the template writes a message that lies in the past otherwise than the prompt would begin it, the prompt ends
    where they part, and at the end of a marker or line; but where it opens reasoning in words, it is the whole.
    """
    prompt, whole = row["generation_prompt"], _NEXT_TURN.sub(r"\1", row["assistant_part"])
    head, mark, rest = whole.rpartition("[/INST]")
    if mark:
        return head + mark, rest
    if row["after_generation_prompt"]:
        return prompt, whole[len(prompt) :]
    if whole[:1] == " ":
        # the template's own indentation, of other width in the prompt
        prompt, whole = prompt.lstrip(), whole.lstrip()
    parted = next((n for n, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), len(prompt))
    shared = whole[: max(whole.rfind(mark, 0, parted) for mark in "\n>:") + 1]
    if shared:
        rest = prompt[len(shared) :]
        in_words = row["message"].get("reasoning_content") and re.fullmatch(r"[^<>]+", rest)
        return (prompt if in_words else shared), whole[len(shared) :]
    # the data may lack what the prompt and the text before it have in common
    overlap = next((n for n in range(len(prompt), 0, -1) if prompt.endswith(whole[:n])), 0)
    return (prompt if overlap else ""), whole[overlap:]


def _holds(text: str, value: Any) -> bool:
    """Does a text hold a value with all that is in it, in some spelling?"""
    if isinstance(value, (dict, list)):
        return all(_holds(text, part) for part in _parts(value))
    if not isinstance(value, str):
        return json.dumps(value) in text or str(value) in text
    return any(spelled in text for spelled in _spellings(value))


def _parts(value: Any) -> Iterator[Any]:
    yield from value
    yield from value.values() if isinstance(value, dict) else ()


def _spellings(value: str) -> Iterator[str]:
    """A string as it is, in JSON, and in JSON that is in a JSON string."""
    yield value
    for is_ascii in (False, True):
        once = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=is_ascii)[1:-1])


def _differs(reply: Reply, row: Row) -> str:
    """In what a reply is not the message that was written; "" where it is."""
    if [(c.name, c.arguments) for c in reply.tool_calls] != [
        (c.name, c.arguments) for c in row.said if c.kind == "tool_call"
    ]:
        return "calls"
    if reply.text.strip() != "".join(part.text for part in row.said if part.kind == "text"):
        return "content"
    if (reply.reasoning or "").strip() != "".join(part.text for part in row.said if part.kind == "reasoning"):
        return "reasoning"
    return "" if reply.status == "ok" else "status"


def test_every_template_has_a_format_or_writes_no_calls() -> None:
    silent = {row["template"] for row in _written()} - {
        row["template"] for row in _written() if any(call["name"] in row["assistant_part"] for call in _calls(row))
    }
    assert {row["template"] for row in _written() if _format(row["template"]) is None} <= silent
    assert not DATA.exists() or [part for part in FORMATS if not any(part in r["template"] for r in _written())] == []


def test_every_message_is_read_by_its_format() -> None:
    wrong = [
        f"{row.name}: {what}"
        for row in rows()
        if (what := _differs(parse(row.text, row.format, prefix=row.prefix, tools=TOOLS), row))
    ]
    assert wrong == []
    assert not DATA.exists() or len(rows()) >= 1100


def test_omitted_templates_differ() -> None:
    left_out = rows(unfaithful=True)
    same = [r.name for r in left_out if not _differs(parse(r.text, r.format, prefix=r.prefix, tools=TOOLS), r)]
    assert same == []
    unused = [pattern for pattern in UNFAITHFUL if not any(re.search(pattern, row.name) for row in left_out)]
    assert not DATA.exists() or unused == []


def test_messages_are_read_with_detection() -> None:
    wrong = Counter(
        row.name.split()[0] for row in rows() if _differs(parse(row.text, prefix=row.prefix, tools=TOOLS), row)
    )
    assert sum(wrong.values()) <= len(rows()) // 50, wrong


#: What a template writes round a message, and `render` does not: an empty block of reasoning, the end of the turn.
_NO_REASONING = re.compile(
    r"\A(?:\s*<\W?(?:\w+:)?think[^<>]*>)?\s*<\W?/(?:\w+:)?think[^<>]*>|\A<\|close\|>think<\|sep\|>"
)
_END = re.compile(
    r"(?:\s|</s>|</assistant>|\[e~\[|<\|close\|>message<\|sep\|>"
    r"|<(?:seed:eos|sep|turn\||end_of_turn|end_of_sentence|SPECIAL_12)>"
    r"|<[|｜](?:\w*eos\w*(?::\w+)?|tool_response|eo[mt](?:_id)?|end(?:_of_text|oftext|_of_msg|▁of▁sentence)?|im_end"
    r"|return|message_sep|role_end|END_OF_TURN_TOKEN)(?:[|｜]>|>))+\Z"
)


def _core(text: str) -> str:
    return _END.sub("", _NO_REASONING.sub("", text)).strip()


def _render(row: Row) -> str:
    try:
        return render(row.said, row.format)
    except RenderError as error:
        return str(error)


def _is_same(row: Row, written: str) -> bool:
    """Is this what the template wrote? It may begin in the prompt: with what that has opened."""
    core, text = _core(written), _core(row.text)
    return core == text or (len(core) > len(text) and _core(row.prefix + row.text).endswith(core))


def test_messages_are_written_as_their_templates_write_them() -> None:
    written = [row for row in rows() if not row.quoted and not any(part in row.name for part in DIALECTS)]
    other = Counter(row.name.split()[0] for row in written if not _is_same(row, _render(row)))
    assert sum(other.values()) <= len(written) // 20, other
    assert not DATA.exists() or len(written) >= 750


def test_known_rendering_differences_still_differ() -> None:
    same = [part for part in DIALECTS if all(_is_same(row, _render(row)) for row in rows() if part in row.name)]
    assert not DATA.exists() or same == []
