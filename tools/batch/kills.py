"""The command is killed at random moments. Run again, it goes on, and its results equal those of a whole run."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from .responses import write_hermes
from .results import command, digest, run_command


def check_kills(rows: int, kills: int, seed: int) -> bool:
    """Kill the command, or one of its workers, so many times in several batches; compare each with a whole one."""
    random_ = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path, whole = write_hermes(Path(folder) / "in.jsonl", rows), Path(folder) / "whole"
        with path.open("a", encoding="utf-8") as file:
            file.write('no JSON\n{"text": 1}\n')
        start = time.monotonic()
        expected, seconds = run_command(path, whole)["total"], time.monotonic() - start
        wanted, left, number = digest(whole), kills, 0
        while left > 0:
            out = Path(folder) / f"out{number}"
            done = 0
            while left > 0 and _kill_one(path, out, random_, seconds):
                left, done = left - 1, done + 1
            summary = run_command(path, out)
            is_equal = digest(out) == wanted and summary["total"] == expected
            end = "equal" if is_equal else "DIFFERENT"
            print(f"batch {number}: {done} kills, {summary['new']['rows']:,} rows were left: {end}", flush=True)
            if not is_equal:
                return False
            number += 1
    return True


def _kill_one(path: Path, out: Path, random_: random.Random, seconds: float) -> bool:
    """Start the command, and kill it at a random moment. Returns False if it had ended before."""
    process = subprocess.Popen(command(path, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random_.uniform(0.3, seconds * 0.7))
    if random_.random() < 0.3:  # first a worker, which is replaced
        _kill_worker(process.pid)
        time.sleep(random_.uniform(0, 0.3))
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


def _kill_worker(process: int) -> None:
    children = Path(f"/proc/{process}/task/{process}/children")
    found = children.read_text().split() if children.exists() else []
    if found:
        os.kill(int(found[0]), 9)
