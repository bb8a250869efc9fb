"""The white space before a marker that belongs to it: a line break, and the indentation of the marker's own line.

Where a marker is missing or has a mistake, the same white space is not part of the value before it.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from outspoken.patterns.spellings import without_conditions

from .tables import Terminal

#: So many blanks of indentation belong to a marker, if any do.
_MAX_INDENTATION = 40
#: The pattern of the indentation, and the characters with which a line break may begin.
INDENTATION, BREAKS = rf"[ \t]{{0,{_MAX_INDENTATION}}}", "\r\n"


class LeadingSpace:
    """What may stand before a marker and belong to it: `chars`, one of them, or a match of `lines`.

    `lines` is the pattern of a line break and of the indentation behind it, "" if no line break belongs to the marker.
    """

    def __init__(self, chars: frozenset[str], lines: str) -> None:
        self.chars, self.lines = chars, lines

    @cached_property
    def _lines(self) -> re.Pattern[str]:
        return re.compile(self.lines or "(?!)")

    def end(self, text: str, pos: int) -> int:
        """Where the white space that begins at a position ends."""
        match = self._lines.match(text, pos)
        return match.end() if match is not None else pos + (text[pos : pos + 1] in self.chars)

    def start(self, text: str, end: int) -> int:
        """Where the white space begins that ends at a position."""
        begun = text.rfind("\n", max(end - _MAX_INDENTATION - 1, 0), end)
        if begun >= 0:
            begun -= text.startswith("\r\n", begun - 1) if begun else 0
            places = [at for at in (begun, begun + 1) if self._lines.fullmatch(text, at, end) is not None]
            if places:
                return places[0]
        return end - (end > 0 and text[end - 1] in self.chars)


@lru_cache(maxsize=4096)
def leading_space(terminal: Terminal) -> LeadingSpace:
    """The white space before a marker that belongs to it, as its pattern says."""
    chars = frozenset([char for char in (*terminal.first, terminal.canonical[:1]) if char.isspace()])
    if "\n" not in chars:
        return LeadingSpace(chars, "")
    marker = re.compile(without_conditions(terminal.regex))
    written = terminal.canonical.strip() or next(iter(terminal.spellings), "").strip()
    is_indented, has_return = [marker.fullmatch(space + written) is not None for space in ("\n \t", "\r\n")]
    lines = (r"\r?\n" if has_return else r"\n") + (INDENTATION if is_indented else "")
    return LeadingSpace(chars - {"\r"}, lines)
