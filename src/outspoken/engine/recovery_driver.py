"""What the machine does where the grammar refuses: it holds the damaged segment until its end, and has it recovered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import CALLS
from outspoken.recovery.marker_lexer import coarse, is_closed, matcher
from outspoken.recovery.speculation import accept, continues, contradicts, draft_of
from outspoken.recovery.sync_points import Damage, Resync, nearest
from outspoken.results.edits import RepairBudget
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import FREE, HANDLERS, Place

from .batched_matching import BLANK, Sprinter
from .buffer import LEFT

if TYPE_CHECKING:
    from outspoken.notations.tools import Tools
    from outspoken.recovery.path import Taken, Way

#: What is spent on damage is bounded: at the start, and more for each character that was read. It is counted in
#: characters that are read again; what is refused counts as so many, and so does each search for what was meant.
START, SHARE, TRY, SEARCH = 40_000, 8, 400, 1_200
#: No opening marker is longer than this.
_MARKER = 1500
#: How far behind the place that was refused a marker must stand for the text to be more than prose.
_NEAR = 120


#: What a damaged segment is worth to be read for.
_SAYING = frozenset({"tool_call", "action", "payload", "envelope", "think", "quoted"})


def says_something(way: Way) -> bool:
    """Does a way hold more than text? Markers that are only doubled are worth dropping, too."""
    steps = [t.step for t in way.steps if t.step is not None]
    if any(op == "end" and kind in _SAYING for step in steps for op, kind in (*step.before, *step.after)):
        return True
    dropped = [t for t in way.steps if t.step is None and t.edits]
    return bool(dropped) and all(t.step is None or t.start == t.end for t in way.steps)


class Salvager(Sprinter):
    """The part of the machine that deals with damage."""

    #: something outside of the text says that it ended where it was meant to
    proven = False
    #: see `Region.ties`
    ties = 1
    _granted = 0
    builder: Builder
    #: what may still be spent on repairs
    _effort: RepairBudget | None = None
    _nodes = 2000

    def _fail(self, pos: int, end: int | None = None, *, inside: bool = False) -> bool:
        """The grammar refuses what stands at `pos` (to `end`, where an island was read and is none).

        With `inside` it stands in an island.
        """
        builder, base = self.builder, self.base
        after = end if end is not None else pos
        self._fresh = True
        self._suspect = None
        self._spent += TRY
        damage = self._damaged(base + pos)
        if damage is None or (damage.frame is None and not self._may_try(base + pos)):
            return self._as_text(base + after)
        self._damage = damage
        damage.hopeful = damage.hopeful or (inside and not damage.plain) or None
        if damage.frame is not None:
            del builder.nodes[builder.nodes.index(damage.frame) + 1 :]
        self.pos = after
        return True

    def _may_try(self, at: int) -> bool:
        """May more be spent on what is damaged, at an offset? If not, it is text, or a call that cannot be read."""
        return self._spent <= START + SHARE * max(at, 0)

    def _damaged(self, at: int) -> Damage | None:
        """The segment that is refused at an offset; None where it can only be text."""
        builder, automaton = self.builder, self.automaton
        frames = builder.nodes
        announced = next((frame for frame in reversed(frames) if frame.index >= 0), None)
        outer = automaton.outside_of_call(self.config)
        opener, _ = self._opener()
        bare = opener is not None and bool(opener.inserted)
        if announced is not None:
            return Damage(announced.start, outer, announced, at, True, bare)
        if builder.context.repair_limit == "none":
            return None
        # JSON without any marker is a call only where it says so
        plain = opener is not None and opener.terminal.canonical.strip() in ("{", "[")
        hopeful = any(f.held_back for f in frames) or None
        if plain and (any(f.name for f in frames) or any(step.role == "arguments" for step in self.config.embedded)):
            hopeful = True
        if opener is not None:
            return Damage(self._opened_at, automaton.top_level, None, at, hopeful, bare, plain=plain)
        call = next(
            (f for f in frames if f.start >= builder.output.consumed and not CALLS.isdisjoint(f.kinds.split())), None
        )
        if call is not None:
            hopeful = hopeful or "action" in call.kinds or None
            return Damage(call.start, outer, None, at, hopeful, bare)
        inside = coarse(automaton).has_json and not is_closed(self.config)
        return Damage(at, self.config, None, at, hopeful or inside or None, bare)

    def _is_bare(self) -> bool:
        """Is the marker missing that should have led out of plain text?"""
        opener, _ = self._opener()
        return opener is not None and bool(opener.inserted)

    def _opener(self) -> tuple[Transition | None, int]:
        """The marker that led out of plain text, if nothing has ended since, and the offset behind it."""
        at = self._opened_at
        if at < self.builder.output.consumed:
            return None, 0
        left = max(at - LEFT, self.origin)
        text = self.slice(left, min(at + _MARKER, self.base + len(self.buffer)))
        for step in self.automaton.top_level_markers:
            match = matcher(step).regex.match(text, at - left)
            if match is not None:
                return step, left + match.end()
        return None, 0

    def _skip(self, damage: Damage, *, final: bool) -> bool:
        """Look for the end of a segment that is damaged."""
        if damage.hopeful is None:
            damage.hopeful = self._is_hopeful(damage, final=final)
        if not damage.hopeful:
            if damage.hopeful is not None:
                self._damage = None
                return self._as_text(damage.at)
            return False
        match = self._end_of(damage, final=final)
        if match is None and not final:
            return False
        self._damage = None
        config, inside, end = self.automaton.top_level, False, len(self.buffer)
        if match is not None:
            config, inside, _ = damage.sync.places[match.lastindex]
            end = match.end() if inside else match.start()
        self.pos = end
        at = self.base + end
        if self._may_try(damage.at) and self._salvage(damage, at, closed=match is not None or self.proven):
            return True
        if damage.frame is None:
            return self._lose_action(damage, config, at, cut=match is None) or self._as_text(damage.at)
        return self._give_up(damage, config, at, cut=match is None)

    def _lose_action(self, damage: Damage, config: Config, at: int, *, cut: bool) -> bool:
        """An action of which an argument was begun cannot be read: say so, and go on behind its line.

        A call that may be one is lost like any call.
        """
        builder = self.builder
        frame = next((f for f in builder.nodes if builder.actions.is_started(f)), None)
        if frame is None:
            return False
        if frame.held_back:
            del builder.nodes[builder.nodes.index(frame) + 1 :]
            damage.outer = self.automaton.outside_of_call(self.config)
            return self._give_up(damage, config, at, cut=cut)
        end = damage.at + len(self.slice(damage.at, at).partition("\n")[0])
        del builder.nodes[builder.nodes.index(frame) :]
        builder.recorder.edits.clear()
        builder.calls.unfinished(frame, end, "invalid")
        builder.nodes.clear()
        self.config = self.automaton.top_level
        self.rewind(end)
        self.marked = True
        return True

    def _end_of(self, damage: Damage, *, final: bool) -> Any:
        """The marker at which a damaged segment ends; None where it has not come yet."""
        buffer, pos, sync = self.buffer, self.pos, damage.sync
        if final:
            match = sync.find(buffer, pos)
            while match is not None and self._is_quoted(match, sync):
                match = sync.find(buffer, match.end())
            return match
        match = sync.find_partial(buffer, pos, partial=True)
        held = None if match is None else match.start()
        if match is not None and not match.partial:
            held = sync.open_markers.find_open(buffer, pos, match.start(), match.lastindex)
            if held is None and match.end() == len(buffer):
                held = match.start()  # it may grow, or be in a string
            elif held is None and self._is_quoted(match, sync):
                self.pos = match.end()
                return self._end_of(damage, final=final)
        if match is None or held is not None:
            self.pos = len(buffer) if held is None else held
            return None
        return match

    def _is_quoted(self, match: Any, sync: Resync) -> bool:
        """Is a closing marker followed by a quote, so that it is part of a string whose quotes are bare?"""
        inside = sync.places[match.lastindex][1]
        return inside and coarse(self.automaton).has_json and self.buffer[match.end() : match.end() + 1] in ('"', "'")

    def _give_up(self, damage: Damage, config: Config, at: int, *, cut: bool) -> bool:
        """A call that was announced cannot be read: say so, and go on behind it."""
        builder, near = self.builder, nearest(self.automaton, damage.outer)
        match = near.find(self.slice(damage.at, at), 0) if near is not None else None
        if near is not None and match is not None:
            config, inside, _ = near.places[match.lastindex]
            at, cut = damage.at + (match.end() if inside else match.start()), False
        self.config = config
        builder.recorder.edits.clear()
        builder.calls.unfinished(builder.nodes.pop(), at, "truncated" if cut else "invalid")
        if config is self.automaton.top_level:
            builder.nodes.clear()
        self.rewind(at)
        self.marked = True
        return True

    def _is_hopeful(self, damage: Damage, *, final: bool) -> bool | None:
        """Does a marker of the format stand near the place that was refused? None where that is not known yet."""
        start = damage.at - self.base
        end = start + _NEAR
        known = coarse(self.automaton)
        if damage.plain:
            there = known.says_call.search(self.slice(damage.start, self.base + end)) is not None
            return True if there else False if final or len(self.buffer) > end else None
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
        self.config = self.automaton.top_level
        builder.nodes.clear()
        builder.recorder.edits.clear()
        builder.output.thoughts.clear()
        resume = self._opener()[1] or after
        read = max(after, self.base + self.pos)
        self._spent += read - resume
        if not self._may_try(read):
            resume = max(resume, after)
        builder.output.show(resume)
        self.rewind(resume)
        return True

    # recovery

    def share(self, other: Salvager) -> None:
        """Go on with what another machine has left to spend on repairs."""
        self._effort = other._effort and other._effort.copy()
        self._granted, self._nodes = other._granted, other._nodes
        self._spent = other._spent

    def _grant(self, end: int) -> RepairBudget:
        """What may be spent, which is as much as the text up to an offset is worth."""
        grown = max(end - self._granted, 0)
        self._granted += grown
        self._nodes += grown // 16
        budget = self._effort = self._effort or RepairBudget.of(0)
        budget.steps += grown
        budget.search += grown // 2
        return budget

    def _known(self) -> Tools | None:
        """By name, the schemas of what may stand in a damaged segment."""
        return self.builder.context.tools

    def _salvage(self, damage: Damage, end: int, *, closed: bool) -> bool:
        """Read a damaged segment that ends at an offset by what it most likely meant. Returns whether that worked."""
        from outspoken.recovery.path import Region
        from outspoken.recovery.search import recover

        builder = self.builder
        budget = self._grant(end)
        region = Region(
            automaton=self.automaton,
            outer=damage.outer,
            text=self.slice(damage.start, end),
            base=damage.start,
            closed=closed,
            announced=damage.frame is not None,
            repair_limit=builder.context.repair_limit,
            tools=self._known(),
            settings=builder.context.settings,
            budget=budget,
            nodes=self._nodes,
            ties=self.ties,
        )
        self._spent += SEARCH
        way = recover(region)
        self._nodes = region.nodes
        if way is None or not says_something(way):
            return False
        return self._carry_out(way, damage, end, closed=closed)

    def _carry_out(self, way: Way, damage: Damage, end: int, *, closed: bool) -> bool:
        """Do what the steps of a way say, unless that contradicts what was announced."""
        builder = self.builder
        draft = draft_of(builder, damage.frame, damage.start, self.slice)
        if damage.outer is not self.automaton.top_level:
            # the section's own opener may be missing; it stands before the call, and so is no part of the way
            draft.recorder.edits += [edit for edit in builder.recorder.edits if edit.start <= damage.start]
        for taken in way.steps:
            self._do(draft, taken)
        if way.cut:
            draft.cut(end)
        draft.output.flush()
        if draft.recorder.ambiguity:
            return False  # what can be read in two ways is no call, so that it cannot be said to be invalid
        if not draft.recorder.was_ambiguous and any(
            s.kind == "tool_call" and s.status == "invalid" for s in draft.output.segments
        ):
            return False
        if damage.frame is not None and not continues(builder, damage.frame, draft):
            call = contradicts(damage.frame, draft) if closed else None
            if call is None:
                return False
            damage.frame.problem = (
                f"the call of `{call.name}` can only be read against what was sent of it while it came"
            )
            builder.calls.unfinished(damage.frame, call.span[1], "invalid")
            damage.frame = None
        accept(builder, draft, damage.frame)
        self.config = way.config
        self.rewind(end)
        self.marked = True
        return True

    def _do(self, builder: Builder, taken: Taken) -> None:
        """Carry out one step."""
        step = taken.step
        if step is None or not step.inserted:
            builder.recorder.edits += taken.edits
        if taken.ambiguous:
            builder.recorder.ambiguity = "the call can be read in two ways that are as likely"
            builder.recorder.was_ambiguous = True
        if step is None:
            if taken.edits:
                builder.output.consumed = max(builder.output.consumed, taken.end)
            return  # without a record it is a marker that the text cuts off, and was not read
        if taken.free:
            start, end = self._trimmed(step.terminal.short, taken.start, taken.end)
            if end > start:
                FREE[step.terminal.short](builder, self.slice(start, end), start, end)
            if step.terminal.short == "ARG_VALUE":
                builder.calls.end_value()
        elif taken.value_text:
            builder.state.last_value, builder.state.last_text = taken.value, taken.value_text
        bound = step.bound if step.bound is not None else matchers.bound_operations(step, HANDLERS)
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
