"""Search for repeated tokens that take more than linear time. Run as `python -m tools.fuzz.repetitions [NAME ...]`.

Each token of a format's example is repeated, alone and behind each beginning of the example, to 20 KB and to 80 KB.
Both texts are read whole and in pieces of 64 and of 7 characters. Four times the text may take six times as long.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from outspoken.authoring.shared.checkout import Checkout
from outspoken.parsing.inspection import formats
from outspoken.parsing.parser import Parser
from outspoken.parsing.tree_parser import parse_tree
from outspoken.results.errors import OutspokenError

from .cost import calls_in

#: The sizes that are compared, in characters.
SIZES = (20_000, 80_000)
#: How a text is read: whole, or in pieces of so many characters.
PIECES = (0, 64, 7)
#: The larger text is `SIZES[1] / SIZES[0]` times as long, and may cost this many times as much.
MAX_RATIO = 6.0
#: Seconds. A reading that takes less is too short to compare.
MIN_SECONDS = 0.02
#: Where a value is cut to make a beginning.
_JOINT = re.compile(r'["\'](?=[^"\'\s,:}\]])|[{\[(,:](?!\Z)\s?')


class Repetition(NamedTuple):
    """A text that repeats `unit` behind `beginning`."""

    beginning: str
    unit: str

    def text(self, size: int) -> str:
        """The text of at least `size` characters."""
        return self.beginning + self.unit * (size // len(self.unit) + 1)


class Finding(NamedTuple):
    """A repetition whose cost is not linear: what the text of each size costs, in seconds or calls."""

    format: str
    repetition: Repetition
    pieces: int
    costs: tuple[float, float]

    def __str__(self) -> str:
        how = f"in pieces of {self.pieces}" if self.pieces else "whole"
        less, more = self.costs
        return (
            f"{self.format} {how}: {less:.4g}, {more:.4g}: {self.repetition.beginning!r} + {self.repetition.unit!r} * n"
        )


def repetitions(name: str, example: str) -> list[Repetition]:
    """Every token of an example repeated, alone and behind every beginning; each once."""
    tokens = sorted({(t.start_pos or 0, t.end_pos or 0) for t in parse_tree(example, name).scan_values(_is_token)})
    cuts = sorted({0, *(end for pair in tokens for end in pair), *_joints(example, tokens)})
    units = [example[start:end] for start, end in tokens if end > start]
    units += [example[start:cut] for start, end in tokens for cut in cuts if start < cut < end]
    units += [example[cut : cut + 1] for cut in cuts if cut < len(example)]
    return [Repetition(example[:cut], unit) for cut in cuts for unit in dict.fromkeys(units) if unit]


def _is_token(_: object) -> bool:
    return True


def _joints(example: str, tokens: list[tuple[int, int]]) -> Iterator[int]:
    """Places within values: behind brackets, commas and opening quotes."""
    for start, end in tokens:
        for joint in _JOINT.finditer(example, start, end):
            yield joint.end()


def read(parser: Parser, text: str, pieces: int) -> None:
    """Read a text whole (`pieces` is 0) or in pieces of so many characters."""
    if not pieces:
        parser.parse(text)
        return
    for _ in parser.stream(text[at : at + pieces] for at in range(0, len(text), pieces)):
        pass


def seconds(task: Callable[[], object]) -> float:
    """The processor time of a task."""
    start = time.process_time()
    task()
    return time.process_time() - start


def check(name: str, repetition: Repetition, pieces: int, sizes: tuple[int, int] = SIZES) -> Finding | None:
    """Compare the times of both sizes. A ratio over the limit is measured again, and the smaller one counts."""
    parser = Parser(name)
    costs = (0.0, 0.0)
    for _ in range(3):
        less, more = [seconds(partial(read, parser, repetition.text(size), pieces)) for size in sizes]
        costs = (less, more)
        if more < MIN_SECONDS or more <= MAX_RATIO * less:
            return None
    return Finding(name, repetition, pieces, costs)


def check_steps(name: str, repetition: Repetition, pieces: int, sizes: tuple[int, int]) -> Finding | None:
    """Compare the calls of functions of both sizes, which do not depend on the machine."""
    parser = Parser(name)
    read(parser, repetition.text(sizes[0]), pieces)  # what is compiled once is not counted
    less, more = [calls_in(partial(read, parser, repetition.text(size), pieces)) for size in sizes]
    return Finding(name, repetition, pieces, (less, more)) if more > MAX_RATIO * less else None


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Check all repetitions of the formats. Returns 1 if one is not linear."""
    checkout = checkout or Checkout()
    options = _options(arguments)
    found = count = 0
    start = time.monotonic()
    with checkout.in_use():
        try:
            for name in options.names or checkout.names():
                checkout.existing(name)
                for repetition in repetitions(name, example_of(name))[options.offset :: options.every]:
                    for pieces in options.pieces:
                        count += 1
                        if finding := check(name, repetition, pieces):
                            found += 1
                            print(finding, flush=True)
        except OutspokenError as error:
            print(error, file=sys.stderr)
            return 2
    print(f"{count:,} texts in {time.monotonic() - start:.0f} s, {found} take more than linear time")
    return int(bool(found))


def example_of(name: str) -> str:
    """The example of a format."""
    return next(format.example for format in formats() if format.name == name)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz.repetitions", description="Search for repetitions that take more than linear time."
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="formats; default: all")
    parser.add_argument(
        "--pieces", type=int, nargs="+", default=PIECES, metavar="N", help="0 is whole; default: 0 64 7"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="check only every N-th repetition")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="the first repetition of each format")
    return parser.parse_args(arguments)
