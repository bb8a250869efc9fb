"""Chat templates whose calls are in some formats."""

from __future__ import annotations

#: What ends a turn, and what begins the answer, as ChatML writes it.
CHATML = """
{%- for message in messages %}
{%- if message.role == 'assistant' %}{{ '<|im_start|>assistant\\n' }}
{%- if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}
{{- message.content }}CALLS{{ '<|im_end|>\\n' }}
{%- else %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}END{% endif %}"""
#: What thinking models begin the answer with, and what those that need not think do.
OPENED = "{{ '<think>\\n' }}"
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"

_EACH = "{% for call in message.tool_calls or [] %}{% set call = call.function %}"
_JSON = '{"name": "\' + call.name + \'", "arguments": \' + call.arguments|tojson + \'}'
_HERMES = "{{ '\\n<tool_call>\\n" + _JSON + "\\n</tool_call>' }}"
_XML = (
    "{{ '\\n<tool_call>\\n<function=' + call.name + '>\\n' }}"
    "{% for key, value in call.arguments.items() %}"
    "{{ '<parameter=' + key + '>\\n' + (value if value is string else value|tojson) + '\\n</parameter>\\n' }}"
    "{% endfor %}{{ '</function>\\n</tool_call>' }}"
)
_PAIRS = (
    "{{ '\\n<tool_call>' + call.name }}{% for key, value in call.arguments.items() %}{{ '\\n<arg_key>' + key + "
    "'</arg_key>\\n<arg_value>' + (value if value is string else value|tojson) + '</arg_value>' }}{% endfor %}"
    "{{ '\\n</tool_call>' }}"
)
_TOKENS = (
    "{{ '<|tool_call_begin|>functions.' + call.name + ':' + loop.index0|string + '<|tool_call_argument_begin|>' + "
    "call.arguments|tojson + '<|tool_call_end|>' }}"
)
_SECTION = (
    "{{ '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + call.name + '\\n```json\\n' + call.arguments|tojson + "
    "'\\n```<｜tool▁call▁end｜>' }}"
)


def chatml(call: str, before: str = "", behind: str = "", *, end: str = "") -> str:
    """A template whose calls are written by `call`, with markers round all of them."""
    calls = f"{_EACH}{call}{{% endfor %}}"
    if before:
        calls = f"{{% if message.tool_calls %}}{{{{ '{before}' }}}}{calls}{{{{ '{behind}' }}}}{{% endif %}}"
    return CHATML.replace("CALLS", calls).replace("END", end)


TEMPLATES = {
    "hermes": chatml(_HERMES),
    "hermes, which always thinks": chatml(_HERMES, end=OPENED),
    "hermes, with a switch": chatml(_HERMES, end=SWITCH),
    "qwen3_coder": chatml(_XML),
    "glm_4_5": chatml(_PAIRS),
    "kimi_k2": chatml(_TOKENS, "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    "deepseek_v3": chatml(_SECTION, "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    "mistral": chatml("{{ '[TOOL_CALLS]' + call.name + '[ARGS]' + call.arguments|tojson }}"),
    "function_calls_json": chatml("{{ '\\n<function_calls>" + _JSON + "</function_calls>' }}"),
}
