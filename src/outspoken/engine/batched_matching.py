"""Batched matching: complete text is read with regular expressions that take several markers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.grammar import matchers
from outspoken.grammar.automaton import CLOSER_OVERLAP, Config, Transition
from outspoken.json.scanner import read_at
from outspoken.notations.interface import notation_of
from outspoken.semantics.handlers import FREE, HANDLERS, Place
from outspoken.semantics.steps import carry_out, schema_of

from .text_buffer import BLANK, BLANKS, trimmed

if TYPE_CHECKING:
    from .parser import AutomatonParser

#: Free text that is longer than this is searched by the engine that is faster on long text.
LONG = 2048


def read_batches(parser: AutomatonParser) -> None:
    """Read complete text in the longest steps that regular expressions can make, until one cannot continue.

    The parser reads on in single steps. If its policy `stops_at_text`, the next plain text is not read.
    """
    text, state, builder = parser.text, parser.state, parser.builder
    buffer, base, pos = text.text, text.base, text.pos
    config, end = state.config, len(buffer)
    while pos < end:
        free = config.free
        if free is None:
            step = config.matcher or _matcher(config)
            match = step.match(buffer, pos)
            if match is None:
                at = _embedded_value(parser, config, pos) if config.embedded else -1
                if at < 0:
                    break
                pos, config = at, state.config
                continue
        else:
            step, match = _free_text(parser, config, free, pos)
            if match is None:
                break
        branch = step.branches[match.lastindex]
        for function, arg, group in branch.operations:
            function(builder, arg, match, group, base)
        config = branch.target
        pos = match.end()
    state.config, text.pos = config, pos


def _free_text(parser: AutomatonParser, config: Config, free: Transition, pos: int) -> tuple[Any, Any]:
    """The step and its match behind complete free text, which is passed on, or in place of free text.

    Both are None if there is none.
    """
    state, buffer = parser.state, parser.text.text
    role, target = free.terminal.short, free.target
    if not state.before_text or (role == "TEXT" and parser.policy.stops_at_text and not parser.builder.nodes):
        return None, None
    leader = config.leading_matcher if config.leading_matcher is not None else _leader(config)
    if leader and parser.policy.stops_at_text:
        return None, None
    if leader and (match := leader.match(buffer, pos)) is not None:
        state.after_marker = True
        return leader, match
    step = target.finder or _finder(target)
    if len(buffer) - pos > LONG:
        step = matchers.matcher_of(target, "find long", HANDLERS)
    match = step.find(buffer, pos)
    if match is None:
        return None, None
    end = match.start()
    if target.may_lack_closer is not None:
        lacking = target.may_lack_closer(buffer, pos, end + CLOSER_OVERLAP)
        if lacking is not None and lacking.start() < end:
            return None, None
    if config is parser.automaton.top_level or config is parser.automaton.start:
        state.opener_at = parser.text.base + end
    _pass_on(parser, free, role, pos, end)
    state.after_marker = True
    return step, match


def _pass_on(parser: AutomatonParser, free: Transition, role: str, start: int, end: int) -> None:
    """Pass on free text that is complete and ends at a marker, without the white space of markers."""
    builder, state, base = parser.builder, parser.state, parser.text.base
    if role == "TEXT":
        builder.output.consumed = base + start
    elif role == "REASONING":
        builder.reasoning_at(base + start)
        builder.reasoning_at(base + end)
    piece = ""
    if start < end:
        trims = role in state.trims
        keeps_lead = role == "TEXT" and (builder.output.after_text or "TEXT" not in state.leading_trims)
        leads = trims and state.after_marker and not keeps_lead
        piece, start = trimmed(parser.text.text, start, end, leads=leads, ends=trims)
    if piece:
        FREE[role](builder, piece, base + start, base + start + len(piece))
    if role == "ARG_VALUE":
        builder.calls.end_value(free.target)
    if free.after or free.before:
        carry_out(builder, free, Place(end, end), base)


def _embedded_value(parser: AutomatonParser, config: Config, pos: int) -> int:
    """Read an embedded value that is complete. Returns its end, or -1 if there is none."""
    buffer, builder = parser.text.text, parser.builder
    char = buffer[pos]
    if char in BLANK:
        if parser.automaton.tables.ignore:
            pos = BLANKS.match(buffer, pos).end()
        char = buffer[pos : pos + 1]
    transition = config.json.get(char)
    if transition is not None:
        found = read_at(buffer, pos, builder.context.settings.max_depth)
    else:
        transition, found = _in_other_notation(parser, config, pos, char)
    if found is None or transition is None:
        return -1
    builder.state.last_value, end, builder.state.last_text = found
    carry_out(builder, transition, Place(pos, end), parser.text.base)
    parser.state.config = transition.target
    return end


def _in_other_notation(parser: AutomatonParser, config: Config, pos: int, char: str) -> tuple[Transition | None, Any]:
    """The embedded value that begins with a character in another notation than JSON, and what it holds."""
    depth = parser.builder.context.settings.max_depth
    for transition in config.embedded:
        notation = notation_of(transition.terminal)
        if notation.may_begin(char):
            schema = schema_of(parser.builder, transition, notation)
            return transition, notation.read_at(parser.text.text, pos, depth, True, schema)
    return None, None


def _matcher(config: Config) -> matchers.Matcher:
    found = matchers.matcher_of(config, "match whole", HANDLERS)
    if not found.brief:
        config.matcher = found
    return found


def _leader(config: Config) -> Any:
    """The step over the markers that may stand only before free text; False if there are none."""
    found = matchers.matcher_of(config, "leading whole", HANDLERS) if config.leading_markers else False
    if not (found and found.brief):
        config.leading_matcher = found
    return found


def _finder(config: Config) -> matchers.Matcher:
    found = matchers.matcher_of(config, "find whole", HANDLERS)
    if not found.brief:
        config.finder = found
    return found
