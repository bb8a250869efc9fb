"""The message of a response: its text without payloads, with the white space where they stood put right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replies import Reply

#: White space, and what is none and cannot be seen either.
BLANK = "".join([char for char in map(chr, range(0x3001)) if char.isspace()]) + "\u200b\u2060\ufeff"
#: What stands close to the word before it.
_CLOSE = (".", ",", ";", ":", "!", "?", ")")


class Message:
    """Makes the message from the pieces of a text, however it is cut into pieces.

    `text` takes more text and returns what of the message is certain by now; `cut` says that something was taken out.
    White space at both ends is left out. Where something was taken out, one blank line is left if there was one on
    either side, else one line break if there was one, else one space; before a full stop and the like that stood close
    to it, none. The indent of the line behind it stays, and so does all other white space.

    `lead` is what stood before the payload on its line: a list's bullet, a heading's marks. It goes with the payload if
    the payload was all of the line, and stays if text follows on it.
    """

    def __init__(self) -> None:
        self._begun = False
        #: white space that has not been followed by text yet
        self._held: list[str] = []
        #: the most line breaks on one side of what was taken out; None where nothing was
        self._breaks: int | None = None
        #: what was in front of the payload, with the white space before that
        self._lead = ""

    def text(self, piece: str) -> str:
        """More text; returns more of the message."""
        body = piece.lstrip(BLANK)
        if not body:
            self._held.append(piece)
            return ""
        self._held.append(piece[: len(piece) - len(body)])
        joint = self._joint("".join(self._held), body)
        body = body.rstrip(BLANK)
        self._held = [piece[len(piece.rstrip(BLANK)) :]]
        self._begun = True
        return joint + body

    def cut(self, lead: str = "") -> None:
        """Something was taken out here, with a lead of its line."""
        blank = "".join(self._held)
        if self._breaks is None:
            self._breaks = 0
            self._lead = blank + lead if lead else ""
        elif "\n" in blank:
            self._lead = ""
        self._breaks = max(self._breaks, blank.count("\n"))
        self._held = []

    def _joint(self, blank: str, body: str) -> str:
        """What stands between the message so far and the text that follows."""
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
    """The message of a reply of any format, of whose texts the white space round markup may be left out."""
    message, parts, at = Message(), list[str](), 0
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
