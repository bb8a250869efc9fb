"""What new processes cost: imports, the first responses, and the first damaged one. Bytecode is cached beforehand."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .peers import FOLDER, PEERS, TOOLS, Case, response

#: the first responses of a process: the calls of each, and the size of their longest argument
_FIRST = tuple([(1 + i % 3, 40 + 12 * i) for i in range(50)])
#: formats whose first damaged response is measured
_DAMAGED = ("hermes", "qwen3_coder", "react_json")

_TIMED = """
times = []
for text in given["texts"]:
    start = time.perf_counter()
    read(text)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""
_OURS = """
import json, sys, time
from outspoken import parse
from outspoken.notations.tools import Tools
given = json.load(open(sys.argv[1]))
tools = Tools.of(given["tools"])
def read(text):
    parse(text, given["format"], tools=tools)
"""
_PEERS = """
import importlib, json, sys, time
given = json.load(open(sys.argv[1]))
sys.path.insert(0, given["folder"])
import peers
sys.meta_path.insert(0, sys.meta_path.pop())
maker = getattr(importlib.import_module("sglang.srt.function_call." + given["module"]), given["class"])
tools = [peers.Tool(function=peers.Function(**tool["function"])) for tool in given["tools"]]
def read(text):
    maker().detect_and_parse(text, tools)
"""


class Processes:
    """Runs programs in new processes that share a cache of bytecode, which is removed at the end."""

    def __enter__(self) -> Processes:
        self._folder = tempfile.TemporaryDirectory()
        self._given = Path(self._folder.name) / "given.json"
        self._environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._environment["PYTHONPYCACHEPREFIX"] = self._folder.name
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def run(self, program: str, given: object = None) -> str:
        """What a program prints. It finds what is given as JSON in the file that its first argument names."""
        self._given.write_text(json.dumps(given), "utf-8")
        command = [sys.executable, "-c", program, str(self._given)]
        return subprocess.run(command, check=True, env=self._environment, stdout=subprocess.PIPE, text=True).stdout

    def times(self, reader: str, given: object, rounds: int) -> list[float]:
        """The least time of each text, in milliseconds, after a first run that caches bytecode.

        A program that takes seconds runs only once.
        """
        runs: list[list[float]] = [json.loads(self.run(reader + _TIMED, given))]
        if sum(runs[0]) < 1:
            runs = [json.loads(self.run(reader + _TIMED, given)) for _ in range(rounds)]
        return [1e3 * min(times) for times in zip(*runs, strict=True)]


def imports(_: Any, rounds: int) -> None:
    """A process that imports Outspoken, or parses once, compared with one that imports pydantic."""
    call = '<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>'
    programs = {
        "import pydantic": "import pydantic",
        "import outspoken": "import outspoken",
        "first parse, format named": f"import outspoken; outspoken.parse('{call}', 'hermes')",
        "first parse, format open": f"import outspoken; outspoken.parse('{call}')",
    }
    best = dict.fromkeys(programs, math.inf)
    with Processes() as fresh:
        for turn in range(max(rounds // 2, 5) + 1):
            for label, program in programs.items():
                start = time.perf_counter()
                fresh.run(program)
                taken = time.perf_counter() - start
                best[label] = min(best[label], taken) if turn else math.inf
    for label, seconds in best.items():
        print(f"  {label:44} {seconds * 1e3:9.1f} ms {seconds / best['import pydantic']:9.2f}")


def warm(peers: Any, rounds: int) -> None:
    """The first 50 responses of a process, named, detected and with the peer: ms for all, and the longest stall."""
    print(f"  {'':40}  named: all  stall    open: all  stall    peer: all  stall")
    worst: dict[str, tuple[float, str]] = {}
    with Processes() as fresh:
        for name in PEERS:
            case = Case(peers, name, _FIRST)
            given = {"format": name, "texts": case.texts, "tools": TOOLS}
            runs = {"named": (_OURS, given), "open": (_OURS, {**given, "format": "auto"})}
            if case.peer:
                module, maker = PEERS[name]
                runs["peer"] = _PEERS, {**given, "folder": str(FOLDER), "module": module, "class": maker}
            cells = ""
            for label, (reader, input) in runs.items():
                times = fresh.times(reader, input, max(rounds // 8, 2))
                stall = max(times[1:]) - statistics.median(times)
                cells += f"  {sum(times):10.2f} {stall:6.2f}"
                worst[label] = max(worst.get(label, (0.0, "")), (sum(times), name))
            print(f"  {name:40}{cells}", flush=True)
    print("  worst: " + ", ".join([f"{label} {figure:.2f} ({name})" for label, (figure, name) in worst.items()]))


def cold_damage(_: Any, rounds: int) -> None:
    """The first response of a process, in ms, if it is cut within its call."""
    with Processes() as fresh:
        for name in _DAMAGED:
            text = response(name, 1, 60)
            given = {"format": name, "texts": [text[: len(text) * 2 // 3]], "tools": TOOLS}
            print(f"  {name:44} {fresh.times(_OURS, given, max(rounds // 8, 2))[0]:9.1f}", flush=True)
