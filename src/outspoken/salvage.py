"""What the machine does where the grammar refuses: it holds the damaged segment until its end, and has it recovered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import paths
from .automaton import Automaton, Config, Transition
from .buffer import LEFT
from .coarse import coarse, matcher
from .deeds import ActionBuilder
from .drafts import accept, continues, contradicts, draft_of
from .json_codes import Effort
from .operations import FREE, HANDLERS, Place
from .recovery import Region, Taken, Way, recover
from .resync import Damage, outside_of_call
from .sprint import BLANK, Sprinter

#: How far behind the place that was refused a marker must stand for the text to be more than prose.
_NEAR = 120


def says_something(way: Way) -> bool:
    """Does a way hold more than text? Markers that are only doubled are worth dropping, too."""
    if any(op == "end" for t in way.steps if t.step is not None for op, _ in (*t.step.before, *t.step.after)):
        return True
    dropped = [t for t in way.steps if t.step is None]
    return bool(dropped) and all(t.step is None or t.start == t.end for t in way.steps)


class Salvager(Sprinter):
    """The part of the machine that deals with damage."""

    #: something outside of the text says that it ended where it was meant to
    proven = False
    _granted = 0

    def __init__(self, automaton: Automaton, builder: ActionBuilder, *, base: int = 0, config: Config | None = None):
        super().__init__(automaton, builder, base=base, config=config)
        self.builder: ActionBuilder = builder
        #: what may still be spent on repairs
        self._effort = Effort.of(0)

    def _fail(self, pos: int, end: int | None = None) -> bool:
        """The grammar refuses what stands at `pos` (to `end`, where an island was read and is none)."""
        builder, base = self.builder, self.base
        after = end if end is not None else pos
        self._fresh = True
        self._suspect = None
        damage = self._damaged(base + pos)
        if damage is None:
            return self._as_text(base + after)
        self._damage = damage
        if damage.frame is not None:
            del builder.frames[builder.frames.index(damage.frame) + 1 :]
        self.pos = after
        return True

    def _damaged(self, at: int) -> Damage | None:
        """The segment that is refused at an offset; None where it can only be text."""
        builder, automaton = self.builder, self.automaton
        frames = builder.frames
        announced = next((frame for frame in reversed(frames) if frame.index >= 0), None)
        outer = outside_of_call(automaton, self.config)
        opener = self._opener()
        bare = opener is not None and bool(opener.supplied)
        if announced is not None:
            return Damage(announced.start, outer, announced, at, True, bare)
        if builder.cap == "none":
            return None
        hopeful: bool | None = None
        if opener is not None and opener.terminal.canonical.strip() in ("{", "["):
            # JSON without any marker is a call only where it says so
            hopeful = any(f.name for f in frames) or any(step.role == "arguments" for step in self.config.islands)
            if not hopeful:
                return None
        if opener is not None:
            return Damage(self._opened_at, automaton.home, None, at, hopeful, bare)
        call = next((frame for frame in frames if "tool_call" in frame.kinds or "action" in frame.kinds), None)
        if call is not None:
            return Damage(call.start, outer, None, at, hopeful, bare)
        return Damage(at, self.config, None, at, hopeful, bare)

    def _opener(self) -> Transition | None:
        """The marker that led out of plain text, if nothing has ended since."""
        at = self._opened_at
        if at < self.builder.safe:
            return None
        left = max(at - LEFT, self.origin)
        text = self.slice(left, min(at + _NEAR, self.base + len(self.buffer)))
        home = self.automaton.home
        for step in (home.free.target if home.free else home).markers:
            if matcher(step.terminal).regex.match(text, at - left):
                return step
        return None

    def _skip(self, damage: Damage, *, final: bool) -> bool:
        """Look for the end of a segment that is damaged."""
        buffer, builder, sync = self.buffer, self.builder, damage.sync
        if damage.hopeful is None:
            damage.hopeful = self._is_hopeful(damage, final=final)
            if damage.hopeful is None:
                return False
            if not damage.hopeful:
                self._damage = None
                return self._as_text(damage.at)
        pos = self.pos
        match = sync.find(buffer, pos) if final else sync.find_partial(buffer, pos, partial=True)
        if not final:
            held = None if match is None else match.start()
            if match is not None and not match.partial:
                held = paths.still_open(sync, buffer, pos, match.start(), match.lastindex)
                if held is None and sync.places[match.lastindex][2] and match.end() == len(buffer):
                    held = match.start()
            if match is None or held is not None:
                self.pos = len(buffer) if held is None else held
                return False
        self._damage = None
        config, inside, end = self.automaton.home, False, len(buffer)
        if match is not None:
            config, inside, _ = sync.places[match.lastindex]
            end = match.end() if inside else match.start()
        at = self.base + end
        if self._salvage(damage, at, closed=match is not None or self.proven):
            return True
        if damage.frame is None:
            return self._as_text(damage.at)
        self.pos = self.scan = end
        self.config = config
        builder.edits.clear()
        builder.unfinished(builder.frames.pop(), at, "truncated" if match is None else "invalid")
        if config is self.automaton.home:
            builder.frames.clear()
        self.marked = True
        return True

    def _is_hopeful(self, damage: Damage, *, final: bool) -> bool | None:
        """Does a marker of the format stand near the place that was refused? None where that is not known yet."""
        start = damage.at - self.base
        end = start + _NEAR
        known = coarse(self.automaton)
        if known.has_json:
            first = self.buffer[start : start + 1]
            if first and first in "{[\"'":
                return True
        match = known.find.search(self.buffer, start)
        if match is not None and match.start() <= end:
            return True if final or match.end() < len(self.buffer) else None
        return False if final or len(self.buffer) > end + _NEAR else None

    def _as_text(self, after: int) -> bool:
        """What was refused is text, from the marker on that led out of plain text."""
        builder = self.builder
        self.config = self.automaton.home
        builder.frames.clear()
        builder.edits.clear()
        resume = self._behind_opener() if self._opened_at >= builder.safe else after
        read = max(after, self.base + self.pos)
        self._spent += read - resume
        if self._spent > 4096 + 8 * max(read, 0):
            resume = max(resume, after)
        builder.show(resume)
        self.rewind(resume)
        return True

    def _behind_opener(self) -> int:
        """The offset behind the marker that led out of plain text."""
        self.rewind(self._opened_at)
        home = self.automaton.home
        step = paths.step(home.free.target if home.free else home, "find partial", HANDLERS)
        match = step.match(self.buffer, self.pos)
        return self.base + match.end()

    # recovery

    def share(self, other: Salvager) -> None:
        """Go on with what another machine has left to spend on repairs."""
        self._effort, self._granted = replace(other._effort), other._granted

    def _grant(self, end: int) -> None:
        """Allow for as much effort as the text up to an offset is worth."""
        grown = max(end - self._granted, 0)
        self._granted += grown
        self._effort.steps += grown
        self._effort.search += grown // 2

    def _salvage(self, damage: Damage, end: int, *, closed: bool) -> bool:
        """Read a damaged segment that ends at an offset by what it most likely meant. Returns whether that worked."""
        builder = self.builder
        self._grant(end)
        region = Region(
            automaton=self.automaton,
            outer=damage.outer,
            text=self.slice(damage.start, end),
            base=damage.start,
            closed=closed,
            announced=damage.frame is not None,
            cap=builder.cap,
            tools=builder.tools,
            settings=builder.settings,
            effort=self._effort,
        )
        way = recover(region)
        if way is None or not says_something(way):
            return False
        return self._carry_out(way, damage, end, closed=closed)

    def _carry_out(self, way: Way, damage: Damage, end: int, *, closed: bool) -> bool:
        """Do what the steps of a way say, unless that contradicts what was announced."""
        builder = self.builder
        draft = draft_of(builder, damage.frame, damage.start, self.slice)
        for taken in way.steps:
            self._do(draft, taken)
        draft.flush()
        if damage.frame is not None and not continues(builder, damage.frame, draft):
            call = contradicts(damage.frame, draft) if closed else None
            if call is None:
                return False
            damage.frame.problem = f"the call of `{call.name}` is damaged, and parts of it were sent that do not hold"
            builder.unfinished(damage.frame, call.span[1], "invalid")
            damage.frame = None
        builder.frames.clear()
        accept(builder, draft, damage.frame)
        self.config = way.config
        self.rewind(end)
        self.marked = True
        return True

    def _do(self, builder: Any, taken: Taken) -> None:
        """Carry out one step."""
        step = taken.step
        if step is None or not step.supplied:
            builder.edits += taken.edits
        if taken.ambiguous:
            builder.doubt = "the call can be read in two ways that are as likely"
        if step is None:
            builder.dropped(taken.end)
            return
        if taken.free:
            start, end = self._trimmed(step.terminal.short, taken.start, taken.end)
            if end > start:
                FREE[step.terminal.short](builder, self.slice(start, end), start, end)
        elif taken.value_text:
            builder.last, builder.last_text = taken.value, taken.value_text
        bound = step.bound if step.bound is not None else paths.bind_all(step, HANDLERS)
        place = Place(taken.start, taken.end, taken.text)
        for function, arg, group in bound:
            function(builder, arg, place, group, 0)

    def _trimmed(self, role: str, start: int, end: int) -> tuple[int, int]:
        """Free text without the white space that belongs to markup."""
        if role not in self._trims:
            return start, end
        text = self.slice(start, end)
        lead = len(text) - len(text.lstrip(BLANK))
        return start + lead, max(end - (len(text) - len(text.rstrip(BLANK))), start + lead)
