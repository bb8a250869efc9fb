"""The command `python -m tools.damage [json|markup|prose]`; without a word, `json`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

from outspoken.grammar import registry
from outspoken.json.read import JsonReading, read_json
from tools.shared.command import run

from . import json_texts, markup, prose, responses
from .json_texts import DamageCase, generate
from .judging import Evaluation, equal, evaluate, is_beginning
from .markup import CLASSES, MarkupReading

_Run = list[tuple[JsonReading, Evaluation]]


# --- JSON


def json_main(arguments: list[str]) -> int:
    """Damage tool calls as models do, and count how many `read_json` reads as meant, beside json-repair alone.

    Every case is a sound document, written as JSON and then damaged in one known way.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.damage json", description=json_main.__doc__)
    parser.add_argument(
        "--schema", action=argparse.BooleanOptionalAction, help="only with, or only without, the schema"
    )
    parser.add_argument("--only", metavar="KIND", help="only one kind of damage, or one group of kinds")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print the first N misses of each kind")
    parser.add_argument("--seed", type=int, default=json_texts.SEED)
    parser.add_argument("--per-kind", type=int, default=json_texts.PER_KIND)
    parser.add_argument("--ours", action="store_true", help="leave out json-repair")
    options = parser.parse_args(arguments)
    cases, passed = generate(options.seed, options.per_kind, options.only)
    runs: dict[str, _Run] = {}
    times: list[str] = []
    for mark, schema in (("+", True), ("-", False)):
        if options.schema in (None, schema):
            start = time.perf_counter()
            readings = [read_json(case.text, case.schema if schema else None) for case in cases]
            times.append(f"{mark} {time.perf_counter() - start:.2f} s")
            runs[mark] = [(reading, evaluate(case, reading)) for case, reading in zip(cases, readings, strict=True)]
    start = time.perf_counter()
    others = [] if options.ours else [_json_repair_reads(case) for case in cases]
    times += [] if options.ours else [f"json-repair {time.perf_counter() - start:.2f} s"]
    print(f"{len(cases)} cases; + with the schema, - without")
    _json_table(cases, runs, others)
    print(f"\ntime: {', '.join(times)}\nskipped (still valid JSON, or a duplicate): {dict(passed)}")
    for mark, found in runs.items():
        _show_json(cases, found, options.show, mark)
    return 0


def _json_repair_reads(case: DamageCase) -> bool:
    """Whether json-repair alone reads a text correctly. It has no status: for a cut text, a beginning is correct."""
    repair: Any = import_module("json_repair").repair_json
    try:
        got = repair(case.text, return_objects=True)
    except Exception:  # whatever it raises, it did not read the text
        return False
    if json_texts.KINDS[case.kind].group == "cut":
        return is_beginning(got, case.values[0])
    return equal(got, case.values if len(case.values) > 1 else case.values[0])


#: The columns of the table.
_JUDGED: dict[str, Callable[[Evaluation], bool]] = {
    "right": lambda evaluation: evaluation.right,
    "flagd": lambda evaluation: evaluation.flagged and not evaluation.right,
    "silnt": lambda evaluation: evaluation.silent,
}


def _json_table(cases: list[DamageCase], runs: dict[str, _Run], others: list[bool]) -> None:
    """Print a row for each kind, for each group and for all: right, wrong and flagged, silently wrong, json-repair."""
    labels = [f"{of}{mark}" for of in _JUDGED for mark in runs] + ["j-rep"] * bool(others)
    print(f"  {'':36} {'cases':>5} {' '.join([f'{label:>6}' for label in labels])}")
    kinds = dict.fromkeys([case.kind for case in cases])
    groups = {group: [k for k in kinds if json_texts.KINDS[k].group == group] for group in _groups(cases)}
    rows = [(name, [name]) for named in groups.values() for name in named]
    for label, wanted in [*rows, *[(group.upper(), named) for group, named in groups.items()], ("ALL", [*kinds])]:
        at = [i for i, case in enumerate(cases) if case.kind in wanted]
        columns = [[judge(found[i][1]) for i in at] for judge in _JUDGED.values() for found in runs.values()]
        columns += [[others[i] for i in at]] if others else []
        print(f"  {label:36} {len(at):5} {' '.join([_percent(sum(column), len(at)) for column in columns])}")


def _groups(cases: list[DamageCase]) -> list[str]:
    return list(dict.fromkeys([json_texts.KINDS[case.kind].group for case in cases]))


def _percent(count: int, of: int) -> str:
    """A share; only all of them are 100."""
    return f"{min(100 * count / of, 99.9 if count < of else 100):6.1f}"


