"""Conflicts of a grammar, as Lark's LALR analysis finds them, each with the shortest text that shows it.

A grammar is LALR(1): one terminal ahead has to be enough to know what the text before it is. Where it is not, a state
of Lark's has several actions. They are all followed at once: Dijkstra's algorithm over the stacks of states finds the
shortest text that can be read on in two ways, and over pairs of stacks the shortest text that both read to its end.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from itertools import combinations, count, product
from typing import Any, NamedTuple

from lark.common import ParserConf
from lark.parsers.lalr_analysis import LALR_Analyzer

from outspoken import Diagnostic
from outspoken.authoring.shared.grammar_source import QUOTED, Source
from outspoken.grammar.tables import BROKEN, END
from outspoken.grammar.vocabulary import short

from .findings import CheckedGrammar, Span, body_span, name_span
from .lark_errors import Loaded, starts_of

#: At most this many conflicts are reported; the others mostly go with them.
MOST = 5
#: The most places that a search visits, and the most stacks that one terminal leads to.
_MOST_PLACES, _MOST_STACKS = 3000, 64
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
    """A state with two actions: each is the rule that ends, or None to read the next terminal."""

    state: Any
    actions: tuple[Any, Any]


class _Visit(NamedTuple):
    """Stacks that a search came to by one text, with the last step of each of them, and the visit before."""

    stacks: tuple[_Stack, ...]
    steps: tuple[_Step, ...] = ()
    before: _Visit | None = None

    def trail(self) -> list[tuple[_Step, ...]]:
        """All steps of the search, from its beginning."""
        return [*self.before.trail(), self.steps] if self.before is not None else []


class _Example(NamedTuple):
    """What shows a conflict: the terminal that comes next, and the steps of two readings of a text.

    The readings are complete if `is_whole`, otherwise they end at the conflict. Without any, no text was found.
    """

    terminal: str
    readings: tuple[list[_Step], ...] = ()
    is_whole: bool = False


def conflict_findings(grammar: CheckedGrammar, loaded: Loaded) -> list[Diagnostic]:
    """The conflicts of a grammar, from each of its start rules, as findings in the files of their rules."""
    found: dict[str, Diagnostic] = {}
    for start in starts_of(grammar.source):
        conflicts = _Parser(loaded, start).conflicts()
        details = [f"from `{start}`"] if start == BROKEN else []
        details += [f"{len(conflicts)} conflicts in all"] if len(conflicts) > MOST else []
        for conflict, example in list(conflicts.items())[:MOST]:
            finding = _Report(grammar, loaded).finding(conflict, example, details)
            found.setdefault(finding.message, finding)
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

    def conflicts(self) -> dict[_Conflict, _Example]:
        """All conflicts, those that a short text shows first."""
        known: dict[_Conflict, str] = {}
        for state, ends in self._ends.items():
            for terminal, rules in ends.items():
                actions = [*rules, *([None] if terminal in self._targets[state] else [])]
                known |= {_Conflict(state, pair): terminal for pair in combinations(actions, 2)}
        met: dict[_Conflict, list[tuple[_Visit, _Step, _Step]]] = {}
        for visit in self._walk([(self._start,)]) if known else ():
            (stack,) = visit.stacks
            here: dict[_Conflict, list[tuple[_Visit, _Step, _Step]]] = {}
            for terminal in self._expected(stack):
                for one, two in combinations(self._steps(stack, terminal), 2):
                    conflict, first, second = self._parting(stack, one, two)
                    here.setdefault(conflict, []).append((visit, first, second))
            met = here | met
            if met.keys() >= known.keys():
                break
        found = {conflict: self._example(ways) for conflict, ways in met.items()}
        found |= {conflict: _Example(terminal) for conflict, terminal in known.items() if conflict not in met}
        return dict(sorted(found.items(), key=lambda item: min(map(len, item[1].readings), default=_MOST_PLACES)))

    def _parting(self, stack: _Stack, one: _Step, two: _Step) -> tuple[_Conflict, _Step, _Step]:
        """The conflict at which two ways to read a terminal part, with what ends first before what goes on."""
        same = next((n for n, (a, b) in enumerate(zip(one.ended, two.ended, strict=False)) if a is not b), None)
        at = min(len(one.ended), len(two.ended)) if same is None else same
        for rule in one.ended[:at]:
            stack = self._reduced(stack, rule) or ()
        actions = sorted([(s.ended[at] if at < len(s.ended) else None, s) for s in (one, two)], key=_order)
        return _Conflict(stack[-1], (actions[0][0], actions[1][0])), actions[0][1], actions[1][1]

    def _example(self, ways: list[tuple[_Visit, _Step, _Step]]) -> _Example:
        """Two readings of one text, if one is found that both read to its end, else of what leads to the conflict."""
        visit, first, second = ways[0]
        before = [steps[0] for steps in visit.trail()]
        starts: dict[tuple[_Stack, ...], tuple[_Step, _Step]] = {}
        for _, one, two in ways:
            starts.setdefault((one.stack, two.stack), (one, two))
        for end in self._walk(list(starts)):
            if end.stacks == ((), ()):
                rows = end.trail()
                root = end
                while root.before is not None:
                    root = root.before
                readings = [[*before, step, *[row[i] for row in rows]] for i, step in enumerate(starts[root.stacks])]
                return _Example(readings[0][len(before)].terminal, tuple(readings), True)
        return _Example(first.terminal, ([*before, first], [*before, second]))

    def _walk(self, starts: list[tuple[_Stack, ...]]) -> Iterator[_Visit]:
        """Dijkstra's algorithm: stacks that read one text, in the order of its length."""
        tie, seen = count(), set[tuple[_Stack, ...]]()
        queue = [(0, next(tie), _Visit(stacks)) for stacks in starts]
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
        found, seen = list[_Step](), {stack}
        for ended, reached in waiting:
            target = self._targets[reached[-1]].get(terminal)
            if terminal == END and reached[-1] is self._accepting:
                found.append(_Step(terminal, ended, ()))
            elif target is not None:
                found.append(_Step(terminal, ended, (*reached, target)))
            for rule in self._ends[reached[-1]].get(terminal, ()):
                after = self._reduced(reached, rule)
                if after is not None and after not in seen and len(waiting) < _MOST_STACKS:
                    seen.add(after)
                    waiting.append(((*ended, rule), after))
        return found

    def _reduced(self, stack: _Stack, rule: Any) -> _Stack | None:
        """The stack after a rule has ended; None if it cannot end there."""
        rest = stack[: len(stack) - len(rule.expansion)]
        target = self._targets[rest[-1]].get(rule.origin.name) if rest else None
        return None if target is None else (*rest, target)


