"""How the text of a response is joined where something was removed from it: calls, reasoning, payloads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replies import Segment

#: White space and invisible characters.
BLANK = "".join([char for char in map(chr, range(0x3001)) if char.isspace()]) + "\u200b\u2060\ufeff"
#: Punctuation without a space before it.
_CLOSE = (".", ",", ";", ":", "!", "?", ")")
#: So much of what stands behind the text mostly shows whether it is more than white space.
_NEAR = 40


class MessageBuilder:
    """Builds a message incrementally; the result does not depend on how the text is split into pieces.

    `text` takes a piece and returns the part of the message that is now final; `cut` marks that something was removed
    here; `close` ends the message. Of the white space on both sides of what was removed, one blank line remains if
    there was one on either side, otherwise one line break if there was one, otherwise one space, or nothing before
    punctuation. Nothing remains where no text precedes or follows. The indentation of the following line and all other
    white space stay.

    `lead` is the text before what was removed on its line, such as a list bullet or heading marks. It is removed, too,
    unless text follows on the same line.
    """

    def __init__(self) -> None:
        self._begun = False
        #: white space that no text has followed yet
        self._held: list[str] = []
        #: the white space before what was removed; None if nothing was
        self._before: str | None = None
        #: the lead of what was removed and the white space before it
        self._lead = ""
        self._at_border = False
        #: the white space at the end of what was added by `exact`
        self._tail = ""

    def exact(self, piece: str) -> str:
        """Add text that is final with its white space, as that of a JSON string is; returns it behind its separator."""
        if not piece:
            return ""
        separator = self._separator("".join(self._held), piece)
        self._held, self._begun = [], True
        rest = piece.rstrip(BLANK)
        self._tail = (self._tail if not rest else "") + piece[len(rest) :]
        return separator + piece

    def text(self, piece: str) -> str:
        """Add text; returns the part of the message that is now final."""
        body = piece.lstrip(BLANK)
        if not body:
            self._held.append(piece)
            return ""
        self._held.append(piece[: len(piece) - len(body)])
        separator = self._separator("".join(self._held), body)
        body = body.rstrip(BLANK)
        rest = piece[len(piece.rstrip(BLANK)) :]
        self._held = [rest] if rest else []
        self._begun, self._tail = True, ""
        return separator + body

    def cut(self, lead: str = "") -> None:
        """Mark that something was removed here, with the lead of its line."""
        blank = "".join(self._held)
        if self._before is None:
            self._before = blank
            self._lead = blank + lead if lead else ""
        elif "\n" in blank:
            self._lead = ""
        self._held = []

    def border(self) -> None:
        """Mark that two blocks meet here: where no white space separates them, the separator is that of a removal."""
        self._at_border = True

    def close(self) -> str:
        """End the message; returns the rest of it."""
        return "".join(self._held) if self._before is None else ""

    def _separator(self, blank: str, body: str) -> str:
        """The separator between the message so far and the next text."""
        before, self._before = self._before, None
        lead, self._lead = self._lead, ""
        at_border, self._at_border = self._at_border, False
        if before is None and (blank or not at_border):
            return blank
        before = before or ""
        if lead and "\n" not in blank:
            return lead if self._begun else lead.lstrip(BLANK)
        breaks = min(max(before.count("\n"), blank.count("\n")), 2)
        if not self._begun or (not breaks and not blank and body.startswith(_CLOSE)):
            return ""
        if self._tail:
            return "\n" * max(breaks - self._tail.count("\n"), 0)
        return "\n" * breaks + blank[blank.rfind("\n") + 1 :] if "\n" in blank else "\n" * breaks or " "


class PlacedMessage(MessageBuilder):
    """Builds a message of texts whose places in the response are known: what stands between them was removed.

    `read(start, end)` gives the response between two offsets, each time behind the last one. The message begins at
    `start`.
    """

    def __init__(self, read: Callable[[int, int], str], start: int = 0) -> None:
        super().__init__()
        self._read = read
        self._end = start

    def add(self, piece: str, start: int, end: int, *, exact: bool = False) -> str:
        """Add the text between two offsets; returns the part of the message that is now final.

        With `exact`, its own white space is final; see `MessageBuilder.exact`.
        """
        if start > self._end:
            self._skip(self._read(self._end, start))
        self._end = max(self._end, end)
        is_within = self._begun and not self._held and self._before is None and not self._at_border
        if is_within and not exact and piece and piece[-1] not in BLANK:
            self._tail = ""
            return piece  # as most pieces of a stream
        return self.exact(piece) if exact else self.text(piece)

    def remove(self, start: int, end: int, lead: str = "") -> None:
        """Mark that what stands between two offsets was removed."""
        if start > self._end:
            self._skip(self._read(self._end, start))
        self._end = max(self._end, end)
        self.cut(lead)

    def end(self, length: int) -> str:
        """End the message; returns the rest of it. `length` is that of the response."""
        if length > self._end:
            near = self._read(self._end, min(self._end + _NEAR, length))
            if near.strip(BLANK):
                return ""  # something was removed, and no text follows
            self._skip(near + self._read(self._end + len(near), length))
        return self.close()

    def _skip(self, between: str) -> None:
        """Take the white space at both ends of what is no text; what else it is, was removed."""
        rest = between.lstrip(BLANK)
        if blank := between[: len(between) - len(rest)]:
            self._held.append(blank)
        if rest:
            self.cut()
            if blank := rest[len(rest.rstrip(BLANK)) :]:
                self._held.append(blank)


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


def text_pieces(segments: Iterable[Segment], raw: str, borders: Iterable[int] = ()) -> list[str]:
    """What each segment adds to the text of a response. Blocks of a provider meet at `borders`, which are offsets."""
    message, pieces, last = PlacedMessage(lambda start, end: raw[start:end]), list[str](), -1
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
