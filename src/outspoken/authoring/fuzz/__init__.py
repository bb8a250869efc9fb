"""Search for texts that violate an invariant. Run as `python -m tools.fuzz [NAME ...]`.

For each format and seed, `generator.py` makes one sound response and `mutations.py` changes it; `invariants.py` checks
them all. A violation is shown with the shortest text that has it. With `--write` it becomes a case of the corpus.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from outspoken.grammar import registry
from outspoken.results.edits import REPAIR_LIMITS
from outspoken.results.errors import OutspokenError
from outspoken.terminal.progress import ProgressLine
from outspoken.authoring.shared.arguments import refuse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases

from .generator import Generator, Response
from .cost import check_growth
from .invariants import ParseArguments, check, check_detected, check_sound, violation_of
from .minimise import minimise
from .mutations import Mutator
from .report import Finding, save
from .state_graph import Step
from .token_text import TerminalForm
from .violation import ViolationError

#: How many texts are made of each response by changing it; and of every so manieth response it is asked what it costs.
_CHANGED, _MEASURED = 4, 50
#: How many findings of one kind and format are made as short as can be; the others are counted.
_MINIMISED = 3
_REASONS = (None, "stop", "length")


@dataclass
class Coverage:
    """What of a grammar was written so far, and for how many seeds no response was found."""

    steps: set[Step] = field(default_factory=set[Step])
    forms: set[TerminalForm] = field(default_factory=set[TerminalForm])
    missed: int = 0


class Fuzzer:
    """Reads texts of some formats. `findings` are texts that violate an invariant, `counts` the number of each kind."""

    def __init__(self, names: list[str], checkout: Checkout) -> None:
        self.generators = {name: Generator(name) for name in names}
        self.taken = {name: Coverage() for name in names}
        self.findings: list[Finding] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.texts = 0
        self._checkout = checkout
        examples = [registry.header(name).example or "text" for name in names]
        self._corpus = [case.text for case in cases(checkout) if case.text] or examples

    def run(self, name: str, seed: int) -> list[Finding]:
        """Check the texts of a format and a seed. Returns the new violations."""
        before = len(self.findings)
        response, taken = self.generators[name].response(seed), self.taken[name]
        if response is None:
            taken.missed += 1
        else:
            taken.steps |= response.steps
            taken.forms |= response.forms
            self._sound(name, seed, response)
        self._changed(name, seed, response.text if response else "")
        return self.findings[before:]

    def _sound(self, name: str, seed: int, response: Response) -> None:
        """Check all invariants of a sound response."""
        self._check(name, seed, response.text, ParseArguments(name, {"repair": "none"}), check)
        if not response.strict:
            self._check(name, seed, response.text, ParseArguments(name), check)
            self._check(name, seed, response.text, ParseArguments(name), check_sound)
            self._check(name, seed, response.text, ParseArguments(), check)
            self._check(name, seed, response.text, ParseArguments(name), check_detected)

    def _changed(self, name: str, seed: int, text: str) -> None:
        """Check changed texts."""
        random = Random(f"{name} {seed} changed")
        text = text or random.choice(self._corpus)
        change = Mutator(random, [text, *random.sample(self._corpus, min(8, len(self._corpus)))])
        for _ in range(_CHANGED):
            args = ParseArguments(
                random.choice((name, name, "auto")), {"repair": random.choice(REPAIR_LIMITS)}, random.choice(_REASONS)
            )
            self._check(name, seed, change(text), args, check)
        if seed % _MEASURED == 0:
            self._check(name, seed, change(text)[:400], ParseArguments(name), check_growth)

    def _check(
        self, name: str, seed: int, text: str, args: ParseArguments, check: Callable[[str, ParseArguments], None]
    ) -> None:
        self.texts += 1
        first = violation_of(text, args, check)
        if first is None:
            return
        self.counts[name, first.kind] += 1
        if self.counts[name, first.kind] > _MINIMISED:
            return
        text = minimise(text, lambda shorter: _is_same(first, violation_of(shorter, args, check)))
        violation = violation_of(text, args, check) or first
        program = self._checkout.command("fuzz", name)
        finding = Finding(violation.kind, name, seed, args, text, violation.message, program)
        if all(finding.name != other.name for other in self.findings):
            self.findings.append(finding)


def _is_same(violation: ViolationError, other: ViolationError | None) -> bool:
    """Whether two texts violate the same invariant, and raise the same exception if they raise one."""
    if other is None or other.kind != violation.kind:
        return False
    return violation.kind != "raises" or other.message.partition(":")[0] == violation.message.partition(":")[0]


def summary(fuzz: Fuzzer, seconds: float) -> Iterator[str]:
    """The coverage and the findings, as lines."""
    for name, generator in fuzz.generators.items():
        taken = fuzz.taken[name]
        steps, forms = generator.map.steps, generator.forms
        never = {s.terminal for s in set(steps) - taken.steps} | {s.terminal for s in forms - taken.forms}
        line = f"{name}: {len(taken.steps)} of {len(steps)} steps, {len(taken.forms)} of {len(forms)} forms"
        line += f"; no response for {taken.missed} seeds" if taken.missed else ""
        yield line + (f"; never or not in every way: {', '.join(sorted(never))}" if never else "")
    yield f"{fuzz.texts} texts in {seconds:.0f} s, {fuzz.texts / max(seconds, 0.001):.0f} a second"
    for (name, kind), number in sorted(fuzz.counts.items()):
        yield f"{name}: {kind}: {number}"
    yield f"{sum(fuzz.counts.values())} texts violate an invariant" if fuzz.counts else "no violation was found"


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Read texts until the runs or minutes are over, or until Ctrl-C. Returns 1 where something was found."""
    checkout = checkout or Checkout()
    options = _options(arguments)
    names: list[str] = list(dict.fromkeys(options.names)) or checkout.names()
    with checkout.in_use():
        try:
            for name in names:
                checkout.existing(name)
            fuzz = Fuzzer(names, checkout)
        except OutspokenError as error:
            return refuse("", error, checkout)
        start = time.monotonic()
        try:
            with ProgressLine("responses", options.runs and options.runs * len(names)) as progress:
                for finding in _findings(fuzz, options, start, progress):
                    progress.clear()
                    _show(finding, checkout if options.write else None, as_json=options.json)
        except KeyboardInterrupt:
            print(file=sys.stderr)
        if options.json:
            print(json.dumps(_summary_as_json(fuzz, time.monotonic() - start), ensure_ascii=False))
        else:
            print("\n".join(summary(fuzz, time.monotonic() - start)))
    return int(bool(fuzz.counts))