def _name(symbol: Any) -> str:
    return str(symbol.name)


def _order(way: tuple[Any, _Step]) -> tuple[bool, str]:
    """An end comes before what goes on."""
    return way[0] is None, str(way[0])


def _first(rules: set[Any]) -> list[Any]:
    """The rules of the highest priority, in an order that is always the same."""
    best = max([rule.options.priority or 0 for rule in rules])
    return sorted([rule for rule in rules if (rule.options.priority or 0) == best], key=str)


class _Report:
    """Describes a conflict to the author of the grammar."""

    def __init__(self, grammar: CheckedGrammar, loaded: Loaded) -> None:
        self._grammar, self._loaded = grammar, loaded

    def finding(self, conflict: _Conflict, example: _Example, details: list[str]) -> Diagnostic:
        """The conflict as a finding; `details` say from where it is, and how many others there are."""
        items = [self._item(conflict.state, action, example.terminal) for action in conflict.actions]
        texts = [self._rule(*item) for item in items]
        where = "the text ends" if example.terminal == END else f"`{short(example.terminal)}` comes next"
        source, span = next(
            filter(None, [self._place(*item) for item in reversed(items)]), (self._grammar.source, (0, 0))
        )
        note, helps = "no text shows it: different texts lead to one state", _MERGED
        if example.readings:
            text = "".join([self._loaded.texts.get(step.terminal, "") for step in example.readings[0]])
            note, helps = f"the shortest text that shows it is `{text}`" if text else "no text at all shows it", _LATER
            if example.is_whole:
                trees = [self._tree(steps) for steps in example.readings]
                note, helps = f"{note}, read as `{trees[0]}` or as `{trees[1]}`", _SAME_TEXT
        return self._grammar.file_of(source).finding(
            "grammar-conflict",
            span,
            f"two readings where {where}: {texts[0]} or {texts[1]}",
            helps,
            notes=[note + (f" ({', '.join(details)})" if details else "")],
        )

    @staticmethod
    def _item(state: Any, action: Any, terminal: str) -> tuple[Any, int]:
        """The rule of an action, and how many of its symbols were read. Of those that go on, one that was begun."""
        if action is not None:
            return action, len(action.expansion)
        items = [item for item in state.closure if not item.is_satisfied and item.next.name == terminal]
        best = min(items, key=lambda item: (not item.index, _is_repetition(item.rule), str(item)))
        return best.rule, best.index

    def _rule(self, rule: Any, index: int) -> str:
        """A rule with a dot where it is read up to, and its line."""
        symbols = [self._symbol(_name(symbol)) for symbol in rule.expansion]
        text = f"`{short(_owner(rule))}: {' '.join([*symbols[:index], '.', *symbols[index:]])}`"
        place = self._place(rule, index)
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
        """What a text is read as: each rule with its parts in parentheses."""
        made: list[str] = []
        for step in steps:
            for rule in step.ended:
                start = len(made) - len(rule.expansion)
                parts = " ".join(filter(None, made[start:]))
                made[start:] = [parts if _is_repetition(rule) else f"{short(_name(rule.origin))}({parts})"]
            made += [self._loaded.texts.get(step.terminal, "")] if step.terminal != END else []
        return " ".join(made)

    def _place(self, rule: Any, index: int) -> tuple[Source, Span] | None:
        """Where a rule is written: its next symbol, or all of the alternative if it is complete."""
        home = self._grammar.source.resolve(_owner(rule))
        if home is None:
            return None
        source, definition = home
        spans = _spans(source, body_span(definition), rule)
        if index in spans:
            return source, spans[index]
        whole = (min(spans.values())[0], max(spans.values())[1]) if spans else name_span(source, definition)
        return source, whole


