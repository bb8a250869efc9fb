"""What the playground costs in a browser: the time to the first paint, and a step of the slider.

Run as `python -m tools.bench.ui [--characters N ...] [--steps N]`. It starts `outspoken ui` as a process, opens the
page in the browser that `python -m tools.shared.browser` prints, pastes responses, and moves the slider: one piece on,
and far away. A step is over when the next frame is drawn. The figures are those of this machine, with what else it
does.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tools.shared.browser import NoBrowserError, opened

#: What is to be reached, in milliseconds: the first paint, and the median step at the smallest length.
FIRST_PAINT, STEP = 1000.0, 50.0
#: So often the page is opened.
_OPENED = 5
_CALL = 'Step {n}.\n<tool_call>\n{{"name": "f", "arguments": {{"n": "{x}", "of": [1, 2, 3]}}}}\n</tool_call>\n'
_PAINT = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_READY = "return document.getElementById('view').ariaBusy === 'false'"
_PASTE = """
const field = document.getElementById("given-text");
field.value = arguments[0];
document.getElementById("view").ariaBusy = "true";
field.dispatchEvent(new Event("input", { bubbles: true }));
"""
_STEPS = """
const [count, jumps, done] = arguments;
const slider = document.getElementById("at");
const took = [];
const frame = new MessageChannel();
const most = Number(slider.max);
let begun = 0;
function step() {
  const n = took.length;
  if (n === count) return done(took);
  const next = jumps ? Math.round((most * ((n * 7) % count)) / count) : Number(slider.value) + 1;
  begun = performance.now();
  slider.value = next;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.offsetHeight;
  const laidOut = performance.now();
  frame.port1.onmessage = () => {
    took.push([laidOut - begun, performance.now() - begun]);
    setTimeout(step, 20);
  };
  requestAnimationFrame(() => frame.port2.postMessage(0));
}
slider.value = jumps ? 0 : Math.round(most / 2);
slider.dispatchEvent(new Event("input", { bubbles: true }));
setTimeout(step, 200);
"""


class Figures(NamedTuple):
    """Times of steps in milliseconds: the median, one in ten is slower than `p90`, and the slowest."""

    median: float
    p90: float
    slowest: float

    @classmethod
    def of(cls, times: list[float]) -> Figures:
        """The figures of some times."""
        ordered = sorted(times)
        return cls(ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.9)], ordered[-1])

    def __str__(self) -> str:
        return f"{self.median:7.1f} {self.p90:7.1f} {self.slowest:7.1f}"


def response(characters: int) -> str:
    """A response with a call in every two hundred characters."""
    parts: list[str] = []
    size = 0
    while size < characters:
        parts.append(_CALL.format(n=len(parts), x="x" * (60 + len(parts) * 37 % 120)))
        size += len(parts[-1])
    return "".join(parts)[:characters]


@contextmanager
def playground() -> Generator[str]:
    """The address of a playground that runs as a process of its own."""
    command = [sys.executable, "-m", "outspoken", "ui", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise SystemExit("the playground did not start")
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def _until(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > end:
            raise SystemExit("the page did not come to an end")
        time.sleep(0.02)
    return found


def first_paints(browser: Any, url: str) -> tuple[list[float], list[float]]:
    """Milliseconds to the first paint, and until the first response is shown, each time that the page is opened."""
    paints: list[float] = []
    ready: list[float] = []
    for _ in range(_OPENED):
        browser.get("about:blank")
        begun = time.monotonic()
        browser.get(url)
        _until(lambda: browser.execute_script(_READY))
        ready.append((time.monotonic() - begun) * 1000)
        paints.append(_until(lambda: browser.execute_script(_PAINT)))
    return paints, ready


def read_time(browser: Any, text: str) -> float:
    """Milliseconds from a paste until the response is shown."""
    begun = time.monotonic()
    browser.execute_script(_PASTE, text)
    _until(lambda: browser.execute_script(_READY))
    return (time.monotonic() - begun) * 1000


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; 1 if the first paint or a step at the smallest length is slower than it may be."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.ui", description="Measure the playground in a browser."
    )
    parser.add_argument("--characters", type=int, nargs="+", default=[20_000, 200_000], metavar="N")
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="so many steps of each kind; default: 60")
    given = parser.parse_args(arguments)
    try:
        with opened() as browser, playground() as url:
            return _measure(browser, url, sorted(given.characters), given.steps)
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1


def _measure(browser: Any, url: str, lengths: list[int], steps: int) -> int:
    browser.set_script_timeout(300)
    paints, ready = first_paints(browser, url)
    paint = Figures.of(paints)
    print("milliseconds                             median     p90 slowest")
    print(f"first paint                             {paint}")
    print(f"the first response is shown             {Figures.of(ready)}")
    slow = paint.median > FIRST_PAINT
    for length in lengths:
        shown = f"{length:,} characters"
        print(f"{shown}: a paste is shown in {read_time(browser, response(length)):,.0f} ms")
        for name, jumps in (("one piece on", False), ("far away", True)):
            took = browser.execute_async_script(_STEPS, steps, jumps)
            work, frames = Figures.of([one for one, _ in took]), Figures.of([one for _, one in took])
            print(f"  {name:14} script and layout      {work}")
            print(f"  {'':14} until the next frame   {frames}")
            slow |= length == lengths[0] and frames.median > STEP
    print(f"the first paint may take {FIRST_PAINT:g} ms, a step at {lengths[0]:,} characters {STEP:g} ms")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
