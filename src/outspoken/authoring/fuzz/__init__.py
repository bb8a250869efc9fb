"""Search for texts that are read wrongly: `outspoken grammar fuzz`.

Hypothesis makes responses from the rules of a grammar (`texts.py`), damages some of them, and checks what
holds of each (`checks.py`): reading raises nothing and loses nothing, pieces give the same reply as the whole, and a
sound response means what its tree says. What violates one of these is shown with the shortest text that does.

Besides, calls are rendered (`sound.py`) and damaged in ways that leave no doubt of what was meant (`damage.py`). A
table says what became of them (`sound.py`); a call that runs wrongly or is lost in silence is a finding, too.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import hypothesis

from outspoken.authoring.shared.checkout import Checkout, cases
from outspoken.grammar import registry
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text
from outspoken.terminal.outputs import ProgressLine

from .checks import ParseArguments, ViolationError, check_text, check_tree, require, said, violation_of
from .damage import ROWS, cases as damaged_calls
from .sound import outcome, table
from .texts import SETTINGS, Example, examples

#: So many texts are made with one seed.
TEXTS = 50
#: What each kind of finding says; the kinds are those of `ViolationError`.
TITLES = {
    "raises": "reading this text raises an exception",
    "spans": "a span is in the wrong place",
    "lost": "a part of the text is in no segment, and no markup",
    "chunks": "the text is read differently in pieces",
    "meaning": "the text is not read as the grammar says",
    "wrong": "a call runs that was not meant, and nothing says so",
    "missing": "a call is lost, and nothing says so",
}
#: The kinds of findings among what becomes of damaged calls.
_UNSOUND = {"wrong, ok": "wrong", "lost": "missing"}
Check = Callable[[Example], object]


class MisreadText(NamedTuple):
    """A text that is read wrongly: what is violated, how it is read, and the command that finds it again."""

    format: str
    seed: int
    example: Example
    violation: ViolationError
    command: str = ""

    def as_json(self) -> dict[str, Any]:
        """The finding as plain data, which `--replay` reads."""
        text, args, cuts, is_whole, expected = self.example
        read = {"name": args.format, "options": dict(args.options), "finish_reason": args.reason, "cuts": list(cuts)}
        told = {"kind": self.violation.kind, "message": self.violation.message, "command": self.command}
        made = {"format": self.format, "text": text, "whole": is_whole, "expected": expected}
        return {"type": "finding", **made, **read, **told}

    def __str__(self) -> str:
        """The finding as lines, without a line break at the end."""
        kind, told = self.violation.kind, (str(self.example.args), self.violation.message)
        args, message = [text if len(text) <= 600 else f"{text[:600]}..." for text in told]
        lines = [
            f"error[fuzz-{kind}]: {TITLES.get(kind, kind)}",
            f"   = note: the text is {self.example.text!r}, read with {args}",
            f"   = note: {message}",
        ]
        return "\n".join([*lines, f"   = help: `{self.command}` finds it again"] if self.command else lines)


@dataclass
class Fuzz:
    """The texts of one format: how many were read, what was found, and how many were sound.

    `check` is asked of each text; it raises `ViolationError`, and any other exception counts as one.
    """

    name: str
    others: Sequence[str]
    check: Check | None = None
    command: str = ""
    findings: list[MisreadText] = field(default_factory=list[MisreadText])
    texts: int = 0
    sound: int = 0
    #: How many damaged calls were read, by row and class.
    damaged: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def run(self, seed: int, number: int = TEXTS) -> MisreadText | None:
        """Read so many texts of a seed. Returns what was found, and stops there."""
        worst: list[tuple[Example, ViolationError]] = []

        @hypothesis.seed(seed)
        @hypothesis.settings(SETTINGS, max_examples=number)
        @hypothesis.given(examples(self.name, self.others))
        def read(example: Example) -> None:
            if (violation := self._violation(example)) is not None:
                worst[:] = [(example, violation)]  # the last one is the smallest
                raise violation

        try:
            read()
        except ViolationError:
            example = self._shortest(*worst[0])
            return self._found(example, self._violation(example) or worst[0][1], seed, number)
        return None

    def run_damaged(self, seed: int, number: int = TEXTS) -> None:
        """Read so many damaged calls of a seed, if the format has calls, and count what becomes of them."""
        for case in damaged_calls(self.name, seed, number):
            middle = len(case.text) // 2
            expected = (case.kind, case.meant, case.allowed, case.begun)
            example = Example(case.text, case.args, (middle, middle + 1), expected=expected)
            found = violation_of(partial(self.check_example, example))
            if found is not None:
                self._found(example, found, seed, number)

    def _found(self, example: Example, violation: ViolationError, seed: int, number: int) -> MisreadText:
        command = f"{self.command} --seed {seed} --runs {number}" if self.command else ""
        finding = MisreadText(self.name, seed, example, violation, command)
        if all(example != other.example for other in self.findings):
            self.findings.append(finding)
        return finding

    def _violation(self, example: Example) -> ViolationError | None:
        self.texts += 1
        return violation_of(partial(self.check or self.check_example, example))

    def check_example(self, example: Example) -> None:
        """Check what holds of any text, and the meaning of one that is not damaged, or is known."""
        reply = check_text(example.text, example.args, example.cuts)
        if example.expected is not None:
            row, *meaning = example.expected
            found = outcome(reply, *meaning)
            self.damaged[row, found] += 1
            require(found not in _UNSOUND, _UNSOUND.get(found, ""), f"{row}: meant {meaning}, read: {said(reply)}")
        if example.is_whole:
            self.sound += bool(check_tree(example.text, self.name))

    def _shortest(self, example: Example, violation: ViolationError) -> Example:
        """A violation with a shorter text: Hypothesis takes no letter out of a text that it draws as a whole."""

        def cut(text: str) -> Example:
            return example._replace(text=text, cuts=tuple([min(place, len(text)) for place in example.cuts]))

        def shows(text: str) -> bool:
            found = self._violation(cut(text))
            return found is not None and (found.kind, found.exception) == (violation.kind, violation.exception)

        return cut(minimise(example.text, shows))


def minimise(text: str, shows: Callable[[str], bool], tries: int = 400) -> str:
    """Delta debugging: the text without all that can be left out, a piece at a time, so that `shows` still holds.

    `shows` holds for the text itself. Where `tries` are spent, what is left by then is returned.
    """
    size = max(len(text) // 2, 1)
    while size and tries > 0:
        at, before = 0, text
        while at < len(text) and tries > 0:
            shorter, tries = text[:at] + text[at + size :], tries - 1
            text, at = (shorter, at) if shows(shorter) else (text, at + size)
        size = size // 2 if text == before else min(size, max(len(text) // 2, 1))
    return text


def replayed(path: str, names: Collection[str]) -> Iterator[MisreadText]:
    """What is still found of the findings of some formats in a file, as `--json` writes them. Raises UsageError."""
    for line in read_text(path).splitlines():
        try:
            record = json.loads(line)
            if record["type"] != "finding" or record["format"] not in names:
                continue
            args = ParseArguments(record["name"], record["options"], record["finish_reason"])
            example = Example(record["text"], args, tuple(record["cuts"]), record["whole"], record.get("expected"))
            name, command = record["format"], record["command"]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}: `{line[:60]}` is no finding that --json has written") from error
        violation = violation_of(partial(Fuzz(name, []).check_example, example))
        if violation is not None:
            yield MisreadText(name, 0, example, violation, command)


def fuzz(
    checkout: Checkout,
    names: Sequence[str] = (),
    *,
    seed: int = 0,
    runs: int | None = None,
    minutes: float | None = None,
    replay: str | None = None,
    as_json: bool = False,
) -> int:
    """Read texts of formats, by default of all, until the runs or minutes are over, or until Ctrl-C.

    `replay` is a file of findings, which are read in their place. Returns 1 where something was found. Raises
    UnknownFormatError, and GrammarError for a grammar that cannot be used.
    """
    names, start = list(dict.fromkeys(names)) or checkout.names(), time.monotonic()
    with checkout.in_use():
        for name in names:
            checkout.existing(name)
            registry.automaton(name)
        others = [case.text for case in cases(checkout) if case.text] or ["text"]
        fuzzes = [Fuzz(name, others, command=checkout.command("fuzz", name)) for name in names]
        finding_count = 0
        try:
            with ProgressLine("texts", runs and runs * len(names)) as progress:
                end = start + 60 * minutes if minutes else None
                search = replayed(replay, names) if replay else _findings(fuzzes, seed, runs, end, progress)
                for finding in search:
                    finding_count += 1
                    progress.clear()
                    print(json.dumps(finding.as_json()) if as_json else f"{finding}\n", flush=True)
        except KeyboardInterrupt:
            print(file=sys.stderr)
        print(_summary(fuzzes, finding_count, time.monotonic() - start, as_json=as_json))
    return int(finding_count > 0)


def _findings(
    fuzzes: list[Fuzz], first: int, runs: int | None, end: float | None, progress: ProgressLine
) -> Iterator[MisreadText]:
    """What is found, until the runs or the time are over; what was found already is not told again."""
    for seed in count(first):
        number = min(TEXTS, runs - TEXTS * (seed - first)) if runs else TEXTS
        if number <= 0:
            return
        for fuzz in fuzzes:
            if end is not None and time.monotonic() >= end:
                return
            told = len(fuzz.findings)
            fuzz.run(seed, number)
            fuzz.run_damaged(seed, number)
            yield from fuzz.findings[told:]
            progress.step(number)


def _summary(fuzzes: list[Fuzz], found: int, seconds: float, *, as_json: bool) -> str:
    """How many texts were read of each format, what they had, and how many findings there are."""
    texts = sum([fuzz.texts for fuzz in fuzzes])
    if as_json:
        formats: dict[str, dict[str, object]] = {}
        for fuzz in fuzzes:
            kinds = Counter([finding.violation.kind for finding in fuzz.findings])
            formats[fuzz.name] = {"texts": fuzz.texts, "sound": fuzz.sound, "findings": kinds}
            formats[fuzz.name]["damaged"] = {" ".join(key): n for key, n in fuzz.damaged.items()}
        return json.dumps({"type": "summary", "formats": formats, "texts": texts, "seconds": round(seconds, 3)})
    lines = [f"{fuzz.name}: {fuzz.texts} texts, {fuzz.sound} sound" for fuzz in fuzzes if fuzz.texts]
    outcome = f"{found} texts are read wrongly" if found else "nothing was found"
    damaged = sum([fuzz.damaged for fuzz in fuzzes], Counter[tuple[str, str]]())
    in_order = sorted(damaged, key=lambda key: ROWS.index(key[0]))
    lines += [table({key: damaged[key] for key in in_order})] * bool(damaged)
    return "\n".join([*lines, f"{texts} texts: {outcome}"])
