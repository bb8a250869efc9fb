"""Candidates: formats that read the same segment, until it is known which of them has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from outspoken.grammar.registry import PLAIN, like

from .evidence import has_actions, has_content, is_credible, is_text

if TYPE_CHECKING:
    from outspoken.notations.tools import Tools
    from outspoken.semantics.output import Output

    from .opener_index import OpenerIndex


class Candidate(ABC):
    """Reads one segment by one format into an output of its own.

    `wanted` is the evidence without which the segment does not count. `has_ended` says that something stands behind the
    segment, `may_end` that the text may end where the candidate has come to, and `has_failed` that the format cannot
    read it. `refusal` is where the grammar refused the text, as long as another format may read it. `damage` is the
    cost of repairs, 0 for a sound segment.
    """

    has_ended = may_end = has_failed = False
    refusal: tuple[int, int | None, bool] | None = None
    damage = 0

    def __init__(self, name: str, output: Output, start: int, wanted: str, tools: Tools | None, max_hold: int) -> None:
        self.name, self.output, self.start, self.wanted = name, output, start, wanted
        self._given, self._max_hold = tools, max_hold

    # reading

    @abstractmethod
    def begin(self, *, final: bool) -> None:
        """Read what is there from the start of the segment on."""

    @abstractmethod
    def read_on_damaged(self, *, final: bool) -> None:
        """Read on where the grammar refused the segment, since no format reads it without damage."""

    @abstractmethod
    def cut(self) -> None:
        """The text ended before the segment did."""

    # what it has read

    @property
    @abstractmethod
    def end(self) -> int:
        """The offset that the candidate has come to, which is the end of the segment once it has ended."""

    @property
    @abstractmethod
    def raw(self) -> str:
        """The text of the segment, as far as it was read."""

    @abstractmethod
    def ends_line(self, openers: OpenerIndex, *, final: bool) -> bool | None:
        """Does a line end behind the segment, or other markup follow? None if only more text can tell."""

    def has_announced(self) -> bool:
        """Was something read that a stream would have passed on?"""
        return any(segment.kind != "text" for segment in self.output.segments)

    def is_more_than_text(self) -> bool:
        """Is it known already that what it reads is not only text, as it was written?"""
        return self.has_announced()

    def is_plain(self) -> bool:
        """Is what it read only text, as it was written?"""
        self.output.flush()
        return is_text(self.output) and "".join([s.text for s in self.output.segments]) == self.raw

    def is_evident(self, openers: OpenerIndex, *, final: bool) -> bool | None:
        """Is there the evidence that is wanted behind the segment and in it? None if only more text can tell."""
        if not self.wanted:
            return True
        output = self.output
        output.flush()
        segments, is_sound = output.segments, not self.damage
        if not (
            output.outcome.answered or is_credible(segments, self._given, self.wanted, self.raw, is_sound=is_sound)
        ):
            return False
        if not self.has_ended or self.end - self.start > self._max_hold:
            return True
        return self.ends_line(openers, final=final)

    def rank(self, first: str | None) -> tuple[Any, ...]:
        """How good this reading is: the smallest rank is the best. `first` is the format that was found before."""
        output, tools = self.output, self._given
        called = [s.name for s in output.segments if s.kind == "tool_call"]
        has_end = self.has_ended or self.may_end
        return (
            self.refusal is not None,
            not has_end,
            is_text(output),
            self.damage + self.count_repairs(),
            tools is not None and any(name not in tools for name in called),
            not has_content(output),
            -self.end if has_end else not self.has_name(),
            not has_actions(output),
            self.name != first,
            self.name != PLAIN,
            bool(like(self.name)),
            self.name,
        )

    def count_repairs(self) -> int:
        """The number of repairs."""
        return 0

    def has_name(self) -> bool:
        """Is the name known of a call that is open?"""
        return False
