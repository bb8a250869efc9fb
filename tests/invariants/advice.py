"""Invariants of the diagnostics that say something of text that stays text."""

import ast
import re

from outspoken import Reasoning, Reply, Text
from outspoken.authoring.fuzz.checks import require
from outspoken.results.replies import JsonValue

#: What says something of text that is text all the same.
ADVICE = frozenset({"unread-markup"})
#: What says of text that it looks like a marker, and like which one.
_LOOKS_LIKE = re.compile(r"this looks like the marker (?P<marker>'.*?'|\".*?\"), but no call", re.DOTALL)
#: A marker has at most one mistake, or two if it has so many characters.
_LONG = 12


def check_advice(reply: Reply) -> None:
    """What is told of text stands in text, reasoning or data."""
    for diagnostic in reply.diagnostics:
        if diagnostic.code not in ADVICE:
            continue
        start, end = diagnostic.span
        inside = [s for s in reply.segments if s.span[0] <= start and end <= s.span[1]]
        require(start < end and inside, "advice", f"{diagnostic} is in no segment")
        segment = inside[0]
        require(isinstance(segment, (Text, Reasoning, JsonValue)), "advice", f"{diagnostic} is in {segment.kind}")


def check_markers(reply: Reply) -> None:
    """What is called a marker of a format that was named differs little from it."""
    for diagnostic in reply.diagnostics:
        looks = _LOOKS_LIKE.match(diagnostic.message) if diagnostic.code in ADVICE else None
        start, end = diagnostic.span
        for segment in reply.segments if looks is not None else ():
            is_around = segment.span[0] <= start and end <= segment.span[1]
            if looks is None or not is_around or getattr(segment, "text", "") != reply.raw[slice(*segment.span)]:
                continue
            marker, found = ast.literal_eval(looks["marker"]), reply.raw[start:end]
            if isinstance(segment, Reasoning):
                is_there = f"\n{marker}" in segment.text or segment.text.rstrip().endswith(marker)
                require(is_there, "advice", f"{diagnostic}: no line begins and no text ends with it")
            else:
                few = distance(found, marker) <= 1 + (len(marker) >= _LONG)
                require(few, "advice", f"{diagnostic}: {found!r} is there")


def distance(one: str, other: str) -> int:
    """How many mistakes make one text of another: characters added, left out, changed or swapped with the next."""
    rows = [list(range(len(other) + 1))]
    for i, char in enumerate(one):
        row = [i + 1]
        for j, meant in enumerate(other):
            least = min(rows[-1][j] + (char != meant), rows[-1][j + 1] + 1, row[j] + 1)
            if i and j and char == other[j - 1] and one[i - 1] == meant:
                least = min(least, rows[-2][j - 1] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]
