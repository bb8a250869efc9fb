"""What new processes cost: imports, the first responses, and memory. Bytecode is cached before anything is measured."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from outspoken.authoring.shared.checkout import TOP

from .peers import PEERS, TOOLS, Case, body, response

#: the first responses of a process: the calls of each, and the size of their longest argument
FIRST = tuple([(1 + i % 3, 40 + 12 * i) for i in range(50)])

_READ = """
import json, sys, time
from outspoken import parse
given = json.load(open(sys.argv[1]))
from outspoken.notations.tools import Tools
format, texts, tools = given["format"], given["texts"], Tools.of(given["tools"])
times = []
for text in texts:
    start = time.perf_counter()
    parse(text, format, tools=tools)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""
_PEER_READ = """
import importlib, json, sys, time
given = json.load(open(sys.argv[1]))
sys.path.insert(0, given["folder"])
import peers
maker = getattr(importlib.import_module("sglang.srt.function_call." + given["module"]), given["class"])
tools = [peers.Tool(function=peers.Function(**tool["function"])) for tool in given["tools"]]
times = []
for text in given["texts"]:
    start = time.perf_counter()
    maker().detect_and_parse(text, tools)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""


class Processes:
    """Runs programs in new processes that share a cache of bytecode."""

    def __init__(self, folder: Path) -> None:
        self._given = folder / "given.json"
        self._environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._environment["PYTHONPYCACHEPREFIX"] = str(folder)

    def run(self, program: str, given: object = None) -> str:
        """What a program prints. It finds what is given as JSON in the file that its first argument names."""
        self._given.write_text(json.dumps(given), "utf-8")
        command = [sys.executable, "-c", program, str(self._given)]
        return subprocess.run(command, check=True, env=self._environment, stdout=subprocess.PIPE, text=True).stdout

    def times(self, program: str, given: object, rounds: int) -> list[float]:
        """The least times that a program prints, in milliseconds, after a first run that caches bytecode.

        A program that takes seconds runs only once.
        """
        runs: list[list[float]] = [json.loads(self.run(program, given))]
        if sum(runs[0]) < 1:
            runs = [json.loads(self.run(program, given)) for _ in range(rounds)]
        return [1e3 * min(times) for times in zip(*runs, strict=True)]


@contextmanager
def processes() -> Generator[Processes]:
    """Processes with a cache of bytecode that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield Processes(Path(folder))


def imports(_: Any, rounds: int) -> None:
    """Whole processes, as ratios to one that imports pydantic."""
    print("\nwhole processes, to `import pydantic`")
    call = '<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>'
    programs = {
        "import pydantic": "import pydantic",
        "one pydantic model": "from pydantic import BaseModel\nclass Model(BaseModel):\n    x: int",
        "import outspoken": "import outspoken",
        "first parse, format named": f"import outspoken; outspoken.parse('{call}', 'hermes')",
        "first parse, format open": f"import outspoken; outspoken.parse('{call}')",
    }
    best = dict.fromkeys(programs, math.inf)
    with processes() as fresh:
        for program in programs.values():
            fresh.run(program)
        for _ in range(max(rounds // 2, 5)):
            for label, program in programs.items():
                start = time.perf_counter()
                fresh.run(program)
                best[label] = min(best[label], time.perf_counter() - start)
    for label, seconds in best.items():
        print(f"  {label:44} {seconds * 1e3:9.1f} ms {seconds / best['import pydantic']:9.2f}")


def warm(peers: Any, rounds: int) -> None:
    """The first responses of a process: all together, and how far the slowest but for the first is above the median."""
    print(f"\nfirst {len(FIRST)} responses of a process, ms                 named            open            peer")
    print(f"  {'':40}    all  stall      all  stall      all  stall")
    worst: dict[str, tuple[float, str]] = {}
    with processes() as fresh:
        for name in PEERS:
            case = Case(peers, name, FIRST)
            given = {"format": name, "texts": case.texts, "tools": TOOLS}
            runs = {"named": (_READ, given), "open": (_READ, {**given, "format": "auto"})}
            if case.peer:
                module, maker = PEERS[name]
                folder = os.environ.get("OUTSPOKEN_PEERS", TOP.parent / "shared" / "bench")
                runs["peer"] = _PEER_READ, {**given, "folder": str(folder), "module": module, "class": maker}
            cells: list[str] = []
            for label, (program, input) in runs.items():
                times = fresh.times(program, input, max(rounds // 8, 2))
                figures = {f"{label}, all": sum(times), f"{label}, stall": max(times[1:]) - statistics.median(times)}
                cells += [f"{figure:6.2f}" for figure in figures.values()]
                for key, figure in figures.items():
                    worst[key] = max(worst.get(key, (0.0, "")), (figure, name))
            print(f"  {name:40} {cells[0]} {cells[1]}   {cells[2]} {cells[3]}   {' '.join(cells[4:])}", flush=True)
    for key, (figure, name) in worst.items():
        print(f"  {f'worst {key}':40} {figure:6.2f}   ({name})")


#: the size of a text whose memory is measured, and the formats that write it
LARGE, LARGE_FORMATS = 9_000_000, ("hermes", "qwen3_coder", "json", "text")

_PARSE = """
import json, resource, sys, time
from outspoken import parse
given = json.load(open(sys.argv[1]))
text, format = given["unit"] * given["count"], given["format"]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before, start = peak(), time.perf_counter()
reply = parse(text, format)
print(json.dumps([time.perf_counter() - start, (peak() - before) / len(text)]))
"""


def memory(_: Any, rounds: int) -> None:
    """The memory that a response of 9 MB takes, in a new process, as a ratio to the text; and the time."""
    print("\n9 MB of one response                          named: memory  seconds     open: memory  seconds")
    with processes() as fresh:
        for name in LARGE_FORMATS:
            unit = f"{body(600)}\n\n" if name == "text" else f"{response(name, 1, 260)}\n"
            cells: list[str] = []
            for format_ in (name, "auto"):
                given = {"format": format_, "unit": unit, "count": LARGE // len(unit)}
                runs = [json.loads(fresh.run(_PARSE, given)) for _ in range(max(rounds // 20, 1))]
                seconds, ratio = min(run[0] for run in runs), min(run[1] for run in runs)
                cells.append(f"{ratio:14.1f} {seconds:8.2f}")
            print(f"  {name:40} {'  '.join(cells)}", flush=True)
