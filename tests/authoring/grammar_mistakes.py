"""A sound format with its corpus, and mistakes in it, each with what `check` says of it."""

from pathlib import Path
from typing import NamedTuple

from outspoken import Diagnostic
from tests.tables import tables

TABLES = tables(__file__)

GRAMMAR = TABLES["GRAMMAR"]
OK = "tests/corpus/arrows/ok/one_call.txt"
ERR = "tests/corpus/arrows/err/cut.txt"
SOURCES = "tests/corpus/arrows/sources.toml"
FILES = TABLES["FILES"]
LARK = "grammars/arrows.lark"


class Mistake(NamedTuple):
    """Lines of a file that are changed, and what is said of them, a line for each finding and each of its texts."""

    name: str
    path: str
    before: str
    after: str
    expected: list[str]


def mistakes() -> list[Mistake]:
    """The mistakes in `grammar_mistakes.txt`: ` ` begins a line that is kept, `-` the one before, `+` the one after."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return [_mistake(*part.strip("\n").split("\n")) for part in text.split("\n## ")[1:]]


def _mistake(head: str, *lines: str) -> Mistake:
    name, _, path = head.partition(" in tests/")
    count = next(i for i, line in enumerate(lines) if line.startswith(("error", "warning", "note")))
    before = "\n".join([line[1:] for line in lines[:count] if line[0] in " -"])
    after = "\n".join([line[1:] for line in lines[:count] if line[0] in " +"])
    is_removed = not after
    return Mistake(name, f"tests/{path}" if path else LARK, before + "\n" * is_removed, after, list(lines[count:]))


def said(found: list[Diagnostic], path: str = LARK) -> list[str]:
    """Findings as lines: place, code and message, and then each label, note and help."""
    lines: list[str] = []
    for one in found:
        file = "" if one.format == path else f"{one.format}:"
        length = one.span[1] - one.span[0]
        lines.append(f"{one.severity} {file}{one.line}:{one.column}+{length} {one.code}: {one.message}")
        texts = [("label", one.label), *[("note", note) for note in one.notes], *[("help", help) for help in one.helps]]
        lines += [f"  {kind}: {text}".replace("\n", "\\n") for kind, text in texts if text]
    return lines
