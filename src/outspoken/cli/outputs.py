"""Output of the commands: styled text on a terminal, plain text elsewhere, and events as JSON lines."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from functools import cache

from pydantic import TypeAdapter

from outspoken.providers.events import ProviderEvent
from outspoken.results.replies import Reply

from .explain import COLORS, Line
from .inputs import UsageError

#: Writes a text in a style, without a line break.
Writer = Callable[[str, str], None]


def use_utf8() -> None:
    """Write UTF-8 to files and pipes, whatever the locale; a terminal shows an escape for what it cannot show."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        if out.isatty():
            out.reconfigure(errors="backslashreplace")
        else:
            out.reconfigure(encoding="utf-8", newline="\n")


def make_writer(color: str) -> Writer:
    """Make the writer to standard output. `color` is "always", "never", or "auto" for colour on a terminal.

    Raises UsageError for "always" if rich is not installed.
    """
    if color == "always" or (color == "auto" and sys.stdout.isatty()):
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            if color == "always":
                raise UsageError("colour needs rich: pip install 'outspoken[cli]'") from None
        else:
            console = Console(force_terminal=True, highlight=False)

            def write_styled(style: str, text: str) -> None:
                console.print(Text(text, style=COLORS.get(style, "")), end="", soft_wrap=True)
                console.file.flush()

            return write_styled

    def write_plain(style: str, text: str) -> None:
        print(text, end="", flush=True)

    return write_plain


def print_lines(lines: Iterable[Line], color: str) -> None:
    """Print styled lines; see `make_writer` for `color`."""
    write = make_writer(color)
    for style, line in lines:
        write(style, line + "\n")


def print_event(event: ProviderEvent) -> None:
    """Print an event as a line of JSON."""
    print(_adapter(type(event)).dump_json(event).decode(), flush=True)


@cache
def _adapter(kind: type[ProviderEvent]) -> TypeAdapter[ProviderEvent]:
    """What serialises the events of a class."""
    return TypeAdapter(kind)


def exit_code(reply: Reply) -> int:
    """Return 1 if a reply has errors, otherwise 0."""
    return int(any(diagnostic.severity == "error" for diagnostic in reply.diagnostics))
