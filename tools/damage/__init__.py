"""Damage tool calls as models do, and count how many are read correctly. Run as `python -m tools.damage`.

Every case is a sound document of `payloads`, written as JSON and then damaged in one known way, so that what
was meant is known. Beside `read_json`, with the schema and without, stands json-repair alone on the same text.

`markup` damages the markup of responses, and `prose` reads files that hold no response.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from importlib import import_module
from typing import Any

from outspoken.json.read import read_json

from .cases import KINDS, PER_KIND, SEED, DamageCase, generate
from .evaluation import Evaluation, Reading, equal, evaluate, is_beginning


def json_repair_reads(case: DamageCase) -> bool:
    """Whether json-repair alone reads a text correctly. It has no status: for a cut text, a beginning is correct."""
    repair: Any = import_module("json_repair").repair_json
    try:
        got = repair(case.text, return_objects=True)
    except Exception:  # whatever it raises, it did not read the text
        return False
    if KINDS[case.kind].group == "cut":
        return is_beginning(got, case.values[0])
    return equal(got, case.values if len(case.values) > 1 else case.values[0])


Evaluated = list[tuple[DamageCase, Reading, Evaluation]]


def timed(chosen: list[DamageCase], schema: bool) -> tuple[Evaluated, float]:
    """The evaluations of cases, and the seconds that reading took."""
    start = time.perf_counter()
    readings = [read_json(case.text, case.schema if schema else None) for case in chosen]
    taken = time.perf_counter() - start
    return [(case, reading, evaluate(case, reading)) for case, reading in zip(chosen, readings, strict=True)], taken


def percent(count: int, of: int) -> str:
    """A share; only all of them are 100."""
    return f"{min(100 * count / of, 99.9 if count < of else 100):6.1f}" if of else "     –"


def row(label: str, number: int, runs: list[list[Evaluation]], others: list[bool]) -> str:
    """A row of the table: right, wrong and flagged, silently wrong; each with and without the schema."""
    columns = [
        percent(sum(counts), len(counts))
        for of in (_right, _flagged, _silent)
        for counts in [[of(evaluation) for evaluation in run] for run in runs]
    ]
    if others:
        columns.append(percent(sum(others), len(others)))
    return f"  {label:36} {number:5} {' '.join(columns)}"


def _right(evaluation: Evaluation) -> bool:
    return evaluation.right


def _flagged(evaluation: Evaluation) -> bool:
    return evaluation.flagged and not evaluation.right


def _silent(evaluation: Evaluation) -> bool:
    return evaluation.silent


def table(chosen: list[DamageCase], runs: dict[str, tuple[Evaluated, float]], others: list[bool]) -> None:
    """Print a row for each kind, for each group and for all."""
    labels = [f"{of}{mark}" for of in ("right", "flagd", "silnt") for mark in runs] + ["j-rep"] * bool(others)
    print(f"  {'':36} {'cases':>5} {' '.join([f'{label:>6}' for label in labels])}")
    groups = list(dict.fromkeys([KINDS[case.kind].group for case in chosen]))
    for group in [*groups, "all"]:
        kinds = [k for k in dict.fromkeys([c.kind for c in chosen]) if group in (KINDS[k].group, "all")]
        for label, wanted in [*([(k, {k}) for k in kinds] if group != "all" else []), (group.upper(), set(kinds))]:
            at = [i for i, case in enumerate(chosen) if case.kind in wanted]
            evaluations = [[evaluated[i][2] for i in at] for evaluated, _ in runs.values()]
            print(row(label, len(at), evaluations, [others[i] for i in at] if others else []))


def show(evaluated: Evaluated, number: int, mark: str) -> None:
    """Print the first misses of each kind."""
    shown: Counter[str] = Counter()
    for case, reading, evaluation in evaluated:
        if evaluation.right or shown[case.kind] == number:
            continue
        shown[case.kind] += 1
        print(f"\n--- {case.kind} {mark}: {evaluation.why}, {'flagged' if evaluation.flagged else 'silently wrong'}")
        print(f"{case.text}\nmeant: {case.values!r}\ngot:   {list(reading.values)!r}")
        print(f"{reading.status}, {reading.level}, ambiguous {reading.ambiguous}")
        print("\n".join([f"  {repair}" for repair in reading.repairs[:12]]))
        print(f"  and {len(reading.repairs) - 12} more repairs" if len(reading.repairs) > 12 else "")


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and misses if they are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.damage",
        description="Count how many damaged texts are read correctly.",
        epilog="Other commands: `markup` and `prose`, each with --help. `json` is this one.",
    )
    parser.add_argument(
        "--schema", action=argparse.BooleanOptionalAction, help="only with, or only without, the schema"
    )
    parser.add_argument("--only", metavar="KIND", help="only one kind of damage, or one group of kinds")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print the first N misses of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--per-kind", type=int, default=PER_KIND)
    parser.add_argument("--ours", action="store_true", help="leave out json-repair")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    chosen, passed = generate(options.seed, options.per_kind, options.only)
    print(f"{len(chosen)} cases in {time.perf_counter() - start:.2f} s; + with the schema, - without")
    runs: dict[str, tuple[Evaluated, float]] = {}
    for mark, schema in (("+", True), ("-", False)):
        if options.schema in (None, schema):
            runs[mark] = timed(chosen, schema)
    start = time.perf_counter()
    others = [] if options.ours else [json_repair_reads(case) for case in chosen]
    taken = time.perf_counter() - start
    table(chosen, runs, others)
    times = [f"{mark} {seconds:.2f} s" for mark, (_, seconds) in runs.items()]
    print(f"\ntime: {', '.join([*times, *([] if options.ours else [f'json-repair {taken:.2f} s'])])}")
    print(f"skipped (still valid JSON, or a duplicate): {dict(passed)}")
    for mark, (evaluated, _) in runs.items():
        show(evaluated, options.show, mark)
    return 0
