"""The data that the terminal and the page show."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from outspoken import Reply, Screen, parse
from outspoken.grammar import registry
from outspoken.grammar.automaton import Config
from outspoken.parsing.options import read_options
from outspoken.parsing.session import TextJoiner
from outspoken.results.encoding import replace_surrogates
from outspoken.results.events import Event, ToolCallDelta
from outspoken.results.printing import one_line
from outspoken.results.snippet import visible
from outspoken.terminal.explain import segment_title, segment_value

from .configurations import Configs, ConfigView, Expected
from .deltas import delta
from .session import TracedSession
from .syntax_errors import refusals
from .trace import Span, Step
from .tree import Node, tree

#: What each operation of a transition is called.
_OPERATIONS = {"begin": "begins", "end": "ends", "reopen": "is the first part of"}
_TURNS = {
    "refused": "nothing that is acceptable stands here",
    "recovered": "read again as damaged, at a cost of {cost}",
    "rejected": "could be read again at a cost of {cost}, but not without contradicting what was sent",
    "text": "is text",
    "unread": "not read",
    "tried": "no format reads this: {trials}",
    "chosen": "one of {trials} reads this",
}


@dataclass(frozen=True)
class StepView:
    """One step of the trace.

    `number` is the index in the list of tokens, -1 for other steps. `kind` is "marker", "free" or "value" for a token,
    "none" for text that is part of no token, and otherwise a `trace.Kind`. `config` and `target` are
    numbers of configurations, `target` None if reading stayed where it was. `written` is how a marker is written.
    """

    number: int
    kind: str
    name: str
    start: int
    end: int
    text: str
    config: int
    target: int | None = None
    mark: str = ""
    withdrawn: bool = False
    operations: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    written: str = ""

    @property
    def is_token(self) -> bool:
        """Whether it is a token, sound or not."""
        return self.kind in ("marker", "free", "value", "none")


@dataclass(frozen=True)
class SegmentView:
    """A segment of the reply: its kind, a title with all but its value, its value as text, its span."""

    kind: str
    title: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Moment:
    """The state of a stream after a piece: how much has arrived, and what of it is held back.

    `events` is how many there were so far, `places` are the configurations with the format that is being tried (""
    where only one reads). The last moment is the end of the text.
    """

    arrived: int
    held: tuple[Span, ...]
    events: int
    places: tuple[tuple[str, int], ...]


@dataclass
class ResponseView:
    """What the terminal and the page show of one response. Offsets are into `raw`, without the prompt prefix.

    `deltas` says what each of the `events` adds to the reply; see `deltas.delta`.
    `difference` compares the streamed reply with that of the whole text; it is empty unless there is a defect.
    """

    source: str
    requested: str
    prefix: str
    reply: Reply
    size: int
    steps: list[StepView] = field(default_factory=list[StepView])
    tokens: list[StepView] = field(default_factory=list[StepView])
    tree: list[Node | int] = field(default_factory=list["Node | int"])
    rules: dict[int, tuple[str, ...]] = field(default_factory=dict[int, "tuple[str, ...]"])
    segments: list[SegmentView] = field(default_factory=list[SegmentView])
    refusals: list[str] = field(default_factory=list[str])
    configs: list[ConfigView] = field(default_factory=list[ConfigView])
    moments: list[Moment] = field(default_factory=list[Moment])
    events: list[str] = field(default_factory=list[str])
    deltas: list[str] = field(default_factory=list[str])
    openers: list[Expected] = field(default_factory=list[Expected])
    difference: list[str] = field(default_factory=list[str])

    @property
    def raw(self) -> str:
        """The response."""
        return self.reply.raw

    @property
    def headline(self) -> str:
        """The response, its format and its status, on one line."""
        how = "detected" if self.requested == "auto" else "as asked for"
        format_ = f"{self.reply.format} ({how})" if self.reply.format else "no format"
        return visible(f"{self.source}: {format_}, {self.reply.status}")

    @property
    def opens_nothing(self) -> bool:
        """Whether the whole response is plain text."""
        return all(segment.kind == "text" for segment in self.segments)

    @property
    def repairs(self) -> list[str]:
        """The changes that made damaged text readable."""
        return [visible(str(repair)) for repair in self.reply.repairs]

    @property
    def diagnostics(self) -> list[str]:
        """The diagnostics, drawn."""
        return [diagnostic.frame() for diagnostic in self.reply.diagnostics]

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets; negative ones are in the prompt prefix."""
        whole, shift = self.prefix + self.raw, len(self.prefix)
        return whole[max(start + shift, 0) : max(end + shift, 0)]


