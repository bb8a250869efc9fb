"""The command `python -m tools.bench`.

Compared functions run in turns, so that noise affects both alike, and the best of many short runs counts. Peers are
SGLang's detectors, if the folder that OUTSPOKEN_PEERS names has a module `peers.py` that loads them; a format is
compared where both find the same calls.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import geometric_mean
from typing import Any

from outspoken import Parser, RenderError, parse, render
from outspoken.batch import BatchOptions
from outspoken.batch import run as run_batch
from outspoken.constraints import constraint
from outspoken.fast_path import reader as fast_path
from outspoken.grammar.registry import names
from outspoken.json.read import read_json
from outspoken.notations.tools import Tools
from outspoken.results.settings import DEFAULT
from tools.damage.documents import document
from tools.damage.json_texts import generate
from tools.shared.command import run

from .peers import DATA, GIVEN, PEERS, SEVERAL, SLOW_PEERS, TOOLS, TYPICAL, Case, body, cut, load_peers, response, turns
from .processes import cold_damage, imports, warm

#: what is streamed: one call with arguments of 4 KB
_STREAMED = ((1, 4096),)


def _held(texts: list[str], format_: str = "auto") -> Callable[[], Any]:
    """A function that reads whole responses with a parser that is kept."""
    read = Parser(format_, tools=TOOLS).parse
    return lambda: [read(text) for text in texts]


def _by_call(texts: list[str], format_: str) -> Callable[[], Any]:
    """A function that reads whole responses by `parse`, with the tools as a caller has them."""
    return lambda: [parse(text, format=format_, tools=TOOLS) for text in texts]


def _streamer(pieces: list[str], format_: str = "auto") -> Callable[[], Any]:
    """A function that reads pieces to the end."""
    parser = Parser(format_, tools=GIVEN)

    def read() -> None:
        session = parser.session()
        for piece in pieces:
            session.feed(piece)
        session.close()

    return read


def _show(label: str, times: Sequence[float], ratios: Sequence[float], note: str = "", digits: int = 1) -> None:
    cells = [f"{seconds * 1e6:9.{digits}f}" for seconds in times] + [f"{ratio:7.2f}" for ratio in ratios]
    print(f"  {label:40} {' '.join(cells)}{f'   ({note})' if note else ''}", flush=True)


def _show_means(ratios: list[tuple[float, ...]]) -> None:
    """The geometric means of columns of ratios, those without the ratio that is furthest from it, and the greatest."""
    if not ratios:
        return
    columns = [[*column] for column in zip(*ratios, strict=True)]
    rest = [sorted(column, key=partial(_extremity, geometric_mean(column)))[:-1] for column in columns]
    rows = {"geometric mean": [*map(geometric_mean, columns)], "greatest": [*map(max, columns)]}
    rows["geometric mean without the most extreme"] = [geometric_mean(column) for column in rest if column]
    for label, row in rows.items():
        print(f"  {label:40} {' '.join([f'{ratio:7.2f}' for ratio in row])}")


def _extremity(mean: float, ratio: float) -> float:
    return abs(math.log(ratio / mean))


def whole(peers: Any, rounds: int) -> None:
    """Whole responses: µs by a parser that is kept, by `parse(…, tools=…)` and by the peer; ours to the peer's."""
    for title, sizes in (("typical responses", TYPICAL), ("several calls each", SEVERAL)):
        print(f"\n  {f'{title}, three sizes together':40}   held µs   call µs   peer µs   ratios")
        ratios: list[tuple[float, ...]] = []
        for name in PEERS:
            case = Case(None if sizes is SEVERAL and name in SLOW_PEERS else peers, name, sizes)
            functions = [_held(case.texts, name), _by_call(case.texts, name)]
            functions += [case.peer.reader(case.texts)] if case.peer else []
            times = turns(functions, rounds)
            found = tuple([t / times[2] for t in times[:2]]) if case.peer else ()
            ratios += [found] if found else []
            _show(name, times, found, case.note)
        _show_means(ratios)


