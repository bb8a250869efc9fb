"""Measure constraints of decoding: the section `constraints` of `python -m tools.bench`.

Prints how long it takes to make a constraint for ten tools and to write it for each engine, in milliseconds; then, for
hermes and each engine that is installed, the mean time of a mask in microseconds: with our constraint, with our
constraint without reasoning, and with a grammar for the same tools that is written by hand with what the engine has
built in, which has no reasoning. The vocabulary is a BPE of 2,000 tokens, trained on the corpus.
`python -m tools.bench.constraints FORMAT ...` measures other formats; `all` is all of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from outspoken import Text, formats, render
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.constraints import Constraint, constraint
from tests.constraints import engines

_SIZE, _ROUNDS = 2000, 40
_USUAL = ("hermes", "qwen3_coder", "pythonic", "deepseek_v3_2", "harmony")
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
TOOLS: list[dict[str, Any]] = [
    {
        "name": f"tool_{number}",
        "parameters": {
            "type": "object",
            "properties": _PROPERTIES,
            "required": ["city"],
            "additionalProperties": False,
        },
    }
    for number in range(10)
]
_ARGUMENTS = {"city": "Paris", "days": 3, "unit": "celsius", "place": {"street": 'Rue "A"', "number": 4}}
_LEAD = "Let me look that up for you; it will take a moment.\n\nThen I will compare both."

#: Steps over the tokens of a response: makes the masks, and returns the seconds that they took.
_Stepper = Callable[[list[int]], float]


def main(argv: list[str] | None = None) -> int:
    """Print the tables."""
    names = (sys.argv[1:] if argv is None else argv) or list(_USUAL)
    _show_making(names if names != ["all"] else [info.name for info in formats()])
    texts = _texts()
    for engine in (_llguidance, _xgrammar):
        try:
            tokens, steppers = engine(texts)
        except ImportError as error:
            print(f"{error.name} is not installed")
            continue
        _show_masks(engine.__name__[1:], tokens, steppers)
    return 0


def _show_making(names: list[str]) -> None:
    print(f"{'ten tools, ms':24} {'first':>8} {'make':>8} {'llguidance':>11} {'ebnf':>8}")
    for name in names:
        first = _time(lambda name=name: constraint(name, tools=TOOLS), 1)
        row = [_time(lambda name=name, write=write: write(constraint(name, tools=TOOLS)), 7) for write in _WRITERS]
        print(f"{name:24} {first * 1e3:8.1f} {row[0] * 1e3:8.1f} {row[1] * 1e3:11.1f} {row[2] * 1e3:8.1f}", flush=True)


_WRITERS: tuple[Callable[[Constraint], object], ...] = (
    lambda made: made,
    lambda made: made.to_llguidance(),
    lambda made: made.to_ebnf(),
)


def _time(function: Callable[[], object], rounds: int) -> float:
    """The best time of a function, in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def _texts() -> list[str]:
    calls = [{"name": f"tool_{number}", "arguments": _ARGUMENTS} for number in (0, 5, 9)]
    return [
        render([Text(text=_LEAD, span=(0, len(_LEAD))), *calls[:count]], "hermes", tools=TOOLS) for count in (1, 2, 3)
    ]


def _show_masks(engine: str, tokens: list[list[int]], steppers: dict[str, _Stepper]) -> None:
    """Measure in turns, so that noise affects all alike; the best round counts."""
    best = dict.fromkeys(steppers, float("inf"))
    for _ in range(_ROUNDS):
        for name, step in steppers.items():
            best[name] = min(best[name], sum([step(sequence) for sequence in tokens]))
    count = sum([len(sequence) for sequence in tokens])
    means = {name: seconds / count * 1e6 for name, seconds in best.items()}
    listed = ", ".join([f"{name} {mean:.1f}" for name, mean in means.items()])
    *ours, other = means.values()
    ratios = ", ".join([f"{mean / other:.2f}" for mean in ours])
    print(f"{engine}: µs a mask: {listed}; ratios {ratios}", flush=True)


def tokenizer() -> Any:
    """A BPE trained on the corpus, of the package `tokenizers`."""
    tokenizers: Any = import_module("tokenizers")
    made: Any = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer: Any = tokenizers.trainers.BpeTrainer(vocab_size=_SIZE, special_tokens=["<eos>"], initial_alphabet=alphabet)
    made.train_from_iterator(_corpus(), trainer)
    return made


