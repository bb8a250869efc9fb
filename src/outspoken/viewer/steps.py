"""The steps of reading a response: its tokens, and what happened between them, from what the engine has logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from outspoken.engine.parse_steps import ParseStep
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.notations.interface import notation_of
from outspoken.recovery.path import RecoveryPath, RecoveryStep
from outspoken.results.edits import Edit
from outspoken.results.printing import one_line

#: What a token is; "none" is text that is part of none.
TOKEN_KINDS = ("marker", "free", "value", "none")
#: The condition of a token: "" is sound.
Mark = Literal["", "missing", "damaged", "dropped", "repaired", "text", "unread", "cut"]

_MARKS: dict[str, Mark] = {"damaged-marker": "damaged", "missing-marker": "missing"}
_OPERATIONS = {"begin": "begins", "end": "ends", "reopen": "is the first part of"}
_EVENTS = {
    "refused": "nothing that is acceptable stands here",
    "recovered": "read again as damaged, at a cost of {cost}",
    "rejected": "could be read again at a cost of {cost}, but not without contradicting what was sent",
    "text": "is text",
    "unread": "not read",
    "tried": "no format reads this: {trials}",
    "chosen": "the first of {trials} reads this",
}


@dataclass(slots=True, eq=False)
class ViewStep:
    """One step from `start` to `end` of the raw text, in a configuration: a token, or something that happened there.

    `kind` is one of `TOKEN_KINDS`, or an event: "refused", "recovered", "rejected", "text", "unread", "tried" or
    "chosen". A token is `withdrawn` if its text is read differently later, and `edits` are its repairs. `cost` is that
    of a recovery path, and `trials` are the formats that were tried, with their steps.
    """

    kind: str
    start: int
    end: int
    config: Config
    transition: Transition | None = None
    mark: Mark = ""
    edits: tuple[Edit, ...] = ()
    withdrawn: bool = False
    cost: int = 0
    trials: tuple[tuple[str, list[ViewStep]], ...] = ()

    @property
    def is_token(self) -> bool:
        """Whether it is a token, sound or not."""
        return self.kind in TOKEN_KINDS

    @property
    def name(self) -> str:
        """The terminal of a token with its condition, or what happened."""
        if not self.is_token:
            return _EVENTS[self.kind].format(cost=self.cost, trials=", ".join([name for name, _ in self.trials]))
        short = self.transition.terminal.short if self.transition else ""
        return f"{short} ({self.mark})".strip() if self.mark else short

    @property
    def target(self) -> Config | None:
        """The configuration that a token leads to; None if reading stayed where it was."""
        return self.transition.target if self.transition and self.mark not in ("cut", "unread") else None

    @property
    def operations(self) -> list[str]:
        """What a token does, in words."""
        taken = (*self.transition.before, *self.transition.after) if self.transition and self.target else ()
        named = [f"{_OPERATIONS[op]} {' or '.join(what.split())}" for op, what in taken if op in _OPERATIONS]
        return [*named, *[f"is {what}" for op, what in taken if op == "field"]]


class Text:
    """A response and the end of its prompt, whose offsets are negative."""

    def __init__(self, prefix: str, raw: str) -> None:
        self._whole, self._shift = prefix + raw, len(prefix)

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self._whole[max(start + self._shift, 0) : max(end + self._shift, 0)]

    def repairs(self, step: ViewStep) -> list[str]:
        """The repairs of a token, each as what stands there and what is read."""
        return [f"{one_line(self.slice(e.start, e.end))} → {one_line(e.after)}" for e in step.edits]


def steps_of(log: Iterable[ParseStep], text: Text, begins: int) -> list[ViewStep]:
    """The steps of a parser whose text begins at an offset."""
    reading = _LogReader(text, begins)
    reading.read(log)
    return reading.steps


class _LogReader:
    """Turns what was logged into steps. `_end` is the offset behind the last token."""

    def __init__(self, text: Text, begins: int) -> None:
        self.steps: list[ViewStep] = []
        self._text, self._end = text, begins
        self._ended: ParseStep | None = None

    def read(self, log: Iterable[ParseStep]) -> None:
        """Take the steps of a parser, up to the end of its text."""
        for step in log:
            self._take(step)
        if self._ended is not None:
            last, self._ended = self._ended, None
            if self._text.slice(self._end, last.end).strip(BLANK):
                self._give_up(last.config, last.end, last.transition, "cut")

    def _take(self, step: ParseStep) -> None:
        if step.kind == "token" and step.transition is not None:
            is_free = step.transition.terminal.short in FREE_TEXT and step.start == step.end
            self._shift(step.config, step.transition, self._end if is_free else step.start, step.end)
        elif step.kind == "recovered" and step.path is not None:
            self._recover(step, step.path)
        elif step.kind == "text":
            self._read_as_text(step)
        elif step.kind == "left":
            self._add("text", step)
            self._withdraw(step.start)
        elif step.kind == "unread":
            self._give_up(step.config, step.end)
        elif step.kind == "end":
            self._ended = step
        elif step.kind in ("tried", "chosen"):
            self._try(step)
        else:
            begun = self._begun_value(step) if step.kind == "broken" else None
            refusal = self._add("rejected" if step.kind == "rejected" else "refused", step, begun)
            refusal.cost = step.path.cost if step.path else 0

    def _add(self, kind: str, step: ParseStep, transition: Transition | None = None) -> ViewStep:
        made = ViewStep(kind, step.start, step.end, step.config, transition)
        self.steps.append(made)
        return made

    def _token(
        self,
        config: Config,
        step: Transition | None,
        start: int,
        end: int,
        mark: Mark = "",
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self.steps.append(ViewStep(_kind(step), start, end, config, step, mark, edits))
        self._end = max(end, self._end)

    def _shift(
        self, config: Config, step: Transition, start: int, end: int, mark: Mark = "", edits: tuple[Edit, ...] = ()
    ) -> None:
        """A transition, and one over a missing marker before it; a marker with a mistake is read as it is."""
        if step.inserted and not step.replaces:
            opener = next(t for t in config.markers if not t.inserted and t.terminal.canonical == step.inserted)
            self._token(config, opener, start, start, "missing")
            config, step = opener.target, next(t for t in opener.target.markers if t.terminal is step.terminal)
        self._token(config, step, start, end, mark, edits)

    def _withdraw(self, start: int) -> None:
        """Withdraw the tokens from an offset on."""
        self._end = start
        for step in reversed(self.steps):
            if step.is_token and not step.withdrawn:
                if step.start < start:
                    self._end = step.end
                    return
                step.withdrawn = True

    def _read_as_text(self, step: ParseStep) -> None:
        self._withdraw(max(step.start, 0))
        start = max(step.start, 0, self._end)
        self.steps.append(ViewStep("text", start, step.end, step.config))
        if step.config.free is not None and step.end > start:
            self._shift(step.config, step.config.free, start, step.end, "text")
        self._end = max(start, step.end)

    def _give_up(self, config: Config, end: int, step: Transition | None = None, mark: Mark = "unread") -> None:
        """The text after the last token, or the end of `step`, is not read."""
        start, end = self._end, max(end, self._end)
        self.steps.append(ViewStep("unread", start, end, config))
        self._token(config, step, start, end, mark)

    def _try(self, step: ParseStep) -> None:
        """Formats were tried; the first of them was chosen, or none."""
        free = step.config.free
        if step.kind == "chosen" and free is not None and step.start > self._end:
            self._shift(step.config, free, self._end, step.start)
        made = self._add(step.kind, step)
        made.trials = tuple([(trial.name, steps_of(trial.steps, self._text, step.start)) for trial in step.trials])
        if step.kind == "chosen":
            self.read(step.trials[0].steps)
            self._end = step.end

    def _begun_value(self, step: ParseStep) -> Transition | None:
        """The embedded value that began behind the last token, and cannot be read on."""
        begun = self._text.slice(self._end, step.start + 1).lstrip(BLANK)[:1]
        return next((t for t in step.config.embedded if notation_of(t.terminal).may_begin(begun)), None)

    def _recover(self, step: ParseStep, path: RecoveryPath) -> None:
        """The steps of a recovery path, each repair at the token that it changes."""
        self._add("recovered", step).cost = path.cost
        self._withdraw(step.start)
        config, first = step.config, len(self.steps)
        for taken in path.steps:
            self._pass_over(config, taken.start, "repaired")
            transition = taken.transition
            if transition is None:
                self._token(config, None, taken.start, taken.end, "dropped", taken.edits)
                continue
            if transition.target.automaton is not config.automaton:
                config = transition.target.automaton.top_level
            edits = () if transition.inserted else tuple([e for e in taken.edits if e.level == "markup"])
            self._shift(config, transition, taken.start, taken.end, _mark(taken, edits), edits)
            config = transition.target
        _hand_out([e for t in path.steps for e in t.edits if e.level != "markup"], self.steps[first:])
        self._pass_over(path.config, step.end, "cut" if path.cut else "repaired")
        self._end = step.end

    def _pass_over(self, config: Config, end: int, mark: Mark) -> None:
        """Text before the next token that is part of none."""
        if end > self._end and self._text.slice(self._end, end).strip(BLANK):
            self._token(config, None, self._end, end, mark)


def _kind(step: Transition | None) -> str:
    if step is None:
        return "none"
    short = step.terminal.short
    return "free" if short in FREE_TEXT else "value" if short in EMBEDDED_VALUES | TOKENS else "marker"


def _mark(taken: RecoveryStep, edits: tuple[Edit, ...]) -> Mark:
    if not edits:
        return ""
    return "missing" if taken.is_missing else _MARKS.get(edits[0].code, "repaired")


def _hand_out(edits: list[Edit], steps: list[ViewStep]) -> None:
    """Give each repair of a value to the last token that begins before it."""
    for edit in sorted(edits, key=lambda e: e.start):
        step = next((s for s in reversed(steps) if s.start <= edit.start and s.end > s.start), None)
        if step is not None:
            step.edits = (*step.edits, edit)
            step.mark = step.mark or "repaired"
