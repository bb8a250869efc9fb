"""Response templates of transformers for formats that we have, as the author of a checkpoint would write them."""

from __future__ import annotations

from typing import Any

Template = dict[str, Any]

_NAMED: Template = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}


def _function(name: str, arguments: str) -> Template:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def _template(**calls: Any) -> Template:
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|assistant|>",
        "fields": {"content": {}, "tool_calls": {"repeats": True, **calls}},
    }


TEMPLATES: dict[str, Template] = {
    "hermes": _template(
        open="<tool_call>",
        close="</tool_call>",
        content="json",
        transform=_function("{content.name}", "{content.arguments}"),
    ),
    "qwen3_coder": _template(
        open_pattern=r"<tool_call>\s*<function=(?P<name>\w+)>",
        close="</tool_call>",
        content="xml-inline",
        content_args={"tag_pattern": r"<parameter=(?P<key>\w+)>\n?(?P<value>.*?)\n?</parameter>"},
        transform=_NAMED,
    ),
    "glm_4_5": _template(
        open_pattern=r"<tool_call>(?P<name>\w+)",
        close="</tool_call>",
        content="xml-inline",
        content_args={
            "tag_pattern": r"<arg_key>(?P<key>[^<]+)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>",
        },
        transform=_NAMED,
    ),
    "deepseek_v3_1": _template(
        open_pattern=r"(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>(?P<name>\w+)<｜tool▁sep｜>",
        close=["<｜tool▁call▁end｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"],
        content="json",
        transform=_NAMED,
    ),
    "kimi_k2": _template(
        open_pattern=(
            r"(?:<\|tool_calls_section_begin\|>)?<\|tool_call_begin\|>functions\.(?P<name>\w+):\d+"
            r"<\|tool_call_argument_begin\|>"
        ),
        close=["<|tool_call_end|>", "<|tool_call_end|><|tool_calls_section_end|>"],
        content="json",
        transform=_NAMED,
    ),
    "gemma4": _template(
        open_pattern=r"<\|tool_call>call:(?P<name>\w+)",
        close="<tool_call|>",
        content="json",
        content_args={"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
        transform=_NAMED,
    ),
    "functionary_v3_1": _template(
        open_pattern=r"<function=(?P<name>\w+)>", close="</function>", content="json", transform=_NAMED
    ),
    "minicpm5": _template(
        open_pattern=r'<function name="(?P<name>\w+)">',
        close="</function>",
        content="xml-inline",
        content_args={"tag_pattern": r'<param name="(?P<key>\w+)">(?P<value>.*?)</param>'},
        transform=_NAMED,
    ),
    "internlm": _template(
        open_pattern=r"<\|action_start\|>\s*<\|plugin\|>",
        close="<|action_end|>",
        content="json",
        transform=_function("{content.name}", "{content.parameters}"),
    ),
    "granite": {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|assistant|>",
        "fields": {
            "content": {},
            "tool_calls": {
                "open": "<|tool_call|>",
                "close_pattern": r"\Z",
                "content": "json",
                "transform_each": True,
                "transform": _function("{name}", "{arguments}"),
            },
        },
    },
}
