"""Constraints of decoding: what it takes to make them and to write them for engines, and their masks.

Masks are measured for hermes: with our constraint, without reasoning, and with a grammar for the same tools that is
written by hand with what the engine has built in. The vocabulary is a BPE of 2,000 tokens, trained on the corpus.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from outspoken import Text, render
from outspoken.constraints import Constraint, constraint
from tests.constraints import engines

_FORMATS = ("hermes", "qwen3_coder", "pythonic", "deepseek_v3_2", "harmony")
_PROPERTIES: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer", "minimum": 1, "maximum": 14},
    "unit": {"enum": ["celsius", "fahrenheit"]},
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    "place": {
        "type": "object",
        "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
        "required": ["street"],
        "additionalProperties": False,
    },
}
_SCHEMA = {"type": "object", "properties": _PROPERTIES, "required": ["city"], "additionalProperties": False}
_TOOLS: list[dict[str, Any]] = [{"name": f"tool_{number}", "parameters": _SCHEMA} for number in range(10)]
_ARGUMENTS = {"city": "Paris", "days": 3, "unit": "celsius", "place": {"street": 'Rue "A"', "number": 4}}
_LEAD = "Let me look that up for you; it will take a moment.\n\nThen I will compare both."
_WRITERS: tuple[Callable[[Constraint], object], ...] = (
    lambda made: made,
    lambda made: made.to_llguidance(),
    lambda made: made.to_ebnf(),
)
#: An engine: starts a response, and fills the mask for the next token; then takes a token.
_Start = Callable[[], tuple[Callable[[], Any], Callable[[int], Any]]]


def constraints(_: Any, rounds: int) -> None:
    """Milliseconds to make a constraint for ten tools and to write it; microseconds of a mask for hermes."""
    print(f"  {'ten tools, ms':24} {'first':>8} {'make':>8} {'llguidance':>11} {'ebnf':>8}")
    for name in _FORMATS:
        cells = [_time(lambda name=name: constraint(name, tools=_TOOLS), 1)]
        cells += [_time(lambda n=name, w=write: w(constraint(n, tools=_TOOLS)), 7) for write in _WRITERS]
        print(f"  {name:24} {' '.join([f'{cell * 1e3:8.1f}' for cell in cells])}", flush=True)
    calls = [{"name": f"tool_{number}", "arguments": _ARGUMENTS} for number in (0, 5, 9)]
    said = Text(text=_LEAD, span=(0, len(_LEAD)))
    texts = [render([said, *calls[:count]], format="hermes", tools=_TOOLS) for count in (1, 2, 3)]
    for name, engine in {"llguidance": _llguidance, "xgrammar": _xgrammar}.items():
        try:
            starts = engine()
        except ImportError as error:
            print(f"  {name}: {error.name} is not installed")
            continue
        tokens = [engines.bpe_vocabulary().encoded(text) for text in texts]
        best = dict.fromkeys(starts, float("inf"))
        for _turn in range(rounds):  # in turns, so that noise affects all alike
            for label, start in starts.items():
                best[label] = min(best[label], sum([_masks(start, sequence) for sequence in tokens]))
        count, hand = sum(map(len, tokens)), best["by hand"]
        cells = [f"{label} {t / count * 1e6:.1f} ({t / hand:.2f})" for label, t in best.items()]
        print(f"  {name}, µs a mask (to that by hand): {', '.join(cells)}", flush=True)


def _time(function: Callable[[], object], rounds: int) -> float:
    """The best time of a function, in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def _masks(start: _Start, sequence: list[int]) -> float:
    """Seconds for the masks over the tokens of a response."""
    fill, take = start()
    spent = 0.0
    for token in sequence:
        begun = time.perf_counter()
        fill()
        spent += time.perf_counter() - begun
        if not take(token):
            raise RuntimeError("a grammar refuses the response")
    return spent


def _ours() -> dict[str, Constraint]:
    made = constraint("hermes", tools=_TOOLS)
    return {"ours": made, "without reasoning": constraint("hermes", tools=_TOOLS, reasoning="none")}


def _llguidance() -> dict[str, _Start]:
    masks: Any = import_module("llguidance.numpy")
    engine: Any = import_module("llguidance")
    tokens: Any = engine.LLTokenizer(engines.bpe_vocabulary().path)
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, "arguments": tool["parameters"]},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in _TOOLS
    ]
    by_hand = (
        'start: (head call)* tail\nhead[lazy]: TEXT "<tool_call>\\n"\ntail: TEXT\nTEXT: /(?s:.)*/\n'
        f'call: json "\\n</tool_call>"\njson: %json {json.dumps({"anyOf": calls})}\n'
    )
    mask: Any = masks.allocate_token_bitmask(1, tokens.vocab_size)

    def starter(grammar: str) -> _Start:
        made: Any = engine.LLMatcher(tokens, engine.LLMatcher.grammar_from_lark(grammar))

        def start() -> tuple[Callable[[], Any], Callable[[int], Any]]:
            matcher: Any = made.deep_copy()
            return lambda: masks.fill_next_token_bitmask(matcher, mask, 0), matcher.consume_token

        return start

    grammars = {name: made.to_llguidance() for name, made in _ours().items()} | {"by hand": by_hand}
    return {name: starter(grammar) for name, grammar in grammars.items()}


def _xgrammar() -> dict[str, _Start]:
    numpy: Any = import_module("numpy")
    xgrammar: Any = engines.xgrammar()
    vocabulary = engines.bpe_vocabulary()
    compiler: Any = engines.xgrammar_compiler(vocabulary)
    mask: Any = numpy.zeros((1, (len(vocabulary.tokens) + 31) // 32), dtype=numpy.int32)
    tags = [
        {
            "type": "tag",
            "begin": f'<tool_call>\n{{"name": "{tool["name"]}", "arguments": ',
            "content": {"type": "json_schema", "json_schema": tool["parameters"]},
            "end": "}\n</tool_call>",
        }
        for tool in _TOOLS
    ]
    form: dict[str, Any] = {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags}
    by_hand: dict[str, Any] = {"type": "structural_tag", "format": form}

    def starter(tag: dict[str, Any]) -> _Start:
        made: Any = compiler.compile_structural_tag(json.dumps(tag))

        def start() -> tuple[Callable[[], Any], Callable[[int], Any]]:
            matcher: Any = xgrammar.GrammarMatcher(made)
            return lambda: matcher.fill_next_token_bitmask(mask, 0), matcher.accept_token

        return start

    grammars = {name: made.to_xgrammar() for name, made in _ours().items()} | {"by hand": by_hand}
    return {name: starter(tag) for name, tag in grammars.items()}
