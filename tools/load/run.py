"""Starts the upstream and the proxy, lets the clients work, and checks what is left."""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .clients import Tally, work
from .upstream import serve

FORMAT = "hermes"
#: How much more memory the proxy may have after the run than after the warm-up, in megabytes.
_MORE_MEMORY = 30
#: How many connections to the upstream stay open for reuse.
_KEPT_CONNECTIONS = 64


@dataclass(frozen=True)
class State:
    """What the proxy says of itself."""

    active: int
    descriptors: int
    tasks: int
    megabytes: float
    cpu_seconds: float
    metrics: dict[str, float]


def _get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as response:
        return response.read()


def _state(port: int) -> State:
    lines = [line.rpartition(" ") for line in _get(port, "/metrics").decode().splitlines() if line[:1] != "#"]
    found = {name: float(value) for name, _, value in lines}
    active = sum([int(value) for name, value in found.items() if name.startswith("outspoken_active_requests")])
    megabytes = found["process_resident_memory_bytes"] / 1e6
    tasks, descriptors = int(found["outspoken_tasks"]), int(found["process_open_fds"])
    return State(active, descriptors, tasks, megabytes, found["process_cpu_seconds_total"], found)


def _settled(front: int, behind: int) -> tuple[State, int]:
    """The state once nothing is active any more, or after ten seconds; and the streams that the upstream has open."""
    end = time.monotonic() + 10
    while True:
        state, open = _state(front), json.loads(_get(behind, "/counts"))["open"]
        if (not state.active and not open) or time.monotonic() > end:
            return state, open
        time.sleep(0.2)


async def _work(port: int, streams: int, seconds: float) -> Tally:
    tally = Tally()
    end = time.monotonic() + seconds
    await asyncio.gather(*[_begin(worker, streams, port, end, tally) for worker in range(streams)])
    return tally


async def _begin(worker: int, streams: int, port: int, end: float, tally: Tally) -> None:
    await asyncio.sleep(2 * worker / streams)  # they do not all come in the same moment
    await work(worker, port, end, tally)


def _check(tally: Tally, before: State, after: State, open: int) -> list[str]:
    """What is wrong after the run."""
    problems = list(tally.problems)
    if open or after.active:
        problems.append(f"{after.active} responses are still active, and {open} streams of the upstream are open")
    if after.descriptors > before.descriptors + _KEPT_CONNECTIONS:
        problems.append(f"{after.descriptors} file descriptors are open, {before.descriptors} were before")
    if after.tasks > before.tasks + 2:
        problems.append(f"{after.tasks} tasks are left, {before.tasks} were before")
    if after.megabytes > before.megabytes + _MORE_MEMORY:
        problems.append(f"the proxy has {after.megabytes:.0f} MB, and had {before.megabytes:.0f} MB")
    for (endpoint, status), count in tally.statuses.items():
        name = f'outspoken_requests_total{{endpoint="{endpoint}",status="{status}"}}'
        counted = after.metrics.get(name, 0) - before.metrics.get(name, 0)
        if counted != count:
            problems.append(f"the metrics count {counted:.0f} for {name}, but there were {count}")
    expected = {
        "outspoken_dropped_clients_total": tally.kinds["leaving"],
        'outspoken_upstream_errors_total{code="upstream_cut_off"}': tally.kinds["cut"],
        'outspoken_upstream_errors_total{code="error_in_stream"}': tally.kinds["failing"],
    }
    for name, count in expected.items():
        counted = _sum(after, before, name)
        if counted != count:
            problems.append(f"the metrics count {counted:.0f} for {name}, but there were {count}")
    return problems


def _sum(after: State, before: State, name: str) -> float:
    """How much the metrics that begin with a name have grown together."""
    now, then = (
        sum([value for key, value in state.metrics.items() if key.startswith(name)]) for state in (after, before)
    )
    return now - then


