"""Where a result ends and what belongs to it: what the parser can know of that too late, or only by chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import CALLS, NODES

from .findings import CheckedGrammar, Span, body_span


class _Problem(NamedTuple):
    """A step that does what it should not: the name of a rule that ends late, or of a value without an owner."""

    name: str
    terminal: str
    is_late: bool


def check_ends(grammar: CheckedGrammar, automaton: Automaton) -> Iterator[Diagnostic]:
    """Findings on values without a call, and on calls that only the text behind them ends."""
    for problem in _problems(automaton):
        source, span = _place(grammar.source, problem)
        name, terminal, file = problem.name, problem.terminal, grammar.file_of(source)
        if problem.is_late:
            message = f"`{name}` may end only with the text behind it"
            note = f"another part of it may follow where it could end, so only `{terminal}` shows that it ended"
            helps = "end each alternative of it with a marker, or write one rule for each of its forms"
            yield file.finding("ends-late", span, message, helps, severity="warning", notes=[note])
        else:
            message = f"`{name}` can be read where no call, action or payload is open"
            note = f"behind `{terminal}`, there is nothing that it belongs to"
            helps = "use it inside of a rule such as `tool_call`, or give it a name that begins with `_`"
            yield file.finding("no-owner", span, message, helps, notes=[note])


def _place(source: Source, problem: _Problem) -> tuple[Source, Span]:
    """The rule of a problem, or the word that means it in a rule: in this file, or in one that it imports."""
    name = problem.name.rpartition("__")[2]
    home, _ = source.resolve(problem.name) or (source, None)
    rules = [(file, d) for file in dict.fromkeys((source, home)) for d in file.written if not d.is_terminal]
    places = [(file, d, d.span[0]) for file, d in rules if name in (d.name, *d.aliases)]
    if not problem.is_late:  # inside of a call, it has an owner
        using = [(file, d, body_span(d)[0]) for file, d in rules if name in d.uses]
        places = sorted(using, key=lambda entry: entry[1].name in NODES)
    for file, definition, start in places:
        return file, file.find(name, start, definition.span[1]) or definition.span
    start = source.definition(START)
    return source, start.span if start is not None else (0, 0)


def _problems(automaton: Automaton) -> list[_Problem]:
    """The problems of all steps, each once. How many nodes are open is counted along the steps."""
    waiting: list[tuple[Config, int]] = [(automaton.start, 0)]
    seen, problems = {*waiting}, dict[_Problem, None]()
    for config, depth in waiting:
        free = config.strict_transitions()[0]
        if free is not None and (late := next((k for name, k in free.before if name == "end" and k in CALLS), "")):
            problems[_Problem(late, free.terminal.short, is_late=True)] = None
        for step in config.steps:
            after, stray = _depth_behind(step, depth)
            if stray:
                problems[_Problem(stray, step.terminal.short, is_late=False)] = None
            elif after >= 0 and (step.target, after) not in seen:
                seen.add((step.target, after))
                waiting.append((step.target, after))
    return list(problems)


def _depth_behind(step: Transition, depth: int) -> tuple[int, str]:
    """How many nodes are open behind a step, -1 where nothing can be said, and what belongs to no node."""
    if step.terminal.short == "ARG_VALUE" and not depth and not step.before:
        return -1, "ARG_VALUE"
    for name, argument in (*step.before, *step.after):
        depth += (name in ("begin", "reopen")) - (name in ("end", "drop"))
        if depth < 0 or (not depth and name in ("token", "field") and argument != "odd"):
            return -1, argument if name in ("token", "field") else ""
    return depth, ""
