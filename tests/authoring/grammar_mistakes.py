"""A sound format with its corpus, and mistakes in it, each with what `check` says of it."""

from outspoken import Diagnostic
from tests.tables import tables

TABLES = tables(__file__)

GRAMMAR = TABLES["GRAMMAR"]
OK = "tests/corpus/arrows/ok/one_call.txt"
ERR = "tests/corpus/arrows/err/cut.txt"
FILES = TABLES["FILES"]
LARK = "grammars/arrows.lark"
MISTAKES: dict[str, dict[str, str]] = TABLES["MISTAKES"]


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
