"""Measure speed, as ratios in one run. Run as `python tools/bench.py [--quick] [SECTION ...]`.

Sections: `whole`, `stream`, `growth`, `text`, `detect`, `import`. Where a peer's parsers can be loaded (a module
`peers.py` in the folder that OUTSPOKEN_PEERS names, or in `../shared/bench`), `whole` and `stream` compare with them.
Every figure is the best of many short runs, and what is compared is run in turns, so that a noisy machine disturbs
both alike.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from outspoken import StreamParser, Tools, parse

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "save_note",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "copies": {"type": "integer"}, "body": {"type": "string"}},
            },
        },
    }
]
#: read once, as the peer is given its tools
GIVEN = Tools.of(TOOLS)
SENTENCE = "The ferry to the island leaves at nine and the last one back is at six. "

#: format, and the peer's module and class for it
PEERS = {
    "hermes": ("hermes_detector", "HermesDetector"),
    "qwen3_coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "deepseek_v3_1": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "glm_4_5": ("glm4_moe_detector", "Glm4MoeDetector"),
    "kimi_k2": ("kimik2_detector", "KimiK2Detector"),
    "pythonic": ("pythonic_detector", "PythonicDetector"),
}


def body(size: int) -> str:
    """Prose of about so many characters."""
    return (SENTENCE * (size // len(SENTENCE) + 1))[:size].strip()


def response(format_: str, calls: int, size: int) -> str:
    """A response with some calls, whose longest argument has about `size` characters."""
    lead = "I will write that down."
    values = [{"title": f"Ferry {i}", "copies": i + 1, "body": body(size)} for i in range(calls)]
    texts = [json.dumps(v) for v in values]
    if format_ == "hermes":
        blocks = [f'<tool_call>\n{{"name": "save_note", "arguments": {t}}}\n</tool_call>' for t in texts]
        return "\n".join([lead, *blocks])
    if format_ == "qwen3_coder":
        rows = ["".join([f"<parameter={k}>\n{v}\n</parameter>\n" for k, v in value.items()]) for value in values]
        blocks = [f"<tool_call>\n<function=save_note>\n{row}</function>\n</tool_call>" for row in rows]
        return "\n".join([lead, *blocks])
    if format_ == "deepseek_v3_1":
        blocks = [f"<｜tool▁call▁begin｜>save_note<｜tool▁sep｜>{t}<｜tool▁call▁end｜>" for t in texts]
        return f"{lead}<｜tool▁calls▁begin｜>{''.join(blocks)}<｜tool▁calls▁end｜>"
    if format_ == "glm_4_5":
        pairs = [
            [f"<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n" for k, v in value.items()] for value in values
        ]
        return "\n".join([lead, *[f"<tool_call>save_note\n{''.join(pair)}</tool_call>" for pair in pairs]])
    if format_ == "kimi_k2":
        opener, argument, closer = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
        blocks = [f"{opener}functions.save_note:{i}{argument}{t}{closer}" for i, t in enumerate(texts)]
        return f"{lead}<|tool_calls_section_begin|>{''.join(blocks)}<|tool_calls_section_end|>"
    written = [f"save_note({', '.join([f'{k}={v!r}' for k, v in value.items()])})" for value in values]
    return f"[{', '.join(written)}]"


#: calls and size of the longest argument of the typical responses: about 0.25, 0.9 and 2 KB
TYPICAL = ((1, 60), (2, 260), (3, 520))


def turns(functions: list[Callable[[], Any]], rounds: int, longest: float = 4.0) -> list[float]:
    """The best time of each function, in seconds, measured in turns; none is run for much longer than `longest`."""
    best = [math.inf] * len(functions)
    spent = [0.0] * len(functions)
    counts: list[int] = []
    for i, function in enumerate(functions):
        start = time.perf_counter()
        function()
        best[i] = spent[i] = time.perf_counter() - start
        counts.append(max(1, int(0.002 / max(best[i], 1e-7))))
    for _ in range(rounds):
        for i, function in enumerate(functions):
            if spent[i] > longest:
                continue
            start = time.perf_counter()
            for _ in range(counts[i]):
                function()
            taken = time.perf_counter() - start
            spent[i] += taken
            best[i] = min(best[i], taken / counts[i])
    return best


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum([math.log(r) for r in ratios]) / len(ratios))


def show_means(ratios: list[float], digits: int) -> None:
    """The geometric mean, and that without the ratio that is furthest from it."""
    if len(ratios) > 1:
        rest = sorted(ratios, key=lambda ratio: abs(math.log(ratio / mean(ratios))))[:-1]
        print(f"  {'geometric mean':60} {mean(ratios):7.{digits}f}")
        print(f"  {'geometric mean without the most extreme':60} {mean(rest):7.{digits}f}")


def load_peers() -> Any:
    """The module that loads the peer's parsers, or None."""
    folder = Path(os.environ.get("OUTSPOKEN_PEERS", Path(__file__).parents[2] / "shared" / "bench"))
    if not (folder / "peers.py").exists():
        return None
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("peers")
    except Exception as error:  # whatever keeps a peer from loading, the rest can be measured
        print(f"(the peer's parsers cannot be loaded: {error})")
        return None


def peer(peers: Any, format_: str) -> tuple[Any, Any]:
    """The peer's parser class for a format, and its tools."""
    module, name = PEERS[format_]
    tools = [peers.Tool(function=peers.Function(**t["function"])) for t in TOOLS]
    return getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), name), tools


def reader(texts: list[str], format_: str = "auto") -> Callable[[], Any]:
    """A function that reads whole responses."""
    return lambda: [parse(text, format_, tools=GIVEN) for text in texts]


