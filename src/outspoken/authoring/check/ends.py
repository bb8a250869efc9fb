"""Where a result ends and what belongs to it: what the parser can know of that too late, or only by chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.automaton import Automaton, Config, Operations, Transition
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import CALLS, NODES

from .findings import CheckedFile, Finding

#: Whether something was read for each open node, from the outermost to the innermost.
_Filled = tuple[bool, ...]


class Problem(NamedTuple):
    """A step that does what it should not: the code of the finding, and the name of a rule or terminal."""

    code: str
    name: str
    terminal: str


def check_ends(checkout: Checkout, source: Source, automaton: Automaton) -> Iterator[Finding]:
    """Findings on values without a call, calls that only text ends, and calls whose parts are lost."""
    for problem in problems(automaton):
        home, span = _place(source, problem)
        yield _finding(problem, CheckedFile.of_source(checkout, home), span)


def _place(source: Source, problem: Problem) -> tuple[Source, tuple[int, int]]:
    """The rule of a problem, or the word that means it in a rule: in this file, or in one that it imports."""
    name = _last_part(problem.name)
    home, _ = source.resolve(problem.name) or (source, None)
    rules = [(file, d) for file in dict.fromkeys((source, home)) for d in file.written if not d.is_terminal]
    named = [(file, d, d.span[0]) for file, d in rules if name in (d.name, *d.aliases)]
    using = [(file, d, d.span[1] - len(d.body)) for file, d in rules if name in d.uses]
    using.sort(key=lambda entry: entry[1].name in NODES)  # inside of a call, it has an owner
    for file, definition, start in using if problem.code == "no-owner" else named:
        return file, file.find(name, start, definition.span[1]) or definition.span
    start = source.definition(START)
    return source, start.span if start is not None else (0, 0)


def _last_part(name: str) -> str:
    return name.rpartition("__")[2]


def _finding(problem: Problem, file: CheckedFile, span: tuple[int, int]) -> Finding:
    name = problem.name
    if problem.code == "no-owner":
        return file.finding(
            "no-owner",
            f"`{name}` can be read where no call, action or payload is open",
            span,
            notes=[f"behind `{problem.terminal}`, there is nothing that it belongs to"],
            helps=["use it inside of a rule such as `tool_call`, or give it a name that begins with `_`"],
        )
    if problem.code == "ends-late":
        return file.finding(
            "ends-late",
            f"`{name}` may end only with the text behind it",
            span,
            "warning",
            notes=[
                f"another part of it may follow where it could end, so only `{problem.terminal}` shows that it ended"
            ],
            helps=["end each alternative of it with a marker, or write one rule for each of its forms"],
        )
    return file.finding(
        "lost-part",
        f"what `{name}` reads can be lost",
        span,
        notes=[
            f"up to `{problem.terminal}`, a `{name}` may begin here, or one that began before may go on",
        ],
        helps=[f"let one rule be the `{name}` in both places, with the markers outside: `_wrapped: _OPEN item _CLOSE`"],
    )


def problems(automaton: Automaton) -> list[Problem]:
    """The problems of all steps, each once."""
    start = (automaton.start, ())
    seen: set[tuple[Config, _Filled]] = {start}
    waiting: list[tuple[Config, _Filled]] = [start]
    found: dict[Problem, None] = {}
    while waiting:
        config, filled = waiting.pop()
        free, embedded, markers = config.strict_transitions()
        if free is not None and (late := _ended_call(free.before)):
            found[Problem("ends-late", late, free.terminal.short)] = None
        for step in (*([free] if free else []), *embedded, *markers):
            after = _followed(step, filled, found)
            if after is not None and (step.target, after) not in seen:
                seen.add((step.target, after))
                waiting.append((step.target, after))
    return list(found)


def _ended_call(operations: Operations) -> str:
    return next((kind for name, kind in operations if name == "end" and kind in CALLS), "")


def _followed(step: Transition, filled: _Filled, found: dict[Problem, None]) -> _Filled | None:
    """What is open behind a step, with a note of what is wrong with it; None if nothing can be said behind it."""
    kinds = step.target.automaton.tables.nodes
    open_nodes = list(filled)
    last = ""
    if step.terminal.short == "ARG_VALUE" and not open_nodes and not step.before:
        found[Problem("no-owner", "ARG_VALUE", "ARG_VALUE")] = None
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
                found[Problem("lost-part", lost or "tool_call", step.terminal.short)] = None
            if open_nodes and (name, argument) == ("end", "call_id"):
                open_nodes[-1] = True
        elif name in ("token", "field") and argument != "odd":
            if not open_nodes:
                found[Problem("no-owner", argument, step.terminal.short)] = None
                return None
            open_nodes[-1] = True
    return tuple(open_nodes)
