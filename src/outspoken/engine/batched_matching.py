"""Whole steps: how the machine reads text of which all is there."""

from __future__ import annotations

import re
from typing import Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.json.scanner import read_at
from outspoken.notations.interface import notation_of
from outspoken.notations.schema import ANY, SchemaView
from outspoken.recovery.sync_points import Damage
from outspoken.semantics.builder import Builder
from outspoken.semantics.embedded_value import EmbeddedValue
from outspoken.semantics.handlers import FREE, HANDLERS, Place

from .buffer import Buffer

#: Free text that is longer than this is searched by the engine that is faster on long texts.
LONG = 2048

BLANK = " \t\r\n\f"
#: white space, or none: it always matches
BLANKS: Any = re.compile(r"[ \t\r\n\f]*")


class Sprinter(Buffer):
    """A reader of text that is all there, in the longest steps that regular expressions can make."""

    #: the format that was recognised, where that is open
    detected: str | None = None
    #: markup was read: white space at the start of the text is the markup's, not the text's
    marked = False
    _lead = False
    _fresh = True
    _island: EmbeddedValue | None = None
    #: where the marker stands that led out of plain text
    _opened_at = 0
    _damage: Damage | None = None
    #: where a value seems to end without its closing marker; the text from there on is held
    _suspect: int | None = None
    _spent: int = 0
    #: what is held is white space; more of it waits here
    _waiting = False

    def __init__(self, automaton: Automaton, builder: Builder, *, base: int = 0, config: Config | None = None) -> None:
        super().__init__(base)
        self.automaton = automaton
        self.builder = builder
        builder.source.slice = self.slice
        self.config: Config = config or automaton.start
        self._opened_at = base - 1
        self._blanks: list[str] = []
        self._depth = builder.context.settings.max_depth
        self._trims = self._lead_trims = automaton.trims

    def _sprint(self, *, stop: bool) -> None:
        """Read on as far as whole steps go, in text that is all there; with `stop`, to the next text at most.

        What it cannot take, it leaves where it stands to the single steps below, which do the same with more care.
        """
        buffer, base, builder, pos = self.buffer, self.base, self.builder, self.pos
        config, end = self.config, len(buffer)
        while pos < end:
            free = config.free
            if free is None:
                step = config.matcher or self._matcher(config)
                match = step.match(buffer, pos)
                if match is None:
                    at = self._sprint_island(config, pos) if config.embedded else -1
                    if at < 0:
                        break
                    pos, config = at, self.config
                    continue
            else:
                step, match = self._sprint_free(config, free, pos, stop)
                if match is None:
                    break
            path = step.branches[match.lastindex]
            for function, arg, group in path.operations:
                function(builder, arg, match, group, base)
            config = path.target
            pos = match.end()
        self.config, self.pos = config, pos

    def _sprint_free(self, config: Config, free: Transition, pos: int, stop: bool) -> tuple[Any, Any]:
        """The step and its match at the end of free text that is all there, or before free text; None if there is none.

        The free text is handed on.
        """
        role, buffer, target = free.terminal.short, self.buffer, free.target
        if not self._fresh or (stop and role == "TEXT" and not self.builder.nodes):
            return None, None
        leader = config.leading_matcher if config.leading_matcher is not None else self._leader(config)
        if leader and stop:
            return None, None
        if leader and (match := leader.match(buffer, pos)) is not None:
            self.marked = True
            return leader, match
        step = target.finder or self._finder(target)
        if len(buffer) - pos > LONG:
            step = matchers.matcher_of(target, "find long", HANDLERS)
        match = step.find(buffer, pos)
        if match is None or (target.may_lack_closer is not None and target.may_lack_closer(buffer, pos, match.start())):
            return None, None
        end = match.start()
        if config is self.automaton.top_level or config is self.automaton.start:
            self._opened_at = self.base + end
        self._sprint_piece(free, role, pos, end)
        self.marked = True
        return step, match

    def _matcher(self, config: Config) -> Any:
        config.matcher = matchers.matcher_of(config, "match whole", HANDLERS)
        return config.matcher

    def _leader(self, config: Config) -> Any:
        """The step over the markers that may stand before free text only; False where there are none."""
        config.leading_matcher = (
            matchers.matcher_of(config, "leading whole", HANDLERS) if config.leading_markers else False
        )
        return config.leading_matcher

    def _finder(self, config: Config) -> Any:
        config.finder = matchers.matcher_of(config, "find whole", HANDLERS)
        return config.finder

    def _sprint_piece(self, free: Transition, role: str, start: int, end: int) -> None:
        """Free text that is all there and ends at a marker."""
        builder, base = self.builder, self.base
        if role == "TEXT":
            builder.output.consumed = base + start
        piece = self.buffer[start:end]
        if piece and role in self._trims:
            if self.marked and not (role == "TEXT" and (builder.output.after_text or "TEXT" not in self._lead_trims)):
                start = end - len(piece := piece.lstrip(BLANK))
            piece = piece.rstrip(BLANK)
        if piece:
            FREE[role](builder, piece, base + start, base + start + len(piece))
        elif role == "ARG_VALUE":
            builder.calls.end_value()
        if free.after or free.before:
            self._operate(free, end, end)

    def _sprint_island(self, config: Config, pos: int) -> int:
        """An island that is all there: where it ends, or -1."""
        buffer = self.buffer
        char = buffer[pos]
        if char in BLANK:
            pos = self._past_blanks(pos)
            char = buffer[pos : pos + 1]
        step = config.json.get(char)
        if step is not None:
            found = read_at(buffer, pos, self._depth)
        else:
            step, found = self._other_island(config, pos, char)
        if found is None:
            return -1
        builder, base = self.builder, self.base
        builder.state.last_value, end, builder.state.last_text = found
        bound = step.bound if step.bound is not None else matchers.bound_operations(step, HANDLERS)
        if bound:
            place = Place(pos, end)
            for function, arg, group in bound:
                function(builder, arg, place, group, base)
        self.config = step.target
        return end

    def _other_island(self, config: Config, pos: int, char: str) -> tuple[Any, Any]:
        """The island in another notation than JSON that begins with a character, and what it holds."""
        for step in config.embedded:
            notation = notation_of(step.terminal)
            if notation.may_begin(char):
                return step, notation.read_at(self.buffer, pos, self._depth, True, self._shape(step, notation))
        return None, None

    def _shape(self, step: Transition, notation: Any) -> SchemaView:
        """What the tool's schema says of an island, where its notation asks for that."""
        return self.builder.calls.schema_view(step.role) if notation.typed else ANY

    def _past_blanks(self, pos: int) -> int:
        """Where the white space ends that may stand between tokens."""
        if not self.automaton.tables.ignore:
            return pos
        return BLANKS.match(self.buffer, pos).end()

    def _operate(self, step: Transition, start: int, end: int) -> None:
        """Carry out the operations of a transition that no expression took."""
        bound = step.bound if step.bound is not None else matchers.bound_operations(step, HANDLERS)
        if bound:
            place = Place(start, end)
            for function, arg, group in bound:
                function(self.builder, arg, place, group, self.base)
