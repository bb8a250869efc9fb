"""`parse_tree`: a response as a tree of Lark.

The engine reads the response marker by marker, and what it shifts is recorded. Lark's own LALR parser makes the tree of
these terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from lark import Token, Tree, UnexpectedInput
from lark.lexer import LineCounter

from outspoken.engine.parse_steps import ParseStep
from outspoken.engine.parser import AutomatonParser
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition
from outspoken.grammar.matchers import is_lone, named_operation
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import text_of
from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.encoding import replace_surrogates
from outspoken.results.errors import ResponseError
from outspoken.results.old_names import by_keyword
from outspoken.results.settings import Settings
from outspoken.semantics.builder import Builder
from outspoken.semantics.state import Context, ReplyState
from outspoken.trees.lark_parser import tree_of
from outspoken.trees.transformer import TokenFacts, TokenPlace, TreeSource

from .options import ReadOptions, prefix_of, read_options
from .parser import Parser
from .prompt_prefix import after_anchor, prompt_before
from .response_reader import read_embedded


@by_keyword
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
    diagnostics = sorted(reply.diagnostics, key=lambda d: d.severity != "error") or place_diagnostics([pending], raw)
    raise ResponseError(diagnostics[0], reply)


def _source(raw: str, name: str, prefix: str | None, options: ReadOptions) -> TreeSource:
    automaton = registry.automaton(name, lenient=True)
    header = automaton.tables.header
    prompt = after_anchor(replace_surrogates(prompt_before(raw, prefix, header.opened)), header.anchor)
    context = Context(header, options.tools, options.settings, options.repair, read_embedded, *options[5:9])
    return TreeSource(prompt, raw, automaton, context, {})


# the tokens


class Shift(NamedTuple):
    """A terminal that the engine shifted by a transition, and the offsets of its text."""

    transition: Transition
    start: int
    end: int

    @property
    def is_free_text(self) -> bool:
        """Is it free text?"""
        return self.transition.terminal.short in FREE_TEXT

    @property
    def is_lone(self) -> bool:
        """Is it a marker that belongs to no node?"""
        before = [named_operation(op, 0, before=True) for op in self.transition.before]
        return self.transition.terminal.short not in FREE_TEXT | EMBEDDED_VALUES and is_lone(self.transition, before)

    @property
    def place(self) -> TokenPlace:
        """Which token it becomes."""
        return TokenPlace(self.transition.terminal.short, self.start, self.end)


def _shifts(source: TreeSource) -> list[Shift] | None:
    """What the engine shifts to read a response; None if that takes a repair, or if the text is incomplete."""
    builder, log, base = Builder(ReplyState(source.context, None)), list[ParseStep](), len(source.prompt)
    parser = AutomatonParser(source.automaton, builder, TextBuffer(-base), log=log)
    parser.take_rest(source.prompt + source.text)
    parser.run(final=True)
    sample = builder.open_sample
    parser.finish()
    if builder.recorder.status != "ok" or any(step.kind == "recovered" for step in log):
        return None
    shifts, end = list[Shift](), -base
    for step in log:
        if step.kind == "token" and step.transition is not None:
            is_free = step.transition.terminal.short in FREE_TEXT and step.start == step.end
            shifts.append(Shift(step.transition, end if is_free else step.start, step.end))
            end = step.end
        elif step.kind == "text":
            end = _take_back(shifts, step.start)
    text = source.automaton.start.free or source.automaton.top_level.free
    if sample is not None and text is not None:  # a code sample that is never closed is text
        start = _take_back(shifts, sample.start)
        shifts.append(Shift(text, start, parser.text.end))
    return None if any(shift.transition.inserted for shift in shifts) else shifts


def _take_back(shifts: list[Shift], at: int) -> int:
    """What was shifted from an offset on is text. Returns where that begins: with the text before it."""
    while shifts and shifts[-1].start >= at and shifts[-1].end > at:
        shifts.pop()
    is_more = shifts and shifts[-1].end >= at and shifts[-1].is_free_text
    return shifts.pop().start if is_more else at


def _tree(name: str, shifts: list[Shift], source: TreeSource) -> Tree[Token]:
    """The tree of what was shifted. Raises lark.UnexpectedInput if the grammar refuses it."""
    tree = tree_of(name, _tokens(shifts, source))
    source = source._replace(facts=dict(_facts(shifts, len(source.text))))
    for subtree in tree.iter_subtrees():
        known: Any = subtree.meta
        known.source = source
    return tree


def _facts(shifts: list[Shift], end: int) -> Iterator[tuple[TokenPlace, TokenFacts]]:
    """What the engine knows of each token. The response ends at an offset."""
    for shift, following in zip_longest(shifts, shifts[1:]):
        transition = shift.transition
        next_ = following.transition.before if following is not None else transition.target.end_operations() or ()
        is_structure = ("drop", "") in (*transition.after, *next_)
        late = sum([name == "end" for name, _ in next_])
        at = following.start if following is not None else end
        yield shift.place, TokenFacts(transition.target, shift.is_lone, is_structure, late, at)


def _tokens(shifts: list[Shift], source: TreeSource) -> list[Token]:
    whole, base, tokens = source.prompt + source.text, len(source.prompt), list[Token]()
    counter: Any = LineCounter("\n")

    def place(at: int) -> tuple[int, int]:
        counter.feed(source.text[counter.char_pos : max(at, 0)])
        return counter.line, counter.column

    for transition, start, end in shifts:
        (line, column), (end_line, end_column) = place(start), place(end)
        name, text = transition.terminal.name, whole[start + base : end + base]
        tokens.append(Token(name, text, start, line, column, end_line, end_column, end))
    return tokens
