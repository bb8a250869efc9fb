"""A machine that writes down what it does, in single steps: what it read, what it refused, what became of that.

It walks the automaton as any machine does, and takes only the single steps of a stream, also where all of the text is
there. The library knows nothing of it: the tool reads with these classes in place of the library's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from outspoken.detection.candidates import Trial
from outspoken.detection.detector import Detector
from outspoken.engine.parser import Machine
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar import matchers
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, TOKENS
from outspoken.notations.interface import notation_of
from outspoken.parsing.session import Reading
from outspoken.recovery.marker_lexer import matcher
from outspoken.recovery.path import Taken, Way, is_missing
from outspoken.recovery.sync_points import Damage
from outspoken.results.edits import Edit
from outspoken.semantics.handlers import HANDLERS

Span = tuple[int, int]

#: What a step is: a token, or something that happened to what stands there.
Kind = Literal["read", "refused", "recovered", "rejected", "text", "unread", "tried", "chosen"]

#: What became of a token beside being read: "" is sound.
Mark = Literal["", "missing", "damaged", "dropped", "repaired", "text", "unread", "cut"]

_VALUES = EMBEDDED_VALUES | TOKENS | {"ARG_VALUE"}
_TELLING = frozenset({"tool_call", "action", "payload", "json", "envelope", "unread"})
_MARKS: dict[str, Mark] = {"damaged-marker": "damaged", "missing-marker": "missing"}
#: More spans than this are not held apart.
_MOST_HELD = 32


@dataclass(slots=True, eq=False)
class Step:
    """One thing that a machine did, from `start` to `end` of the raw text, in a configuration.

    `transition` is the one that was taken; None where nothing was. A step is `withdrawn` where what it read was read
    otherwise later. `cost` is what a recovery cost, and `trials` are the formats that were tried, with what each did.
    """

    kind: Kind
    start: int
    end: int
    config: Config
    transition: Transition | None = None
    mark: Mark = ""
    edits: tuple[Edit, ...] = ()
    withdrawn: bool = False
    cost: int = 0
    trials: tuple[TracedTrial, ...] = ()


class Traced(Machine):
    """Reads one text in single steps, and keeps them in `log`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.log: list[Step] = []
        #: the values that were read and belong to something that is not told yet
        self._pending: list[Span] = []
        self._free_end = self._arguments_at = -1
        super().__init__(*arguments, **options)
        self._from = self.base + self.pos

    # what is shown

    def tokens(self) -> Iterator[Step]:
        """What was read in the end, in the order of the text."""
        return (step for step in self.log if step.kind == "read" and not step.withdrawn)

    def places(self) -> list[tuple[str, Config]]:
        """The configurations that reading is in, each with the format that is being tried, "" without trials."""
        return [("", self.config)]

    def held(self, received: int, sent: dict[int, int]) -> list[Span]:
        """What of the text is in no event yet and no markup either, where so much of it was received.

        `sent` is how many characters of the arguments of each call were in events.
        """
        spans = [(s, e) for span in self._pending for s, e in self._untold(*span, sent)]
        at = self.base + self.pos
        if self._damage is not None:
            at = self._told_of_damaged(self._damage, sent)
        elif self._island is not None:
            spans += self._untold(self._island.begun, at, sent)
        elif self.config.free is not None and self.config.free.terminal.short == "ARG_VALUE" and at > self._from:
            spans += self._untold(self._from, at, sent)
        return joined([*spans, (at, received)])

    def _untold(self, start: int, end: int, sent: dict[int, int]) -> list[Span]:
        """The part of a value that was in no event yet."""
        frames = [f for f in self.builder.nodes if f.start <= start and f.kinds not in ("think", "code")]
        frame = frames[-1] if frames else None
        if frame is None:
            return []
        if frame.index >= 0 and self._island is not None and self._arguments_at == start:
            return [(start + sent.get(frame.index, 0), end)]
        unsaid = frame.key is not None and not frame.sending and start >= frame.key_start
        return [(start, end)] if frame.index < 0 or unsaid else []

    def _told_of_damaged(self, damage: Damage, sent: dict[int, int]) -> int:
        """From where on a damaged segment is held."""
        frame = damage.frame
        if frame is None:
            return damage.start
        if frame.key is not None:
            return damage.at if frame.sending else frame.key_start
        if frame.sending and self._arguments_at >= frame.start:
            return self._arguments_at + sent.get(frame.index, 0)
        return damage.at

    # what is written down

    def _note(self, kind: Kind, start: int, end: int, **more: Any) -> None:
        self.log.append(Step(kind, start, end, self.config, **more))

    def _shift(self, config: Config, step: Transition, start: int, end: int, **more: Any) -> None:
        """Write down that a transition was taken, and one before it over a marker that is missing."""
        if step.inserted:
            opener = next(t for t in config.markers if not t.inserted and t.terminal.canonical == step.inserted)
            self.log.append(Step("read", start, start, config, opener, "missing"))
            config, step = opener.target, next(t for t in opener.target.markers if t.terminal is step.terminal)
        self.log.append(Step("read", start, end, config, step, **more))
        self._from = end

    def _keep(self, before: list[Any], step: Transition, start: int, end: int) -> None:
        """Remember a value until what it belongs to is told; `before` are the frames that were open before it."""
        frames = self.builder.nodes
        if not frames:
            self._pending = []
            return
        if step.terminal.short in _VALUES:
            self._pending.append((start, end))
        if any(op == "end" and kind in _TELLING for op, kind in (*step.before, *step.after)):
            ended = [f.start for f in before if f not in frames]
            self._pending = [span for span in self._pending if span[0] < min(ended, default=end)]

    def _withdraw(self, start: int) -> None:
        """What was read from an offset on will be read otherwise."""
        self._pending = [span for span in self._pending if span[0] < start]
        self._from = start
        for step in reversed(self.log):
            if step.kind != "read" or step.withdrawn:
                continue
            if step.start < start:
                self._from = step.end
                return
            step.withdrawn = True

    # single steps

    def _sprint(self, *, stop: bool) -> None:
        """Whole steps would not be seen."""

    def _step(self, free: Transition, which: str) -> Any:
        return super()._step(free, "find partial")

    def _marker(self, config: Config, when: str, *, final: bool) -> bool | None:
        if not final:
            return super()._marker(config, when, final=final)
        step = matchers.matcher_of(config, f"{when} partial", HANDLERS)
        match = step.match(self.buffer, self.pos)
        if match is None:
            return None
        self._take(step.branches[match.lastindex], match)
        return True

    def _take(self, path: matchers.Branch, match: Any) -> None:
        config, before = self.config, list(self.builder.nodes)
        step = _transition(config, path)
        begun = match.start()
        if self._free_end != self.base + begun:
            begun = self._begun(step, begun, match.end())
        self._shift(config, step, self.base + begun, self.base + match.end())
        super()._take(path, match)
        self._keep(before, step, self.base + begun, self._from)

    def _begun(self, step: Transition, start: int, end: int) -> int:
        """Where a marker begins whose match includes the white space before it."""
        at = self._past_blanks(start)
        while at > start:
            match = matcher(step).regex.match(self.buffer, at)
            if match is not None and match.end() == end:
                break
            at -= 1
        return at

    def _close_free(self, free: Transition, at: int) -> None:
        self._free_end = self.base + at
        before, start = list(self.builder.nodes), self._from
        self._shift(self.config, free, start, self._free_end)
        super()._close_free(free, at)
        self._keep(before, free, start, self._free_end)

    def _island_at(self, step: Transition, notation: Any, *, final: bool) -> bool:
        self._arguments_at = self.base + self.pos if step.role == "arguments" else -1
        return super()._island_at(step, notation, final=final)

    def _land(self, step: Transition, start: int, end: int) -> None:
        before = list(self.builder.nodes)
        self._shift(self.config, step, self.base + start, self.base + end)
        super()._land(step, start, end)
        self._keep(before, step, self.base + start, self.base + end)

    # what is refused

    def _fail(self, pos: int, end: int | None = None, *, inside: bool = False) -> bool:
        at = self.base + pos
        island = self._scanned(at) if inside else None
        self._note("refused", at, self.base + (pos if end is None else end), transition=island)
        return super()._fail(pos, end, inside=inside)

    def _scanned(self, at: int) -> Transition | None:
        """The island that began at the place after the last token."""
        begun = self.slice(self._from, at + 1).lstrip(BLANK)[:1]
        return next((t for t in self.config.embedded if notation_of(t.terminal).may_begin(begun)), None)

    def _as_text(self, after: int) -> bool:
        start = max(self.builder.output.consumed, 0)
        going = super()._as_text(after)
        self._withdraw(start)
        start, end = max(start, self._from), self.base + self.pos
        self._note("text", start, end)
        if self.config.free is not None and end > start:
            self._shift(self.config, self.config.free, start, end, mark="text")
        self._from = max(start, end)
        return going

    def _carry_out(self, way: Way, damage: Damage, end: int, *, closed: bool) -> bool:
        done = super()._carry_out(way, damage, end, closed=closed)
        self._note("recovered" if done else "rejected", damage.start, end, cost=way.cost)
        if done:
            self._withdraw(damage.start)
            self._follow(way, damage.outer)
            self._pass_over(way.config, end, "cut" if way.cut else "repaired")
            self._from = end
        return done

    def _follow(self, way: Way, config: Config) -> None:
        """Write down the steps of a way, each repair at the token that it changed."""
        first = len(self.log)
        for taken in way.steps:
            self._pass_over(config, taken.start, "repaired")
            step = taken.step
            if step is None:
                self.log.append(Step("read", taken.start, taken.end, config, None, "dropped", taken.edits))
                self._from = taken.end
                continue
            if step.target.automaton is not config.automaton:
                config = step.target.automaton.top_level
            edits = () if step.inserted else tuple([e for e in taken.edits if e.level == "markup"])
            self._shift(config, step, taken.start, taken.end, mark=_mark(taken, edits), edits=edits)
            config = step.target
        _hand_out([e for t in way.steps for e in t.edits if e.level != "markup"], self.log[first:])

    def _pass_over(self, config: Config, end: int, mark: Mark) -> None:
        """Write down what stands before the next token and is part of none."""
        if end > self._from and self.slice(self._from, end).strip(BLANK):
            self.log.append(Step("read", self._from, end, config, None, mark))

    def _give_up(self, damage: Damage, config: Config, at: int, *, cut: bool) -> bool:
        before = self.config
        going = super()._give_up(damage, config, at, cut=cut)
        self._unread(before, self.base + self.pos, None)
        return going

    def _unread(self, config: Config, end: int, step: Transition | None, mark: Mark = "unread") -> None:
        """Write down that the text from the last token on was not read, or that `step` was not to its end."""
        start, self._from = self._from, max(end, self._from)
        self._pending = []
        self.log.append(Step("unread", start, end, config))
        self.log.append(Step("read", start, end, config, step, mark))

    def _end(self) -> None:
        config, open_ = self.config, self._island.step if self._island is not None else self.config.free
        super()._end()
        end = self.base + len(self.buffer)
        if self.slice(self._from, end).strip(BLANK):
            self._unread(config, end, open_, "cut")


