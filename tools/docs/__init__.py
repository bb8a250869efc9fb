"""Write the table of formats in grammars/README.md, the picture of the README, and a page for each format.

The pages, each with a diagram, are written into grammars/pages/, which is not committed. Run as
`python -m tools.docs [--check]`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from outspoken.authoring.diagram import diagram
from outspoken.authoring.shared.checkout import Checkout
from outspoken.results.errors import OutspokenError

from .pages import INDEX, format_table, page
from .picture import picture

BEGIN = "<!-- This table is written by `python -m tools.docs`. -->"
END = "<!-- The end of the table. -->"

#: The picture of the README.
PICTURE = "tools/docs/stream.svg"


def updated(text: str, table: str, shown: str) -> str:
    """Replace the table between the two comments of a text. Raises OutspokenError if they are not there."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise OutspokenError(f"{shown} has no place for the table: it needs the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def committed(checkout: Checkout) -> dict[Path, str]:
    """What the generated documents that are committed should hold, in a checkout that is in use.

    Raises OutspokenError if grammars/README.md has no place for the table.
    """
    guide = checkout.grammars / "README.md"
    table = updated(guide.read_text("utf-8"), format_table(), checkout.shown(guide))
    return {guide: table, checkout.root / PICTURE: picture()}


def pages(checkout: Checkout) -> dict[Path, str]:
    """The pages of all formats, in a checkout that is in use. Raises GrammarError if a grammar is unusable."""
    folder = checkout.grammars / "pages"
    found = {folder / "README.md": INDEX}
    for name in checkout.names():
        found[folder / name / "README.md"] = page(name, checkout)
        found[folder / name / "diagram.svg"] = diagram(name, checkout)
    return found


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Write what is out of date, or with `--check` say what is and return 1; 2 where a document cannot be made."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.docs", description="Write the table and pages of the formats, and the picture."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if the table or the picture is out of date"
    )
    check = parser.parse_args(arguments).check
    checkout = checkout or Checkout()
    try:
        with checkout.in_use():
            found = committed(checkout) | ({} if check else pages(checkout))
    except (OutspokenError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    present = [
        path for name in ("README.md", "diagram.svg") for path in (checkout.grammars / "pages").glob(f"*/{name}")
    ]
    code = update(outdated(found, present * (not check)), checkout.shown, check=check)
    if code:
        print("run `python -m tools.docs`", file=sys.stderr)
    return code


def outdated(wanted: dict[Path, str], present: Iterable[Path]) -> dict[Path, str | None]:
    """The files whose content differs from what is wanted, with that content; None for files that must go."""
    changed: dict[Path, str | None] = {
        path: text for path, text in wanted.items() if not path.is_file() or path.read_bytes() != text.encode()
    }
    return changed | {path: None for path in present if path not in wanted}


def update(changed: dict[Path, str | None], shown: Callable[[Path], str], *, check: bool) -> int:
    """Write or remove the files, with `check` only name them. Returns 1 if `check` finds any."""
    for path, text in changed.items():
        print(f"{'out of date' if check else 'removed' if text is None else 'written'}: {shown(path)}")
        if check:
            continue
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            continue
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return int(check and bool(changed))
