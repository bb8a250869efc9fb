"""Single steps: markers, free text and embedded values are read one by one, also where more text may come."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Config, MissingCloser, Transition
from outspoken.grammar.value_markup import openers_at_end
from outspoken.json.decoder import NotJsonError
from outspoken.notations.interface import Notation, notation_of
from outspoken.patterns.spellings import without_conditions
from outspoken.semantics.handlers import FREE, HANDLERS, Place
from outspoken.semantics.open_node import EmbeddedValue
from outspoken.semantics.steps import begin_text, carry_out, schema_of

from .rare_markers import RareMarkers
from .state import follow
from .text_buffer import BLANK, BLANKS

if TYPE_CHECKING:
    from .parser import AutomatonParser
    from .recovery_driver import RecoveryDriver

#: So much of a marker at the end of the text is no chance.
_SHORTEST_CUT = 2


class SingleSteps:
    """Reads one marker, free text or embedded value at a time.

    The methods that read return whether there is more to read. `final` says that the text is complete; otherwise, what
    may still become another marker is held back.
    """

    def __init__(self, parser: AutomatonParser) -> None:
        self.automaton, self.builder, self.text = parser.automaton, parser.builder, parser.text
        self.state, self.policy, self.budget = parser.state, parser.policy, parser.budget
        self.log = parser.log
        self.rare = RareMarkers(self.text)
        #: where free text was held last, since a marker may begin there
        self._held_at: int | None = None
        #: by matcher, from where on it searched last, where its marker begins, or the text ended, and that end
        self._found: dict[matchers.Matcher, tuple[int, int, int]] = {}
        self.max_depth = parser.builder.context.settings.max_depth

    @cached_property
    def recovery(self) -> RecoveryDriver:
        """What reads damaged segments."""
        from .recovery_driver import RecoveryDriver  # sound text never needs it, and it takes long to import

        return RecoveryDriver(self)

    # free text

    def read_text(self, config: Config, free: Transition, *, final: bool) -> bool:
        """Read free text, or a marker that may stand only in place of it."""
        if config.leading_markers and self.state.before_text:
            going = self._marker(config, "leading", final=final)
            if going is not None:
                return going
        decided = self.policy.enter_free_text(self, config, free, final=final)
        return self._free_text(config, free, final=final) if decided is None else decided

    def _free_text(self, config: Config, free: Transition, *, final: bool) -> bool:
        """Read free text up to the next marker."""
        state, text = self.state, self.text
        buffer, at = text.text, max(text.scan, text.pos)
        role = free.terminal.short
        if state.before_text:
            self._start_text(free)
        if final and at == len(buffer):
            return self._no_marker(free, role, final=True)
        step = self.text_step(free, at, final=final)
        if not final and state.missing_closer_at is None and self._is_held(step, at):
            if text.scan < at:
                self.pass_on_text(role, at, closed=False, final=False)
                text.scan = at
            return False
        step, match, start, held = self._next_marker(free, step, at, final=final)
        if start < 0:
            return self._no_marker(free, role, final=final)
        branch = None if held else step.branches.get(match.lastindex)
        may_grow = branch is not None and branch.grows and not final and match.end() == len(buffer)
        if branch is not None and branch.missing_closer is not None and not may_grow:
            return self._missing_closer(role, match, branch.missing_closer.kind)
        if branch is None or may_grow:
            if state.missing_closer_at is None:
                self.pass_on_text(role, start, closed=False, final=False)
            text.scan = start
            self._held_at = text.base + start
            return branch is None and not held and self.policy.foreign_opener(self, match, final=final)
        state.missing_closer_at = None
        self.end_text(free, start)
        if config is self.automaton.top_level or config is self.automaton.start:
            state.opener_at, state.opener = text.base + start, branch.transition
        self.follow(branch, match)
        return True

    def _next_marker(self, free: Transition, step: Any, at: int, *, final: bool) -> tuple[Any, Any, int, bool]:
        """The next marker from a position of free text on: what finds it, its match, where it begins, is it arriving?

        `step` finds the markers of sound text. Where there is none, it begins at -1.
        """
        buffer, begun_at = self.text.text, None
        if final:
            match = self._find(step, at)
            return step, match, -1 if match is None else match.start(), False
        match = step.find(buffer, at, partial=True)
        if free.target.mistaken or _closers(free):
            step, match, begun_at = self._with_rare(free, step, match, at)
        if match is None:
            return step, match, -1 if begun_at is None else begun_at, begun_at is not None
        start, held = match.start(), match.partial
        if not held and step.open_markers:
            earlier = step.open_markers.find_open(buffer, at, start, match.lastindex)
            start, held = (start, False) if earlier is None else (earlier, True)
        if begun_at is not None and begun_at <= start:
            start, held = begun_at, True
        return step, match, start, held

    def _find(self, step: matchers.Matcher, at: int) -> Any:
        """The next marker of text that is complete from a position on.

        Where it begins is kept: text behind what was refused is searched again, and would be searched to its end each
        time.
        """
        text, offset, end = self.text, self.text.base + at, self.text.end
        begun, start, searched_to = self._found.get(step, (0, -1, 0))
        if begun <= offset <= start and searched_to == end:
            return step.find(text.text, start - text.base) if start < end else None
        match = step.find(text.text, at)
        self._found[step] = offset, end if match is None else text.base + match.start(), end
        return match

    def _with_rare(self, free: Transition, step: Any, match: Any, at: int) -> tuple[Any, Any, int | None]:
        """What finds the next marker if one of damaged text may stand before a match, and its match.

        And where one may have begun before it whose rest has not arrived; None if nowhere.
        """
        target, buffer = free.target, self.text.text
        end = len(buffer) if match is None else match.start()
        absent, opened_at = self.rare.arriving(target.mistaken, at, end)
        closers, closed_at = self.rare.closers(_closers(free), at, end)
        begun_at = min([place for place in (opened_at, closed_at) if place is not None], default=None)
        if closers or len(absent) < len(target.mistaken):
            step = matchers.matcher_of(target, "find", HANDLERS, final=False, closers=closers, without=absent)
            match = step.find(buffer, at, partial=True)
        return step, match, begun_at

    def _is_held(self, step: Any, at: int) -> bool:
        """Does what has come from a position on begin a marker?

        What was held there before is matched at that place alone: a search would go on behind it, which takes long.
        """
        buffer = self.text.text
        if step.holds(buffer[at:], finds=True):
            return True
        return self._held_at == self.text.base + at and step.stays_open(buffer, at)

    def _start_text(self, free: Transition) -> None:
        """Free text begins. What stands before it has ended."""
        state, role, at = self.state, free.terminal.short, self.text.pos
        if free.before:
            carry_out(self.builder, free, Place(at, at), self.text.base, "before")
        state.before_text = False
        trims = state.leading_trims if role == "TEXT" else state.trims
        state.skips_blank = begin_text(self.builder, role, self.text.offset, trims, after_marker=state.after_marker)

    def _no_marker(self, free: Transition, role: str, *, final: bool) -> bool:
        """There is no marker in the rest of free text, as far as it has come."""
        state, text = self.state, self.text
        text.scan = len(text.text)
        if state.missing_closer_at is not None:
            return final and self.recovery.on_refused(state.missing_closer_at - text.base)
        cut_at = self._cut_closer(free) if final and role == "ARG_VALUE" else None
        if cut_at is not None:
            self.pass_on_text(role, cut_at, closed=False, final=False)
            return False  # the closing marker is for recovery
        opener_at = self._last_opener(free) if final and role == "TEXT" else None
        self.pass_on_text(role, len(text.text) if opener_at is None else opener_at, closed=False, final=final)
        if opener_at is not None:
            self.builder.end_behind_opener(text.base + opener_at, text.end)
        if final:
            text.pos = len(text.text)
            if free.target.end_operations() is not None:
                self.shift_text(free, text.pos)
        return False

    def _last_opener(self, free: Transition) -> int | None:
        """Where markers stand that open something, and behind which the text ends; None if it does not end so."""
        text = self.text.text
        forms, pattern = openers_at_end(self.automaton)
        if not text[self.text.pos :].rstrip(BLANK).endswith(forms):
            return None
        match = _with_all_markers(free).find(text, self.text.pos, partial=True)
        return match.start() if match is not None and match.partial and pattern.match(text, match.start()) else None

    def _cut_closer(self, free: Transition) -> int | None:
        """Where the marker stands that ends a value but for what should follow it; None if there is none.

        The text ends in it or behind it, though something says that the model ended its answer. A marker that is itself
        cut disproves that.
        """
        state, text = self.state, self.text.text
        is_checked = state.end_is_proven and self.builder.context.repair_limit not in ("none", "notation")
        if not is_checked or free.target.end_operations() is not None:
            return None
        match = _with_all_markers(free).find(text, self.text.pos, partial=True)
        if match is None or not match.partial:
            return None
        at = match.start()
        bare = [re.compile(without_conditions(step.terminal.regex)) for step in free.target.markers]
        ends = [closer_match.end() for regex in bare if (closer_match := regex.match(text, at))]
        if len(text[max([at, *ends]) :].strip(BLANK)) < _SHORTEST_CUT:
            return at if ends else None
        state.end_is_proven = False
        return at

    def _missing_closer(self, role: str, match: Any, kind: str) -> bool:
        """A value seems to lack its closing marker. It may still come, except after another call or argument."""
        state, text = self.state, self.text
        if kind == "argument" and not self.builder.calls.accepts(match[match.lastindex - 1]):
            text.scan = match.end()
            return True
        if state.missing_closer_at is None:
            self.pass_on_text(role, match.start(), closed=False, final=False)
            state.missing_closer_at = text.offset
        if kind != "end":
            return self.recovery.on_refused(state.missing_closer_at - text.base)
        text.scan = match.start() + 1  # the next call may begin within it: its opener is nearly the end of this one
        return True

    def opener_step(self, free: Transition, *, final: bool) -> Any:
        """What matches a marker at the reading position, where free text may stand, too."""
        text, target = self.text, free.target
        absent = self.rare.absent_at(target.mistaken, text.pos) if final else target.mistaken
        return matchers.matcher_of(target, "find", HANDLERS, final=final, without=absent)

    def text_step(self, free: Transition, at: int = 0, *, final: bool = False) -> Any:
        """What finds the end of free text from a position on.

        In text that is still arriving, it finds no markers of damaged text.
        """
        target = free.target
        if target is self.automaton.top_level:
            step = self.policy.plain_text_step(self.text, final=final)
            if step is not None:
                return step
        if not final:
            return matchers.matcher_of(target, "find", HANDLERS, final=False, without=target.mistaken)
        closers = _closers(free)
        without = target.mistaken
        step = matchers.matcher_of(target, "find", HANDLERS, final=True, without=without)
        if without or closers:  # only damaged text has these
            match = self._find(step, at)
            end = len(self.text.text) if match is None else match.start()
            closers = tuple([c for c in closers if self.rare.next_place(c.prefilter, at) < end])
            absent = self.rare.absent(without, at, end)
            step = matchers.matcher_of(target, "find", HANDLERS, final=True, closers=closers, without=absent)
        return step

    def end_text(self, free: Transition, at: int) -> None:
        """Pass on the rest of the free text that ends at a position, and shift it."""
        role = free.terminal.short
        if self.state.before_text:
            self._start_text(free)
        if at > self.text.pos or role not in self.state.trims:
            self.pass_on_text(role, at, closed=True, final=False)
        self.shift_text(free, at)

    def shift_text(self, free: Transition, at: int) -> None:
        """Shift the free text that ends at a position."""
        if self.log is not None:
            self._log_token(free, at, at)
        has_begun, self.state.before_text = not self.state.before_text, True
        self.state.config = free.target
        if free.terminal.short == "ARG_VALUE":
            self.builder.calls.end_value(free.target)
        elif free.terminal.short == "REASONING":
            self.builder.reasoning_at(self.text.base + at)
        if free.before or free.after:
            carry_out(self.builder, free, Place(at, at), self.text.base, "after" if has_begun else "all")

    def pass_on_text(self, role: str, end: int, *, closed: bool, final: bool) -> None:
        """Pass on free text up to a position, without the white space of markers."""
        state, text = self.state, self.text
        buffer, start = text.text, text.pos
        if state.skips_blank:
            start = BLANKS.match(buffer, start, end).end()
            if start == end:
                text.pos = end
                return
            state.skips_blank = False
        stop = end
        if role in state.trims and (not final or role == "ARG_VALUE"):
            stop = start + len(buffer[start:end].rstrip(BLANK))
        if stop > start:
            FREE[role](self.builder, buffer[start:stop], text.base + start, text.base + stop)
        text.pos = end if closed else stop

    def follow(self, branch: matchers.Branch, match: Any) -> None:
        """Follow a branch whose markers were matched."""
        if self.log is not None and branch.transition is not None:
            self._log_token(branch.transition, *match.span(match.lastindex - 1))
        follow(self.builder, self.text, self.state, branch, match)

    # markers

    def _marker(self, config: Config, when: str, *, final: bool) -> bool | None:
        """Read the marker that stands here (True). It may still come (False), or there is none (None)."""
        buffer, pos = self.text.text, self.text.pos
        step = matchers.matcher_of(config, when, HANDLERS, final=final)
        if not final and step.holds(buffer[pos:], finds=False):
            return False
        match = step.match(buffer, pos) if final else step.match(buffer, pos, partial=True)
        if match is None:
            return None
        if not final and match.partial:
            return False
        branch = step.branches[match.lastindex]
        if not final:
            if branch.grows and match.end() == len(buffer):
                return False
            # the white space before a marker may be its own, too
            markers = step.open_markers
            places = {pos, self.skip_blank(pos)} if markers is not None else ()
            if markers and any(markers.find_open(buffer, at, at, match.lastindex) is not None for at in places):
                return False
        self.follow(branch, match)
        return True

    def skip_blank(self, pos: int) -> int:
        """The position behind the white space that may stand between tokens."""
        return BLANKS.match(self.text.text, pos).end() if self.automaton.tables.ignore else pos

    def read_marker_or_value(self, config: Config, *, final: bool) -> bool:
        """Read the next marker or embedded value."""
        if config.markers:
            going = self._marker(config, "match", final=final)
            if going is not None:
                return going
        text = self.text
        text.pos = pos = self.skip_blank(text.pos)
        if pos == len(text.text):
            return False
        for transition in config.embedded:
            notation = notation_of(transition.terminal)
            if notation.may_begin(text.text[pos]):
                return self._begin_embedded(transition, notation, final=final)
        if final and self._ends_in_marker(config, pos):
            return False
        return self.recovery.on_refused(pos)

    def _ends_in_marker(self, config: Config, pos: int) -> bool:
        """Does the text end inside a marker?"""
        if not config.markers:
            return False
        step = matchers.matcher_of(config, "match", HANDLERS, final=False)
        match = step.match(self.text.text, pos, partial=True)
        return match is not None and match.partial

    # embedded values

    def _begin_embedded(self, transition: Transition, notation: Notation, *, final: bool) -> bool:
        """Read an embedded value that begins here, or its beginning."""
        builder, text, depth = self.builder, self.text, self.max_depth
        schema = schema_of(self.builder, transition, notation)
        value_read = notation.read_at(text.text, text.pos, depth, final, schema)
        if value_read is not None:
            builder.state.last_value, end, builder.state.last_text = value_read
            self.shift_embedded(transition, text.pos, end)
            return True
        embedded = EmbeddedValue(transition, notation.scanner(depth, schema), text.offset)
        self.state.embedded = embedded
        if transition.role == "argument":
            builder.answers.begin_value(embedded)
        return True

    def is_typed(self, embedded: EmbeddedValue) -> bool:
        """Is an embedded value the text that an action types?"""
        nodes = self.builder.nodes
        return embedded.step.role == "argument" and bool(nodes) and nodes[-1].partial_text is not None

    def continue_embedded(self, embedded: EmbeddedValue, *, final: bool) -> bool:
        """Read on in an embedded value."""
        transition, scanner, state, text = embedded.step, embedded.scanner, self.state, self.text
        end, done = scanner.feed(text.text, text.pos)
        if end > text.pos:
            piece = text.text[text.pos : end]
            embedded.pieces.append(piece)
            if self.is_typed(embedded):
                self.builder.actions.add_text(piece, quoted=True)
        if transition.role == "arguments" and (end > text.pos or scanner.transcodes):
            certain = embedded.certain()
            if certain:
                self.builder.calls.add_arguments_text(certain)
        text.pos = end
        if scanner.broken:
            state.embedded = None
            if transition.role in ("arguments", "argument"):
                return self.recovery.on_refused(end, inside=True)
            return self.recovery.on_refused(embedded.begun - text.base, end, inside=True)
        if not done and not (final and scanner.finish()):
            return False
        return self._end_embedded(embedded)

    def _end_embedded(self, embedded: EmbeddedValue) -> bool:
        """An embedded value has ended."""
        transition, text, builder, scanner = embedded.step, self.text, self.builder, embedded.scanner
        self.state.embedded = None
        try:
            value_read = notation_of(transition.terminal).result(scanner, "".join(embedded.pieces), self.max_depth)
        except NotJsonError:
            begun = text.pos if scanner.allow_controls else embedded.begun - text.base  # what was sent of it stands
            return self.recovery.on_refused(begun, text.pos, inside=True)
        builder.state.last_value, builder.state.last_text = value_read
        self.shift_embedded(transition, embedded.begun - text.base, text.pos)
        return True

    def shift_embedded(self, transition: Transition, start: int, end: int) -> None:
        """Shift an embedded value that stands between two positions."""
        if self.log is not None:
            self._log_token(transition, start, end)
        carry_out(self.builder, transition, Place(start, end), self.text.base)
        self.state.config = transition.target
        self.text.pos = end

    def _log_token(self, transition: Transition, start: int, end: int) -> None:
        from .parse_steps import ParseStep

        assert self.log is not None
        base = self.text.base
        self.log.append(ParseStep("token", base + start, base + end, self.state.config, transition))


def _closers(free: Transition) -> tuple[MissingCloser, ...]:
    return free.target.missing_closers if free.terminal.short == "ARG_VALUE" else ()


def _with_all_markers(free: Transition) -> Any:
    """What finds the end of free text that may be cut, also at markers of damaged text."""
    return matchers.matcher_of(free.target, "find", HANDLERS, final=False, closers=_closers(free))
