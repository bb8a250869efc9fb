"""Measure speed, as ratios in one run. Run as `python -m tools.bench [--quick] [SECTION ...]`.

Sections: `whole`, `stream`, `growth`, `text`, `detect`, `import`, `warm`, `memory`, `constraints`, and `batch`, which
runs only if it is named. If the folder that OUTSPOKEN_PEERS names has a module `peers.py`, `whole`, `stream` and `warm`
compare with the peer's parsers, for each format in which both find the same calls.
Every figure is the best of many short runs. Compared functions run in turns, so that noise affects both alike.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from outspoken import Parser, parse
from outspoken.grammar.registry import automaton, names

from .peers import GIVEN, PEERS, SEVERAL, SLOW_PEERS, TOOLS, TYPICAL, Case, Sizes, body, cut, load_peers, response
from .processes import imports, memory, warm

#: what is streamed: one call with arguments of 4 KB
STREAMED = ((1, 4096),)

#: how often a function is run before it is measured
WARM = 40


def turns(functions: list[Callable[[], Any]], rounds: int, longest: float = 4.0) -> list[float]:
    """The best time of each function, in seconds, measured in turns; none is run for much longer than `longest`.

    Each is run for a while before: what it loads, compiles and keeps on first use is there then for both.
    """
    best = [math.inf] * len(functions)
    spent = [0.0] * len(functions)
    counts: list[int] = []
    for i, function in enumerate(functions):
        for _ in range(WARM):
            start = time.perf_counter()
            function()
            taken = time.perf_counter() - start
            spent[i] += taken
            best[i] = min(best[i], taken)
            if spent[i] > longest / 8:
                break
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


def reader(texts: list[str], format_: str = "auto") -> Callable[[], Any]:
    """A function that reads whole responses, with tools as a caller gives them."""
    read = Parser(format_, tools=TOOLS).parse
    return lambda: [read(text) for text in texts]


def streamer(pieces: list[str], format_: str = "auto") -> Callable[[], Any]:
    """A function that reads pieces to the end."""

    parser = Parser(format_, tools=GIVEN)

    def run() -> None:
        session = parser.session()
        for piece in pieces:
            session.feed(piece)
        session.close()

    return run


def show_peers(rows: Iterable[tuple[Case, list[float]]], digits: int) -> None:
    """Our times beside the peer's in microseconds, each with the ratio, and the means."""
    ratios: list[float] = []
    for case, times in rows:
        line = f"  {case.format:40} {times[0] * 1e6:9.{digits - 1}f}"
        if len(times) > 1:
            ratios.append(times[0] / times[1])
            line += f" {times[1] * 1e6:9.{digits - 1}f} {ratios[-1]:7.{digits}f}"
        note = case.note()
        print(f"{line}   ({note})" if note else line, flush=True)
    if ratios:
        show_means(ratios, digits)


def whole(peers: Any, rounds: int) -> None:
    """Whole responses: microseconds, and the ratio to the peer. Both are given the tools beforehand."""
    for title, sizes in (("typical responses", TYPICAL), ("several calls each", SEVERAL)):
        print(f"\n{f'whole: {title}, three sizes together':44} ours µs   peer µs   ratio")
        show_peers(_whole(peers, sizes, rounds), 2)


def _whole(peers: Any, sizes: Sizes, rounds: int) -> Iterable[tuple[Case, list[float]]]:
    for name in PEERS:
        case = Case(None if sizes is SEVERAL and name in SLOW_PEERS else peers, name, sizes)
        functions = [reader(case.texts, name)]
        if case.peer:
            functions.append(case.peer.reader(case.texts))
        yield case, turns(functions, rounds)


def stream(peers: Any, rounds: int) -> None:
    """Streams in pieces of four characters, with arguments of 4 KB."""
    print("\nstreamed, pieces of 4, 4 KB of arguments     µs/piece      peer   ratio")

    def rows() -> Iterable[tuple[Case, list[float]]]:
        for name in PEERS:
            case = Case(peers, name, STREAMED, stream=True)
            pieces = case.pieces()
            functions = [streamer(pieces, name)]
            if case.peer:
                functions.append(case.peer.streamer(pieces))
            yield case, [t / len(pieces) for t in turns(functions, max(rounds // 4, 2))]

    show_peers(rows(), 3)


def growth(_: Any, rounds: int) -> None:
    """The cost of a character at 64 KB of arguments, as a ratio to that at 4 KB."""
    print("\nstreamed, cost of a character at 64 KB to that at 4 KB")
    for name in PEERS:
        small, large = cut(response(name, 1, 4096)), cut(response(name, 1, 65536))
        times = turns([streamer(small, name), streamer(large, name)], max(rounds // 8, 2))
        print(f"  {name:60} {times[1] / len(large) / (times[0] / len(small)):7.2f}", flush=True)


def text(_: Any, rounds: int) -> None:
    """Free text without markers, as a ratio to one search over it for the format's opening markers."""
    import regex

    print("\nfree text of 64 KB, to one search for its markers")
    prose = body(65536)
    for name in PEERS:
        markers = [t.terminal.regex for t in automaton(name).top_level_markers]
        search = regex.compile("|".join([f"(?:{m})" for m in markers])).search
        times = turns([partial(parse, prose, name), partial(search, prose)], rounds)
        print(f"  {name:60} {times[0] / times[1]:7.2f}", flush=True)


def detect(_: Any, rounds: int) -> None:
    """Reading with the format open, as a ratio to reading with the format named."""
    print("\nformat open, to format named                                whole  stream")
    ratios: list[tuple[float, float]] = []
    for name in names():
        texts = [response(name, *typical) for typical in TYPICAL]
        once = turns([reader(texts), reader(texts, name)], rounds)
        pieces = cut(response(name, *STREAMED[0]))
        pieced = turns([streamer(pieces), streamer(pieces, name)], max(rounds // 8, 2))
        ratios.append((once[0] / once[1], pieced[0] / pieced[1]))
        found = parse(texts[-1], tools=GIVEN).format
        note = "" if found == name else f"   (read as {found})"
        print(f"  {name:57} {ratios[-1][0]:7.2f} {ratios[-1][1]:7.2f}{note}", flush=True)
    print(f"  {'geometric mean':57} {mean([r[0] for r in ratios]):7.2f} {mean([r[1] for r in ratios]):7.2f}")


def batches(peers: Any, rounds: int) -> None:
    """Whole batches, beside other engines; see `tools.bench.batch`, which needs pyarrow."""
    from .batch import batch as measure

    measure(peers, rounds)


def masks(_peers: Any, _rounds: int) -> None:
    """Constraints for decoding: what it takes to make them, and their masks."""
    from .constraints import main as measure

    measure([])


SECTIONS = {
    "whole": whole,
    "stream": stream,
    "growth": growth,
    "text": text,
    "detect": detect,
    "import": imports,
    "warm": warm,
    "memory": memory,
    "batch": batches,
    "constraints": masks,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure the sections that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description="Measure speed, as ratios in one run.")
    parser.add_argument(
        "sections", nargs="*", choices=[*SECTIONS, []], help="what to measure; all but `batch` by default"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, coarser figures")
    options = parser.parse_args(arguments)
    peers = load_peers()
    for name in options.sections or [name for name in SECTIONS if name != "batch"]:
        SECTIONS[name](peers, 8 if options.quick else 40)
    return 0
