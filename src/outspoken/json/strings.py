"""Strings of damaged JSON: the quotes that models write, and what between them has to be spelled otherwise."""

from __future__ import annotations

import re

Change = tuple[int, int, str, str]
"""An edit without rung and path: start, end, what is read there, code."""

#: An opening quote, and the quotes that close it.
QUOTES = {
    '"': '"', "'": "'", "`": "`´", "“": "”", "”": "”", "„": "“”", "‟": "”", "‘": "’", "’": "’", "‚": "‘’",
    "＂": "＂", "＇": "＇", "「": "」", "『": "』", "«": "»", "″": "″",
}  # fmt: skip

_SOUND_ESCAPE = (
    r"\\(?:[\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_PLAIN = '[^"\\\\\x00-\x1f\ud800-\udfff]*'
#: a string that JSON knows and that can be encoded
SOUND = re.compile(f'"{_PLAIN}(?:{_SOUND_ESCAPE}{_PLAIN})*"')

#: half a character
HALF = re.compile("[\ud800-\udfff]")

_ODD = re.compile(
    f"{_SOUND_ESCAPE}|(?P<escape>\\\\)|(?P<control>[\x00-\x1f]+)|(?P<half>[\ud800-\udfff])|(?P<quote>[\"'`])"
)
_HALF_ESCAPE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_HEX = re.compile(r"\\x([0-9a-fA-F]{2})")
_WIDE = re.compile(r"\\U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})")
_BREAK = re.compile(r"\\(\r\n|\n|\r)")
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_TAIL = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")
_HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


def closes(opening: str) -> re.Pattern[str]:
    """What follows an opening quote up to the first quote that closes it."""
    return _CLOSING[opening]


def _closing(quotes: str) -> re.Pattern[str]:
    chars = re.escape(quotes)
    return re.compile(rf"[^{chars}\\]*(?:\\.[^{chars}\\]*)*([{chars}])", re.DOTALL)


_CLOSING = {opening: _closing(closing) for opening, closing in QUOTES.items()}


def string_changes(text: str, open_end: int, close: int, quote: str) -> list[Change]:
    """What must be read otherwise between the quotes of a string; `quote` is the one that it opens with."""
    changes: list[Change] = []
    pos = open_end
    while (match := _ODD.search(text, pos, close)) is not None:
        kind = match.lastgroup
        start, pos = match.span()
        if kind == "quote":
            if match[0] == quote:
                changes.append((start, pos, '\\"' if quote == '"' else quote, "bare-quote"))
            elif match[0] == '"':
                changes.append((start, pos, '\\"', "quote-style"))
        elif kind == "control":
            changes.append((start, pos, "".join(map(_control, match[0])), "raw-control"))
        elif kind == "half":
            changes.append((start, pos, "\\ufffd", "lone-surrogate"))
        elif kind == "escape":
            changes.append(_escape(text, start, close))
            pos = changes[-1][1]
    return changes


def _control(char: str) -> str:
    return _CONTROLS.get(char) or f"\\u{ord(char):04x}"


def _escape(text: str, start: int, close: int) -> Change:
    """How a backslash is read that begins no escape of JSON."""
    if match := _HALF_ESCAPE.match(text, start, close):
        return start, match.end(), "\\ufffd", "lone-surrogate"
    if match := _BREAK.match(text, start, close):
        return start, match.end(), "", "loose-escape"
    if match := _HEX.match(text, start, close):
        return start, match.end(), f"\\u00{match[1]}", "loose-escape"
    if match := _WIDE.match(text, start, close):
        char = chr(int(match[1], 16))
        if "\ud800" <= char <= "\udfff":
            return start, match.end(), "\\ufffd", "lone-surrogate"
        return start, match.end(), char if char > "~" else _control(char), "loose-escape"
    if text[start + 1 : min(start + 2, close)] in ("'", "`"):
        return start, start + 2, text[start + 1], "loose-escape"
    return start, start + 1, "\\\\", "invalid-escape"


def cut_tail(text: str, open_end: int, end: int) -> int:
    """Where a string that the text cut off ends without the half of an escape or of a character."""
    for tail in (_TAIL, _HIGH):
        match = tail.search(text, max(open_end, end - 6), end)
        if match and not _escaped(text, open_end, match.start()):
            end = match.start()
    return end


def _escaped(text: str, first: int, pos: int) -> bool:
    """Does an odd number of backslashes stand before the place?"""
    count = pos
    while count > first and text[count - 1] == "\\":
        count -= 1
    return (pos - count) % 2 == 1
