"""One response being read with a registry's payloads: the machine, which also keeps broken payloads apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

from outspoken.engine.parser import Machine
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tables import Terminal
from outspoken.json.scanner import BracketCounter
from outspoken.notations.tools import Tools
from outspoken.parsing.session import OnError, Reading
from outspoken.recovery.sync_points import Damage, Resync
from outspoken.results.construct import construct
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.pending_diagnostics import place_diagnostics
from outspoken.results.replies import STATUSES, Payload, Reply
from outspoken.results.settings import Settings
from outspoken.semantics.open_node import OpenNode

from .builder import PayloadBuilder
from .finishing import Finisher, Judge, chosen
from .grammar import FORMAT, Marker, automaton_of, named
from .options import Options
from .page import Page
from .replies import PayloadReply
from .segments import finished_segments

#: What belongs to a broken payload behind its last bracket, where a fence or emphasis was opened before it.
_CLOSERS = re.compile(r"(?:\s{0,20}(?:`{3,8}|~{3,8}))?(?:[ \t]{0,4}\*{1,2})?")
_CLOSERS_LENGTH = 40
#: What is closed by these.
_OPENERS = re.compile(r"`{3}|~{3}|\*")


@lru_cache(maxsize=128)
def openers(automaton: Automaton) -> Resync:
    """What opens another payload, or reasoning: a broken payload ends before it."""
    home = automaton.top_level
    found: dict[str, tuple[Terminal, Config, bool]] = {}
    for step in automaton.top_level_markers:
        if ("begin", "payload") in step.after or ("begin", "think") in step.after:
            found[step.terminal.regex] = (step.terminal, home, False)
    return Resync(found)


class PayloadMachine(Machine):
    """Also finds where a broken payload ends: at its last bracket, or at the next marker."""

    _brackets: BracketCounter | None = None
    #: the first marker that stood in what may have been a string of the broken payload
    _skipped: int | None = None
    #: finds the marker with which a line begins
    named: re.Pattern[str] | None = None

    @property
    def _payloads(self) -> PayloadBuilder:
        return cast("PayloadBuilder", self.builder)

    def begun(self) -> tuple[OpenNode, int] | None:
        """The payload that is being read, and the offset where its JSON begins."""
        frame = self._payloads.open_payload()
        return None if frame is None or self._island is None else (frame, self._island.begun)

    def _known(self) -> Tools | None:
        """What is known of the payload that is being read."""
        frame = self._payloads.open_payload()
        type_ = self._payloads.type_of(frame)
        return super()._known() if frame is None or type_ is None else Tools({frame.name or "": type_.schema})

    def _salvage(self, damage: Damage, end: int, *, closed: bool) -> bool:
        frame = self._payloads.open_payload()
        if frame is not None and self._payloads.type_of(frame) is None:
            return False  # it stays text
        return super()._salvage(damage, end, closed=closed)

    def _free(self, config: Config, free: Transition, *, final: bool) -> bool:
        found = self._cut_marker(free) if final else None
        if found is None:
            return super()._free(config, free, final=final)
        start, name = found
        self._piece(free.terminal.short, start, closed=True, final=False)
        frame = OpenNode("payload", self.base + start, name)
        self.pos = len(self.buffer)
        self._payloads.unfinished(frame, self.length, "invalid" if self.proven else "truncated")
        return False

    def _cut_marker(self, free: Transition) -> tuple[int, str] | None:
        """Where a line begins at which the text ends behind a marker and its colon, and that marker."""
        at = max(self.scan, self.pos)
        if (
            free.target is not self.automaton.top_level
            or self._step(free, "find whole").find(self.buffer, at) is not None
        ):
            return None
        match = self._step(free, "find partial").find(self.buffer, at, partial=True)
        start: int = -1 if match is None else match.start()
        if start < 0 or self.named is None or self.buffer[max(start - 1, 0) : start] not in ("", "\n", "\ufeff"):
            return None
        written = self.named.match(self.buffer, start)
        return None if written is None else (start, written["name"])

    def _damaged(self, at: int) -> Damage | None:
        frame = self._payloads.open_payload()
        if frame is None:
            return super()._damaged(at)
        damage = Damage(frame.start, self.automaton.top_level, None, at, True, False)
        damage.sync = openers(self.automaton)
        return damage

    def _as_text(self, after: int) -> bool:
        """A payload is never text: it is broken."""
        frame = self._payloads.open_payload()
        if frame is None:
            return super()._as_text(after)
        self._damage = self._damaged(after)
        self.pos = after - self.base
        return True

    def _skip(self, damage: Damage, *, final: bool) -> bool:
        frame = self._payloads.open_payload()
        if frame is None:
            return super()._skip(damage, final=final)
        found = self._extent(damage, final=final)
        if found is None:
            self.pos = (damage.at if self._brackets is None else self._brackets.at) - self.base
            return False
        end, closed = found
        self._damage = self._brackets = self._skipped = None
        self.pos = end - self.base
        self._spent += end - damage.start
        told = closed or self.proven
        may_try = self.builder.context.repair_limit != "none" and self._may_try(damage.at) and end < self._most(damage)
        if may_try and self._salvage(damage, end, closed=told):
            return True
        self._payloads.unfinished(frame, end, "invalid" if closed else "truncated")
        self.config = self.automaton.top_level
        self.rewind(end)
        self.marked = True
        return True

    def _extent(self, damage: Damage, *, final: bool) -> tuple[int, bool] | None:
        """Where a broken payload ends, and whether something says so; None where that is not known yet."""
        brackets = self._brackets = self._brackets or BracketCounter(damage.at, tolerant=True)
        while brackets.end is None:
            match = self._marker_from(damage, brackets.at, final=final)
            stop = self.base + (len(self.buffer) if match is None else match.start())
            brackets.feed(self.slice(brackets.at, min(stop, self._most(damage))))
            if brackets.end is not None:
                break
            if brackets.at >= self._most(damage):
                return self._most(damage), False
            if match is None or match.partial:
                if final:
                    return (self.base + len(self.buffer), False) if self._skipped is None else (self._skipped, True)
                return None
            if not brackets.quote or not self._may_try(damage.at):
                return stop, True
            self._skipped = stop if self._skipped is None else self._skipped
            self._spent += match.end() - match.start()
            brackets.feed(self.slice(brackets.at, min(max(self.base + match.end(), stop + 1), self._most(damage))))
        return self._with_closers(damage, brackets.end, final=final)

    def _most(self, damage: Damage) -> int:
        """Up to where a broken payload is held, at most."""
        return damage.at + self.builder.context.settings.max_hold

    def _marker_from(self, damage: Damage, at: int, *, final: bool) -> Any:
        """The next marker of the format from an offset on, or what may become one."""
        find: Any = damage.sync.find_partial
        return find(self.buffer, at - self.base, partial=not final)

    def _with_closers(self, damage: Damage, end: int, *, final: bool) -> tuple[int, bool] | None:
        """The end of a payload behind the fence and the emphasis that were opened before it."""
        if _OPENERS.search(self.slice(damage.start, damage.at)) is None:
            return end, True
        behind = self.slice(end, end + _CLOSERS_LENGTH)
        if len(behind) < _CLOSERS_LENGTH and not final:
            return None
        match = _CLOSERS.match(behind)
        return end + (match.end() if match else 0), True


class PayloadReading(Reading):
    """Reads one response with the payloads of a page."""

    machine = PayloadMachine
    builder = PayloadBuilder
    _machine: PayloadMachine
    _builder: PayloadBuilder

    def __init__(
        self,
        page: Page,
        markers: tuple[Marker, ...],
        options: Options,
        prefix: str | None,
        on_error: OnError,
        repair: RepairLimit | None,
        settings: Settings | None,
        events: list[Event] | None,
    ) -> None:
        self.page, self._markers, self.options = page, markers, options
        self.blocks: tuple[tuple[int, int], ...] = ()
        super().__init__(FORMAT, None, prefix, on_error, repair, settings, events)
        self._builder.page, self._machine.named = page, named(markers)
        self.judge = Judge(page, options, self._machine.slice)

    def resolved(self, format: str) -> str:
        """There is one grammar, and it has no name in the registry of formats."""
        return format

    def automaton(self, format: str, *, lenient: bool) -> Automaton:
        """The automaton of the page's markers."""
        return automaton_of(self._markers, lenient=lenient, in_code=self.options.markers_in_fences)

    def begun(self) -> tuple[str, int, int] | None:
        """The marker of the payload that is being read, and the offsets between which there is JSON of it so far."""
        found = self._machine.begun()
        if found is None:
            return None
        return self._builder.header.payload(found[0].name or ""), found[1], self._machine.length

    def _reply(self, raw: str) -> Reply:
        """The reply, with the payloads that stand and the message without them."""
        read = super()._reply(raw)
        self.judge.raw = raw
        first = None
        if self.options.precedence == "registration":
            first = chosen(self.judge, [s for s in read.segments if isinstance(s, Payload)])
        finisher = Finisher(self.judge, first)
        segments = finished_segments(read.segments, finisher)
        notes = place_diagnostics(sorted(finisher.notes, key=lambda note: note.span), raw)
        values = dict(read)
        values["segments"] = segments
        values["diagnostics"] = sorted([*read.diagnostics, *notes], key=lambda one: one.span)
        statuses = [read.status, *[one.status for one in finisher.unfinished]]
        values["status"] = max(statuses, key=STATUSES.index)
        values["page"], values["beside"] = self.page.name, self.page.beside
        values["unfinished_payloads"], values["extra_payloads"] = finisher.unfinished, finisher.extra
        values["blocks"] = self.blocks
        return construct(PayloadReply, values)