def _show_json(cases: list[DamageCase], found: _Run, number: int, mark: str) -> None:
    """Print the first misses of each kind."""
    shown: Counter[str] = Counter()
    for case, (reading, evaluation) in zip(cases, found, strict=True):
        if evaluation.right or shown[case.kind] == number:
            continue
        shown[case.kind] += 1
        print(f"\n--- {case.kind} {mark}: {evaluation.why}, {'flagged' if evaluation.flagged else 'silently wrong'}")
        print(f"{case.text}\nmeant: {case.values!r}\ngot:   {list(reading.values)!r}")
        print(f"{reading.status}, {reading.level}, ambiguous {reading.ambiguous}")
        print("\n".join([f"  {repair}" for repair in reading.repairs[:12]]))


# --- Markup


def markup_main(arguments: list[str]) -> int:
    """Damage the markup of sound responses of all formats, and count what becomes of them, by format and by kind."""
    parser = argparse.ArgumentParser(prog="python -m tools.damage markup", description=markup_main.__doc__)
    parser.add_argument("--only", metavar="FORMAT", nargs="+", help="only these formats")
    parser.add_argument("--per-format", metavar="N", type=int, default=100)
    parser.add_argument("--mistakes", metavar="N", type=int, default=1, help="mistakes in each text (1)")
    parser.add_argument("--auto", action="store_true", help='read with format="auto"')
    parser.add_argument("--stream", action="store_true", help="also read in pieces, and compare")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print N misses of each class and format")
    parser.add_argument("--kind", choices=markup.KINDS, help="only one kind of mistake")
    parser.add_argument("--outcome", choices=[*CLASSES, "differs"], help="show only this class")
    parser.add_argument("--seed", type=int, default=responses.SEED)
    options = parser.parse_args(arguments)
    names = [registry.resolve(name) for name in options.only or registry.names()]
    start, readings = time.perf_counter(), list[MarkupReading]()
    for name in filter(responses.is_writable, names):
        random = Random(f"{options.seed} {name} {options.mistakes}")
        made = responses.bases(name, options.seed, auto=options.auto)
        for case in markup.damaged_texts(made, random, options.per_format, options.mistakes):
            if options.kind in (None, case.kind):
                readings.append(markup.read(case, "auto" if options.auto else name, pieces=options.stream))
    print(f"  {'':24} {'texts':>6} {' '.join([f'{head:>6}' for head in CLASSES.values()])} meant%")
    by_format, by_kind = dict[str, list[MarkupReading]](), dict[str, list[MarkupReading]]()
    for reading in readings:
        by_format.setdefault(reading.case.base.format, []).append(reading)
        by_kind.setdefault(reading.case.kind, []).append(reading)
    for label, rows in [*by_format.items(), *by_kind.items(), ("ALL", readings)]:
        print(_markup_row(label, rows))
    print(f"\ntime: {time.perf_counter() - start:.1f} s for {len(readings)} texts")
    print(f"nothing to damage: {', '.join([n for n in names if n not in by_format]) or 'none'}")
    _show_markup([r for r in readings if options.outcome in (None, _miss(r))], options.show)
    return 0


def _markup_row(label: str, readings: list[MarkupReading]) -> str:
    """The number of texts, and what became of them, in counts and, as meant, in percent."""
    counts = Counter(reading.outcome for reading in readings)
    share = 100 * counts["meant"] / len(readings) if readings else 0.0
    differing = sum(reading.differs for reading in readings)
    columns = " ".join(f"{counts[name]:6}" for name in CLASSES)
    return f"  {label:24} {len(readings):6} {columns} {share:6.1f} {f'{differing} differ' * bool(differing)}".rstrip()


def _miss(reading: MarkupReading) -> str:
    return "differs" if reading.differs else reading.outcome


def _show_markup(readings: list[MarkupReading], number: int) -> None:
    """Print the first misses of each class in each format."""
    shown: Counter[tuple[str, str]] = Counter()
    for reading in readings:
        base, key = reading.case.base, (_miss(reading), reading.case.base.format)
        if key[0] == "meant" or shown[key] == number:
            continue
        shown[key] += 1
        print(f"\n--- {key[0]}: {base.format}, {reading.case.kind}, status {reading.reply.status}")
        print(
            f"sound: {base.text!r}\ntext:  {reading.case.text!r}\nmeant: {list(base.items)!r}\nread:  {reading.items!r}"
        )
        for reply in filter(None, (reading.reply, reading.streamed if reading.differs else None)):
            print(f"segments: {reply.segments!r}")
            print("\n".join([f"  {diagnostic}" for diagnostic in reply.diagnostics[:4]]))


_COMMANDS = {"json": json_main, "markup": markup_main, "prose": prose.main}


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands."""
    given = sys.argv[1:] if arguments is None else arguments
    command = _COMMANDS.get(given[0] if given else "")
    return command(given[1:]) if command else json_main(given)


if __name__ == "__main__":
    run(main)
