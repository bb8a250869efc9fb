"""Calls as engines force them (`tool_choice="required"`): JSON in place of the markers of the model's format.

A response that begins so, behind nothing but reasoning, is held until its end, and read by the format whose header says
how such responses begin (`forced`). If that reads nothing but calls of declared tools, they are the calls of the
response. Otherwise, it is read on as the named format says.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import DEFAULT_POLICY, ParserPolicy
from outspoken.engine.single_steps import SingleSteps
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.patterns.alike import compile_arriving
from outspoken.results.replies import Reasoning, Text
from outspoken.semantics.output import Output

#: What forced calls begin with, if not with a bracket or a brace.
_TAG = "<tools>"
#: No more white space stands before them.
_BLANKS = 99


def take_forced(parser: AutomatonParser) -> None:
    """Let a parser of a format with calls take those that are forced."""
    if _has_calls(parser.automaton):
        parser.policy = ForcedCalls(parser)


@lru_cache(maxsize=256)
def _has_calls(automaton: Automaton) -> bool:
    return any("tool_call" in kinds.split() for kinds in automaton.tables.nodes)


@registry.cached
def _heads(edition: int) -> list[tuple[str, re.Pattern[str]]]:
    """The formats of forced calls, and what finds the beginning of a response in each."""
    return [(name, re.compile(pattern)) for name, pattern in registry.forced(edition).items()]


@registry.cached
def _arriving_heads(edition: int) -> list[Any]:
    """The same for text that is still arriving."""
    return [compile_arriving(pattern) for pattern in registry.forced(edition).values()]


def _start_of(text: TextBuffer) -> int:
    """Where the text begins that is read, without the end of the prompt."""
    return max(text.pos, -text.base)


class ForcedCalls(ParserPolicy):
    """Tries what stands at the start of the text of one response as forced calls; see the module."""

    def __init__(self, parser: AutomatonParser) -> None:
        self._parser = parser
        #: the response begins with forced calls, up to what has come of it
        self._is_held = False

    def _leave(self) -> None:
        self._parser.policy = self._parser.steps.policy = DEFAULT_POLICY

    def is_plain_text(self, text: Any, chunk: str) -> bool | None:
        """The text has begun without forced calls."""
        self._leave()
        return None

    def enter_free_text(self, steps: SingleSteps, config: Config, free: Transition, *, final: bool) -> bool | None:
        """Hold what may be forced calls, and read them at the end of the text."""
        builder = steps.builder
        if free.target is not steps.automaton.top_level or builder.nodes:
            return None
        special = builder.state.special
        needs_token = special is not None and special.begins(steps.automaton.tables.header.format, "", 0) is not None
        if needs_token or not self._is_first(builder.output):
            self._leave()  # forced calls have no special tokens, as text has that an attacker wrote
            return None
        if steps.text.end <= 0:
            return None  # the end of the prompt
        start = _start_of(steps.text)
        begin = steps.text.text[start : start + _BLANKS].lstrip()[: len(_TAG)]
        if not begin:
            return None if final else False
        if begin[:1] not in ("[", "{") and not _TAG.startswith(begin):
            return None  # other files need not be read
        if not final:
            return False if self._is_held or self._may_begin(steps, free) else None
        for name, head in _heads(registry.edition()):
            match = head.match(steps.text.text, _start_of(steps.text))
            if match and not self._is_own(steps, free) and self._accepts(match) and self._read(steps, name):
                return True
        return None

    def _is_first(self, output: Output) -> bool:
        """Does nothing but reasoning stand before this text?"""
        return output.run_model is not Text and all(type(segment) is Reasoning for segment in output.segments)

    def _may_begin(self, steps: SingleSteps, free: Transition) -> bool:
        """May forced calls begin here?"""
        text, heads = steps.text, _arriving_heads(registry.edition())
        matches = [head.match(text.text, _start_of(text), partial=True) for head in heads]
        known = [match for match in matches if match is not None and (match.partial or self._accepts(match))]
        may_begin = bool(known) and not self._is_own(steps, free)
        self._is_held = may_begin and not all(match.partial for match in known)
        return may_begin

    def _accepts(self, head: Any) -> bool:
        """Is the first call one of a declared tool? Where none is declared, an object alone may be any answer."""
        tools = self._parser.builder.context.tools
        return "list" in head.re.groupindex if tools is None else head["name"] in tools

    def _is_own(self, steps: SingleSteps, free: Transition) -> bool:
        """Does a marker of the named format stand here?"""
        text, start = steps.text, _start_of(steps.text)
        found = steps.text_step(free, start, final=True).find(text.text, start)
        return found is not None and found.start() <= steps.skip_blank(start)

    def _read(self, steps: SingleSteps, name: str) -> bool:
        """Read the rest of the text as forced calls. Returns whether there is nothing else in it."""
        parser, builder, text = self._parser, steps.builder, steps.text
        start = text.base + _start_of(text)
        if text.end - start > builder.context.settings.max_hold:
            return False
        automaton = registry.automaton(name, lenient=builder.context.repair_limit not in ("none", "notation"))
        fork = builder.fork(start, automaton.tables.header)
        budget = parser.budget.copy()
        own = AutomatonParser(automaton, fork, text.fork(start), budget=budget, config=automaton.top_level)
        own.close(end_is_proven=parser.state.end_is_proven)
        tools = builder.context.tools
        calls = fork.output.segments
        if not calls or any(c.kind != "tool_call" or (tools is not None and c.name not in tools) for c in calls):
            return False
        builder.absorb(fork)
        if builder.output.events is not None and fork.output.events:
            builder.output.events += fork.output.events
        parser.budget.continue_from(budget)
        text.pos = len(text.text)
        parser.state.before_text = True
        return True
