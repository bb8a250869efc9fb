"""Python source: literals, calls, lines of limited length."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from outspoken.grammar.tables import Terminal

#: The greatest length of a line.
WIDTH = 120


def literal(text: str) -> str:
    """A string as Python source, in double quotes."""
    written = repr(text)
    if written[0] == '"':
        return written
    return '"' + written[1:-1].replace('"', '\\"').replace("\\'", "'") + '"'


#: An escape of a regular expression, or a character that is written as one.
_CONTROL = re.compile(r"\\?([\t\n\r\x0b\x0c])|\\.", re.DOTALL)


def with_escapes(pattern: str) -> str:
    """A regular expression in which control characters are written as escapes."""
    return _CONTROL.sub(lambda found: repr(found[1])[1:-1] if found[1] else found[0], pattern)


def pattern_literal(pattern: str) -> str:
    """A regular expression as Python source: a raw string if it can be one."""
    for quote in ('"', "'"):
        if quote not in pattern and pattern.isprintable() and not pattern.endswith("\\"):
            return f"r{quote}{pattern}{quote}"
    return literal(pattern)


def written(texts: tuple[str, ...]) -> str:
    """Strings as a set."""
    return "{" + ", ".join([literal(text) for text in texts]) + "}"


def call(function: str, *arguments: str) -> str:
    """The source of a call."""
    return f"{function}({', '.join(arguments)})"


def assignment(name: str, making: str, arguments: list[str], written: list[list[str]]) -> list[str]:
    """The lines that assign what a call makes, or a string if `making` is "".

    `written` are the literals of the call's last arguments, in pieces.
    """
    whole = [piece for pieces in written for piece in pieces]
    line = f"{name} = {call(making, *arguments, *whole)}"
    if len(line) <= WIDTH and len(whole) == len(written):
        return [line]
    lines = [f"{name} = {making}(", *([f"    {', '.join(arguments)},"] if arguments else [])]
    comma = "," if making else ""  # without a call, it would make a tuple
    for pieces in written:
        lines += [f"    {piece}" for piece in pieces[:-1]] + [f"    {pieces[-1]}{comma}"]
    return [*lines, ")"]


def pieces(text: str, write: Callable[[str], str], width: int = WIDTH - 14) -> list[str]:
    """Literals that together are a text; `write` makes one."""
    found: list[str] = []
    while True:
        end = min(len(text), width)
        while len(write(text[:end])) > width:
            end -= 1
        if end < len(text) and write is pattern_literal:
            end = next((at for at in range(end, end // 2, -1) if text[at - 1] != "\\"), end)
        found.append(write(text[:end]))
        text = text[end:]
        if not text:
            return found


def fitted(line: str) -> list[str]:
    """A line of code as several if it is too long: the arguments of its last call stand between the others."""
    if len(line) <= WIDTH or ")" not in line:
        return [line]
    close = line.rindex(")")
    depth, at = 1, close
    while depth:
        at -= 1
        depth += (line[at] == ")") - (line[at] == "(")
    margin = " " * (len(line) - len(line.lstrip()))
    inner = textwrap.wrap(line[at + 1 : close], WIDTH - len(margin) - 4, break_long_words=False)
    return [line[: at + 1], *[f"{margin}    {part}" for part in inner], f"{margin}{line[close:]}"]


def spelling(terminal: Terminal) -> str:
    """A terminal as comments show it."""
    return repr(terminal.canonical) if terminal.canonical and terminal.short.startswith("_") else terminal.short


def shortened(text: str, length: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= length else text[: max(length - 1, 40)] + "…"
