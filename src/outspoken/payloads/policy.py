"""The parser policy and the builder for payloads.

A broken payload ends at its last bracket or the next marker, and is no text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

from outspoken.engine.damaged_segment import DamagedSegment
from outspoken.engine.policy import ParserPolicy
from outspoken.engine.recovery_driver import RecoveryDriver
from outspoken.engine.single_steps import SingleSteps
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.json.scanner import BracketCounter
from outspoken.notations.tools import Tools
from outspoken.recovery.sync_points import SyncPoint, SyncPoints
from outspoken.results.replies import Status
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode
from outspoken.semantics.segments import end_payload

from .types import Page, PayloadType


class PayloadBuilder(Builder):
    """A builder that knows the types of payloads of a page."""

    #: gives the type of a payload by its marker
    page: Page | None = None

    def type_of(self, node: OpenNode | None) -> PayloadType | None:
        """The type of a payload; None if the page has no such payload."""
        if node is None or self.page is None:
            return None
        return self.page.of(self.header.payload(node.name or ""))

    def open_payload(self) -> OpenNode | None:
        """The payload that is being read, once its marker was read."""
        return next((node for node in self.nodes if node.kinds == "payload" and node.name), None)

    def cut(self, end: int) -> None:
        """The text ends inside a node."""
        node = self.open_payload()
        if node is None:
            super().cut(end)
        else:
            self.unfinished(node, end, "truncated")

    def unfinished(self, node: OpenNode, end: int, status: Status) -> None:
        """A payload never ended (`truncated`), or cannot be read up to `end` (`invalid`)."""
        output = self.output
        output.flush()
        self.nodes.clear()
        self.recorder.edits.clear()
        span = (max(node.start, 0), end)
        name = self.header.payload(node.name or "")
        if self.type_of(node) is None:
            status = "invalid"  # a payload that the page does not have is text, so there is nothing to report
        else:
            self.recorder.lower_status(status)
            codes = {"truncated": ("unclosed-payload", "never ends"), "invalid": ("broken-payload", "cannot be read")}
            code, why = codes[status]
            self.recorder.report(code, f"the payload of `{name}` {why}", span)
        data = None
        if status == "truncated":
            from outspoken.json.read import read_partial

            data = read_partial(self.source.slice(*span), self.context.settings)
        end_payload(output, name, data, node.start, end, status=status)


#: What belongs to a broken payload behind its last bracket, if a fence or emphasis was opened before it.
_CLOSERS = re.compile(r"(?:\s{0,20}(?:`{3,8}|~{3,8}))?(?:[ \t]{0,4}\*{1,2})?")
_CLOSERS_LENGTH = 40
#: What is closed by these.
_OPENERS = re.compile(r"`{3}|~{3}|\*")


@lru_cache(maxsize=128)
def payload_openers(automaton: Automaton) -> SyncPoints:
    """What opens another payload, or reasoning: a broken payload ends before it."""
    home = automaton.top_level
    found: dict[str, SyncPoint] = {}
    for step in automaton.top_level_markers:
        if ("begin", "payload") in step.after or ("begin", "think") in step.after:
            found[step.terminal.regex] = SyncPoint(step.terminal, home, False)
    return SyncPoints(found)


class PayloadPolicy(ParserPolicy):
    """Finds where a broken payload ends: at its last bracket, or at the next marker.

    `line_marker` finds the marker with which a line begins.
    """

    def __init__(self, line_marker: re.Pattern[str]) -> None:
        self._line_marker = line_marker
        self._brackets: BracketCounter | None = None
        #: the first marker that stood in what may have been a string of the broken payload
        self._skipped: int | None = None

    # a marker at the end of the text

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> bool | None:
        """A text that ends behind a marker and its colon holds a payload that never ends."""
        cut_marker = self._cut_marker(steps, free) if final else None
        if cut_marker is None:
            return None
        start, name = cut_marker
        text = steps.text
        steps.end_text(free, start)
        node = OpenNode("payload", text.base + start, name)
        text.pos = len(text.text)
        builder_of(steps).unfinished(node, text.length, "invalid" if steps.state.end_is_proven else "truncated")
        return False

    def _cut_marker(self, steps: SingleSteps, free: Transition) -> tuple[int, str] | None:
        """Where a line begins at which the text ends behind a marker and its colon, and that marker."""
        buffer, at = steps.text.text, max(steps.text.scan, steps.text.pos)
        if free.target is not steps.automaton.top_level or steps.text_step(free, final=True).find(buffer, at):
            return None
        match = steps.text_step(free).find(buffer, at, partial=True)
        start: int = -1 if match is None else match.start()
        if start < 0 or buffer[max(start - 1, 0) : start] not in ("", "\n", "\ufeff"):
            return None
        written = self._line_marker.match(buffer, start)
        return None if written is None else (start, written["name"])

    # broken payloads

    def damaged_segment(self, recovery: RecoveryDriver, at: int) -> DamagedSegment | None:
        """A broken payload begins with its marker."""
        node = builder_of(recovery).open_payload()
        if node is None:
            return None
        automaton = recovery.automaton
        return DamagedSegment(node.start, automaton.top_level, None, at, True, payload_openers(automaton))

    def reread_as_text(self, recovery: RecoveryDriver, after: int) -> bool | None:
        """A payload is never text: it is broken."""
        if builder_of(recovery).open_payload() is None:
            return None
        recovery.state.damage = recovery.damaged_segment(after)
        recovery.text.pos = after - recovery.text.base
        return True

    def may_recover(self, recovery: RecoveryDriver) -> bool:
        """A payload that has no place on the page stays text."""
        builder = builder_of(recovery)
        node = builder.open_payload()
        return node is None or builder.type_of(node) is not None

    def tools(self, recovery: RecoveryDriver) -> Tools | None:
        """The schema of the payload that is being read."""
        builder = builder_of(recovery)
        node = builder.open_payload()
        type_ = builder.type_of(node)
        return builder.context.tools if node is None or type_ is None else Tools({node.name or "": type_.schema})

    def skip(self, recovery: RecoveryDriver, damage: DamagedSegment, *, final: bool) -> bool | None:
        """Look for the end of a broken payload, and recover or lose it."""
        builder, text, state, budget = builder_of(recovery), recovery.text, recovery.state, recovery.budget
        node = builder.open_payload()
        if node is None:
            return None
        extent = self._extent(recovery, damage, final=final)
        if extent is None:
            text.pos = (damage.refused_at if self._brackets is None else self._brackets.at) - text.base
            return False
        end, closed = extent
        state.damage = self._brackets = self._skipped = None
        text.pos = end - text.base
        budget.spent += end - damage.start
        may_try = (
            builder.context.repair_limit != "none"
            and budget.allows(damage.refused_at)
            and end < _most(recovery, damage)
        )
        if may_try and recovery.recover(damage, end, end_is_certain=closed or state.end_is_proven):
            return True
        builder.unfinished(node, end, "invalid" if closed else "truncated")
        recovery.resume(end, recovery.automaton.top_level)
        return True

    def _extent(self, recovery: RecoveryDriver, damage: DamagedSegment, *, final: bool) -> tuple[int, bool] | None:
        """Where a broken payload ends, and whether something says so; None if that is not known yet."""
        text, most = recovery.text, _most(recovery, damage)
        find: Any = damage.sync.find_partial
        brackets = self._brackets = self._brackets or BracketCounter(damage.refused_at, tolerant=True)
        if brackets.at < text.base:
            text.rewind(brackets.at)
        while brackets.end is None:
            match = find(text.text, brackets.at - text.base, partial=not final)
            stop = text.end if match is None else text.base + match.start()
            brackets.feed(text.slice(brackets.at, min(stop, most)))
            if brackets.end is not None:
                break
            if brackets.at >= most:
                return most, False
            if match is None or match.partial:
                if final:
                    return (text.end, False) if self._skipped is None else (self._skipped, True)
                return None
            if not brackets.quote or not recovery.budget.allows(damage.refused_at):
                return stop, True
            self._skipped = stop if self._skipped is None else self._skipped
            recovery.budget.spent += match.end() - match.start()
            brackets.feed(text.slice(brackets.at, min(max(text.base + match.end(), stop + 1), most)))
        return _with_closers(recovery, damage, brackets.end, final=final)


def builder_of(part: RecoveryDriver | SingleSteps) -> PayloadBuilder:
    """The builder of a parser with this policy."""
    return cast("PayloadBuilder", part.builder)


def _most(recovery: RecoveryDriver, damage: DamagedSegment) -> int:
    """The offset up to which a broken payload is held, at most."""
    return damage.refused_at + recovery.builder.context.settings.max_hold


def _with_closers(
    recovery: RecoveryDriver, damage: DamagedSegment, end: int, *, final: bool
) -> tuple[int, bool] | None:
    """The end of a payload behind the fence and the emphasis that were opened before it."""
    text = recovery.text
    if _OPENERS.search(text.slice(damage.start, damage.refused_at)) is None:
        return end, True
    behind = text.slice(end, end + _CLOSERS_LENGTH)
    if len(behind) < _CLOSERS_LENGTH and not final:
        return None
    match = _CLOSERS.match(behind)
    return end + (match.end() if match else 0), True
