"""The command `python -m tools.figures`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from outspoken.authoring.shared.checkout import TOP, Checkout
from outspoken.results.errors import OutspokenError
from tools.shared.generated import outdated, update

from .documents import UnknownFigureError, documents, wanted
from .records import Measurement, Record, digests, load, save, stale
from .registry import FIGURES

#: No figure takes longer, in seconds.
_PATIENCE = 3600


def advice(found: dict[str, list[str]], records: dict[str, Record]) -> str:
    """One sentence on figures that are stale: which, why, what to run and how long that takes. "" if there are none."""
    if not found:
        return ""
    names = ", ".join([f"`{name}` ({', '.join(parts[:3])}{' …' * (len(parts) > 3)})" for name, parts in found.items()])
    known = [records[name].seconds for name in found if name in records]
    took = f", which took {duration(sum(known))} the last time" if len(known) == len(found) else ""
    return (
        f"the code that figures measure has changed since they were measured: {names}; "
        f"run `python -m tools.figures --stale`{took}, on a machine that does nothing else, and commit what it writes"
    )


def duration(seconds: int) -> str:
    """A time in words."""
    return f"{seconds} s" if seconds < 100 else f"{round(seconds / 60)} minutes"


def problems(root: Path = TOP) -> list[str]:
    """A sentence on what is stale, and one for each document that shows other figures than those that are recorded."""
    records = load()
    found = [sentence] if (sentence := advice(stale(records, root), records)) else []
    try:
        differing = outdated(wanted(records, documents(root), root), [])
    except UnknownFigureError as error:
        return [*found, str(error)]
    names = [Checkout(root).shown(path) for path in differing]
    return found + [
        f"{name} shows other figures than figures.json: run `python -m tools.figures --write`" for name in names
    ]


def measure(name: str) -> Record:
    """Run the command of a figure. Raises CalledProcessError if it fails."""
    figure = FIGURES[name]
    with tempfile.TemporaryDirectory() as folder:
        path, start = Path(folder) / "figure.json", time.monotonic()
        command = [sys.executable, "-m", figure.module, "--json", str(path)]
        subprocess.run(command, cwd=TOP, check=True, timeout=_PATIENCE)
        seconds = round(time.monotonic() - start)
        found = Measurement.model_validate_json(path.read_bytes())
    return Record(
        **found.model_dump(),
        command=f"python -m {figure.module}",
        date=datetime.now(timezone.utc).date().isoformat(),
        seconds=seconds,
        code=digests(figure, found.formats),
    )


def show(records: dict[str, Record]) -> None:
    """List the figures and their state."""
    old = stale(records)
    for name, figure in FIGURES.items():
        record = records.get(name)
        parts = old.get(name, [])
        state = f"stale: {', '.join(parts)}" if parts and record else "current" if record else "never measured"
        taken = f"{record.date}, {duration(record.seconds)}" if record else ""
        print(f"{name:12} {taken:24} {state}\n{'':12} {figure.about} (python -m {figure.module})")


def main() -> int:
    """List figures, measure them again, or check them. The exit code is 1 if a check or a measurement fails."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.figures", description="List, measure and write the figures that documents quote."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures to measure again")
    parser.add_argument("--stale", action="store_true", help="measure those whose code has changed")
    parser.add_argument("--all", action="store_true", help="measure all")
    parser.add_argument("--write", action="store_true", help="measure nothing, and write the documents again")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a figure is stale or a document differs")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in FIGURES]:
        parser.error(f"there is no figure `{unknown[0]}`; expected {', '.join(FIGURES)}")
    try:
        records = load()
        if options.check:
            found = problems()
            for sentence in found:
                print(sentence, file=sys.stderr)
            return 1 if found else 0
        names = [*FIGURES] if options.all else [*options.names, *(stale(records) if options.stale else ())]
        for name in dict.fromkeys(names):
            print(f"== {name}", flush=True)
            records[name] = measure(name)
            save(records)
        if not names and not options.write:
            if not options.stale:
                show(records)
            return 0
        return update(outdated(wanted(records, documents()), []), Checkout().shown, check=False)
    except subprocess.CalledProcessError as error:
        print(f"error: `python {' '.join(error.cmd[1:3])}` failed and says why above", file=sys.stderr)
    except (OutspokenError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1