def _transition(config: Config, path: matchers.Branch) -> Transition:
    """The transition that a path of a single marker takes."""
    for which, step in config.matchers.items():
        if which.endswith("partial"):
            markers = config.leading_markers if which.startswith("leading") else config.markers
            for found, own in zip(markers, step.branches.values(), strict=False):  # missing closers follow
                if own is path:
                    return found
    raise AssertionError("a path belongs to a marker of its configuration")


def _mark(taken: Taken, edits: tuple[Edit, ...]) -> Mark:
    if not edits:
        return ""
    return "missing" if is_missing(taken) else _MARKS.get(edits[0].code, "repaired")


def _hand_out(edits: list[Edit], steps: list[Step]) -> None:
    """Give each repair of a value to the last token that begins before it."""
    for edit in sorted(edits, key=lambda e: e.start):
        step = next((s for s in reversed(steps) if s.start <= edit.start and s.end > s.start), None)
        if step is not None:
            step.edits = (*step.edits, edit)
            step.mark = step.mark or "repaired"


def joined(spans: list[Span]) -> list[Span]:
    """The spans in order, without empty ones; those that touch or overlap are one. There are at most 32."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    over = len(found) - _MOST_HELD
    return found if over <= 0 else [(found[0][0], found[over][1]), *found[over + 1 :]]


class TracedTrial(Traced, Trial):
    """Reads one segment by one format, and writes down how."""

    def read_through(self, text: str) -> bool:
        """Whole steps are not taken."""
        return False

    def _as_text(self, after: int) -> bool:
        going = Trial._as_text(self, after)
        self._note("text", self.builder.output.consumed, after)
        self._withdraw(self.base + self.pos)
        return going


class TracedDetector(Traced, Detector):
    """Reads a text whose format is not known, and writes down which formats were tried, and how they read it."""

    trial = TracedTrial

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tried: tuple[TracedTrial, ...] = ()
        self._heard: TracedTrial | None = None

    def places(self) -> list[tuple[str, Config]]:
        """The configurations that reading is in, each with the format that is being tried, "" without trials."""
        return [(trial.name, trial.config) for trial in self._trials] or super().places()

    def held(self, received: int, sent: dict[int, int]) -> list[Span]:
        """What of the text is in no event yet and no markup either, where so much of it was received."""
        if self._trials and self._heard is not None:
            return self._heard.held(received, sent)
        return super().held(received, sent)

    def _opening(self, match: Any, *, final: bool) -> bool:
        self._tried, self._heard = (), None
        going = super()._opening(match, final=final)
        self._tried = tuple([trial for trial in self._trials if isinstance(trial, TracedTrial)])
        return going

    def _pass_on(self, trial: Trial) -> None:
        self._heard = trial if isinstance(trial, TracedTrial) else None
        super()._pass_on(trial)

    def _nobody(self) -> bool:
        self._note("tried", self._begun_at, self._failed_at, trials=self._tried)
        self._tried, self._heard = (), None
        return super()._nobody()

    def _settle(self, best: Trial) -> bool:
        if self.config.free is not None and self._begun_at > self._from:
            self._shift(self.config, self.config.free, self._from, self._begun_at)
        self._note("chosen", self._begun_at, best.stopped_at(), trials=self._tried)
        self._tried, self._heard = (), None
        if isinstance(best, TracedTrial):
            self.log += best.log
        self._from = best.stopped_at()
        return super()._settle(best)


class TracedReading(Reading):
    """Reads one response, and writes down how."""

    machine = Traced
    detector = TracedDetector

    @property
    def tracer(self) -> Traced:
        """The machine that reads."""
        assert isinstance(self._machine, Traced)
        return self._machine
