"""A sound format with its corpus, and mistakes in it, each with what `check` says of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from outspoken import Diagnostic

GRAMMAR = r"""// format:  arrows
// title:   Calls between arrows
// models:  Example-7B
// aliases: arrow_calls
// source:  made up
// trim:    text
// example:
//   Wait.
//   =>get_weather
//   city: Paris
//   <=

start: (TEXT | think | tool_call)*
tool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE
argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE

_CALL_OPEN: "\n=>" | /=>(?=\w{1,64}\n)/
_CALL_CLOSE: "\n<="
_LINE_OPEN: "\n" | /\n(?=\w{1,64}:)/
_COLON: ": "
ARG_NAME: /\w{1,64}/

%import .shared.text (TEXT, TOOL_NAME, ARG_VALUE)
%import .shared.think.think
"""
OK = "tests/corpus/arrows/ok/one_call.txt"
ERR = "tests/corpus/arrows/err/cut.txt"
SOURCES = "tests/corpus/arrows/sources.toml"
FILES = {
    "grammars/arrows.lark": GRAMMAR,
    OK: "Look.\n=>get_weather\ncity: Paris\n<=",
    ERR: "Look.\n=>get_weather\ncity: Par",
    SOURCES: '[one_call]\norigin = "made up"\n\n[cut]\norigin = "made up"\n',
}
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
