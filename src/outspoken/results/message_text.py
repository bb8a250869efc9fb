"""The text of a response: what remains of it without its markup, as it stands there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replies import Segment, Text

#: White space and invisible characters.
BLANK = "".join([char for char in map(chr, range(0x3001)) if char.isspace()]) + "\u200b\u2060\ufeff"
#: Punctuation without a space before it.
CLOSING = (".", ",", ";", ":", "!", "?", ")")
#: So much of what stands behind the text mostly shows whether it is more than white space.
_NEAR = 40


class MessageText:
    """Builds the text of a response from pieces whose places are known: what stands between them was removed.

    White space stays as it is, also on both sides of what was removed; but where something was removed from an end of
    the response, the text has no white space at that end. The result does not depend on how the text is split into
    pieces. `read(start, end)` gives the response between two offsets, each time behind the last one. The text begins at
    `start`.
    """

    def __init__(self, read: Callable[[int, int], str], start: int = 0) -> None:
        self._read, self._end = read, start
        #: there is text; something was removed behind it; another block begins behind it
        self._begun = self._removed = self._at_border = False
        #: the last text was `exact`
        self._is_exact = False
        #: the white space that no text has followed yet, and where in it something was removed that had a lead
        self._held: list[str] = []
        self._lead, self._lead_at = "", 0

    def add(self, piece: str, start: int, end: int, *, exact: bool = False) -> str:
        """Add the text between two offsets; returns the part of the message that is now final.

        The white space of text that is `exact` is its own, as that of a JSON string is, and stays at both ends. That
        next to it belongs to the markup.
        """
        if start > self._end:
            self._skip_to(start, is_exact=exact)
        if end > self._end:
            self._end = end
        body = piece if exact else piece.lstrip(BLANK)
        if len(body) < len(piece):
            self._hold(piece[: len(piece) - len(body)])
        if not body:
            return ""
        before, held = self._before(body), body if exact else body.rstrip(BLANK)
        self._begun, self._removed, self._at_border, self._lead = True, False, False, ""
        self._is_exact = exact
        self._held.clear()
        if len(held) < len(body):
            self._hold(body[len(held) :])
        return before + held

    def remove(self, start: int, end: int, lead: str = "") -> None:
        """Remove what stands between two offsets. Its `lead`, a list bullet or the like, stays if text follows on its
        line."""
        self._skip_to(start)
        self._end = max(self._end, end)
        self._cut()
        self._lead, self._lead_at = lead, len(self._held)

    def border(self) -> None:
        """Two blocks meet here: where no white space separates their texts, a space does, but before punctuation."""
        self._at_border = self._begun

    def end(self, length: int) -> str:
        """End the message; returns the rest of it. `length` is that of the response."""
        if self._removed or self._read(self._end, min(self._end + _NEAR, length)).strip(BLANK):
            return ""
        self._skip_to(length)
        return "" if self._removed else "".join(self._held)

    def _before(self, body: str) -> str:
        """The white space before a text, and the lead of its line."""
        if self._lead and "\n" not in "".join(self._held[self._lead_at :]):
            self._held[self._lead_at :] = [self._lead if self._begun else self._lead.lstrip(BLANK)]
        return "".join(self._held) or (" " if self._at_border and not body.startswith(CLOSING) else "")

    def _hold(self, blank: str) -> None:
        if blank and (self._begun or not self._removed):
            self._held.append(blank)
        elif "\n" in blank:
            self._lead = ""

    def _cut(self) -> None:
        self._removed = True
        if not self._begun:
            self._held.clear()

    def _skip_to(self, start: int, *, is_exact: bool = False) -> None:
        """Go to an offset: of what is no text, the white space at both ends stays, but for that next to exact text."""
        if start <= self._end:
            return
        between = self._read(self._end, start)
        self._end = start
        rest = between.lstrip(BLANK)
        if not rest or not self._is_exact:
            self._hold(between[: len(between) - len(rest)])
        if rest:
            self._cut()
            self._hold("" if is_exact else rest[len(rest.rstrip(BLANK)) :])


class ForwardText:
    """A text in pieces, of which parts are read one behind the other, all of them in linear time.

    `start` is the offset of the first piece; pieces may be added to the list.
    """

    def __init__(self, pieces: list[str], start: int = 0) -> None:
        self._pieces, self._number, self._start = pieces, 0, start

    def read(self, start: int, end: int) -> str:
        """The text between two offsets. What stands before `start` is not read again."""
        pieces, number, at = self._pieces, self._number, self._start
        while number < len(pieces) and at + len(pieces[number]) <= start:
            at += len(pieces[number])
            number += 1
        self._number, self._start = number, at
        first, begun, count = number, at, len(pieces)
        while number < count and at < end:
            at += len(pieces[number])
            number += 1
        return "".join(pieces[first:number])[max(start - begun, 0) : end - begun]


def text_pieces(segments: Sequence[Segment], raw: str, borders: Iterable[int] = ()) -> list[str]:
    """What each segment adds to the text of a response. Blocks of a provider meet at `borders`, which are offsets."""
    shown = [segment for segment in segments if segment.kind in ("text", "json")]
    if len(shown) == 1 and shown[0].kind == "text" and (lone := _lone_text(shown[0], raw)) is not None:
        return [lone if segment is shown[0] else "" for segment in segments]
    message, pieces, last = MessageText(lambda start, end: raw[start:end]), list[str](), -1
    waiting = deque(borders)
    for number, segment in enumerate(segments):
        shown = segment.text if segment.kind == "text" else segment.raw if segment.kind == "json" else ""
        while shown and waiting and waiting[0] <= segment.span[0]:
            waiting.popleft()
            message.border()
        exact = segment.kind == "text" and raw[slice(*segment.span)] != shown
        pieces.append(message.add(shown, *segment.span, exact=exact) if shown else "")
        last = number if shown else last
    if last >= 0:
        pieces[last] += message.end(len(raw))
    return pieces


def _lone_text(segment: Text, raw: str) -> str | None:
    """The only text of a response, found at once where it stands as it is; None elsewhere."""
    start, end = segment.span
    if raw[start:end] != segment.text or not ((not start or raw[:start].strip(BLANK)) and raw[start:end].strip(BLANK)):
        return None
    if end < len(raw) and not raw[end:].strip(BLANK):
        return None
    text = segment.text if not start else segment.text.lstrip(BLANK)
    return text if end == len(raw) else text.rstrip(BLANK)