def peers_reader(peers: Any, texts: list[str], format_: str) -> Callable[[], Any]:
    """A function with which the peer reads whole responses."""
    maker, tools = peer(peers, format_)
    return lambda: [maker().detect_and_parse(text, tools) for text in texts]


def whole(peers: Any, rounds: int) -> None:
    """Whole responses: microseconds, and the ratio to the peer."""
    print("\nwhole responses, three sizes together        ours µs   peer µs   ratio")
    ratios: list[float] = []
    for name in PEERS:
        texts = [response(name, *typical) for typical in TYPICAL]
        functions = [reader(texts, name)]
        if peers:
            functions.append(peers_reader(peers, texts, name))
        times = turns(functions, rounds)
        ratios.append(times[0] / times[-1])
        print(
            f"  {name:40} {times[0] * 1e6:9.1f} {times[-1] * 1e6:9.1f} {ratios[-1]:7.2f}"
            if peers
            else f"  {name:40} {times[0] * 1e6:9.1f}"
        )
    if peers:
        show_means(ratios, 2)


def streamer(pieces: list[str], format_: str) -> Callable[[], Any]:
    """A function that reads pieces to the end."""

    def run() -> None:
        parser = StreamParser(format_, tools=GIVEN)
        for piece in pieces:
            parser.feed(piece)
        parser.close()

    return run


def peers_streamer(peers: Any, pieces: list[str], format_: str) -> Callable[[], Any]:
    """A function with which the peer reads pieces to the end."""
    maker, tools = peer(peers, format_)

    def run() -> None:
        detector = maker()
        for piece in pieces:
            detector.parse_streaming_increment(piece, tools)

    return run


def cut(text: str) -> list[str]:
    """A text in pieces of four characters."""
    return [text[i : i + 4] for i in range(0, len(text), 4)]


def stream(peers: Any, rounds: int) -> None:
    """Streams in pieces of four characters, with arguments of 4 KB."""
    print("\nstreamed, pieces of 4, 4 KB of arguments     µs/piece      peer   ratio")
    ratios: list[float] = []
    for name in PEERS:
        pieces = cut(response(name, 1, 4096))
        functions = [streamer(pieces, name)]
        if peers:
            functions.append(peers_streamer(peers, pieces, name))
        times = [t / len(pieces) for t in turns(functions, max(rounds // 8, 2))]
        ratios.append(times[0] / times[-1])
        print(
            f"  {name:40} {times[0] * 1e6:9.2f} {times[-1] * 1e6:9.2f} {ratios[-1]:7.3f}"
            if peers
            else f"  {name:40} {times[0] * 1e6:9.2f}"
        )
    if peers:
        show_means(ratios, 3)


def growth(_: Any, rounds: int) -> None:
    """The cost of a character at 64 KB of arguments, as a ratio to that at 4 KB."""
    print("\nstreamed, cost of a character at 64 KB to that at 4 KB")
    for name in PEERS:
        small, large = cut(response(name, 1, 4096)), cut(response(name, 1, 65536))
        times = turns([streamer(small, name), streamer(large, name)], max(rounds // 8, 2))
        print(f"  {name:60} {times[1] / len(large) / (times[0] / len(small)):7.2f}")


def text(_: Any, rounds: int) -> None:
    """Free text without markers, as a ratio to one search over it for the format's opening markers."""
    import regex

    from outspoken.registry import automaton

    print("\nfree text of 64 KB, to one search for its markers")
    prose = body(65536)
    for name in PEERS:
        home = automaton(name).home
        markers = [t.terminal.regex for t in (home.free.target if home.free else home).markers]
        search = regex.compile("|".join([f"(?:{m})" for m in markers])).search
        times = turns([partial(parse, prose, name), partial(search, prose)], rounds)
        print(f"  {name:60} {times[0] / times[1]:7.2f}")


def detect(_: Any, rounds: int) -> None:
    """Reading with the format open, as a ratio to reading with the format named."""
    print("\nformat open, to format named")
    for name in PEERS:
        texts = [response(name, *typical) for typical in TYPICAL]
        times = turns([reader(texts), reader(texts, name)], rounds)
        print(f"  {name:60} {times[0] / times[1]:7.2f}")


def imports(_: Any, rounds: int) -> None:
    """Whole processes, as ratios to one that imports pydantic."""
    print("\nwhole processes, to `import pydantic`")
    first = (
        'import outspoken; outspoken.parse(\'<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>\', \'hermes\')'
    )
    programs = {
        "import pydantic": "import pydantic",
        "one pydantic model": "from pydantic import BaseModel\nclass Model(BaseModel):\n    x: int",
        "import outspoken": "import outspoken",
        "import outspoken, first parse": first,
    }
    with tempfile.TemporaryDirectory() as cache:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache

        def run(program: str) -> None:
            subprocess.run([sys.executable, "-c", program], check=True, env=environment)

        for program in programs.values():
            run(program)
        best = dict.fromkeys(programs, math.inf)
        for _ in range(max(rounds // 2, 5)):
            for label, program in programs.items():
                start = time.perf_counter()
                run(program)
                best[label] = min(best[label], time.perf_counter() - start)
    for label, seconds in best.items():
        print(f"  {label:44} {seconds * 1e3:9.1f} ms {seconds / best['import pydantic']:9.2f}")


SECTIONS = {"whole": whole, "stream": stream, "growth": growth, "text": text, "detect": detect, "import": imports}


def main(arguments: list[str] | None = None) -> int:
    """Measure the sections that are named, or all."""
    parser = argparse.ArgumentParser(description="Measure speed, as ratios in one run.")
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="what to measure; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, coarser figures")
    options = parser.parse_args(arguments)
    peers = load_peers()
    for name in options.sections or list(SECTIONS):
        SECTIONS[name](peers, 8 if options.quick else 40)
    return 0


if __name__ == "__main__":
    sys.exit(main())