def _summary_as_json(fuzz: Fuzzer, seconds: float) -> dict[str, Any]:
    """The coverage of each format, and the number of texts of each kind of finding."""
    formats = {
        name: {
            "steps": [len(fuzz.taken[name].steps), len(generator.map.steps)],
            "forms": [len(fuzz.taken[name].forms), len(generator.forms)],
            "seeds_without_response": fuzz.taken[name].missed,
            "findings": {kind: number for (format, kind), number in sorted(fuzz.counts.items()) if format == name},
        }
        for name, generator in fuzz.generators.items()
    }
    return {"type": "summary", "formats": formats, "texts": fuzz.texts, "seconds": round(seconds, 3)}


def _show(finding: Finding, checkout: Checkout | None, *, as_json: bool) -> None:
    """Print a finding, and write it into the corpus of a checkout."""
    written = save(checkout, finding) if checkout else ()
    if as_json:
        print(json.dumps(finding.as_json(), ensure_ascii=False), flush=True)
        return
    print(finding)
    for path in written:
        print(f"written: {path}")
    print()


def _findings(fuzz: Fuzzer, options: argparse.Namespace, start: float, progress: ProgressLine) -> Iterator[Finding]:
    """What is found, until the runs or the minutes are over."""
    end = start + 60 * options.minutes if options.minutes else None
    for seed in count(options.seed):
        if options.runs and seed - options.seed == options.runs:
            return
        for name in fuzz.generators:
            if end is not None and time.monotonic() >= end:
                return
            yield from fuzz.run(name, seed)
            progress.step()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz",
        description="Search for texts that violate an invariant, until Ctrl-C unless --runs or --minutes is given.",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="formats; default: all")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed; default: 0")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=_positive(int), metavar="N", help="the number of seeds per format")
    limit.add_argument("--minutes", type=_positive(float), metavar="M", help="the duration")
    parser.add_argument("--json", action="store_true", help="write findings and the summary as JSON lines")
    parser.add_argument("--write", action="store_true", help="write findings into the corpus")
    return parser.parse_args(arguments)


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    """Reads a number of this kind that is more than 0."""

    def number(text: str) -> float:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not more than 0")
        return value

    return number
