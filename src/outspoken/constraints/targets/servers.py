"""The request fields of OpenAI-compatible servers that constrain a response.

vLLM (0.33): `structured_outputs` is `StructuredOutputsParams` of `vllm/sampling_params.py`, with one kind of
constraint, a structural tag as JSON text; it is a field of `ChatCompletionRequest` in
`vllm/entrypoints/openai/chat_completion/protocol.py`. If the server has no parser for calls, `tool_choice` must be
"none", or it refuses the request. The tools are in the prompt all the same, unless the server runs with
`--exclude-tools-when-tool-choice-none`.

SGLang (0.5.23): `response_format` is xgrammar's `StructuralTag`, and `ebnf` a field of its own, both of
`ChatCompletionRequest` in `python/sglang/srt/entrypoints/openai/protocol.py`. They count before the server's own
constraint for calls (`to_sampling_params`, in the same file). Which engine reads them is an option of the server.

llama.cpp: `grammar`, described in `tools/server/README.md`; beside tools, it is refused unless `tool_choice` is "none"
(`oaicompat_chat_params_parse` in `tools/server/server-common.cpp`).

Markers of formats may be special tokens, which vLLM and SGLang leave out of the text unless `skip_special_tokens` is
false.
"""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

from outspoken.constraints.forms import Grammar
from outspoken.results.arguments import check_choice

from .bnf import bnf_grammar
from .llguidance import lark_grammar

#: The engines by which vLLM and SGLang constrain a response.
ServerBackend = Literal["xgrammar", "llguidance"]


def structural_tag(grammar: Grammar) -> dict[str, Any]:
    """The structural tag of xgrammar, which holds the grammar as EBNF."""
    return {"type": "structural_tag", "format": {"type": "grammar", "grammar": bnf_grammar(grammar)}}


def vllm_fields(grammar: Grammar, special: tuple[str, ...], backend: ServerBackend) -> dict[str, Any]:
    """The fields of a request to vLLM."""
    check_choice(backend, get_args(ServerBackend), "backend")
    if backend == "llguidance":
        kind = {"grammar": lark_grammar(grammar, special)}
    else:
        kind = {"structural_tag": json.dumps(structural_tag(grammar), ensure_ascii=False)}
    return {"structured_outputs": kind, "tool_choice": "none", "skip_special_tokens": False}


def sglang_fields(grammar: Grammar, special: tuple[str, ...], backend: ServerBackend) -> dict[str, Any]:
    """The fields of a request to SGLang."""
    check_choice(backend, get_args(ServerBackend), "backend")
    if backend == "llguidance":
        return {"ebnf": lark_grammar(grammar, special), "skip_special_tokens": False}
    return {"response_format": structural_tag(grammar), "skip_special_tokens": False}


def llama_cpp_fields(grammar: Grammar) -> dict[str, Any]:
    """The fields of a request to llama.cpp."""
    return {"grammar": bnf_grammar(grammar), "tool_choice": "none"}
