"""Batched matching: complete text is read with regular expressions that take several markers at once."""

from __future__ import annotations

from typing import Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.json.scanner import read_at
from outspoken.notations.interface import Notation, notation_of
from outspoken.notations.schema import ANY, SchemaView
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import FREE, HANDLERS, Place

from .operations import carry_out
from .state import ParserState
from .text_buffer import BLANK, BLANKS, TextBuffer

#: Free text that is longer than this is searched by the engine that is faster on long text.
LONG = 2048


class BatchedMatcher:
    """Reads complete text in the longest steps that regular expressions can make.

    It stops where it cannot continue; the parser reads on in single steps.
    """

    __slots__ = ("automaton", "builder", "max_depth", "state", "stops_at_text", "text")

    def __init__(
        self, automaton: Automaton, builder: Builder, text: TextBuffer, state: ParserState, stops_at_text: bool
    ) -> None:
        self.automaton, self.builder, self.text, self.state = automaton, builder, text, state
        self.stops_at_text = stops_at_text
        self.max_depth = builder.context.settings.max_depth

    def run(self) -> None:
        """Read as far as possible; if it `stops_at_text`, at most to the next plain text."""
        text, state, builder = self.text, self.state, self.builder
        buffer, base, pos = text.text, text.base, text.pos
        config, end = state.config, len(buffer)
        while pos < end:
            free = config.free
            if free is None:
                step = config.matcher or _matcher(config)
                match = step.match(buffer, pos)
                if match is None:
                    at = self._embedded_value(config, pos) if config.embedded else -1
                    if at < 0:
                        break
                    pos, config = at, state.config
                    continue
            else:
                step, match = self._free_text(config, free, pos)
                if match is None:
                    break
            branch = step.branches[match.lastindex]
            for function, arg, group in branch.operations:
                function(builder, arg, match, group, base)
            config = branch.target
            pos = match.end()
        state.config, text.pos = config, pos

    def _free_text(self, config: Config, free: Transition, pos: int) -> tuple[Any, Any]:
        """The step and its match behind complete free text, which is passed on, or in place of free text.

        Both are None if there is none.
        """
        state, buffer = self.state, self.text.text
        role, target = free.terminal.short, free.target
        if not state.before_text or (self.stops_at_text and role == "TEXT" and not self.builder.nodes):
            return None, None
        leader = config.leading_matcher if config.leading_matcher is not None else _leader(config)
        if leader and self.stops_at_text:
            return None, None
        if leader and (match := leader.match(buffer, pos)) is not None:
            state.after_marker = True
            return leader, match
        step = target.finder or _finder(target)
        if len(buffer) - pos > LONG:
            step = matchers.matcher_of(target, "find long", HANDLERS)
        match = step.find(buffer, pos)
        if match is None or (target.may_lack_closer is not None and target.may_lack_closer(buffer, pos, match.start())):
            return None, None
        end = match.start()
        if config is self.automaton.top_level or config is self.automaton.start:
            state.opener_at = self.text.base + end
        self._pass_on(free, role, pos, end)
        state.after_marker = True
        return step, match

    def _pass_on(self, free: Transition, role: str, start: int, end: int) -> None:
        """Pass on free text that is complete and ends at a marker, without the white space of markers."""
        builder, state, base = self.builder, self.state, self.text.base
        if role == "TEXT":
            builder.output.consumed = base + start
        piece = self.text.text[start:end]
        if piece and role in state.trims:
            if state.after_marker and not (
                role == "TEXT" and (builder.output.after_text or "TEXT" not in state.leading_trims)
            ):
                start = end - len(piece := piece.lstrip(BLANK))
            piece = piece.rstrip(BLANK)
        if piece:
            FREE[role](builder, piece, base + start, base + start + len(piece))
        elif role == "ARG_VALUE":
            builder.calls.end_value()
        if free.after or free.before:
            carry_out(builder, free, Place(end, end), base)

    def _embedded_value(self, config: Config, pos: int) -> int:
        """Read an embedded value that is complete. Returns its end, or -1 if there is none."""
        buffer = self.text.text
        char = buffer[pos]
        if char in BLANK:
            if self.automaton.tables.ignore:
                pos = BLANKS.match(buffer, pos).end()
            char = buffer[pos : pos + 1]
        transition = config.json.get(char)
        if transition is not None:
            found = read_at(buffer, pos, self.max_depth)
        else:
            transition, found = self._in_other_notation(config, pos, char)
        if found is None or transition is None:
            return -1
        builder = self.builder
        builder.state.last_value, end, builder.state.last_text = found
        carry_out(builder, transition, Place(pos, end), self.text.base)
        self.state.config = transition.target
        return end

    def _in_other_notation(self, config: Config, pos: int, char: str) -> tuple[Transition | None, Any]:
        """The embedded value that begins with a character in another notation than JSON, and what it holds."""
        for transition in config.embedded:
            notation = notation_of(transition.terminal)
            if notation.may_begin(char):
                schema = schema_of(self.builder, transition, notation)
                return transition, notation.read_at(self.text.text, pos, self.max_depth, True, schema)
        return None, None


def schema_of(builder: Builder, transition: Transition, notation: Notation) -> SchemaView:
    """What the tool's schema says of an embedded value, if its notation is typed by a schema."""
    return builder.calls.schema_view(transition.role) if notation.typed_by_schema else ANY


def _matcher(config: Config) -> matchers.Matcher:
    config.matcher = matchers.matcher_of(config, "match whole", HANDLERS)
    return config.matcher


def _leader(config: Config) -> Any:
    """The step over the markers that may stand only before free text; False if there are none."""
    config.leading_matcher = matchers.matcher_of(config, "leading whole", HANDLERS) if config.leading_markers else False
    return config.leading_matcher


def _finder(config: Config) -> matchers.Matcher:
    config.finder = matchers.matcher_of(config, "find whole", HANDLERS)
    return config.finder
