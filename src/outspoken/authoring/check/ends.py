"""Where a result ends and what belongs to it: what the parser can know of that too late, or only by chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import CALLS, NODES
from outspoken.results.diagnostics import Severity

from .findings import CheckedGrammar, Span, body_span

#: Whether something was read for each open node, from the outermost to the innermost.
_Filled = tuple[bool, ...]

#: The severity, the message, a note and what to do.
_MESSAGES: dict[str, tuple[Severity, str, str, str]] = {
    "no-owner": (
        "error",
        "`{name}` can be read where no call, action or payload is open",
        "behind `{terminal}`, there is nothing that it belongs to",
        "use it inside of a rule such as `tool_call`, or give it a name that begins with `_`",
    ),
    "ends-late": (
        "warning",
        "`{name}` may end only with the text behind it",
        "another part of it may follow where it could end, so only `{terminal}` shows that it ended",
        "end each alternative of it with a marker, or write one rule for each of its forms",
    ),
    "lost-part": (
        "error",
        "what `{name}` reads can be lost",
        "up to `{terminal}`, a `{name}` may begin here, or one that began before may go on",
        "let one rule be the `{name}` in both places, with the markers outside: `_wrapped: _OPEN item _CLOSE`",
    ),
}


class _Problem(NamedTuple):
    """A step that does what it should not: the code of the finding, and the name of a rule or terminal."""

    code: str
    name: str
    terminal: str


def check_ends(grammar: CheckedGrammar, automaton: Automaton) -> Iterator[Diagnostic]:
    """Findings on values without a call, calls that only text ends, and calls whose parts are lost."""
    for problem in _problems(automaton):
        source, span = _place(grammar.source, problem)
        severity, *texts = _MESSAGES[problem.code]
        message, note, helps = [text.format(name=problem.name, terminal=problem.terminal) for text in texts]
        file = grammar.file_of(source)
        yield file.finding(problem.code, span, message, helps, severity=severity, notes=[note])


def _place(source: Source, problem: _Problem) -> tuple[Source, Span]:
    """The rule of a problem, or the word that means it in a rule: in this file, or in one that it imports."""
    name = problem.name.rpartition("__")[2]
    home, _ = source.resolve(problem.name) or (source, None)
    rules = [(file, d) for file in dict.fromkeys((source, home)) for d in file.written if not d.is_terminal]
    found = [(file, d, d.span[0]) for file, d in rules if name in (d.name, *d.aliases)]
    if problem.code == "no-owner":  # inside of a call, it has an owner
        using = [(file, d, body_span(d)[0]) for file, d in rules if name in d.uses]
        found = sorted(using, key=lambda entry: entry[1].name in NODES)
    for file, definition, start in found:
        return file, file.find(name, start, definition.span[1]) or definition.span
    start = source.definition(START)
    return source, start.span if start is not None else (0, 0)


def _problems(automaton: Automaton) -> list[_Problem]:
    """The problems of all steps, each once."""
    waiting: list[tuple[Config, _Filled]] = [(automaton.start, ())]
    seen, found = {*waiting}, dict[_Problem, None]()
    for config, filled in waiting:
        free, embedded, markers = config.strict_transitions()
        if free is not None and (late := next((k for name, k in free.before if name == "end" and k in CALLS), "")):
            found[_Problem("ends-late", late, free.terminal.short)] = None
        for step in (*([free] if free else []), *embedded, *markers):
            after = _followed(step, filled, found)
            if after is not None and (step.target, after) not in seen:
                seen.add((step.target, after))
                waiting.append((step.target, after))
    return list(found)


def _followed(step: Transition, filled: _Filled, found: dict[_Problem, None]) -> _Filled | None:
    """What is open behind a step, with a note of what is wrong with it; None if nothing can be said behind it."""
    kinds = step.target.automaton.tables.nodes
    open_nodes, last, terminal = list(filled), "", step.terminal.short
    if terminal == "ARG_VALUE" and not open_nodes and not step.before:
        found[_Problem("no-owner", "ARG_VALUE", "ARG_VALUE")] = None
        return None
    for name, argument in (*step.before, *step.after):
        last = argument if name == "begin" else last
        if name in ("begin", "reopen"):
            open_nodes.append(False)
        elif name in ("end", "drop"):
            if not open_nodes:
                return None
            if open_nodes.pop() and name == "drop":
                lost = next((k for s in reversed(step.target.stack) for k in kinds[s].split() if k in CALLS), last)
                found[_Problem("lost-part", lost or "tool_call", terminal)] = None
            if open_nodes and (name, argument) == ("end", "call_id"):
                open_nodes[-1] = True
        elif name in ("token", "field") and argument != "odd":
            if not open_nodes:
                found[_Problem("no-owner", argument, terminal)] = None
                return None
            open_nodes[-1] = True
    return tuple(open_nodes)
