"""What reading a text costs, counted in calls of functions, and the invariant that it grows with the text."""

import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from cProfile import Profile
from typing import NamedTuple

from outspoken import Parser
from outspoken.authoring.fuzz.checks import ParseArguments, require
from outspoken.fast_path import reader
from outspoken.parsing import parse_tree


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


#: Where a value is cut to make a beginning.
_JOINT = re.compile(r'["\'](?=[^"\'\s,:}\]])|[{\[(,:](?!\Z)\s?')


class Repetition(NamedTuple):
    """A text that repeats `unit` behind `beginning`."""

    beginning: str
    unit: str

    def text(self, size: int) -> str:
        """The text of at least `size` characters."""
        return self.beginning + self.unit * (size // len(self.unit) + 1)


def repetitions(name: str, example: str) -> list[Repetition]:
    """Every token of an example repeated, alone and behind every beginning; each once."""
    tokens = sorted({(t.start_pos or 0, t.end_pos or 0) for t in parse_tree(example, format=name).scan_values(bool)})
    joints = [joint.end() for start, end in tokens for joint in _JOINT.finditer(example, start, end)]
    cuts = sorted({0, *(end for pair in tokens for end in pair), *joints})
    units = [example[start:end] for start, end in tokens if end > start]
    units += [example[start:cut] for start, end in tokens for cut in cuts if start < cut < end]
    units += [example[cut : cut + 1] for cut in cuts if cut < len(example)]
    return [Repetition(example[:cut], unit) for cut in cuts for unit in dict.fromkeys(units) if unit]


def calls_to_read(name: str, text: str, pieces: int) -> int:
    """How many functions are called to read a text whole (`pieces` is 0) or in pieces of so many characters."""
    parser = Parser(name)
    if not pieces:
        return calls_in(lambda: parser.parse(text))
    return calls_in(lambda: list(parser.stream(text[at : at + pieces] for at in range(0, len(text), pieces))))
