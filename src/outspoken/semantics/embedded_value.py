"""An embedded value (JSON or another notation inside a format's markup) that is still arriving."""

from __future__ import annotations

from outspoken.grammar.automaton import Transition
from outspoken.notations.interface import ValueScanner


class EmbeddedValue:
    """A value that is being read: its transition, its scanner, its text so far, and the offset where it began."""

    __slots__ = ("step", "scanner", "pieces", "begun", "_recent", "_recent_length")

    def __init__(self, step: Transition, scanner: ValueScanner, begun: int) -> None:
        self.step, self.scanner, self.begun = step, scanner, begun
        self.pieces: list[str] = []
        #: the end of the text so far, of which the scanner still holds back a part
        self._recent: list[str] = []
        self._recent_length = 0

    def certain(self) -> str:
        """More of the value's JSON text, as far as no later text can change it."""
        if self.scanner.transcodes:
            return self.scanner.take_json()
        if not self.pieces or self.pieces[0][0] != "{":
            return ""
        held, piece = self.scanner.held, self.pieces[-1]
        self._recent.append(piece)
        self._recent_length += len(piece)
        if self._recent_length <= held:
            return ""
        text = "".join(self._recent)
        self._recent, self._recent_length = [text[len(text) - held :]], held
        return text[: len(text) - held]
