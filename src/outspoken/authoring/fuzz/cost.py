"""What reading a text costs, counted in calls of functions, and the invariant that it grows with the text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from cProfile import Profile

from outspoken.fast_path import reader

from .invariants import ParseArguments
from .violation import require


def cost(text: str, args: ParseArguments) -> int:
    """How many functions are called to read a text."""
    return calls_in(lambda: args.parse(text))


def calls_in(run: Callable[[], object]) -> int:
    """The number of function calls in a run, which does not depend on the machine."""
    profile, before = Profile(), sys.getprofile()
    profile.enable()
    try:
        run()
    finally:
        profile.disable()
        sys.setprofile(before)
    return sum([entry.callcount for entry in profile.getstats()])


@contextmanager
def without_fast_paths() -> Generator[None]:
    """Within, the fast path is off."""
    before, reader.ENABLED = reader.ENABLED, False
    try:
        yield
    finally:
        reader.ENABLED = before


def check_growth(unit: str, args: ParseArguments, size: int = 8_000) -> None:
    """A text of twice as many units takes about twice as much work, without the fast path."""
    times = size // max(len(unit), 1) + 1
    with without_fast_paths():
        for text in (unit * times, unit * 2 * times):
            args.parse(text)  # what is made once is not counted; for long texts that is something else
        less, more = cost(unit * times, args), cost(unit * 2 * times, args)
    require(more <= 3 * less, "growth", f"{more} calls of functions for twice the text that takes {less}")
