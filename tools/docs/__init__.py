"""Write the table of formats in grammars/README.md, a page with a diagram for each, and the picture of the README.

Run as `python -m tools.docs [--check]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from outspoken.authoring.diagram import diagram
from outspoken.authoring.shared.checkout import Checkout
from outspoken.results.errors import OutspokenError
from tools.shared.generated import outdated, update

from .pages import format_table, index, page
from .picture import picture

BEGIN = "<!-- This table is written by `python -m tools.docs`. -->"
END = "<!-- The end of the table. -->"

#: The picture of the README.
PICTURE = "tools/docs/stream.svg"


class MissingPlaceError(OutspokenError):
    """A document has no place for what is generated."""


def updated(text: str, table: str, shown: str) -> str:
    """Replace the table between the two comments of a text. Raises MissingPlaceError if they are not there."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise MissingPlaceError(f"{shown} has no place for the table: it needs the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def wanted(checkout: Checkout) -> dict[Path, str]:
    """What each generated file should hold.

    Raises GrammarError if a grammar is unusable, MissingPlaceError if grammars/README.md has no place for the table.
    """
    guide, pages = checkout.grammars / "README.md", checkout.grammars / "pages"
    with checkout.in_use():
        found = {
            guide: updated(guide.read_text("utf-8"), format_table("pages/"), checkout.shown(guide)),
            checkout.root / PICTURE: picture(),
            pages / "README.md": index(),
        }
        for name in checkout.names():
            found[pages / name / "README.md"] = page(name, checkout)
            found[pages / name / "diagram.svg"] = diagram(name, checkout)
    return found


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Write what is out of date, or with `--check` say what is and return 1; 2 where a document cannot be made."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.docs", description="Write the table and pages of the formats, and the picture."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where something is out of date"
    )
    check = parser.parse_args(arguments).check
    checkout = checkout or Checkout()
    try:
        found = wanted(checkout)
    except (OutspokenError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    pages = checkout.grammars / "pages"
    present = [path for name in ("README.md", "diagram.svg") for path in sorted(pages.glob(f"*/{name}"))]
    code = update(outdated(found, present), checkout.shown, check=check)
    if code:
        print("run `python -m tools.docs`", file=sys.stderr)
    return code