def show(
    text: str,
    source: str,
    requested: str,
    *,
    tools: Any = None,
    prefix: str | None = "",
    size: int = 0,
    screen: Screen | None = None,
    finish_reason: str | None = None,
) -> ResponseView:
    """Read a response in pieces of `size` characters (0: in one piece).

    With None for `prefix`, the format's prompts end as they always do. Raises what the library raises for wrong use:
    UnknownFormatError, GrammarError, ToolError, LimitError.
    """
    recorder = _Recorder(requested, tools, prefix, screen)
    reply = recorder.read(replace_surrogates(text), size, finish_reason)
    whole = parse(text, requested, tools=tools, prefix=prefix, screen=screen, finish_reason=finish_reason)
    view = ResponseView(source, requested, replace_surrogates(_prompt_end(prefix, requested)), reply, size)
    trace, configs = recorder.session.trace, Configs()
    view.steps = list(_steps(trace.log, view, configs))
    view.tokens = [step for step in view.steps if step.number >= 0]
    view.tree = tree(trace.tokens())
    view.rules = dict(_rules(view.tree, ()))
    view.segments = [SegmentView(s.kind, segment_title(s), segment_value(s), *s.span) for s in reply.segments]
    view.refusals = refusals(trace.log, reply, reply.format or (requested if requested != "auto" else ""))
    view.moments = [snapshot.numbered(configs) for snapshot in recorder.snapshots]
    view.configs = configs.views
    view.openers = [e for e in configs.views[0].expected if view.reply.format or requested != "auto"]
    view.events = [one_line(event) for event in recorder.events]
    view.deltas = [delta(event) for event in recorder.events]
    view.difference = [] if reply == whole else list(_difference(whole, reply))
    return view


def _prompt_end(prefix: str | None, requested: str) -> str:
    """What the prompt ended with."""
    if prefix is not None:
        return prefix
    return registry.header(registry.resolve(requested)).opened if requested != "auto" else ""


class _Snapshot(NamedTuple):
    """A moment whose configurations have no number yet."""

    arrived: int
    held: tuple[Span, ...]
    events: int
    places: list[tuple[str, Config]]

    def numbered(self, configs: Configs) -> Moment:
        """The moment, with the numbers of its configurations."""
        places = tuple([(name, configs.number(config)) for name, config in self.places])
        return Moment(self.arrived, self.held, self.events, places)


class _Recorder:
    """Reads a response as a stream and records the state of the parser after each piece."""

    def __init__(self, requested: str, tools: Any, prefix: str | None, screen: Screen | None) -> None:
        self._new: list[Event] = []
        self.session = TracedSession(read_options(requested, tools, screen=screen), prefix, self._new)
        self._sent: dict[int, int] = {}
        self._joiner = TextJoiner(self.session)
        self.events: list[Event] = []
        self.snapshots: list[_Snapshot] = []

    def read(self, text: str, size: int, finish_reason: str | None) -> Reply:
        """Read all of a text."""
        self._take_snapshot(0)
        size = size or len(text) or 1
        for start in range(0, len(text), size):
            self.session.feed(text[start : start + size])
            self._take_snapshot(min(start + size, len(text)))
        reply = self.session.close(finish_reason)
        self._take_snapshot(len(text), ended=True)
        return reply

    def _take_snapshot(self, arrived: int, *, ended: bool = False) -> None:
        self._sent |= {e.index: self._sent.get(e.index, 0) for e in self._new if isinstance(e, ToolCallDelta)}
        for event in self._new:
            if isinstance(event, ToolCallDelta):
                self._sent[event.index] += len(event.arguments)
        self.events += self._joiner.join(self._new)
        self.events += self._joiner.end(arrived) if ended else []
        self._new.clear()
        held = [] if ended else self.session.held(arrived, self._sent)
        spans = tuple([(max(start, 0), end) for start, end in held if end > 0])
        self.snapshots.append(_Snapshot(arrived, spans, len(self.events), self.session.places()))


def _steps(log: list[Step], view: ResponseView, configs: Configs) -> Iterator[StepView]:
    """The steps in order. Tokens are numbered like those of `Trace.tokens`."""
    number = -1
    for step in log:
        config = configs.number(step.config)
        text = view.slice(step.start, step.end)
        if step.kind != "read":
            names = ", ".join([trial.name for trial in step.trials])
            name = _TURNS[step.kind].format(cost=step.cost, trials=names)
            yield StepView(-1, step.kind, name, step.start, step.end, text, config, withdrawn=step.withdrawn)
            continue
        number += not step.withdrawn
        taken = step.transition if step.mark not in ("cut", "unread") else None
        yield StepView(
            number=-1 if step.withdrawn else number,
            kind=configs.kind(step),
            name=step.transition.terminal.short if step.transition else "",
            start=step.start,
            end=step.end,
            text=text,
            config=config,
            target=None if taken is None else configs.number(taken.target),
            mark=step.mark,
            withdrawn=step.withdrawn,
            operations=tuple(_operations(taken.before + taken.after)) if taken is not None else (),
            repairs=tuple([f"{visible(view.slice(e.start, e.end))} → {visible(e.after)}" for e in step.edits]),
            written=step.transition.terminal.canonical if step.transition else "",
        )


def _operations(ops: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The operations of a transition in words, except purely structural ones."""
    for op, what in ops:
        if op in _OPERATIONS:
            yield f"{_OPERATIONS[op]} {' or '.join(what.split())}"
        elif op == "field":
            yield f"is {what}"


def _rules(nodes: list[Node | int], around: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rules around each token, outermost first."""
    for node in nodes:
        if isinstance(node, int):
            yield node, around
        else:
            yield from _rules(node.children, (*around, node.name))


def _difference(whole: Reply, streamed: Reply) -> Iterator[str]:
    """How a streamed reply differs from the one of the whole text."""
    old, new = [reply.model_dump_json(indent=2).splitlines() for reply in (whole, streamed)]
    for line in difflib.unified_diff(old, new, "whole", "streamed", n=2, lineterm=""):
        yield visible(line)
