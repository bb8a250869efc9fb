"""`python -m tools.constraints.compare`: our constraints beside xgrammar's own structural tags, on the same texts.

For each model that `xgrammar.get_model_structural_tag` knows, responses are rendered in the format of the model: text,
reasoning, one call, several calls. Both constraints read each of them, and some with a mistake: a missing required
argument, a wrong enum value, an unknown tool. The table shows what each accepts. Needs xgrammar; it imports torch and
transformers, for which packages of these names that do nothing suffice.
"""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from typing import Any

from outspoken import Reasoning, Text, render
from outspoken.constraints import constraint
from outspoken.results.errors import RenderError
from tools.shared.command import run

#: The format of each of xgrammar's models.
FORMATS = {
    "llama": "llama3_json",
    "kimi": "kimi_k2",
    "kimi_k3": "kimi_k3",
    "deepseek_r1": "deepseek_v3",
    "deepseek_v3_1": "deepseek_v3_1",
    "deepseek_v3_2": "deepseek_v3_2",
    "deepseek_v4": "deepseek_v4",
    "deepseek_v4_1": "deepseek_v4_1",
    "qwen_3": "hermes",
    "qwen_3_5": "qwen3_coder",
    "qwen_3_coder": "qwen3_coder",
    "mimo": "qwen3_coder",
    "harmony": "harmony",
    "minimax": "minimax_m2",
    "minimax_m3": "minimax_m3",
    "glm_4_7": "glm_4_5",
    "cohere": "cohere",
    "exaone": "hermes",
}
#: Why some texts of a model are accepted by one of the two only.
REASONS = {
    "kimi_k3": "xgrammar's tag begins behind the `<|open|>response<|sep|>` that it takes for the end of the prompt",
    "qwen_3_5": "xgrammar asks for one more line break in a call without arguments",
    "qwen_3_coder": "xgrammar asks for one more line break in a call without arguments",
    "mimo": "xgrammar allows no line break between the markers of a call",
    "exaone": "xgrammar allows no line break between the markers and the JSON of a call",
    "harmony": "xgrammar asks for `<|end|>` behind every message, also the last, and has nothing behind a call",
    "minimax": "xgrammar asks for the end of the reasoning, which it takes for opened, and for two more line breaks",
    "cohere": "xgrammar's tag is for another notation, `<cofl:tool_calls>`, to which these calls are text",
}
_WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["c", "f"]}},
    "required": ["city"],
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": _WEATHER}},
    {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}},
]
_TEXT = Text(text="Let me look.", span=(0, 0))
_REASONING = Reasoning(text="They ask for it.", span=(0, 0))
_CALL = {"name": "get_weather", "arguments": {"city": "Paris", "unit": "c"}}
_TIME: dict[str, Any] = {"name": "get_time", "arguments": {}}
#: What is rendered, by a name for it. Those with `!` should be refused.
CASES: dict[str, list[Any]] = {
    "text": [_TEXT],
    "reasoning, text": [_REASONING, _TEXT],
    "call": [_CALL],
    "text, call": [_TEXT, _CALL],
    "reasoning, call": [_REASONING, _CALL],
    "two calls": [_CALL, _TIME],
    "call, text": [_CALL, _TEXT],
    "!no city": [{"name": "get_weather", "arguments": {"unit": "c"}}],
    "!wrong unit": [{"name": "get_weather", "arguments": {"city": "Paris", "unit": "k"}}],
    "!unknown tool": [{"name": "get_whether", "arguments": {"city": "Paris"}}],
}


class Engine:
    """xgrammar over single bytes."""

    def __init__(self) -> None:
        self.xgrammar: Any = import_module("xgrammar")
        vocabulary = ["<end>", *[chr(code) if code < 128 else f"<0x{code:02X}>" for code in range(256)]]
        kind = self.xgrammar.VocabType.BYTE_FALLBACK
        info = self.xgrammar.TokenizerInfo(vocabulary, kind, vocab_size=257, stop_token_ids=[0])
        self._compiler: Any = self.xgrammar.GrammarCompiler(info)

    def accepts(self, tag: Any, text: str) -> bool:
        """Does a structural tag accept a whole text?"""
        compiled = self._compiler.compile_structural_tag(tag)
        matcher = self.xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
        return bool(matcher.accept_string(text) and (matcher.is_terminated() or matcher.accept_token(0)))


def compared(engine: Engine, model: str) -> dict[str, tuple[bool, bool, str]]:
    """For each case: whether our constraint accepts it, whether xgrammar's own does, and the text."""
    format = FORMATS[model]
    found: dict[str, tuple[bool, bool, str]] = {}
    for name, wanted in CASES.items():
        reasons = any(isinstance(part, Reasoning) for part in wanted)
        theirs = engine.xgrammar.get_model_structural_tag(model, TOOLS, reasoning="enabled" if reasons else "disabled")
        try:
            text = render(wanted, format)
        except RenderError:
            continue
        # xgrammar takes reasoning for opened by the prompt
        opened = re.match(r"<(?:mm:)?think>", text) if reasons and not engine.accepts(theirs, text) else None
        ours = constraint(format, tools=TOOLS, prefix=opened[0] if opened else None).to_xgrammar()
        text = text[opened.end() :] if opened else text
        found[name] = (engine.accepts(ours, text), engine.accepts(theirs, text), text)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table. Returns 1 if our constraint does not read a text as it should."""
    parser = argparse.ArgumentParser(prog="tools.constraints.compare", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"default: {', '.join(FORMATS)}")
    parser.add_argument("--texts", action="store_true", help="show the texts that are read differently")
    args = parser.parse_args(arguments)
    engine, wrong = Engine(), 0
    differences: list[str] = []
    print("| model | format | " + " | ".join(CASES) + " |")
    print("|---|---|" + "---|" * len(CASES))
    for model in args.models or FORMATS:
        found = compared(engine, model)
        cells = [_cell(*found[name][:2]) if name in found else "" for name in CASES]
        print(f"| {model} | {FORMATS[model]} | " + " | ".join(cells) + " |", flush=True)
        if model in REASONS and any(ours != theirs for ours, theirs, _ in found.values()):
            differences.append(f"- {model}: {REASONS[model]}")
        wrong += sum([ours == name.startswith("!") for name, (ours, _, _) in found.items()])
        for name, (ours, theirs, text) in found.items():
            if args.texts and ours != theirs:
                print(f"    {name}: {text!r}")
    print("\n".join(["", *differences]))
    return int(wrong > 0)


def _cell(ours: bool, theirs: bool) -> str:
    return ("both" if ours else "neither") if ours == theirs else ("ours" if ours else "xgrammar")


if __name__ == "__main__":
    run(main)
