"""Draw a format's grammar as a railroad diagram. Run as `python -m tools.diagram NAME [--output FILE]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from outspoken.grammar import registry
from outspoken.results.errors import OutspokenError
from outspoken.authoring.shared.arguments import refuse
from outspoken.authoring.shared.checkout import Checkout

from .draw import draw
from .syntax import read_syntax


def diagram(name: str, checkout: Checkout) -> str:
    """The SVG of a format whose checkout is in use.

    Raises UnknownFormatError if there is no such grammar, GrammarError if it is unusable.
    """
    path = checkout.existing(name)
    return draw(name, registry.header(name).title, read_syntax(path))


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Write the diagram to a file or to standard output; 2 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m tools.diagram", description="Draw a format as a railroad diagram.")
    parser.add_argument("name", metavar="NAME", help="the format")
    parser.add_argument("--output", metavar="FILE", type=Path, help="the SVG file to write; default: standard output")
    given = parser.parse_args(arguments)
    checkout = checkout or Checkout()
    try:
        with checkout.in_use():
            made = diagram(given.name, checkout)
        if given.output:
            given.output.write_bytes(made.encode())
        else:
            sys.stdout.write(made)
    except (OutspokenError, OSError) as error:
        return refuse("error: ", error, checkout)
    return 0
