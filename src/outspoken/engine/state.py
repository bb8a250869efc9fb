"""Where a parser is: its configuration, what it is in the middle of, and the transitions that take it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Automaton, Config
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import EmbeddedValue

from .text_buffer import TextBuffer

if TYPE_CHECKING:
    from .damaged_segment import DamagedSegment


class ParserState:
    """The position of a parser in the automaton, and what is open there.

    `config` is the configuration. `embedded` is the embedded value that is being read, `damage` the damaged segment
    that is held until its end. `missing_closer_at` is the offset where a value seems to end without its closing marker;
    the text from there on is held.
    """

    __slots__ = (
        "after_marker", "before_text", "config", "damage", "embedded", "end_is_proven", "leading_trims",
        "missing_closer_at", "opener_at", "skips_blank", "trims",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, config: Config, opener_at: int) -> None:
        self.config = config
        self.embedded: EmbeddedValue | None = None
        self.damage: DamagedSegment | None = None
        self.missing_closer_at: int | None = None
        #: the offset of the marker that led out of plain text
        self.opener_at = opener_at
        #: the parser is before the text of this configuration: nothing of it was read yet
        self.before_text = True
        #: a marker was read: white space at the start of the text belongs to it
        self.after_marker = False
        #: white space that comes next belongs to the marker before it
        self.skips_blank = False
        #: the end of the text is proven from outside, as by a finish reason
        self.end_is_proven = False
        #: the free text that is trimmed. Plain text at its start is trimmed as the format of the last segment says
        self.trims = self.leading_trims = automaton.trims

    def continue_from(self, other: ParserState) -> None:
        """Take the place of another state in which nothing but free text is open."""
        self.config, self.opener_at = other.config, other.opener_at
        self.before_text, self.after_marker, self.skips_blank = other.before_text, other.after_marker, other.skips_blank
        self.trims, self.leading_trims = other.trims, other.leading_trims

    @property
    def is_within_text(self) -> bool:
        """Is all that is open free text, or nothing?"""
        return self.embedded is None and self.damage is None and self.missing_closer_at is None


def follow(builder: Builder, text: TextBuffer, state: ParserState, branch: matchers.Branch, match: Any) -> None:
    """Follow a branch of a matcher: carry out its operations, and go on behind its match."""
    base = text.base
    for function, arg, group in branch.operations:
        function(builder, arg, match, group, base)
    state.config = branch.target
    text.pos = match.end()
    state.after_marker = True
