"""Units that stand twice in a row: a marker, or a name with the markup round it."""

from __future__ import annotations

import re

from outspoken.grammar.lenient_rules import MIN_DISTINCT

from . import costs
from .path import Node

_WORD = re.compile(r"\w+")
#: A name and the markup up to the same name are not longer than this.
_LONGEST = 300


def doubled_unit(text: str, at: int, node: Node) -> tuple[int, int] | None:
    """How much of a text repeats what a node has read just before a place, and what it costs to drop it."""
    last = node.steps[-1] if node.steps else None
    if last is None or last.transition is None:
        return None
    if last.transition.terminal.short in ("ARG_NAME", "TOOL_NAME"):
        opener = node.before.steps[-1].text if node.before is not None and node.before.steps else ""
        length = _length_round(text, last.start, at, opener)
        return (length, costs.DOUBLED_UNIT) if length else None
    written = last.text.strip()
    is_marker = last.transition.terminal.short[0] == "_" and len(written) >= MIN_DISTINCT
    return (len(written), costs.STRAY_MARKER) if is_marker and text.startswith(written, at) else None


def _length_round(text: str, start: int, end: int, opener: str) -> int:
    """How long a unit is that holds the name between two offsets and stands right behind itself; 0 if none does.

    In `<argument name="path" name="path">`, that is the attribute, wherever one takes it to begin. It has no other
    words than the name and those of its opening marker, so that it holds no value.
    """
    again = text.find(text[start:end], end + 1, end + _LONGEST)
    length, same = again - start, end - start
    if again < 0 or end + length > len(text) or not set(_WORD.findall(text, end, again)) <= {*_WORD.findall(opener)}:
        return 0
    while same < length and start > 0 and text[start - 1] == text[start - 1 + length]:
        start, same = start - 1, same + 1
    while same < length and text[end : end + 1] == text[end + length : end + length + 1] != "":
        end, same = end + 1, same + 1
    return length if same >= length else 0