def _print(tally: Tally, before: State, after: State, seconds: float, own: float) -> None:
    total = sum(tally.kinds.values())
    first = sorted(tally.first)
    kinds = ", ".join([f"{count} {kind}" for kind, count in sorted(tally.kinds.items())])
    print(f"{total} streams, at most {tally.most_open} at once: {kinds}")
    print(f"{tally.events} events, {tally.events / seconds:.0f} a second")
    middle, late = first[len(first) // 2], first[int(len(first) * 0.99)]
    shown = f"median {middle * 1000:.0f} ms, 99th percentile {late * 1000:.0f} ms"
    print(f"first piece, with the time of the upstream: {shown}")
    taken, count = (_sum(after, before, f"outspoken_first_piece_seconds_{name}") for name in ("sum", "count"))
    print(f"the same as the proxy counts it: mean {1000 * taken / count:.0f} ms")
    share = 100 * (after.cpu_seconds - before.cpu_seconds) / seconds
    print(f"processor time: {share:.0f} % of one core for the proxy, {100 * own / seconds:.0f} % for the clients")
    for name, value in (("before", before), ("after", after)):
        print(f"{name}: {value.descriptors} descriptors, {value.tasks} tasks, {value.megabytes:.0f} MB")


def run(streams: int, seconds: float, length: float) -> list[str]:
    """Run, print the figures, and return what is wrong."""
    behind, front = _free_port(), _free_port()
    python = [sys.executable, "-m"]
    upstream = [*python, "tools.load", "--upstream", str(behind), "--length", str(length)]
    proxy = [*python, "outspoken", "serve", "--upstream", f"http://127.0.0.1:{behind}", "--format", FORMAT]
    proxy += ["--port", str(front), "--no-log-requests"]
    servers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in (upstream, proxy)]
    try:
        _wait_for(behind, "/counts")
        _wait_for(front, "/health")
        warm = asyncio.run(_work(front, streams, min(seconds / 4, 10)))
        before, _ = _settled(front, behind)
        waited = _waited(servers[1].pid)
        start, own = time.monotonic(), time.process_time()
        tally = asyncio.run(_work(front, streams, seconds))
        seconds, own = time.monotonic() - start, time.process_time() - own
        waited = _waited(servers[1].pid) - waited
        after, open = _settled(front, behind)
        _print(tally, before, after, seconds, own)
        if waited:
            print(f"the proxy waited {100 * waited / seconds:.0f} % of the time for a processor")
        return [f"warm-up: {problem}" for problem in warm.problems] + _check(tally, before, after, open)
    finally:
        for server in servers:
            server.terminate()
            server.wait(20)


def _waited(process: int) -> float:
    """How many seconds a process was ready and others had the processor; 0 if the system does not say."""
    path = Path(f"/proc/{process}/schedstat")
    return int(path.read_text().split()[1]) / 1e9 if path.exists() else 0.0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait_for(port: int, path: str) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            _get(port, path)
            return
        except OSError:
            if time.monotonic() > end:
                raise SystemExit("a server did not start") from None
            time.sleep(0.1)


def main(arguments: list[str] | None = None) -> None:
    """Run the command. The exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.load", description=__doc__)
    parser.add_argument("--streams", type=int, default=500, help="streams at once; default: 500")
    parser.add_argument("--seconds", type=float, default=60, help="how long; default: 60")
    parser.add_argument("--length", type=float, default=12, help="seconds that a stream takes; default: 12")
    parser.add_argument("--upstream", type=int, metavar="PORT", help=argparse.SUPPRESS)
    given: Any = parser.parse_args(arguments)
    if given.upstream:
        serve(given.upstream, given.length)
        return
    problems = run(given.streams, given.seconds, given.length)
    for problem in problems[:20]:
        print(f"wrong: {problem}")
    print("nothing is lost, mixed up or left" if not problems else f"{len(problems)} problems")
    raise SystemExit(bool(problems))
