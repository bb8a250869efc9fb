"""What is shown of a response: `show` reads it as a stream, and says what is known after each piece."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from outspoken.engine.parse_steps import ParseStep
from outspoken.grammar import registry
from outspoken.grammar.automaton import Config
from outspoken.grammar.tables import Tables
from outspoken.grammar.vocabulary import is_meaningful
from outspoken.parsing.functions import parse
from outspoken.parsing.options import ParserOptions, ReadOptions, read_options
from outspoken.parsing.response_reader import ActiveParser, ResponseReader
from outspoken.parsing.session import SentEvents
from outspoken.results.encoding import replace_surrogates
from outspoken.results.events import Event, ToolCallDelta
from outspoken.results.replies import Reply
from outspoken.results.snippet import visible

from .refusals import Configs, refusals
from .steps import Text, ViewStep, steps_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Moment:
    """The state of a stream after a piece: how much has arrived, and from where on it is held back.

    `events` is how many there were so far, `places` are the configurations with the format that is being tried (""
    where only one reads). The last moment is the end of the text.
    """

    arrived: int
    held_from: int
    events: int
    places: tuple[tuple[str, Config], ...]


@dataclass
class View:
    """What is shown of one response. Offsets are into `raw`; it `begins` before 0 if the prompt had opened something.

    `difference` compares the streamed reply with that of the whole text; it is empty unless there is a defect.
    """

    source: str
    requested: str
    reply: Reply
    size: int
    text: Text
    steps: list[ViewStep]
    begins: int
    moments: list[Moment]
    events: list[Event]
    configs: Configs = field(default_factory=Configs)
    difference: list[str] = field(default_factory=list[str])

    @property
    def raw(self) -> str:
        """The response."""
        return self.reply.raw

    @property
    def is_named(self) -> bool:
        """Was the format given by name?"""
        return self.requested != "auto"

    @property
    def headline(self) -> str:
        """The response, its format and its status, on one line."""
        how = "as requested" if self.is_named else "detected"
        format_ = f"{self.reply.format} ({how})" if self.reply.format else "no format"
        return visible(f"{self.source}: {format_}, {self.reply.status}")

    @cached_property
    def tokens(self) -> list[ViewStep]:
        """The tokens that were not withdrawn, in the order of the text."""
        return [step for step in self.steps if step.is_token and not step.withdrawn]

    @cached_property
    def tree(self) -> list[Node | int]:
        """The rules and tokens outside of every rule but the start; a number is the index of a token."""
        return tree(self.tokens)

    @cached_property
    def rules(self) -> dict[int, tuple[str, ...]]:
        """The rules around each token, outermost first."""
        return dict(_rules(self.tree, ()))

    def span(self, node: Node) -> tuple[int, int]:
        """The span of the tokens in a rule."""
        first, last = node.children[0], node.children[-1]
        start = self.span(first)[0] if isinstance(first, Node) else self.tokens[first].start
        return start, self.span(last)[1] if isinstance(last, Node) else self.tokens[last].end

    @cached_property
    def refusals(self) -> list[str]:
        """Where the grammar refused the text, drawn."""
        named = registry.resolve(self.requested) if self.is_named else ""
        return refusals(self.steps, self.reply, self.reply.format or named)

    @property
    def openers(self) -> tuple[str, ...]:
        """What could have opened something, if the whole response is plain text in a format that is known."""
        is_plain = all(segment.kind == "text" for segment in self.reply.segments) and not self.refusals
        is_known = self.reply.format or self.is_named
        return self.configs.views[0].expected if is_plain and is_known else ()

    @property
    def repairs(self) -> list[str]:
        """The changes that made damaged text readable."""
        return [visible(str(repair)) for repair in self.reply.repairs]

    @property
    def diagnostics(self) -> list[str]:
        """The diagnostics, drawn."""
        return [diagnostic.frame() for diagnostic in self.reply.diagnostics]


def show(
    text: str,
    source: str,
    requested: str,
    *,
    prefix: str | None = "",
    size: int = 0,
    finish_reason: str | None = None,
    **options: Unpack[ParserOptions],
) -> View:
    """Read a response in pieces of `size` characters (0: in one piece), with the options of `Parser`.

    With None for `prefix`, the format's prompts end as they always do. Raises what the library raises for wrong use:
    UnknownFormatError, GrammarError, ToolError, LimitError.
    """
    log: list[ParseStep] = []
    stream = _Stream(read_options(requested, **options), prefix, log)
    reply = stream.read(replace_surrogates(text), size, finish_reason)
    whole = parse(text, format=requested, prefix=prefix, finish_reason=finish_reason, **options)
    if prefix is None:
        prefix = registry.header(registry.resolve(requested)).opened if requested != "auto" else ""
    shown = Text(replace_surrogates(prefix), reply.raw)
    steps = steps_of(log, shown, stream.begins)
    view = View(source, requested, reply, size, shown, steps, stream.begins, stream.moments, stream.events)
    for config in [step.config for step in steps] + [place for moment in view.moments for _, place in moment.places]:
        view.configs.number(config)
    view.difference = [] if reply == whole else list(_difference(whole, reply))
    return view


class _Stream:
    """Reads a response as a stream and keeps the state of the parser after each piece."""

    def __init__(self, options: ReadOptions, prefix: str | None, log: list[ParseStep]) -> None:
        self._new: list[Event] = []
        self._reader = ResponseReader(options, prefix, self._new, log=log)
        self._sent: dict[int, int] = {}
        self._stream = SentEvents(self._reader)
        self.events: list[Event] = []
        self.moments: list[Moment] = []

    @property
    def begins(self) -> int:
        """The offset where the text begins that was read: negative if the prompt had opened something."""
        return self._reader.parsers()[0].parser.text.origin

    def read(self, text: str, size: int, finish_reason: str | None) -> Reply:
        """Read all of a text."""
        self._keep_moment(0)
        size = size or len(text) or 1
        for start in range(0, len(text), size):
            self._reader.feed(text[start : start + size])
            self._keep_moment(min(start + size, len(text)))
        reply = self._reader.close(finish_reason)
        self._keep_moment(len(text), ended=True)
        return reply

    def _keep_moment(self, arrived: int, *, ended: bool = False) -> None:
        for event in self._new:
            if isinstance(event, ToolCallDelta):
                self._sent[event.index] = self._sent.get(event.index, 0) + len(event.arguments)
        self.events += self._stream.end(self._new, arrived) if ended else self._stream.take(self._new)
        self._new.clear()
        parsers = self._reader.parsers()
        held_from = arrived if ended else min([arrived, *[self._held_from(one) for one in parsers]] if parsers else [0])
        places = tuple([(one.name, one.parser.state.config) for one in parsers])
        self.moments.append(Moment(arrived, max(held_from, 0), len(self.events), places))

    def _held_from(self, one: ActiveParser) -> int:
        """The offset from which on the text is in no event yet, except for markup."""
        if one.name and one.parser.builder.output.events:
            return one.start
        state, nodes = one.parser.state, one.parser.builder.nodes
        if state.damage is not None and state.damage.call is None:
            return state.damage.start
        node = next((node for node in nodes if node.index >= 0), None)
        waiting = next((node for node in nodes if node.kinds not in ("think", "code")), None)
        if node is None and waiting is not None:
            return waiting.start
        if node is not None and node.key is not None and not node.sending:
            return node.key_start
        if state.damage is not None:
            return state.damage.refused_at
        if state.embedded is None or node is None:
            return one.parser.text.offset
        is_sent = state.embedded.step.role == "arguments"
        return state.embedded.begun + (self._sent.get(node.index, 0) if is_sent else 0)


def _rules(nodes: list[Node | int], around: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
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


@dataclass(slots=True)
class Node:
    """A rule of a grammar, and what stands in it: other rules, and tokens by their number.

    `complete` is false where it was not read to its end; the name is then all that it might have become.
    """

    name: str
    children: list[Node | int] = field(default_factory=list["Node | int"])
    complete: bool = True

    @property
    def is_meaningful(self) -> bool:
        """Whether the name is one of the vocabulary."""
        return is_meaningful(self.name.partition(" ")[0])


@dataclass(slots=True)
class _Entry:
    """A state of the parser, and what stands for the symbol that led to it."""

    state: int
    nodes: list[Node | int]


def tree(tokens: Iterable[ViewStep]) -> list[Node | int]:
    """The rules and tokens outside of every rule but the start, in the order of the text."""
    parser = _Parser()
    for number, token in enumerate(tokens):
        parser.read(token, number)
    return parser.end()


class _Parser:
    def __init__(self) -> None:
        self._done: list[Node | int] = []
        self._tables: Tables | None = None
        self._stack: list[_Entry] = []

    def read(self, token: ViewStep, number: int) -> None:
        """The next token. One that no rule has a place for stands in the rule that is open."""
        tables = token.config.automaton.tables
        if tables is not self._tables:
            self.end()
            self._tables = tables
            self._stack = [_Entry(tables.start, self._done)]
        self._go_to(token.config)
        if token.transition is None or token.mark == "cut":
            self._stack[-1].nodes.append(number)
        else:
            shown = token.end > token.start or token.mark or token.transition.terminal.short != "TEXT"
            self._shift(tables, token.transition.terminal.name.rstrip("~^"), [number] if shown else [])

    def end(self) -> list[Node | int]:
        """The text has ended, or another grammar goes on."""
        if self._tables is not None:
            self._leave(self._tables, 1)
        return self._done

    def _go_to(self, config: Config) -> None:
        """Make the stack that of a configuration: end what is open that it does not have, add what it has besides."""
        same = 0
        for entry, state in zip(self._stack, config.stack, strict=False):
            if entry.state != state:
                break
            same += 1
        self._leave(config.automaton.tables, max(same, 1))
        self._stack += [_Entry(state, []) for state in config.stack[same:]]

    def _leave(self, tables: Tables, depth: int) -> None:
        """End everything on the stack above a depth."""
        nodes: list[Node | int] = []
        while len(self._stack) > depth:
            entry = self._stack.pop()
            kinds = tables.nodes[entry.state]
            nodes = entry.nodes + nodes
            if kinds and nodes:
                nodes = [Node(" or ".join(kinds.split()), nodes, complete=False)]
        self._stack[-1].nodes += nodes

    def _shift(self, tables: Tables, name: str, leaves: list[Node | int]) -> None:
        states = tables.states
        while (action := states[self._stack[-1].state][name]) < 0:
            self._reduce(tables, -1 - action)
        self._stack.append(_Entry(action, leaves))
        while len(actions := set(states[self._stack[-1].state].values())) == 1 and (action := actions.pop()) < 0:
            self._reduce(tables, -1 - action)

    def _reduce(self, tables: Tables, number: int) -> None:
        rule = tables.rules[number]
        nodes: list[Node | int] = []
        if rule.size:
            entries = self._stack[-rule.size :]
            del self._stack[-rule.size :]
            nodes = entries[0].nodes  # of a list, this is all that stands before its last item: it is not copied
            for entry in entries[1:]:
                nodes += entry.nodes
        if not rule.short.startswith("_"):
            nodes = [Node(rule.short, nodes)]
        self._stack.append(_Entry(tables.states[self._stack[-1].state][rule.name], nodes))
