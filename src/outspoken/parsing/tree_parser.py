"""`parse_tree`: a response as a tree of Lark.

The engine reads the response marker by marker, and what it shifts is recorded. Lark's own LALR parser makes the tree of
these terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token, Tree, UnexpectedInput
from lark.lexer import LineCounter

from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import ParserPolicy
from outspoken.engine.single_steps import SingleSteps
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import matchers, registry
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import FREE_TEXT, short
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import text_of
from outspoken.results.encoding import replace_surrogates
from outspoken.results.errors import ResponseError
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.settings import Settings
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import HANDLERS
from outspoken.semantics.state import Context, ReplyState
from outspoken.trees.lark_parser import tree_of
from outspoken.trees.transformer import TreeSource

from .options import ReadOptions, prefix_of, read_options
from .parser import Parser
from .prompt_prefix import after_anchor, prompt_before
from .response_reader import read_embedded

if TYPE_CHECKING:
    from outspoken.engine.recovery_driver import RecoveryDriver
    from outspoken.recovery.path import RecoveryPath


def parse_tree(
    text: str | bytes | None,
    format: str,
    *,
    prefix: str | None = None,
    tools: Tools | Sequence[ToolLike] | None = None,
    settings: Settings | None = None,
) -> Tree[Token]:
    """Parse a complete response to a tree of Lark: its rules and terminals, with their names in the grammar file.

    Every token is in the tree: markers, free text, which may be empty, and embedded values. White space that the
    grammar ignores is left out. `start_pos` and `end_pos` are offsets in `text`; those of the prompt's end are
    negative, and its lines and columns are those of the first character. `SegmentTransformer` makes the segments of a
    tree. `format` is a name or alias, not "auto"; for the other arguments, see `Parser`.

    Raises ResponseError if the grammar refuses a part of the text, which `parse` would repair, cut or report;
    `diagnostic` says where. Raises UnknownFormatError, and what `Parser` raises for the other arguments.
    """
    options = read_options(format, tools, settings=settings)
    name = registry.resolve(format)
    raw = replace_surrogates(text_of(text, "text"))
    parser = Parser(name, tools=options.tools, settings=options.settings)
    if len(raw) > options.settings.max_chars:
        parser.parse(raw, prefix=prefix)  # raises LimitError
    source = _source(raw, name, prefix_of(prefix), options)
    refused_at = 0
    shifts = _shifts(source)
    if shifts is not None:
        try:
            return _tree(name, shifts, source)
        except UnexpectedInput as error:
            refused_at = error.pos_in_stream or 0
    reply = parser.parse(raw, prefix=prefix)
    place = (max(refused_at, 0), max(refused_at, 0))
    pending = PendingDiagnostic("refused-text", "the grammar does not allow this here", place, "error", name)
    found = sorted(reply.diagnostics, key=lambda d: d.severity != "error") or place_diagnostics([pending], raw)
    raise ResponseError(found[0], reply)


def _source(raw: str, name: str, prefix: str | None, options: ReadOptions) -> TreeSource:
    automaton = registry.automaton(name, lenient=True)
    header = automaton.tables.header
    prompt = after_anchor(replace_surrogates(prompt_before(raw, prefix, header.opened)), header.anchor)
    context = Context(header, options.tools, options.settings, options.repair, read_embedded, *options[5:])
    return TreeSource(prompt, raw, automaton, context)


# the tokens


class Shift(NamedTuple):
    """A terminal that the engine shifted, and the offsets of its text. `is_lenient`: a marker before it is missing."""

    name: str
    start: int
    end: int
    is_lenient: bool = False


def _shifts(source: TreeSource) -> list[Shift] | None:
    """What the engine shifts to read a response; None if that takes a repair, or if the text is incomplete."""
    builder, record, base = Builder(ReplyState(source.context, None)), Record(), len(source.prompt)
    parser = RecordingParser(source.automaton, builder, TextBuffer(-base), record)
    parser.read(source.prompt + source.text)
    is_refused = record.is_repaired or builder.recorder.status != "ok"
    return None if is_refused or any(shift.is_lenient for shift in record.shifts) else record.shifts


def _tree(name: str, shifts: list[Shift], source: TreeSource) -> Tree[Token]:
    """The tree of what was shifted. Raises lark.UnexpectedInput if the grammar refuses it."""
    tree = tree_of(name, _tokens(shifts, source))
    for subtree in tree.iter_subtrees():
        known: Any = subtree.meta
        known.source = source
    return tree


def _tokens(shifts: list[Shift], source: TreeSource) -> list[Token]:
    whole, base, found = source.prompt + source.text, len(source.prompt), list[Token]()
    counter: Any = LineCounter("\n")

    def place(at: int) -> tuple[int, int]:
        counter.feed(source.text[counter.char_pos : max(at, 0)])
        return counter.line, counter.column

    for name, start, end, _ in shifts:
        (line, column), (end_line, end_column) = place(start), place(end)
        found.append(Token(name, whole[start + base : end + base], start, line, column, end_line, end_column, end))
    return found


class Record(ParserPolicy):
    """The terminals that a parser shifts. As its policy, it hears what becomes text again, and what is repaired."""

    def __init__(self) -> None:
        self.shifts: list[Shift] = []
        self.is_repaired = False
        self._text_start: int | None = None

    def add(self, transition: Transition, start: int, end: int) -> None:
        """A terminal was shifted."""
        self.shifts.append(Shift(transition.terminal.name, start, end, bool(transition.inserted)))

    def begin_text(self, at: int) -> None:
        """Free text begins."""
        if self._text_start is None:
            self._text_start = at

    def end_text(self, free: Transition, end: int) -> None:
        """Free text has ended."""
        start = end if self._text_start is None else self._text_start
        self._text_start = None
        self.add(free, start, end)

    def reread_as_text(self, recovery: RecoveryDriver, after: int) -> bool | None:
        """All from the marker on that led out of plain text is text."""
        consumed, opener_at = recovery.builder.output.consumed, recovery.state.opener_at
        self.take_back(opener_at if opener_at >= consumed else consumed)
        return None

    def take_back(self, at: int) -> None:
        """What was shifted from an offset on is text."""
        while self.shifts and self.shifts[-1].start >= at and self.shifts[-1].end > at:
            self.shifts.pop()
        self._text_start = at
        if self.shifts and self.shifts[-1].end >= at and short(self.shifts[-1].name) in FREE_TEXT:
            self._text_start = self.shifts.pop().start

    def recovered(self, path: RecoveryPath, *, accepted: bool) -> None:
        """A recovery path was found, and was accepted or not."""
        self.is_repaired = self.is_repaired or accepted


class RecordingParser(AutomatonParser):
    """A parser that reads complete text marker by marker, and records what it shifts."""

    def __init__(self, automaton: Any, builder: Builder, text: TextBuffer, record: Record) -> None:
        super().__init__(automaton, builder, text, record)
        self._record = record

    def read_batches(self) -> None:
        """Read nothing, since a batch does not tell its markers apart."""

    @cached_property
    def steps(self) -> SingleSteps:
        """What reads in single steps."""
        return _RecordingSteps(self, self._record)

    def finish(self) -> None:
        """All of the text was read. A code sample that is never closed is text."""
        nodes = [node.start for node in self.builder.nodes if node.kinds == "code"]
        super().finish()
        text = self.automaton.start.free or self.automaton.top_level.free
        if nodes and text is not None:
            self._record.take_back(nodes[0])
            self._record.end_text(text, self.text.end)


class _RecordingSteps(SingleSteps):
    """Single steps of which each shifts one terminal, or free text and the marker behind it."""

    def __init__(self, parser: AutomatonParser, record: Record) -> None:
        super().__init__(parser)
        self._record = record

    def _match_marker(self, config: Config, when: str, *, final: bool) -> tuple[matchers.Matcher, Any]:
        step = matchers.matcher_of(config, f"{when} single", HANDLERS)
        return step, step.match(self.text.text, self.text.pos)

    def text_step(self, free: Transition, which: str) -> Any:
        return super().text_step(free, "find single")

    def _start_text(self, role: str) -> None:
        self._record.begin_text(self.text.offset)
        super()._start_text(role)

    def shift_text(self, free: Transition, at: int) -> None:
        self._record.end_text(free, self.text.base + at)
        super().shift_text(free, at)

    def follow(self, branch: matchers.Branch, match: Any) -> None:
        start, end = match.span(match.lastindex - 1)
        assert branch.transition is not None, "a marker leads on"
        self._record.add(branch.transition, self.text.base + start, self.text.base + end)
        super().follow(branch, match)

    def shift_embedded(self, transition: Transition, start: int, end: int) -> None:
        self._record.add(transition, self.text.base + start, self.text.base + end)
        super().shift_embedded(transition, start, end)
