"""The message of a response: its text without payloads, with normalised white space where they were removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replies import Reply

#: White space and invisible characters.
BLANK = "".join([char for char in map(chr, range(0x3001)) if char.isspace()]) + "\u200b\u2060\ufeff"
#: Punctuation without a space before it.
_CLOSE = (".", ",", ";", ":", "!", "?", ")")


class MessageBuilder:
    """Builds the message incrementally; the result does not depend on how the text is split into pieces.

    `text` takes a piece and returns the part of the message that is now final; `cut` marks that something was removed
    here. White space at both ends of the message is dropped. At a removal, one blank line remains if there was one on
    either side, otherwise one line break if there was one, otherwise one space, or nothing before punctuation. The
    indentation of the following line and all other white space stay.

    `lead` is the text before the payload on its line, such as a list bullet or heading marks. It is removed with the
    payload unless text follows on the same line.
    """

    def __init__(self) -> None:
        self._begun = False
        #: white space that no text has followed yet
        self._held: list[str] = []
        #: the larger number of line breaks on either side of the removal; None if nothing was removed
        self._breaks: int | None = None
        #: the lead of the removed payload and the white space before it
        self._lead = ""

    def text(self, piece: str) -> str:
        """Add text; returns the part of the message that is now final."""
        body = piece.lstrip(BLANK)
        if not body:
            self._held.append(piece)
            return ""
        self._held.append(piece[: len(piece) - len(body)])
        separator = self._separator("".join(self._held), body)
        body = body.rstrip(BLANK)
        self._held = [piece[len(piece.rstrip(BLANK)) :]]
        self._begun = True
        return separator + body

    def cut(self, lead: str = "") -> None:
        """Mark that something was removed here, with the lead of its line."""
        blank = "".join(self._held)
        if self._breaks is None:
            self._breaks = 0
            self._lead = blank + lead if lead else ""
        elif "\n" in blank:
            self._lead = ""
        self._breaks = max(self._breaks, blank.count("\n"))
        self._held = []

    def _separator(self, blank: str, body: str) -> str:
        """The separator between the message so far and the next text."""
        breaks, self._breaks = self._breaks, None
        lead, self._lead = self._lead, ""
        if breaks is None:
            return blank if self._begun else ""
        if lead and "\n" not in blank:
            return lead if self._begun else lead.lstrip(BLANK)
        if not self._begun or (not breaks and not blank and body.startswith(_CLOSE)):
            return ""
        breaks = min(max(breaks, blank.count("\n")), 2)
        return "\n" * breaks + blank[blank.rfind("\n") + 1 :] if "\n" in blank else "\n" * breaks or " "


def message_of(reply: Reply) -> str:
    """The message of a reply of any format, whose text segments may lack the white space around markup."""
    message, parts, at = MessageBuilder(), list[str](), 0
    for segment in reply.segments:
        between = reply.raw[at : segment.span[0]]
        lead = len(between) - len(between.lstrip(BLANK))
        parts.append(message.text(between[:lead]))
        if lead < len(between):
            message.cut()
            parts.append(message.text(between[len(between.rstrip(BLANK)) :]))
        if segment.kind == "text" or segment.kind == "json":
            parts.append(message.text(segment.text if segment.kind == "text" else segment.raw))
        else:
            message.cut()
        at = max(at, segment.span[1])
    return "".join(parts)
