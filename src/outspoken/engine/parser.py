"""The machine: it reads text, whole or in chunks, and tells a builder what it finds.

`feed` takes a piece of which more may come, `close` ends the text; `read` is a whole text at once. All walk the same
automaton: a whole text is taken in the longest steps that regular expressions can make, a piece in single markers,
holding back what may still become one.
"""

from __future__ import annotations

from typing import Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.operations import named_operation
from outspoken.json.scanner import NotJsonError
from outspoken.notations.interface import notation_of
from outspoken.semantics.embedded_value import EmbeddedValue
from outspoken.semantics.handlers import FREE, HANDLERS, Place
from outspoken.semantics.source import closed_source

from .batched_matching import BLANK, BLANKS, LONG
from .buffer import LEFT
from .recovery_driver import Salvager

#: How free text is searched that may have lost its closing marker.
_WATCH = {"find whole": "find_checked whole", "find long": "find_checked long", "find partial": "find_checked partial"}


class Machine(Salvager):
    """Reads one text, whole or in chunks."""

    #: see `_plain_inside`; None after anything else than a piece was read
    _inner: Any = None
    #: where `_inner` is about free text: what is told of more of it, and whether white space at its end is held
    _hand_on: Any = None
    _trims_end = False

    # reading

    def read(self, text: str) -> None:
        """Read a whole text, and end."""
        if self.chunks:
            self.take_rest(text)
        else:
            self.buffer = text
            self.chunks.append(text)
            self.length += len(text)
        self.close()

    def take_rest(self, text: str) -> None:
        """All that is left of the text has arrived; `close` reads it."""
        self.add("".join([*self._blanks, text]))
        self._blanks.clear()

    def feed(self, chunk: str) -> None:
        """Read a piece of which more may come."""
        inner = self._inner
        if inner is not None and inner(chunk) is None and not chunk.isspace():
            self._go_on(chunk)
            return
        if self._waiting:
            # white space behind white space that is held decides nothing
            self._blanks.append(chunk)
            if not chunk.strip(BLANK):
                return
            chunk = "".join(self._blanks)
            self._blanks.clear()
            self._waiting = False
        self._feed(chunk, fresh=inner is None)
        if self.pos < len(self.buffer) and not chunk.strip(BLANK):
            self._waiting = BLANKS.match(self.buffer, self.pos).end() == len(self.buffer)
        self._inner = self._plain_inside()

    def _plain_inside(self) -> Any:
        """What finds in the next piece a character that may end what is being read; None where any piece may."""
        island, free = self._island, self.config.free
        if island is not None:
            is_read = self.pos == len(self.buffer) and not self._is_typed(island)
            return island.scanner.search_special if is_read else None
        if free is None or free.target is self.automaton.top_level or self._fresh or self._lead or self._waiting:
            return None
        if self._damage is not None or self._suspect is not None:
            return None
        role = free.terminal.short
        hand_on = self.builder.calls.value_receiver() if role == "ARG_VALUE" else FREE[role].__get__(self.builder)
        if hand_on is None:
            return None
        self._hand_on, self._trims_end = hand_on, role in self._trims
        quick, held = self._step(free, "find partial").start_search, self.buffer[self.pos :]
        return None if quick is None or (held and (held.strip(BLANK) or quick(held))) else quick

    def _go_on(self, chunk: str) -> None:
        """A piece is more of the free text or of the island that is being read; white space at its end may be held."""
        island = self._island
        buffer, start = self.buffer, self.length
        held = buffer[self.pos :]
        self.chunks.append(chunk)  # written out what `add_read` does, since most pieces come here
        self.buffer = buffer = buffer[-LEFT:] + chunk
        self.length = length = start + len(chunk)
        self.pos = self.scan = pos = len(buffer)
        self.base = length - pos
        if island is not None:
            island.pieces.append(chunk)
            if island.step.role == "arguments" and island.pieces[0][0] == "{":
                self.builder.calls.add_arguments_text(chunk)
            self._typing(island, chunk)
        else:
            if held:
                chunk, start = held + chunk, start - len(held)
            if self._trims_end and chunk[-1] in BLANK:
                text = chunk.rstrip(BLANK)
                self.pos -= len(chunk) - len(text)
                chunk = text
            self._hand_on(chunk, start, start + len(chunk))

    def _feed(self, chunk: str, *, fresh: bool) -> None:
        """Read a piece; where it is `fresh`, nobody has looked at it yet."""
        free = self.config.free
        within = fresh and not self._fresh and self.pos == len(self.buffer)
        if within and free is not None and self._is_plain(free, chunk):
            start = self.add_read(chunk)
            FREE[free.terminal.short](self.builder, chunk, start, self.length)
            return
        self.add(chunk)
        if self._island is None or self._island_on(self._island, final=False):
            self._run(final=False)

    def _is_plain(self, free: Transition, chunk: str) -> bool:
        """In the middle of free text: is a piece more of it, and nothing that may begin a marker?"""
        if self._lead or self._damage is not None or self._island is not None:
            return False
        if chunk[-1] in BLANK and free.terminal.short in self._trims:
            return False
        return self._is_text(free, chunk)

    def _is_text(self, free: Transition, chunk: str) -> bool:
        """May no marker begin in a piece of free text?"""
        quick = self._step(free, "find partial").start_search
        return quick is not None and quick(chunk) is None

    def close(self) -> None:
        """The text has ended."""
        if self._blanks:
            self.add("".join(self._blanks))
            self._blanks.clear()
        self._run(final=True)
        self._end()

    # one step after another

    def _run(self, *, final: bool) -> None:
        going = True
        self._inner = None
        while going:
            if final and self._island is None and self._damage is None and self._suspect is None:
                self._sprint(stop=False)
                if self.pos == len(self.buffer) and self._fresh and self.config.end_operations() == ():
                    return
            if self._island is not None:
                going = self._island_on(self._island, final=final)
            elif self._damage is not None:
                going = self._skip(self._damage, final=final)
            elif self.config.free is None:
                going = self._token(self.config, final=final)
            else:
                going = self._text(self.config, self.config.free, final=final)

    def _text(self, config: Config, free: Transition, *, final: bool) -> bool:
        """Free text, unless what stands here is a marker that may not follow it."""
        if config.leading_markers and self._fresh:
            going = self._marker(config, "leading", final=final)
            if going is not None:
                return going
        return self._free(config, free, final=final)

    def _free(self, config: Config, free: Transition, *, final: bool) -> bool:
        """Free text up to the next marker. Returns whether there is more to do."""
        buffer, pos = self.buffer, self.pos
        at = max(self.scan, pos)
        role = free.terminal.short
        if self._fresh:
            self._fresh = False
            if role == "TEXT":
                self.builder.output.consumed = self.base + pos
            trims = self._lead_trims if role == "TEXT" else self._trims
            self._lead = self.marked and role in trims and not (role == "TEXT" and self.builder.output.after_text)
        step = self._step(free, ("find long" if len(buffer) - at > LONG else "find whole") if final else "find partial")
        match = step.find(buffer, at) if final else step.find(buffer, at, partial=True)
        if match is None:
            self.scan = len(buffer)
            if self._suspect is not None:
                return final and self._fail(self._suspect - self.base)
            self._piece(role, len(buffer), closed=False, final=final)
            return final and self._free_ends(free)
        start = match.start()
        held = not final and match.partial
        if not final and not held and step.open_markers:
            earlier = step.open_markers.find_open(buffer, at, start, match.lastindex)
            start, held = (start, False) if earlier is None else (earlier, True)
        path = None if held else step.branches.get(match.lastindex)
        if path is not None and path.missing_closer is not None:
            return self._is_suspect(role, match, path.missing_closer.kind)
        if path is None or (path.grows and not final and match.end() == len(buffer)):
            if self._suspect is None:
                self._piece(role, start, closed=False, final=False)
            self.scan = start
            return path is None and not held and self._opening(match, final=final)
        self._suspect = None
        if start > self.pos or role not in self._trims:
            self._piece(role, start, closed=True, final=False)
        self._close_free(free, start)
        if config is self.automaton.top_level or config is self.automaton.start:
            self._opened_at = self.base + start
        self._take(path, match)
        return True

    def _is_suspect(self, role: str, match: Any, kind: str) -> bool:
        """A value seems to end without its closing marker. Its own marker may still come; another call may not."""
        if kind == "argument" and not self.builder.calls.accepts(match[match.lastindex - 1]):
            self.scan = match.end()
            return True
        if self._suspect is None:
            self._piece(role, match.start(), closed=False, final=False)
            self._suspect = self.base + self.pos
        if kind != "end":
            return self._fail(self._suspect - self.base)
        self.scan = match.end()
        return True

    def _step(self, free: Transition, which: str) -> Any:
        """What finds the end of free text."""
        if free.terminal.short == "ARG_VALUE" and free.target.missing_closers:
            which = _WATCH[which]
        return matchers.matcher_of(free.target, which, HANDLERS)

    def _opening(self, match: Any, *, final: bool) -> bool:
        """A marker was found that is no path of this grammar's."""
        raise AssertionError("every marker of a grammar has a path")

    def _free_ends(self, free: Transition) -> bool:
        """The text ended within free text."""
        self.pos = len(self.buffer)
        if free.target.end_operations() is not None:
            self._close_free(free, self.pos)
        return False

    def _close_free(self, free: Transition, at: int) -> None:
        """Shift the free text that ends here."""
        self._fresh = True
        self.config = free.target
        if free.terminal.short == "ARG_VALUE":
            self.builder.calls.end_value()
        if free.before or free.after:
            self._operate(free, at, at)

    def _piece(self, role: str, end: int, *, closed: bool, final: bool) -> None:
        """Hand on free text up to `end`, without the white space that belongs to markup."""
        buffer, start = self.buffer, self.pos
        if self._lead:
            start = BLANKS.match(buffer, start, end).end()
            if start == end:
                self.pos = end
                return
            self._lead = False
        stop = end
        if role in self._trims and (not final or role == "ARG_VALUE"):
            stop = start + len(buffer[start:end].rstrip(BLANK))
        if stop > start:
            FREE[role](self.builder, buffer[start:stop], self.base + start, self.base + stop)
        self.pos = end if closed else stop

    def _take(self, path: matchers.Branch, match: Any) -> None:
        """Go along a path that a match found."""
        builder, base = self.builder, self.base
        for function, arg, group in path.operations:
            function(builder, arg, match, group, base)
        self.config = path.target
        self.pos = match.end()
        self.marked = True

    def _marker(self, config: Config, when: str, *, final: bool) -> bool | None:
        """A marker that stands here: True; that may still come: False; none: None."""
        buffer, pos = self.buffer, self.pos
        if final:
            step = matchers.matcher_of(config, f"{when} whole", HANDLERS)
            match = step.match(buffer, pos)
        else:
            step = matchers.matcher_of(config, f"{when} partial", HANDLERS)
            match = step.match(buffer, pos, partial=True)
        if match is None:
            return None
        if not final and match.partial:
            return False
        path = step.branches[match.lastindex]
        if not final:
            if path.grows and match.end() == len(buffer):
                return False
            at = self._past_blanks(pos)
            if step.open_markers and step.open_markers.find_open(buffer, at, at, match.lastindex) is not None:
                return False
        self._take(path, match)
        return True

    def _token(self, config: Config, *, final: bool) -> bool:
        """The next marker or island. Returns whether there is more to do."""
        if config.markers:
            going = self._marker(config, "match", final=final)
            if going is not None:
                return going
        buffer, pos = self.buffer, self.pos
        self.pos = pos = self._past_blanks(pos)
        if pos == len(buffer):
            return False
        for step in config.embedded:
            notation = notation_of(step.terminal)
            if notation.may_begin(buffer[pos]):
                return self._island_at(step, notation, final=final)
        if final and self._is_cut(config, pos):
            return False
        return self._fail(pos)

    def _is_cut(self, config: Config, pos: int) -> bool:
        """Does the text end inside a marker?"""
        match = (
            matchers.matcher_of(config, "match partial", HANDLERS).match(self.buffer, pos, partial=True)
            if config.markers
            else None
        )
        return match is not None and match.partial

    # islands

    def _island_at(self, step: Transition, notation: Any, *, final: bool) -> bool:
        """An island begins here."""
        builder = self.builder
        schema_view = self._shape(step, notation)
        found = notation.read_at(self.buffer, self.pos, self._depth, final, schema_view)
        if found is not None:
            start, end = self.pos, found[1]
            builder.state.last_value, builder.state.last_text = found[0], found[2]
            self._land(step, start, end)
            return True
        self._island = EmbeddedValue(step, notation.scanner(self._depth, schema_view), self.base + self.pos)
        if step.role == "argument":
            builder.answers.begin_value(self._island)
        return True

    def _typing(self, island: EmbeddedValue, piece: str) -> None:
        """A piece of an island may be of the text that an action types."""
        if self._is_typed(island):
            self.builder.actions.add_text(piece, quoted=True)

    def _is_typed(self, island: EmbeddedValue) -> bool:
        """Is an island the text that an action types?"""
        frames = self.builder.nodes
        return island.step.role == "argument" and bool(frames) and frames[-1].partial_text is not None

    def _island_on(self, island: EmbeddedValue, *, final: bool) -> bool:
        """Go on in an island."""
        step, scanner = island.step, island.scanner
        end, done = scanner.feed(self.buffer, self.pos)
        if end > self.pos:
            island.pieces.append(self.buffer[self.pos : end])
            self._typing(island, self.buffer[self.pos : end])
        if step.role == "arguments" and (end > self.pos or scanner.transcodes) and (ready := island.certain()):
            self.builder.calls.add_arguments_text(ready)
        self.pos = end
        if scanner.broken:
            self._island = None
            if step.role in ("arguments", "argument"):
                return self._fail(self.pos, inside=True)
            return self._fail(island.begun - self.base, self.pos, inside=True)
        if not done and not (final and scanner.finish()):
            return False
        self._island = None
        builder = self.builder
        try:
            found = notation_of(step.terminal).result(scanner, "".join(island.pieces), self._depth)
        except NotJsonError:
            begun = self.pos if scanner.allow_controls else island.begun - self.base  # what was said of it stands
            return self._fail(begun, self.pos, inside=True)
        builder.state.last_value, builder.state.last_text = found
        self._land(step, island.begun - self.base, self.pos)
        return True

    def _land(self, step: Transition, start: int, end: int) -> None:
        """Shift an island."""
        self._operate(step, start, end)
        self.config = step.target
        self.pos = end

    # the end

    def _end(self) -> None:
        """All of the text was read."""
        builder, at = self.builder, self.base + len(self.buffer)
        ops = self.config.end_operations()
        if self._island is None and ops == () and self.pos >= len(self.buffer):
            pass
        elif self._island is None and ops is not None and self.pos >= len(self.buffer):
            place = Place(len(self.buffer), len(self.buffer))
            for name, arg, group in [named_operation(op, 0, before=True) for op in ops]:
                HANDLERS[name](builder, arg, place, group, self.base)
        elif not self._ends_well(at):
            builder.cut(at)
        builder.output.flush()
        builder.recorder.take_repairs()
        builder.source.slice = closed_source

    def _ends_well(self, at: int) -> bool:
        """Is what is open at the end complete, but for damage, and closing markers if the caller vouches for it?"""
        if self.builder.context.repair_limit == "none" or not self.builder.nodes:
            return False
        told = self._island is None or self._island.scanner.detects_errors
        if told and not self.proven and not self._is_bare():
            return False
        self._island = None
        damage = self._damaged(at)
        return damage is not None and self._salvage(damage, at, closed=self.proven)