def _is_repetition(rule: Any) -> bool:
    """Whether a rule was made for a `*` or a `+` of the author's."""
    return _name(rule.origin).startswith("__")


def _owner(rule: Any) -> str:
    """The name of the rule that the author wrote a rule in."""
    match = _REPETITION.fullmatch(_name(rule.origin))
    return match[1] if match else _name(rule.origin)


def _spans(source: Source, body: Span, rule: Any) -> dict[int, Span]:
    """The spans of the symbols of a rule on the right side of its definition, by their number.

    Lark does not record them. Of all places in one alternative where the names follow each other, this takes the one
    that leaves out the fewest names of the alternative, and of these the shortest.
    """
    wanted = [(i, short(_name(s))) for i, s in enumerate(rule.expansion) if not _name(s).startswith("__")]
    words = list(_words(source, body))
    best: list[tuple[tuple[int, int, int], dict[int, Span]]] = []
    for first, (_, _, number) in enumerate(words):
        rest = iter([word for word in words[first:] if word[2] == number])
        found = {i: next((span for other, span, _ in rest if other == name), None) for i, name in wanted}
        spans = {i: span for i, span in found.items() if span is not None}
        if spans and len(spans) == len(wanted):
            missed = 0 if _is_repetition(rule) else sum([word[2] == number for word in words]) - len(spans)
            length = max(spans.values())[1] - min(spans.values())[0]
            best.append(((missed, length, -first if _is_repetition(rule) else first), spans))
    return min(best, key=lambda entry: entry[0])[1] if best else {}


def _words(source: Source, body: Span) -> Iterator[tuple[str, Span, int]]:
    """The names on the right side of a definition, each with its span and the number of its alternative."""
    depth = alternative = 0
    plain = QUOTED.sub(lambda match: " " * len(match[0]), source.bare[slice(*body)])
    for match in re.finditer(r"->\s*\w+|[A-Za-z_]\w*|[()\[\]|]", plain):
        depth += (match[0] in "([") - (match[0] in ")]")
        alternative += match[0] == "|" and not depth
        if match[0][0].isalpha() or match[0][0] == "_":
            yield match[0], (body[0] + match.start(), body[0] + match.end()), alternative
