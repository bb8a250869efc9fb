"""Keeps the table of formats in README.md true: `python -m tools.docs` writes it, `--check` only says whether it is."""

from __future__ import annotations

import sys
from pathlib import Path

from outspoken import FormatInfo, formats

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN = "<!-- This table is written by `python -m tools.docs`. -->"
END = "<!-- The end of the table. -->"


def table() -> str:
    """The formats, one a row."""
    rows = ["| format | notation | models | aliases |", "|---|---|---|---|"]
    return "\n".join(rows + [_row(info) for info in formats()])


def _row(info: FormatInfo) -> str:
    name = f"[`{info.name}`](grammars/{info.name}.lark)"
    aliases = ", ".join(f"`{alias}`" for alias in info.aliases)
    cells = [name, info.title, ", ".join(info.models), aliases]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def updated(text: str) -> str:
    """The text with the table between its two comments made anew."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"README.md has no place for the table: it needs the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the table, or with `--check` return 1 where it is not current."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m tools.docs [--check]", file=sys.stderr)
        return 2
    old = README.read_text("utf-8")
    new = updated(old)
    if arguments and new != old:
        print("README.md: the table of formats is out of date; run `python -m tools.docs`", file=sys.stderr)
        return 1
    if not arguments:
        README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
