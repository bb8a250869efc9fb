"""Conflicts of a grammar, as Lark's LALR analysis finds them, each with the shortest text that shows it.

A grammar is LALR(1): one terminal ahead has to be enough to know what the text before it is. Where it is not, a state
of Lark's has several actions. They are all followed at once: Dijkstra's algorithm over the stacks of states finds the
shortest text that can be read on in two ways, and over pairs of stacks the shortest text that both read to its end.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, count, product
from typing import Any, NamedTuple

from lark.common import ParserConf
from lark.parsers.lalr_analysis import LALR_Analyzer

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.tables import BROKEN, END
from outspoken.grammar.vocabulary import short

from .findings import CheckedGrammar, Span, body_span
from .lark_errors import Loaded, starts_of

#: At most this many conflicts are reported; the others mostly go with them.
MOST = 5
#: The most places that a search visits, the most stacks that one terminal leads to, and the most ways to one of them.
_MOST_PLACES, _MOST_STACKS, _MOST_WAYS = 2000, 64, 4
_REPETITION = re.compile(r"__(\w+?)_(?:star|plus|repeat_\w+?)_\d+")

_SAME_TEXT = "two ways to read one text are one too many: take one of them out, or give them different markers"
_LATER = "write what both readings begin with once, and let them part behind it"
_MERGED = "write a rule of its own for each place where one of them stands, or one rule for both"

# Lark's rules and states have no types. A stack holds states, from the start on; behind the end of a text it is empty.
_Stack = tuple[Any, ...]


class _Step(NamedTuple):
    """A terminal that was read: the rules that ended before it, and the stack after it."""

    terminal: str
    ended: tuple[Any, ...]
    stack: _Stack


class _Conflict(NamedTuple):
    """A state with two actions for a terminal: each is the rule that ends, or None to read the terminal.

    `ways` are the steps of two readings up to the conflict, each pair of the same text; none if no text was found.
    """

    state: Any
    actions: tuple[Any, Any]
    terminal: str
    ways: tuple[tuple[list[_Step], list[_Step]], ...] = ()


class _Visit(NamedTuple):
    """Stacks that a search came to by one text, with the last step of each of them, and the visit before."""

    stacks: tuple[_Stack, ...]
    steps: tuple[_Step, ...] = ()
    before: _Visit | None = None

    def trail(self) -> list[tuple[_Step, ...]]:
        """All steps of the search, from its beginning."""
        return [*self.before.trail(), self.steps] if self.before is not None else []


def conflict_findings(grammar: CheckedGrammar, loaded: Loaded) -> list[Diagnostic]:
    """The conflicts of a grammar from each of its start rules, one for each rule: the others mostly go with it."""
    found: dict[object, Diagnostic] = {}
    for start in starts_of(grammar.source):
        parser = _Parser(loaded, start)
        conflicts = parser.conflicts()
        details = [f"from `{start}`"] if start == BROKEN else []
        details += [f"{len(conflicts)} conflicts in all"] if len(conflicts) > MOST else []
        for conflict in conflicts[:MOST]:
            finding = _Report(grammar, loaded).finding(conflict, *parser.example(conflict), details)
            found.setdefault((finding.format, finding.span), finding)
    return list(found.values())


class _Parser:
    """Lark's LALR states of a grammar from a start rule, with all of their actions."""

    def __init__(self, loaded: Loaded, start: str) -> None:
        analysis: Any = LALR_Analyzer(ParserConf(loaded.rules, {}, [start]))
        analysis.compute_lr0_states()
        analysis.compute_reads_relations()
        analysis.compute_includes_lookback()
        analysis.compute_lookaheads()
        root = analysis.lr0_start_states[start]
        #: for each state: the states that symbols lead to, by name, and the rules that may end before a terminal
        self._targets: dict[Any, dict[str, Any]] = {}
        self._ends: dict[Any, dict[str, list[Any]]] = {}
        for state in (states := [root]):
            if state not in self._targets:
                self._targets[state] = {s.name: state.transitions[s] for s in sorted(state.transitions, key=_name)}
                self._ends[state] = {s.name: _first(rules) for s, rules in sorted(state.lookaheads.items(), key=str)}
                states += self._targets[state].values()
        self._start, self._accepting = (root,), self._targets[root][start]
        self._costs = {name: len(text) + 1 for name, text in loaded.texts.items()}

    def conflicts(self) -> list[_Conflict]:
        """All conflicts, those that a short text leads to first."""
        known: dict[tuple[Any, ...], _Conflict] = {}
        for state, ends in self._ends.items():
            for terminal, rules in ends.items():
                actions = [*rules, *([None] if terminal in self._targets[state] else [])]
                for pair in combinations(actions, 2):
                    known.setdefault((state, *pair), _Conflict(state, pair, terminal))
        met: dict[tuple[Any, ...], _Conflict] = {}
        for visit in self._walk((self._start,)) if known else ():
            (stack,) = visit.stacks
            before = [steps[0] for steps in visit.trail()]
            for terminal in self._expected(stack):
                here: dict[tuple[Any, ...], _Conflict] = {}
                for one, two in combinations(self._steps(stack, terminal), 2):
                    conflict = self._parting(stack, before, one, two)
                    key = (conflict.state, *conflict.actions)
                    ways = (*here[key].ways, *conflict.ways) if key in here else conflict.ways
                    here[key] = conflict._replace(ways=ways)
                met |= {key: conflict for key, conflict in here.items() if key not in met}
            if met.keys() >= known.keys():
                break
        return [*met.values(), *[conflict for key, conflict in known.items() if key not in met]]

    def _parting(self, stack: _Stack, before: list[_Step], one: _Step, two: _Step) -> _Conflict:
        """The conflict at which two ways to read a terminal part."""
        pairs = enumerate(zip(one.ended, two.ended, strict=False))
        at = next((n for n, (a, b) in pairs if a is not b), min(len(one.ended), len(two.ended)))
        for rule in one.ended[:at]:
            stack = self._reduced(stack, rule) or ()
        parted = [(s.ended[at] if at < len(s.ended) else None, s) for s in (one, two)]  # an end before what goes on
        (first, one), (second, two) = sorted(parted, key=lambda way: (way[0] is None, str(way[0])))
        return _Conflict(stack[-1], (first, second), one.terminal, (([*before, one], [*before, two]),))

    def example(self, conflict: _Conflict) -> tuple[Sequence[list[_Step]], bool]:
        """Two readings of a text, and whether both read it to its end, else up to what leads to the conflict."""
        for ways in conflict.ways:
            for visit in self._walk(tuple([way[-1].stack for way in ways])):
                if visit.stacks == ((), ()):
                    rest = visit.trail()
                    return [[*way, *[steps[i] for steps in rest]] for i, way in enumerate(ways)], True
        return conflict.ways[0] if conflict.ways else (), False

    def _walk(self, start: tuple[_Stack, ...]) -> Iterator[_Visit]:
        """Dijkstra's algorithm: stacks that read one text, in the order of its length."""
        tie, seen = count(1), set[tuple[_Stack, ...]]()
        queue = [(0, 0, _Visit(start))]
        while queue and len(seen) < _MOST_PLACES:
            cost, _, visit = heapq.heappop(queue)
            if visit.stacks in seen:
                continue
            seen.add(visit.stacks)
            yield visit
            expected = [self._expected(stack) for stack in visit.stacks]
            for terminal in [name for name in expected[0] if all(name in others for others in expected)]:
                for steps in product(*[self._steps(stack, terminal) for stack in visit.stacks]):
                    target = _Visit(tuple([step.stack for step in steps]), steps, visit)
                    if target.stacks not in seen:
                        heapq.heappush(queue, (cost + self._costs[terminal], next(tie), target))

    def _expected(self, stack: _Stack) -> list[str]:
        """The terminals that may be next, and the end of the text, as far as the last state tells."""
        if not stack:
            return []
        found = {name for name in self._targets[stack[-1]] if name in self._costs} | self._ends[stack[-1]].keys()
        return sorted(found | ({END} if stack[-1] is self._accepting else set[str]()))

    def _steps(self, stack: _Stack, terminal: str) -> list[_Step]:
        """All ways to read a terminal."""
        waiting: list[tuple[tuple[Any, ...], _Stack]] = [((), stack)]
        found, seen = list[_Step](), Counter([stack])
        for ended, reached in waiting:
            target = self._targets[reached[-1]].get(terminal)
            if terminal == END and reached[-1] is self._accepting:
                found.append(_Step(terminal, ended, ()))
            elif target is not None:
                found.append(_Step(terminal, ended, (*reached, target)))
            for rule in self._ends[reached[-1]].get(terminal, ()):
                after = self._reduced(reached, rule)
                if after is not None and seen[after] < _MOST_WAYS and len(waiting) < _MOST_STACKS:
                    seen[after] += 1
                    waiting.append(((*ended, rule), after))
        return found

    def _reduced(self, stack: _Stack, rule: Any) -> _Stack | None:
        """The stack after a rule has ended; None if it cannot end there."""
        rest = stack[: len(stack) - len(rule.expansion)]
        target = self._targets[rest[-1]].get(rule.origin.name) if rest else None
        return None if target is None else (*rest, target)