def _corpus() -> Iterator[str]:
    for case in cases(Checkout()):
        yield case.text


def _ours() -> dict[str, Constraint]:
    return {
        "ours": constraint("hermes", tools=TOOLS),
        "ours without reasoning": constraint("hermes", tools=TOOLS, reasoning="none"),
    }


def _llguidance(texts: list[str]) -> tuple[list[list[int]], dict[str, _Stepper]]:
    masks: Any = import_module("llguidance.numpy")
    engine: Any = import_module("llguidance")
    tokens: Any = engine.LLTokenizer(tokenizer().to_str())
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, "arguments": tool["parameters"]},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in TOOLS
    ]
    by_hand = (
        'start: (head call)* tail\nhead[lazy]: TEXT "<tool_call>\\n"\ntail: TEXT\nTEXT: /(?s:.)*/\n'
        f'call: json "\\n</tool_call>"\njson: %json {json.dumps({"anyOf": calls})}\n'
    )
    grammars = {name: made.to_llguidance() for name, made in _ours().items()} | {"by hand": by_hand}

    def stepper(grammar: str) -> _Stepper:
        made: Any = engine.LLMatcher(tokens, engine.LLMatcher.grammar_from_lark(grammar))
        mask: Any = masks.allocate_token_bitmask(1, tokens.vocab_size)

        def step(sequence: list[int]) -> float:
            matcher: Any = made.deep_copy()
            spent = 0.0
            for token in sequence:
                start = time.perf_counter()
                masks.fill_next_token_bitmask(matcher, mask, 0)
                spent += time.perf_counter() - start
                if not matcher.consume_token(token):
                    raise RuntimeError("a grammar refuses the response")
            return spent

        return step

    return [tokens.tokenize_str(text) for text in texts], {name: stepper(g) for name, g in grammars.items()}


def _xgrammar(texts: list[str]) -> tuple[list[list[int]], dict[str, _Stepper]]:
    numpy: Any = import_module("numpy")
    xgrammar: Any = engines.xgrammar()
    bpe = tokenizer()
    vocabulary = [_bytes_of(bpe, index) for index in range(_SIZE)]
    known: Any = xgrammar.TokenizerInfo(
        vocabulary, xgrammar.VocabType.RAW, vocab_size=_SIZE, stop_token_ids=[bpe.token_to_id("<eos>")]
    )
    compiler: Any = xgrammar.GrammarCompiler(known)
    tags = [
        {
            "type": "tag",
            "begin": f'<tool_call>\n{{"name": "{tool["name"]}", "arguments": ',
            "content": {"type": "json_schema", "json_schema": tool["parameters"]},
            "end": "}\n</tool_call>",
        }
        for tool in TOOLS
    ]
    by_hand: dict[str, Any] = {
        "type": "structural_tag",
        "format": {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags},
    }
    grammars = {name: made.to_xgrammar() for name, made in _ours().items()} | {"by hand": by_hand}

    def stepper(structural_tag: dict[str, Any]) -> _Stepper:
        made = compiler.compile_structural_tag(json.dumps(structural_tag))
        mask: Any = numpy.zeros((1, (_SIZE + 31) // 32), dtype=numpy.int32)

        def step(sequence: list[int]) -> float:
            matcher: Any = xgrammar.GrammarMatcher(made)
            spent = 0.0
            for token in sequence:
                start = time.perf_counter()
                matcher.fill_next_token_bitmask(mask, 0)
                spent += time.perf_counter() - start
                if not matcher.accept_token(token):
                    raise RuntimeError("a grammar refuses the response")
            return spent

        return step

    return [bpe.encode(text).ids for text in texts], {name: stepper(g) for name, g in grammars.items()}


def _bytes_of(bpe: Any, index: int) -> bytes:
    """The bytes of a token of a BPE over bytes, which writes each byte as a character."""
    alphabet = {char: number for number, char in enumerate(_byte_chars())}
    token = bpe.id_to_token(index)
    return token.encode() if token == "<eos>" else bytes([alphabet[char] for char in token])


def _byte_chars() -> list[str]:
    """The character of each byte: itself if it is printable, else one from U+0100 on, as in GPT-2."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    found: list[str] = []
    others = 0
    for byte in range(256):
        found.append(chr(byte if byte in printable else 0x100 + others))
        others += byte not in printable
    return found


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
