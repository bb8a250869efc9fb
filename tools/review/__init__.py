"""Group the changes of snapshots by kind, before you accept them.

Run as `python -m tools.review [NAME …] [--full]`. The most alarming changes come first. The exit code is 0 where all is
as it was, 1 where something changed, 2 where the review cannot be made.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import Case, cases
from outspoken.authoring.shared.text import common_length, counted
from outspoken.results.errors import OutspokenError, UnknownFormatError
from outspoken.results.snippet import visible
from tools.shared.snapshots import readable, refusal

from .changes import ABSENT, KINDS, Change, Difference, compare
from .snapshot_reader import Model, read, read_snapshots, written

#: How many cases of a group, and columns of a value, are shown, and how many of them around a change.
_CASES, _COLUMNS, _AROUND = 5, 100, 24
_NAME = re.compile(r"test_case\[(.+)\]")

#: A line: its style, for a terminal with colours, and its text.
Line = tuple[str, str]


def review(checkout: Checkout, names: list[str]) -> list[Change]:
    """What changed in the cases of these formats, of a checkout that is in use."""
    found: list[Change] = []
    for name in names:
        accepted = {
            match[1]: text
            for test, text in read_snapshots(checkout.snapshots / f"{name}.ambr").items()
            if (match := _NAME.fullmatch(test))
        }
        for case in cases(checkout, name):
            found += _changes(case, accepted.pop(str(case), None))
        found += [Change(case, name, KINDS[-1]) for case in accepted]
    return found


def _changes(case: Case, before: str | None) -> Iterator[Change]:
    reply = case.parse()
    refused = refusal(case, reply)
    after = written(readable(case, reply))
    kind, differences = "new cases without a snapshot", tuple[Difference, ...]()
    if before is not None:
        kind, differences = compare(before, after) if before != after else ("", ())
    note = refused or ("" if before is not None else f"{reply.status}: {_brief(read(after)['segments'])}")
    if refused or kind:
        yield Change(str(case), case.format, KINDS[0] if refused else kind, differences, note, case.text)


def known(checkout: Checkout) -> list[str]:
    """The formats that have a grammar, cases or snapshots."""
    folders = [path.parent.name for path in checkout.corpus.glob("*/*") if path.is_dir()]
    return sorted({*checkout.names(), *folders, *[path.stem for path in checkout.snapshots.glob("*.ambr")]})


# What is shown


def report(changes: list[Change], number: int, names: list[str], full: bool) -> Iterator[Line]:
    """The changes by kind, the most alarming ones first, and how they are accepted; `number` is of all cases."""
    for kind in KINDS:
        group = [change for change in changes if change.kind == kind]
        if not group:
            continue
        by_format = Counter([change.format for change in group])
        formats = ", ".join([f"{name} {count}" for name, count in sorted(by_format.items())])
        yield "group", f"{kind}: {counted(len(group), 'case')} ({formats})"
        shown = group if full else group[:_CASES]
        for change in shown:
            yield from _case(change, full)
        if len(shown) < len(group):
            yield "note", f"  … and {len(group) - len(shown)} more; `--full` shows all"
        yield "", ""
    yield "", f"{counted(number, 'case')} read, {counted(len(changes), 'change')}"
    yield from _advice(changes, names)


def _advice(changes: list[Change], names: list[str]) -> Iterator[Line]:
    refused = sum([change.kind == KINDS[0] for change in changes])
    if refused:
        yield "error", f"{refused} cannot be accepted: their tests fail until their results change, or they are moved"
    if changes:
        chosen = "-k '" + " or ".join([f"[{name}-" for name in names]) + "'" if names else "tests/test_formats.py"
        yield "note", f"to accept {'the others' if refused else 'this'}: ./tools/test {chosen} --snapshot-update"
    if names and any(change.kind == KINDS[-1] for change in changes):
        yield "note", "to delete snapshots: ./tools/test tests/test_formats.py --snapshot-update"


def _case(change: Change, full: bool) -> Iterator[Line]:
    yield "case", f"  {change.case}"
    if change.note:
        yield "note", f"    {_cut(visible(change.note), 0, 2 * _COLUMNS)}"
    differences = change.differences if full else _telling(change)
    spans = [difference.span for difference in differences if difference.span]
    if spans:
        start, end = spans[0]
        yield "input", f"    input {start}-{end}: {_excerpt(change.input, start, end)}"
    for difference in differences:
        yield from _lines(difference)


def _telling(change: Change) -> list[Difference]:
    """What says most of a change: without places and markup, unless there is nothing else."""
    places = (".span", ".line", ".column", "markup")
    telling = [difference for difference in change.differences if not difference.where.endswith(places)]
    if change.kind.startswith("only the wording"):
        return telling
    said = [d for d in telling if d.where != "diagnostics" or ABSENT in (d.before, d.after)]
    return said or telling or list(change.differences)


def _lines(difference: Difference) -> Iterator[Line]:
    """What was and what is, on one line where both are short, else each on its own, from where they differ."""
    before, after = difference.before, difference.after
    if difference.where == "diagnostics":
        yield from _diagnostic(before, after)
        return
    if before is ABSENT or after is ABSENT:
        sign, value = ("+", after) if before is ABSENT else ("-", before)
        yield sign, f"    {sign} {difference.where}: {_cut(_brief(value), 0, _COLUMNS)}"
        return
    a, b = _brief(before), _brief(after)
    if len(a) + len(b) + len(difference.where) <= _COLUMNS:
        yield "changed", f"    {difference.where}: {a} → {b}"
        return
    yield "changed", f"    {difference.where}:"
    start = max(0, common_length(a, b) - _AROUND)
    yield "-", f"      - {_cut(a, start, start + _COLUMNS)}"
    yield "+", f"      + {_cut(b, start, start + _COLUMNS)}"


def _diagnostic(before: Any, after: Any) -> Iterator[Line]:
    """A diagnostic that came or went by its first line and its place; of one that is said otherwise, those lines."""
    if before is ABSENT or after is ABSENT:
        sign, frame = ("+", after) if before is ABSENT else ("-", before)
        first, place, *_ = [*str(frame).split("\n"), ""]
        yield sign, f"    {sign} {first} {place.strip()}"
        return
    old, new = str(before).split("\n"), str(after).split("\n")
    yield from [("-", f"    - {line}") for line in old if line not in new]
    yield from [("+", f"    + {line}") for line in new if line not in old]


def _brief(value: Any) -> str:
    """A value on one line: a model by its class and what it says, anything else as JSON."""
    if isinstance(value, Model):
        fields = {k: v for k, v in value.fields.items() if k not in ("kind", "span", "repairs", "arguments_text")}
        said = [f"{k}={_brief(v)}" for k, v in fields.items() if v not in (None, "ok") or k == "value"]
        return f"{value.name}({', '.join(said)})"
    if isinstance(value, (list, tuple)):
        items: list[Any] = [*value]
        if any(isinstance(item, Model) for item in items):
            return ", ".join([_brief(item) for item in items])
    return visible(json.dumps(value, ensure_ascii=False, default=_brief))


def _excerpt(text: str, start: int, end: int) -> str:
    """The text from a place on, with a little before it, on one line."""
    return _cut(
        visible(text), _column(text, start) - _AROUND // 2, min(_column(text, end) + 4, _column(text, start) + 72)
    )


def _column(text: str, at: int) -> int:
    return len(visible(text[:at]))


def _cut(text: str, start: int, end: int) -> str:
    """The text between two places, with `…` where more of it is."""
    start = max(0, start)
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))


_STYLES = {
    "group": "bold red",
    "case": "bold",
    "note": "cyan",
    "input": "dim",
    "changed": "yellow",
    "error": "red",
    "-": "red",
    "+": "green",
}


def show(lines: Iterator[Line]) -> None:
    """Print lines, with colours on a terminal."""
    console = Console(highlight=False) if sys.stdout.isatty() else None
    for style, line in lines:
        if console:
            console.print(Text(line, style=_STYLES.get(style, "")), soft_wrap=True)
        else:
            print(line)


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Print the review; 1 where something changed, 2 where it cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m tools.review", description="Show what changed in the snapshots.")
    parser.add_argument("names", metavar="NAME", nargs="*", help="formats; default: all")
    parser.add_argument("--full", action="store_true", help="all cases, and all that changed in each")
    given = parser.parse_args(arguments)
    checkout = checkout or Checkout()
    every = known(checkout)
    names: list[str] = sorted(set(given.names))
    try:
        for name in names:
            if name not in every:
                raise UnknownFormatError(name, every)
        with checkout.in_use():
            changes = review(checkout, names or every)
        number = sum([len(cases(checkout, name)) for name in names or every])
    except (OutspokenError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    show(report(changes, number, names, given.full))
    return int(bool(changes))