def _name(symbol: Any) -> str:
    return str(symbol.name)


def _first(rules: set[Any]) -> list[Any]:
    """The rules of the highest priority, in an order that is always the same."""
    best = max([rule.options.priority or 0 for rule in rules])
    return sorted([rule for rule in rules if (rule.options.priority or 0) == best], key=str)


class _Report:
    """Describes a conflict to the author of the grammar."""

    def __init__(self, grammar: CheckedGrammar, loaded: Loaded) -> None:
        self._grammar, self._loaded = grammar, loaded

    def finding(
        self, conflict: _Conflict, readings: Sequence[list[_Step]], is_whole: bool, details: list[str]
    ) -> Diagnostic:
        """The conflict as a finding; `details` say from where it is, and how many others there are."""
        items = [self._item(conflict, action) for action in conflict.actions]
        texts = [self._rule(*item) for item in items]
        where = "the text ends" if conflict.terminal == END else f"`{short(conflict.terminal)}` comes next"
        goes_on = conflict.actions[1] is None  # else both end
        shown = [self._place(rule) for rule, _ in items[goes_on:]]
        source, span = next(filter(None, shown), (self._grammar.source, (0, 0)))
        note, helps = "no text shows it: different texts lead to one state", _MERGED
        if readings:
            text = "".join([self._loaded.texts.get(step.terminal, "") for step in readings[0]])
            note, helps = f"the shortest text that shows it is `{text}`" if text else "the empty text shows it", _LATER
            if is_whole:
                trees = [self._tree(steps) for steps in readings]
                note, helps = f"{note}, read as `{trees[0]}` or as `{trees[1]}`", _SAME_TEXT
        return self._grammar.file_of(source).finding(
            "grammar-conflict",
            span,
            f"two readings where {where}: {texts[0]} or {texts[1]}",
            helps,
            notes=[note + (f" ({', '.join(details)})" if details else "")],
        )

    @staticmethod
    def _item(conflict: _Conflict, action: Any) -> tuple[Any, int]:
        """The rule of an action, and how many of its symbols were read. Of those that go on, one that was begun."""
        if action is not None:
            return action, len(action.expansion)
        begun = [item for item in conflict.state.closure if not item.is_satisfied]
        items = [item for item in begun if item.next.name == conflict.terminal]
        best = min(items, key=lambda item: (not item.index, _is_repetition(item.rule), str(item)))
        return best.rule, best.index

    def _rule(self, rule: Any, index: int) -> str:
        """A rule with a dot where it is read up to, and its line."""
        symbols = [self._symbol(_name(symbol)) for symbol in rule.expansion]
        text = f"`{short(_owner(rule))}: {' '.join([*symbols[:index], '.', *symbols[index:]])}`"
        place = self._place(rule)
        if place is None:
            return text
        source, (start, _) = place
        file = "" if source.path == self._grammar.source.path else f"{source.path.name}, "
        return f"{text} ({file}line {source.text.count(chr(10), 0, start) + 1})"

    def _symbol(self, name: str) -> str:
        """A symbol as the author wrote it: a repetition is no rule."""
        bodies = [list(map(_name, rule.expansion)) for rule in self._loaded.rules if _name(rule.origin) == name]
        if not name.startswith("__"):
            return short(name)
        parts = [" ".join(map(self._symbol, body)) for body in bodies if name not in body]
        return f"{parts[0]}+" if len(parts) == 1 and parts[0].isidentifier() else f"({' | '.join(parts)})+"

    def _tree(self, steps: list[_Step]) -> str:
        """What a text is read as: each rule with its parts in parentheses, repetitions in brackets."""
        made: list[str] = []
        for step in steps:
            for rule in step.ended:
                start, name = len(made) - len(rule.expansion), _name(rule.origin)
                parts = [part for part in made[start:] if part]
                if _is_repetition(rule):
                    goes_on = bool(rule.expansion) and _name(rule.expansion[0]) == name
                    parts[:1] = [parts[0][1:-1]] if goes_on else parts[:1]
                    made[start:] = [f"[{' '.join(parts)}]"]
                else:
                    made[start:] = [f"{short(name)}({' '.join(parts)})"]
            made += [self._loaded.texts.get(step.terminal, "")] if step.terminal != END else []
        return " ".join(made)

    def _place(self, rule: Any) -> tuple[Source, Span] | None:
        """The right side of the rule that the author wrote."""
        home = self._grammar.source.resolve(_owner(rule))
        return None if home is None else (home[0], body_span(home[1]))


def _is_repetition(rule: Any) -> bool:
    """Whether a rule was made for a `*` or a `+` of the author's."""
    return _name(rule.origin).startswith("__")


def _owner(rule: Any) -> str:
    """The name of the rule that the author wrote a rule in."""
    match = _REPETITION.fullmatch(_name(rule.origin))
    return match[1] if match else _name(rule.origin)
