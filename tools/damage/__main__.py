"""The command `python -m tools.damage [json|markup|prose]`; without a word, `json`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

from outspoken.authoring.fuzz.damage import CHARACTERS, ROWS, TAGS, Case, cases
from outspoken.authoring.fuzz.sound import CLASSES, table
from outspoken.grammar import registry
from outspoken.json.read import JsonReading, read_json
from tools.shared.command import run

from . import json_texts, prose, responses
from .json_texts import DamageCase, generate
from .judging import Evaluation, Reading, damaged_texts, evaluate, read

_Run = list[tuple[JsonReading, Evaluation]]


# --- JSON


def json_main(arguments: list[str]) -> int:
    """Damage tool calls as models do, and count how many `read_json` reads as meant.

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
    options = parser.parse_args(arguments)
    cases, passed = generate(options.seed, options.per_kind, options.only)
    runs: dict[str, _Run] = {}
    times: list[str] = []
    for mark, schema in (("+", True), ("-", False)):
        if options.schema in (None, schema):
            start = time.perf_counter()
            readings = [read_json(case.text, schema=case.schema if schema else None) for case in cases]
            times.append(f"{mark} {time.perf_counter() - start:.2f} s")
            runs[mark] = [(reading, evaluate(case, reading)) for case, reading in zip(cases, readings, strict=True)]
    print(f"{len(cases)} cases; + with the schema, - without")
    _json_table(cases, runs)
    print(f"\ntime: {', '.join(times)}\nskipped (still valid JSON, or a duplicate): {dict(passed)}")
    for mark, found in runs.items():
        _show_json(cases, found, options.show, mark)
    return 0


#: The columns of the table.
_JUDGED: dict[str, Callable[[Evaluation], bool]] = {
    "right": lambda evaluation: evaluation.right,
    "flagd": lambda evaluation: evaluation.flagged and not evaluation.right,
    "silnt": lambda evaluation: evaluation.silent,
}


def _json_table(cases: list[DamageCase], runs: dict[str, _Run]) -> None:
    """Print a row for each kind, for each group and for all: right, wrong and flagged, silently wrong."""
    labels = [f"{of}{mark}" for of in _JUDGED for mark in runs]
    print(f"  {'':36} {'cases':>5} {' '.join([f'{label:>6}' for label in labels])}")
    kinds = dict.fromkeys([case.kind for case in cases])
    groups: dict[str, list[str]] = {}
    for kind in kinds:
        groups.setdefault(json_texts.KINDS[kind].group, []).append(kind)
    rows = [(name, [name]) for named in groups.values() for name in named]
    for label, wanted in [*rows, *[(group.upper(), named) for group, named in groups.items()], ("ALL", [*kinds])]:
        at = [i for i, case in enumerate(cases) if case.kind in wanted]
        columns = [[judge(found[i][1]) for i in at] for judge in _JUDGED.values() for found in runs.values()]
        print(f"  {label:36} {len(at):5} {' '.join([_percent(sum(column), len(at)) for column in columns])}")


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
    """Damage sound responses of all formats, and count what becomes of them, by format and by kind of damage.

    Calls are damaged in all ways; GUI actions, payloads, several mistakes and `--auto` have mistakes in markup only.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.damage markup", description=markup_main.__doc__)
    parser.add_argument("--only", metavar="FORMAT", nargs="+", help="only these formats")
    parser.add_argument("--per-format", metavar="N", type=int, default=100)
    parser.add_argument("--mistakes", metavar="N", type=int, default=1, help="mistakes in each text (1)")
    parser.add_argument("--auto", action="store_true", help='read with format="auto"')
    parser.add_argument("--stream", action="store_true", help="also read in pieces, and compare")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print N misses of each class and format")
    parser.add_argument("--kind", choices=ROWS, nargs="+", default=ROWS, help="only these kinds of damage")
    parser.add_argument("--characters", dest="kind", action="store_const", const=CHARACTERS, help="only characters")
    parser.add_argument("--outcome", choices=[*CLASSES, "differs"], help="show only this class")
    parser.add_argument("--seed", type=int, default=responses.SEED)
    options = parser.parse_args(arguments)
    names = [registry.resolve(name) for name in options.only or registry.names()]
    start, readings = time.perf_counter(), list[Reading]()
    for name in filter(responses.is_writable, names):
        form = "auto" if options.auto else name
        readings += [read(case, form, pieces=options.stream) for case in _damaged(name, options)]
    by_format = {name: [r for r in readings if r.case.base.format == name] for name in names}
    print(table(Counter([(reading.case.base.format, reading.outcome) for reading in readings])))
    in_order = sorted(readings, key=lambda reading: ROWS.index(reading.case.kind))
    print(table(Counter([(reading.case.kind, reading.outcome) for reading in in_order])))
    print(f"\ntime: {time.perf_counter() - start:.1f} s for {len(readings)} texts")
    print(f"read differently in pieces: {sum([r.differs for r in readings])}" if options.stream else "")
    print(f"nothing to damage: {', '.join([n for n, made in by_format.items() if not made]) or 'none'}")
    _show_markup([r for r in readings if options.outcome in (None, _miss(r))], options.show)
    return 0


def _damaged(name: str, options: argparse.Namespace) -> Iterable[Case]:
    """The damaged texts of a format."""
    is_plain = options.mistakes == 1 and not options.auto
    made = [*cases(name, options.seed, options.per_format, options.kind)] if is_plain else []
    if is_plain and made and not registry.header(name).actions:
        return made
    kinds = [kind for kind in options.kind if kind in (*CHARACTERS, *TAGS)]
    found = responses.bases(name, options.seed, auto=options.auto)
    random = Random(f"{options.seed} {name} {options.mistakes}")
    return [*made, *damaged_texts(found, random, options.per_format, options.mistakes, kinds)]


def _miss(reading: Reading) -> str:
    return "differs" if reading.differs else reading.outcome


def _show_markup(readings: list[Reading], number: int) -> None:
    """Print the first misses of each class in each format."""
    shown: Counter[tuple[str, str]] = Counter()
    for reading in readings:
        case, key = reading.case, (_miss(reading), reading.case.base.format)
        if key[0] == "meant" or shown[key] == number:
            continue
        shown[key] += 1
        print(f"\n--- {key[0]}: {case.base.format}, {case.kind}, status {reading.reply.status}, {case.reason}")
        print(f"sound: {case.base.text!r}\ntext:  {case.text!r}\nmeant: {case.meant}, {case.allowed}")
        print(f"read:  {reading.items!r}")
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
