"""Draw a format's grammar as a railroad diagram: `outspoken grammar diagram`."""

from __future__ import annotations

import sys

from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar import registry
from outspoken.terminal.outputs import write_file

from .draw import draw
from .syntax import read_syntax


def diagram(name: str, checkout: Checkout) -> str:
    """The SVG of a format whose checkout is in use.

    Raises UnknownFormatError if there is no such grammar, GrammarError if it is unusable.
    """
    path = checkout.existing(name)
    return draw(name, registry.header(name).title, read_syntax(path))


def write_diagram(checkout: Checkout, name: str, *, output: str | None = None) -> int:
    """Write the diagram to a file or to standard output. Returns 0. Raises also UsageError for the file."""
    with checkout.in_use():
        made = diagram(name, checkout)
    if output:
        write_file(output, made)
    else:
        sys.stdout.write(made)
    return 0
