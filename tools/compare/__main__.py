"""The command `python -m tools.compare`: without a name, it lists the tables in documents and how old they are.

With the name of a table, it measures it and prints it; `--write` puts it into its document. The other projects are in
environments of their own: `python -m nox -f tools/integrations/noxfile.py -s compare` runs all tables in them.
"""

from __future__ import annotations

import argparse
import subprocess
from datetime import datetime, timezone
from importlib import import_module

from outspoken.authoring.shared.checkout import TOP
from tools.shared.command import run

from .tables import commits_since, places, written

#: The tables: the module whose function of this name measures it, and how many texts or rounds are usual.
TABLES = {
    "servers": ("calls", 8), "speed": ("calls", 9), "templates": ("calls", 8), "documents": ("documents", 20),
    "typed": ("typed", 0),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Compare with others, or list what documents show."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--write", action="store_true", help="write the tables into their documents")
    parser.add_argument("--only", nargs="+", metavar="FORMAT", default=[], help="only these formats")
    parser.add_argument("--number", type=int, metavar="N", help="texts of a kind, or rounds")
    options = parser.parse_args(arguments)
    found = {place.name: place for place in places()}
    for place in found.values() if not options.names else ():
        count = commits_since(place.commit)
        print(f"{place.name}: measured on {place.date}, {count} commits ago, in {place.path.relative_to(TOP)}")
    for name in options.names:
        module, number = TABLES[name]
        measure = getattr(import_module(f"{__package__}.{module}"), name)
        content = measure(options.only, options.number or number)
        print(content)
        if options.write:
            commit = subprocess.check_output(["git", "-C", TOP, "rev-parse", "--short", "HEAD"], text=True).strip()
            path, date = found[name].path, datetime.now(timezone.utc).date().isoformat()
            path.write_text(written(path.read_text("utf-8"), name, date, commit, content), "utf-8")
    return 0


if __name__ == "__main__":
    run(main)