def stream(peers: Any, rounds: int) -> None:
    """Streams in pieces of four characters, with arguments of 4 KB: µs a piece, and the ratio to the peer."""
    ratios: list[tuple[float, ...]] = []
    for name in PEERS:
        case = Case(peers, name, _STREAMED, stream=True)
        pieces = case.cut(case.texts[0])
        functions = [_streamer(pieces, name), *([case.peer.streamer(pieces)] if case.peer else [])]
        times = [seconds / len(pieces) for seconds in turns(functions, max(rounds // 4, 2))]
        found = (times[0] / times[1],) if case.peer else ()
        ratios += [found] if found else []
        _show(name, times, found, case.note, digits=2)
    _show_means(ratios)


def pieces(_: Any, rounds: int) -> None:
    """A short response with one call: µs whole, and as a session in pieces of four characters; the ratio."""
    ratios: list[tuple[float, ...]] = []
    for name in PEERS:
        text = response(name, 1, 60)
        times = turns([_held([text], name), _streamer(cut(text), name)], rounds)
        ratios.append((times[1] / times[0],))
        _show(name, times, ratios[-1])
    _show_means(ratios)


def text(peers: Any, rounds: int) -> None:
    """A response of 2 KB without calls: µs, the peer's, and the ratio."""
    ratios: list[tuple[float, ...]] = []
    for name in PEERS:
        case, prose = Case(peers, name, ((1, 60),)), response(name, 0, 0, body(2048))
        times = turns([_held([prose], name), *([case.peer.reader([prose])] if case.peer else [])], rounds)
        found = (times[0] / times[1],) if case.peer else ()
        ratios += [found] if found else []
        _show(name, times, found)
    _show_means(ratios)


def detect(_: Any, rounds: int) -> None:
    """Parsing with a detected format, to a named one, for all formats: whole, and in pieces."""
    ratios: list[tuple[float, ...]] = []
    for name in names():
        texts = [response(name, *typical) for typical in TYPICAL]
        once = turns([_held(texts), _held(texts, name)], rounds)
        parts = cut(response(name, *_STREAMED[0]))
        pieced = turns([_streamer(parts), _streamer(parts, name)], max(rounds // 8, 2))
        ratios.append((once[0] / once[1], pieced[0] / pieced[1]))
        found = parse(texts[-1], tools=GIVEN).format
        _show(name, (), ratios[-1], "" if found == name else f"read as {found}")
    _show_means(ratios)


def _by_hand(text: str) -> list[Any]:
    """The calls of hermes by `find` and `raw_decode`, without any check."""
    decode, found, at = json.JSONDecoder().raw_decode, list[Any](), 0
    while (at := text.find("<tool_call>\n", at)) >= 0:
        value, at = decode(text, at + 12)
        found.append(value)
    return found


def json_(_: Any, rounds: int) -> None:
    """hermes to `find` and `raw_decode`; `read_json` to `json.loads` and, damaged, to json-repair; damaged calls."""
    repair: Any = import_module("json_repair").repair_json
    for count, size in (*TYPICAL, *SEVERAL):
        text = response("hermes", count, size)
        times = turns([_held([text], "hermes"), partial(_by_hand, text)], rounds)
        _show(f"hermes by hand, {count} calls of {size}", times, (times[0] / times[1],))
    sound = [json.dumps(document(Random(number)).value, ensure_ascii=False) for number in range(20)]
    times = turns([lambda: [read_json(one) for one in sound], lambda: [json.loads(one) for one in sound]], rounds)
    _show("sound JSON, to json.loads", times, (times[0] / times[1],))
    rows = json.dumps([{"id": at, "note": one, "at": {"x": at}} for at, one in enumerate(sound[:19] * 4)])
    middle = rows.index('", "at"', len(rows) // 2)
    for label, text in {
        "a comma is missing": rows[: middle + 1] + rows[middle + 2 :],
        "a comma too much": rows[:-1] + ",]",
        "the end is missing": rows[:-1],
        "a string is cut": rows[: middle - 40],
        "a quote inside": f'{rows[: middle - 40]} "{rows[middle - 40 :]}',
    }.items():
        times = turns([partial(read_json, text), partial(json.loads, rows), partial(repair, text)], rounds)
        _show(f"{label}, of {len(text) // 1000} KB", times, (times[0] / times[1], times[0] / times[2]), "loads, repair")
    ratios: dict[str, list[float]] = {"damaged JSON": [], "damaged calls of hermes": []}
    for case in [*generate(per_kind=rounds // 8, only="structure")[0], *generate(per_kind=2, only="strings")[0]]:
        if "```" in case.text or not {"name", "arguments"} <= case.values[0].keys():
            continue
        tool = {"name": case.values[0]["name"], "parameters": case.schema["properties"]["arguments"]}
        call = Parser("hermes", tools=[tool]).parse
        written = f"<tool_call>\n{case.text}\n</tool_call>"
        reads = [partial(read_json, case.text, schema=case.schema), partial(call, written)]
        *ours, theirs = turns([*reads, partial(repair, case.text, return_objects=True)], 5, 0.2)
        for label, seconds in zip(ratios, ours, strict=True):
            ratios[label].append(seconds / theirs)
    for label, found in ratios.items():
        late = sorted(found)[len(found) * 95 // 100]
        _show(f"{label}, to json-repair", (), (geometric_mean(found), late), "mean, and 95th percentile")


def coverage(_: Any, rounds: int) -> None:
    """How many new sound texts leave the fast path, of each format: one to three calls with short arguments."""
    left_all = count_all = 0
    for name in PEERS:
        left = count = 0
        for number in range(rounds * 8):
            random = Random(f"{name} {number}")
            found = [document(random) for _ in range(random.randint(1, 3))]
            called = [(one.payload, one.value) for one in found if {"name", "arguments"} <= one.value.keys()]
            given = [{key: it for key, it in call["arguments"].items() if it != long} for long, call in called]
            calls = [{"name": call["name"], "arguments": some} for (_, call), some in zip(called, given, strict=True)]
            tools = Tools.of([{"name": c["name"], "parameters": {"type": "object"}} for c in calls])
            try:
                written = render(calls, format=name, tools=tools)
            except RenderError:
                continue
            count += bool(calls)
            left += bool(calls) and fast_path.read(written, name, None, tools, DEFAULT) is None
        left_all, count_all = left_all + left, count_all + count
        print(f"  {name:40} {left:5} of {count}", flush=True)
    print(f"  {'all':40} {left_all:5} of {count_all} ({100 * left_all / max(count_all, 1):.1f} %)")


def batch(_: Any, rounds: int) -> None:
    """Rows a second of hermes: `outspoken batch` with one worker and two."""
    count = 500 * rounds
    with tempfile.TemporaryDirectory() as folder:
        path, options = Path(folder) / "in.jsonl", BatchOptions(format="hermes", id_column="id")
        lines = [json.dumps({"id": n, "text": response("hermes", 1 + n % 3, 20 + n % 500)}) for n in range(count)]
        path.write_text("\n".join([*lines, ""]), "utf-8")
        for workers in (1, 2):
            start = time.perf_counter()
            run_batch(path, Path(folder) / f"out{workers}", options, workers=workers, restart=True)
            seconds = time.perf_counter() - start
            print(f"  {f'workers: {workers}':40} {count / seconds:9,.0f} rows/s", flush=True)


def constraints(_: Any, rounds: int) -> None:
    """Milliseconds to make a constraint for ten tools, the first time and again, and to write it for engines."""
    tools = [{"name": f"tool_{number}", "parameters": DATA["constrained"]} for number in range(10)]
    print(f"  {'ten tools, ms':40} {'first':>9} {'again':>9} {'lark':>9} {'ebnf':>9}")
    for name in ("hermes", "qwen3_coder", "pythonic", "deepseek_v3_2", "harmony"):
        make = partial(constraint, name, tools=tools)
        start = time.perf_counter()
        make()
        first = time.perf_counter() - start
        writers = [make, lambda make=make: make().to_llguidance(), lambda make=make: make().to_ebnf()]
        _show(name, [seconds / 1e3 for seconds in (first, *turns(writers, rounds // 5, 0.3))], ())


#: Those with peers come last: stand-ins for modules that the peers import would be in the way of others.
SECTIONS: dict[str, Callable[[Any, int], None]] = {
    "constraints": constraints, "batch": batch, "pieces": pieces, "detect": detect, "json": json_,
    "coverage": coverage, "import": imports, "cold-damage": cold_damage,
    "whole": whole, "stream": stream, "text": text, "warm": warm,
}  # fmt: skip
_WITH_PEERS = ("whole", "stream", "text", "warm")


def main(arguments: list[str] | None = None) -> int:
    """Measure the sections that are named, or all."""
    about = "\n".join([f"{name:12} {measure.__doc__}" for name, measure in SECTIONS.items()])
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION", help="all by default")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, coarser figures")
    options = parser.parse_args(arguments)
    chosen = [name for name in SECTIONS if name in (options.sections or SECTIONS)]
    for name in chosen:
        print(f"\n{name}: {SECTIONS[name].__doc__}", flush=True)
        SECTIONS[name](load_peers() if name in _WITH_PEERS else None, 8 if options.quick else 40)
    return 0


if __name__ == "__main__":
    run(main)
