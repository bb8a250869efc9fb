"""Evidence: what makes a segment of a marker that is not distinctive, such as `[` or `{`.

The header field `evidence` of a format says which of its opening markers need any, and of what kind. The start of a
line is behind a line break and at most three spaces (four make a code sample), or behind other markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outspoken.results.call_keys import ARGUMENTS_KEYS
from outspoken.semantics.output import Output

if TYPE_CHECKING:
    from outspoken.notations.tools import Tools

#: What a marker may ask for: that its segment stands alone; that it is a call of a given tool, too; that a format was
#: found before; that the format is named.
ALONE, DECLARED, BEHIND, NAMED = "alone", "declared", "behind", "named"

#: What asks for the start of a line, and what is asked for at the end of the segment.
AT_START = frozenset({"line", ALONE, DECLARED})
AT_END = {ALONE: ALONE, DECLARED: DECLARED, "end": "end"}

#: How many spaces may stand between the start of a line, or other markup, and a marker.
MAX_INDENT = 3

#: Finds what holds the arguments of a call.
_ARGUMENTS: Any = re.compile(rf"\(|\{{[^{{}}]*\{{|\"(?:{'|'.join(ARGUMENTS_KEYS)})\"").search

_BLANKS: Any = re.compile(r"[ \t\r]*")


def begins_line(text: str, pos: int, behind: int = -1) -> bool:
    """Does a line begin at a position, or does nothing but white space stand between it and other markup?

    The other markup ends at the position `behind`. What is left of the text may begin anywhere if more than
    `MAX_INDENT` characters of it precede the position.
    """
    if text[pos : pos + 1] == "\n":
        return True
    start = pos
    while start and pos - start < MAX_INDENT and text[start - 1] == " ":
        start -= 1
    return start == behind or not start or text[start - 1] == "\n"


def end_of_blanks(text: str, pos: int) -> int:
    """The position behind the white space that follows on the same line."""
    return _BLANKS.match(text, pos).end()


def is_credible(
    segments: Sequence[Any], tools: Tools | None, wanted: str, written: str, *, is_sound: bool = True
) -> bool:
    """Is there the evidence in the segments that is wanted of them, since no marker says that they are meant?

    Calls are by the names of given tools. If none were given, a sound one that is `written` without arguments may as
    well be data (`{"action": "approve"}`). What had to be repaired must be a call of a given tool or, if none were
    given, have arguments that are no guess, or be an action that can be used.
    """
    if wanted not in (ALONE, DECLARED):
        return True
    calls = [segment for segment in segments if segment.kind == "tool_call"]
    if wanted == DECLARED and (tools is None or not calls):
        return False
    if tools is not None and calls:
        return all(call.name in tools for call in calls)
    is_bare = bool(calls) and all(call.status == "ok" and not call.arguments for call in calls)
    if is_bare and not _ARGUMENTS(written):
        return False
    if is_sound:
        return True
    usable = [s for s in segments if s.kind in ("tool_call", "action", "payload") and s.status != "invalid"]
    is_guess = any(repair.level == "heuristic" for segment in usable for repair in segment.repairs)
    return bool(usable) and not is_guess and all(call.arguments for call in calls)


def is_text(output: Output) -> bool:
    """Is it only text?"""
    return not [s for s in output.segments if s.kind != "text"]  # lists, which take half as long as generators


def says_something(output: Output) -> bool:
    """Is there more than markers? Several may say that there is nothing: an empty list of calls."""
    return bool(output.segments) or output.outcome.envelope or output.outcome.answered


def has_content(output: Output) -> bool:
    """Is there more than text and reasoning?"""
    return output.outcome.answered or bool([s for s in output.segments if s.kind not in ("text", "reasoning")])


def has_actions(output: Output) -> bool:
    """Is there an answer, or a call, an action or a payload that can be used?"""
    kinds = "tool_call", "action", "payload"
    usable = [s for s in output.segments if s.kind in kinds and s.status != "invalid"]
    return output.outcome.answered or bool(usable)
