"""What a parser knows of the place where it is: its configuration, and what it is in the middle of."""

from __future__ import annotations

from copy import copy

from outspoken.grammar.automaton import Automaton, Config
from outspoken.semantics.embedded_value import EmbeddedValue

from .damaged_segment import DamagedSegment


class ParserState:
    """The position of a parser in the automaton, and what is open there.

    `config` is the configuration. `embedded` is the embedded value that is being read, `damage` the damaged segment
    that is held until its end. `missing_closer_at` is the offset where a value seems to end without its closing marker;
    the text from there on is held.
    """

    #: no text was read in this configuration yet
    is_fresh = True
    #: a marker was read: white space at the start of the text belongs to it
    after_marker = False
    #: white space that comes next belongs to the marker before it
    skips_blank = False
    #: the end of the text is proven from outside, as by a finish reason
    end_is_proven = False
    embedded: EmbeddedValue | None = None
    damage: DamagedSegment | None = None
    missing_closer_at: int | None = None

    def __init__(self, automaton: Automaton, config: Config, opener_at: int) -> None:
        self.config = config
        #: the offset of the marker that led out of plain text
        self.opener_at = opener_at
        #: the format whose markers take the white space before them, and the one whose markers take that behind them
        self.trims = self.leading_trims = automaton.trims

    def copy(self) -> ParserState:
        """An independent state at the same place. Nothing but free text may be open."""
        return copy(self)

    def continue_from(self, other: ParserState) -> None:
        """Take the place of another state."""
        vars(self).update(vars(other))

    @property
    def is_within_text(self) -> bool:
        """Is all that is open free text, or nothing?"""
        return self.embedded is None and self.damage is None and self.missing_closer_at is None
