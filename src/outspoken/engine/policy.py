"""What differs between the readers of a response: decisions that a parser leaves to its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar.automaton import Config, Transition

if TYPE_CHECKING:
    from outspoken.notations.tools import Tools
    from outspoken.recovery.path import RecoveryPath

    from .damaged_segment import DamagedSegment
    from .recovery_driver import RecoveryDriver
    from .single_steps import SingleSteps
    from .text_buffer import TextBuffer


class ParserPolicy:
    """Decisions of a parser. Override those that differ; the defaults leave them to the parser.

    A method that may return None has not decided then. One that returns a bool says whether there is more to read.
    """

    # plain text

    def plain_text_step(self, text: TextBuffer, *, final: bool) -> Any:
        """What finds the end of plain text, in place of the format's own markers."""
        return None

    def is_plain_text(self, text: TextBuffer, chunk: str) -> bool | None:
        """May no marker begin in a chunk that follows plain text?"""
        return None

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> bool | None:
        """Free text is to be read."""
        return None

    def foreign_opener(self, steps: SingleSteps, match: Any, *, final: bool) -> bool:
        """`plain_text_step` found a marker that this format does not have."""
        raise AssertionError("every marker of a grammar has a branch")

    # damage

    def on_refused(self, recovery: RecoveryDriver, pos: int, end: int | None, *, inside: bool) -> bool | None:
        """The grammar refuses what stands at `pos`; see `RecoveryDriver.on_refused`."""
        return None

    def damaged_segment(self, recovery: RecoveryDriver, at: int) -> DamagedSegment | None:
        """The damaged segment around an offset; None if the format's rules decide."""
        return None

    def skip(self, recovery: RecoveryDriver, damage: DamagedSegment, *, final: bool) -> bool | None:
        """Look for the end of a damaged segment."""
        return None

    def reread_as_text(self, recovery: RecoveryDriver, after: int) -> bool | None:
        """What was refused up to an offset is to be plain text."""
        return None

    def may_recover(self, recovery: RecoveryDriver) -> bool:
        """May a damaged segment be recovered?"""
        return True

    def tools(self, recovery: RecoveryDriver) -> Tools | None:
        """The schemas of what may stand in a damaged segment, by name."""
        return recovery.builder.context.tools

    def recovered(self, path: RecoveryPath, *, accepted: bool) -> None:
        """A recovery path was found, and was accepted or not."""


DEFAULT_POLICY = ParserPolicy()
