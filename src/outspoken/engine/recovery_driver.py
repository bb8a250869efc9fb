"""The recovery driver: it holds a damaged segment until its end, has it recovered, and applies what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import CALLS
from outspoken.patterns.markup_search import FoundMarkup
from outspoken.patterns.spellings import look_ahead
from outspoken.recovery.costs import MAX_COST
from outspoken.recovery.marker_lexer import is_closed, marker_forms, marker_lexer
from outspoken.recovery.path import RecoveryPath, RecoveryStep, Region
from outspoken.recovery.sync_points import SyncPoints, single_character_points, sync_points
from outspoken.semantics.recorder import odd_marker
from outspoken.semantics.steps import apply_step

from .damaged_segment import DamagedSegment, find_end, looks_like_call
from .list_damage import damaged_gap, is_later_entry, lose_entry, read_between
from .parse_steps import Kind, ParseStep
from .state import SEARCH, TRY
from .text_buffer import BLANK, LOOKBEHIND

if TYPE_CHECKING:
    from outspoken.semantics.builder import Builder
    from outspoken.semantics.open_node import OpenNode

    from .single_steps import SingleSteps

#: No opening marker is longer than this.
_LONGEST_MARKER = 1500
#: The repairs of values that are too bold where the search has found nothing.
_GUESSES = frozenset({"heuristic", "missing-closer", "lost-quote"})
#: The rules that make a damaged segment worth recovering.
_SAYING = frozenset({"tool_call", "action", "payload", "envelope", "think", "quoted"})


class RecoveryDriver:
    """Reads what the strict grammar refuses.

    `on_refused` starts a damaged segment, `skip` looks for its end and has it recovered there. Both return whether
    there is more to read.
    """

    def __init__(self, steps: SingleSteps) -> None:
        self.automaton, self.builder, self.text, self.state = steps.automaton, steps.builder, steps.text, steps.state
        self.policy, self.budget, self.log = steps.policy, steps.budget, steps.log
        #: could the last recovery path be read in two ways?
        self._is_ambiguous = False
        self._searched: dict[SyncPoints, tuple[int, int]] = {}

    def on_refused(self, pos: int, end: int | None = None, *, inside: bool = False) -> bool:
        """The grammar refuses what stands at `pos` (up to `end`, if that was read as an embedded value).

        It stands `inside` an embedded value, or not.
        """
        base = self.text.base
        self._log("broken" if inside else "refused", base + pos, base + (pos if end is None else end))
        going = self.policy.on_refused(self, pos, end, inside=inside)
        return self.start_segment(pos, end, inside=inside) if going is None else going

    def start_segment(self, pos: int, end: int | None, *, inside: bool) -> bool:
        """Hold the segment that is refused at `pos` until its end; it becomes text if it cannot be a call."""
        builder, state, base = self.builder, self.state, self.text.base
        after = end if end is not None else pos
        state.before_text = True
        state.missing_closer_at = None
        self.budget.spent += TRY
        damage = (None if inside else damaged_gap(self, base + pos)) or self.damaged_segment(base + pos)
        if damage is None:
            return self.reread_as_text(base + after)
        if damage.call is None and not self.budget.allows(base + pos):
            return self._lose_as_text(damage, base + after)
        state.damage = damage
        damage.expected = tuple([t.terminal.canonical.strip() for t in state.config.markers if not t.inserted])
        is_likely = (inside and not damage.from_bracket) or is_later_entry(self, damage)
        damage.may_be_call = damage.may_be_call or is_likely or None
        if damage.call is not None:
            del builder.nodes[builder.nodes.index(damage.call) + 1 :]
        self.text.pos = after
        return True

    # the segment

    def damaged_segment(self, at: int) -> DamagedSegment | None:
        """The segment that is refused at an offset; None if it can only be text."""
        decided = self.policy.damaged_segment(self, at)
        if decided is not None:
            return decided
        nodes = self.builder.nodes
        announced = next((node for node in reversed(nodes) if node.index >= 0), None)
        if announced is not None:
            outer = self._outside_of(announced)
            sync = sync_points(outer, self.lacks_opener())  # the next opener may be missing, too
            return DamagedSegment(announced.start, outer, announced, at, True, sync)
        if self.builder.context.repair_limit == "none":
            return None
        return self._without_announcement(at)

    def _without_announcement(self, at: int) -> DamagedSegment:
        """The segment that is refused at an offset, if no call in it was announced."""
        automaton, config, nodes = self.automaton, self.state.config, self.builder.nodes
        opener, _ = self._opener()
        # JSON without any marker is a call only if it says so
        from_bracket = opener is not None and opener.terminal.canonical.strip() in ("{", "[")
        is_call = any(f.held_back or f.arguments or f.name for f in nodes) or None
        if from_bracket and (any(f.name for f in nodes) or any(step.role == "arguments" for step in config.embedded)):
            is_call = True
        if opener is not None:
            outer, start = automaton.top_level, self.state.opener_at
            is_call = is_call or opener.replaces or None  # it was believed for what follows it
            sync = sync_points(outer, bool(opener.inserted))
            return DamagedSegment(start, outer, None, at, is_call, sync, from_bracket)
        safe = self.builder.output.consumed
        call = next((f for f in nodes if f.start >= safe and not CALLS.isdisjoint(f.kinds.split())), None)
        if call is not None:
            is_call = is_call or "action" in call.kinds or None
            outer = self._outside_of(call)
            return DamagedSegment(call.start, outer, None, at, is_call, sync_points(outer))
        inside = marker_lexer(automaton).has_json and not is_closed(config)
        return DamagedSegment(at, config, None, at, is_call or inside or None, sync_points(config))

    def _outside_of(self, call: OpenNode) -> Config:
        """The configuration before an open call, which may hold others that are open, too."""
        automaton, index = self.automaton, self.builder.nodes.index(call)
        outer = automaton.outside_of_call(self.state.config)
        while outer is not automaton.top_level and automaton.open_nodes(outer) > index:
            outer = automaton.outside_of_call(outer)
        return outer

    def lacks_opener(self) -> bool:
        """Is the marker missing that should have led out of plain text?"""
        opener, _ = self._opener()
        return opener is not None and bool(opener.inserted)

    def _opener(self) -> tuple[Transition | None, int]:
        """The marker that led out of plain text and the offset behind it; None if something has ended since."""
        at = self.state.opener_at
        if at < self.builder.output.consumed:
            return None, 0
        left = max(at - LOOKBEHIND, self.text.origin)
        text = self.text.slice(left, min(at + _LONGEST_MARKER, self.text.end))
        opener = self.state.opener
        for step in [opener] if opener is not None else self.automaton.top_level_markers:
            match = marker_forms(step).match(text, at - left)
            if match is not None:
                return step, left + match.end()
        return None, 0

    # its end

    def skip(self, damage: DamagedSegment, *, final: bool) -> bool:
        """Look for the end of a damaged segment, and recover it there."""
        going = self.policy.skip(self, damage, final=final)
        if going is not None:
            return going
        state, text, automaton = self.state, self.text, self.automaton
        if damage.is_gap:
            going = read_between(self, damage, final=final)
            if going is not None:
                return going
        if damage.may_be_call is None:
            damage.may_be_call = looks_like_call(damage, automaton, text, final=final)
        if not damage.may_be_call:
            if damage.may_be_call is not None:
                state.damage = None
                return self.reread_as_text(damage.refused_at)
            return False
        match = find_end(damage, automaton, text, self._searched, final=final)
        if match is None and not final:
            return False
        state.damage = None
        config, end = automaton.top_level, len(text.text)
        if match is not None:
            point = damage.sync.points[match.lastindex]
            config, end = point.config, match.end() if point.belongs_to_segment else match.start()
        text.pos = end
        return self._end_segment(damage, config, text.base + end, cut=match is None)

    def _end_segment(self, damage: DamagedSegment, config: Config, end: int, *, cut: bool) -> bool:
        """A damaged segment ends at an offset: recover it; if that fails, report it as lost, or as text."""
        end_is_certain = not cut or self.state.end_is_proven
        if self.budget.allows(damage.refused_at) and (
            self.recover(damage, end, end_is_certain=end_is_certain)
            or (not end_is_certain and self._recover_answer(damage, end))
        ):
            return True
        self.builder.recorder.is_damaged = True
        if lose_entry(self, damage, end, cut=cut):
            return True
        if damage.call is None:
            return self._lose_action(damage, config, end, cut=cut) or self._lose_as_text(
                damage, damage.refused_at, None if end_is_certain else end
            )
        return self.give_up(damage, config, end, cut=cut)

    def _recover_answer(self, damage: DamagedSegment, end: int) -> bool:
        """Recover an answer to the user that ends with the text and its own closing bracket: nothing runs on it."""
        call = damage.call
        if call is None or not self.builder.answers.is_answer(call):
            return False
        is_closed = self.text.slice(damage.refused_at, end).rstrip().endswith(("}", "]"))
        return is_closed and self.recover(damage, end, end_is_certain=True, may_guess=False)

    def _lose_action(self, damage: DamagedSegment, config: Config, at: int, *, cut: bool) -> bool:
        """Report an action that cannot be read although an argument of it has begun; continue behind its line.

        A call that may be an action is lost as any call is.
        """
        builder = self.builder
        node = next((f for f in builder.nodes if builder.actions.is_started(f)), None)
        if node is None:
            return False
        if node.held_back:
            del builder.nodes[builder.nodes.index(node) + 1 :]
            damage.outer = self.automaton.outside_of_call(self.state.config)
            return self.give_up(damage, config, at, cut=cut)
        end = damage.refused_at + len(self.text.slice(damage.refused_at, at).partition("\n")[0])
        builder.nodes.clear()
        builder.recorder.edits.clear()
        builder.calls.unfinished(node, end, "invalid")
        self.resume(end, self.automaton.top_level)
        return True

    def give_up(self, damage: DamagedSegment, config: Config, at: int, *, cut: bool) -> bool:
        """Report an announced call that cannot be read, and continue behind it."""
        builder, sync = self.builder, single_character_points(damage.outer)
        match = sync.find(self.text.slice(damage.refused_at, at), 0) if sync is not None else None
        if sync is not None and match is not None:
            point, cut = sync.points[match.lastindex], False
            config, end = point.config, match.end() if point.belongs_to_segment else match.start()
            at = damage.refused_at + end
        builder.recorder.edits.clear()
        self._log("unread", damage.start, at)
        node = builder.nodes.pop()
        if config is self.automaton.top_level:
            builder.nodes.clear()
        builder.calls.unfinished(node, at, "truncated" if cut else "invalid")
        self.resume(at, config)
        return True

    def _lose_as_text(self, damage: DamagedSegment, after: int, end: int | None = None) -> bool:
        """A damaged segment becomes text, and is reported if a bracket opened it and a call was named behind that.

        Else nothing tells that a call was meant: its keys may have another spelling than the grammar's own. What may be
        JSON data is not reported. `end` is where the text ends inside the segment.
        """
        opener, behind = self._opener() if damage.from_bracket else (None, 0)
        is_named = any(node.name and "json" not in node.kinds.split() for node in self.builder.nodes)
        if opener is not None and is_named and look_ahead(opener.terminal.regex):
            recorder = self.builder.recorder
            if end is None:
                recorder.refused.append(FoundMarkup(damage.start, behind, opener.terminal.canonical.strip()))
            else:
                recorder.lower_status("truncated")
                message = "the text ends inside markup, which is kept as text"
                recorder.report("unclosed-markup", message, (damage.start, end))
        return self.reread_as_text(after)

    def reread_as_text(self, after: int) -> bool:
        """What was refused up to an offset is plain text, behind the marker that led out of plain text."""
        consumed = self.builder.output.consumed
        going = self.policy.reread_as_text(self, after)
        if going is not None:
            self._log("left", self.text.offset, after)
            return going
        builder, text, budget = self.builder, self.text, self.budget
        self.state.config = self.automaton.top_level
        builder.nodes.clear()
        builder.recorder.edits.clear()
        builder.output.drop_thoughts(consumed)
        resume = self._opener()[1] or after
        read = max(after, text.offset)
        budget.spent += read - resume
        if not budget.allows(read):
            resume = max(resume, after)
        resume = self._before_blank(resume)
        builder.output.show(resume)
        text.rewind(resume)
        self._log("text", consumed, resume)
        return True

    def _before_blank(self, at: int) -> int:
        """The offset of the white space before another one, where text goes on: a marker behind it may take it."""
        start = max(self.builder.output.consumed, self.state.opener_at, 0)
        kept = self.text.slice(start, at).rstrip(BLANK) if "TEXT" in self.state.trims and start < at else ""
        return start + len(kept) if kept else at

    def resume(self, at: int, config: Config) -> None:
        """Continue to read at an offset, in a configuration."""
        self.state.config = config
        self.text.rewind(at)
        self.state.after_marker = True

    # its recovery

    def recover(self, damage: DamagedSegment, end: int, *, end_is_certain: bool, may_guess: bool = True) -> bool:
        """Read a damaged segment that ends at an offset as what it most likely means. Returns whether that worked.

        Without `may_guess`, nothing of a value may be guessed, and no closing marker be missing.
        """
        if not self.policy.may_recover(self):
            return False
        builder, budget = self.builder, self.budget
        region = Region(
            automaton=self.automaton,
            outer=damage.outer,
            text=self.text.slice(damage.start, end),
            base=damage.start,
            end_is_certain=end_is_certain,
            announced=damage.call is not None,
            repair_limit=builder.context.repair_limit,
            tools=self.policy.tools(self),
            settings=builder.context.settings,
            budget=budget.grant(end),
            nodes=budget.nodes,
        )
        budget.spent += max(SEARCH, len(region.text))
        from outspoken.recovery.search import recover  # with all that repairs JSON; many a refused text never needs it

        path = recover(region)
        budget.nodes = region.nodes
        if path is not None:
            if not _says_something(path) or not (may_guess or _is_certain(path)):
                return False  # it is text, or cut
            accepted = self.apply(path, damage, end, end_is_certain=end_is_certain)
            if accepted or not self._is_ambiguous:
                return accepted
        return may_guess and self._read_with_lark(region, damage, end)

    def _read_with_lark(self, region: Region, damage: DamagedSegment, end: int) -> bool:
        """Read with Lark's Earley parser what the search did not find, or could read in two ways."""
        budget = self.budget
        may_edit = region.repair_limit not in ("none", "notation")
        if not region.settings.tolerant_grammar or not may_edit or budget.tokens <= 0:
            return False
        from outspoken.recovery.earley import read

        region.tokens_left = budget.tokens
        path = read(region)
        budget.tokens = region.tokens_left
        if path is None or path.cost > MAX_COST or not _says_something(path) or _guesses(path):
            return False
        return self.apply(path, damage, end, end_is_certain=region.end_is_certain)

    def apply(self, path: RecoveryPath, damage: DamagedSegment, end: int, *, end_is_certain: bool) -> bool:
        """Carry out a recovery path, unless it contradicts what was announced. Returns whether it was accepted."""
        accepted = self._apply(path, damage, end, end_is_certain=end_is_certain)
        self._log("recovered" if accepted else "rejected", damage.start, end, damage.outer, path)
        self.policy.recovered(path, accepted=accepted)
        return accepted

    def _apply(self, path: RecoveryPath, damage: DamagedSegment, end: int, *, end_is_certain: bool) -> bool:
        builder, call = self.builder, damage.call
        from outspoken.recovery.speculation import Speculation

        speculation = Speculation(builder, call, damage.start, self.text.slice)
        fork = speculation.builder
        if damage.outer is not self.automaton.top_level:
            # the section's own opener may be missing; it stands before the call, and so is no part of the path
            before = [edit for edit in builder.recorder.edits if edit.start <= damage.start]
            fork.recorder.edits += before
            fork.recorder.continue_from(builder.recorder, min([damage.start, *[edit.start for edit in before]]))
        self._show_blank(fork, path.steps[0] if path.steps else None)
        steps = path.steps if any(step.edits for step in path.steps) else self._with_odd(path.steps, end)
        for step in steps:
            free = None
            if step.is_text and step.transition is not None:
                trims = step.transition.terminal.short in self.state.trims
                free = step.trimmed(self.text.slice(step.start, step.end), leads=trims, ends=trims)
            apply_step(fork, step, free)
        if path.cut:
            fork.cut(end)
        fork.output.flush()
        self._is_ambiguous = speculation.is_ambiguous()
        if self._is_ambiguous or speculation.has_invalid_call():
            if call is not None and not call.problem:
                call.problem_code, call.problem = speculation.problem()
            return False  # text that can be read in two ways is no call, and so no invalid one either
        if call is not None and not speculation.continues():
            other = speculation.reject_call() if end_is_certain else None
            if other is None:
                return False
            call.problem = f"the call of `{other.name}` can be read, but contradicts the arguments that were sent of it"
            if call.ends_by_chance:
                return False  # the calls behind it may stand in one of its values
            builder.calls.unfinished(call, other.span[1], "invalid")
            damage.call = None
        speculation.accept()
        self.resume(end, path.config)
        return True

    def _with_odd(self, steps: tuple[RecoveryStep, ...], end: int) -> list[RecoveryStep]:
        """The steps without edits, with one at each marker that stands where the grammar does not expect it."""
        read_steps: list[RecoveryStep] = []
        for step in steps:
            transition = step.transition if step.start < step.end < end and not step.is_text else None
            if transition is not None and not step.value_text:
                left = max(step.start - LOOKBEHIND, self.text.origin)
                regex = marker_forms(transition).regex
                if regex.match(self.text.slice(left, end), step.start - left) is None:
                    step = step._replace(edits=(odd_marker(step.start, step.end),))
            read_steps.append(step)
        return read_steps

    def _show_blank(self, fork: Builder, first: RecoveryStep | None) -> None:
        """White space before what a recovery path reads as text is text, too: no marker stands behind it."""
        if first is None or not first.is_text or first.transition is None or first.transition.terminal.short != "TEXT":
            return
        output = self.builder.output
        start, end = max(output.consumed, 0), first.start
        has_text = bool(self.text.slice(first.start, first.end).strip(BLANK))
        if start < end and has_text and not self.text.slice(start, end).strip(BLANK):
            fork.output.consumed = start
            fork.output.show(end)

    def _log(
        self, kind: Kind, start: int, end: int, config: Config | None = None, path: RecoveryPath | None = None
    ) -> None:
        if self.log is not None:
            self.log.append(ParseStep(kind, start, end, config or self.state.config, path=path))


def _guesses(path: RecoveryPath) -> bool:
    """Is a value of a path guessed, or its end?"""
    return any(edit.code in _GUESSES for step in path.steps for edit in step.edits)


def _is_certain(path: RecoveryPath) -> bool:
    """Is no value of a path guessed, and no marker of it missing?"""
    is_missing = any(edit.code == "missing-marker" for step in path.steps for edit in step.edits)
    return not (is_missing or path.cut or _guesses(path))


def _says_something(path: RecoveryPath) -> bool:
    """Does a path hold more than text? One that only drops doubled markers does, too."""
    transitions = [step.transition for step in path.steps if step.transition is not None]
    if any(name == "end" and kind in _SAYING for t in transitions for name, kind in (*t.before, *t.after)):
        return True
    dropped = [step for step in path.steps if step.transition is None and step.edits]
    return bool(dropped) and all(step.transition is None or step.start == step.end for step in path.steps)
