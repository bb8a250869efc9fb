"""The segments of a finished reply: its text as the message has it, and the payloads that stand."""

from __future__ import annotations

from typing import Any

from outspoken.results.construct import construct
from outspoken.results.replies import Payload, Text

from .finishing import Finisher


def finished_segments(segments: list[Any], finisher: Finisher) -> list[Any]:
    """What a finisher makes of the segments of a response. Texts with nothing of use between them are one."""
    made = _Segments()
    for segment in segments:
        if isinstance(segment, Text):
            made.text(finisher.text(segment.text), segment.span)
        elif isinstance(segment, Payload):
            said, payload = finisher.payload(segment)
            made.text(said, segment.span)
            if payload is not None:
                made.add(payload)
        else:
            finisher.message.cut()
            made.add(segment)
    dropped = finisher.end()
    made.flush()
    return [segment for segment in made.found if not any(segment is one for one in dropped)]


class _Segments:
    """Collects segments, and the pieces of the text that is next."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._pieces: list[str] = []
        self._span = (0, 0)

    def text(self, piece: str, span: tuple[int, int]) -> None:
        if piece:
            self._span = (self._span[0] if self._pieces else span[0], span[1])
            self._pieces.append(piece)

    def add(self, segment: Any) -> None:
        self.flush()
        self.found.append(segment)

    def flush(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self.found.append(construct(Text, {"kind": "text", "text": text, "span": self._span}))
            self._pieces = []
