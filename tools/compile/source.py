"""Pieces of Python source."""

from __future__ import annotations

from outspoken.grammar.tables import Terminal


def literal(text: str) -> str:
    """A string as Python source, in double quotes."""
    written = repr(text)
    if written[0] == '"':
        return written
    return '"' + written[1:-1].replace('"', '\\"').replace("\\'", "'") + '"'


def spelling(terminal: Terminal) -> str:
    """A terminal as comments show it."""
    return repr(terminal.canonical) if terminal.canonical and terminal.short.startswith("_") else terminal.short
