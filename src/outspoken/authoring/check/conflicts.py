"""Conflicts of a grammar, as Lark's LALR analysis finds them, each with the shortest text that shows it.

A grammar is LALR(1): one terminal ahead has to be enough to know what the text before it is. Where it is not, a state
of Lark's has several actions. They are all followed at once: Dijkstra's algorithm over the stacks of states finds the
shortest text that can be read on in two ways.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, count
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

_PARTING = "write what both readings begin with once, and let them part behind it, or give them other markers"
_MERGED = "write a rule of its own for each place where one of them stands, or one rule for both"

# Lark's rules and states have no types. A stack holds states, from the start on; behind the end of a text it is empty.
_Stack = tuple[Any, ...]
#: The rules that end before a terminal is read.
_Ended = tuple[Any, ...]


class _Conflict(NamedTuple):
    """A state with two actions for a terminal: each is the rule that ends, or None to read the terminal.

    `text` is the shortest one that leads to it, with the terminal; None if none was found.
    """

    state: Any
    actions: tuple[Any, Any]
    terminal: str
    text: str | None = None


def conflict_findings(grammar: CheckedGrammar, loaded: Loaded) -> list[Diagnostic]:
    """The conflicts of a grammar from each of its start rules, one for each rule: the others mostly go with it."""
    found: dict[object, Diagnostic] = {}
    for start in starts_of(grammar.source):
        conflicts = _Parser(loaded, start).conflicts()
        details = [f"from `{start}`"] if start == BROKEN else []
        details += [f"{len(conflicts)} conflicts in all"] if len(conflicts) > MOST else []
        for conflict in conflicts[:MOST]:
            finding = _Report(grammar, loaded).finding(conflict, details)
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
        self._root, self._accepting = root, self._targets[root][start]
        self._texts = loaded.texts

    def conflicts(self) -> list[_Conflict]:
        """All conflicts, those that a short text leads to first."""
        possible: dict[tuple[Any, ...], _Conflict] = {}
        for state, ends in self._ends.items():
            for terminal, rules in ends.items():
                actions = [*rules, *([None] if terminal in self._targets[state] else [])]
                for pair in combinations(actions, 2):
                    possible.setdefault((state, *pair), _Conflict(state, pair, terminal))
        met: dict[tuple[Any, ...], _Conflict] = {}
        for stack, text in self._walk() if possible else ():
            for terminal in self._expected(stack):
                for (first, _), (two, _) in combinations(self._steps(stack, terminal), 2):
                    state, actions = self._parting(stack, first, two)
                    shown = text + self._texts[terminal]
                    met.setdefault((state, *actions), _Conflict(state, actions, terminal, shown))
            if met.keys() >= possible.keys():
                break
        return [*met.values(), *[conflict for key, conflict in possible.items() if key not in met]]

    def _parting(self, stack: _Stack, one: _Ended, two: _Ended) -> tuple[Any, tuple[Any, Any]]:
        """The state and the actions at which two ways to read a terminal part; an end comes before what goes on."""
        pairs = enumerate(zip(one, two, strict=False))
        at = next((n for n, (a, b) in pairs if a is not b), min(len(one), len(two)))
        for rule in one[:at]:
            stack = self._reduced(stack, rule) or ()
        parted = [ended[at] if at < len(ended) else None for ended in (one, two)]
        first, second = sorted(parted, key=lambda rule: (rule is None, str(rule)))
        return stack[-1], (first, second)

    def _walk(self) -> Iterator[tuple[_Stack, str]]:
        """Dijkstra's algorithm: stacks, each with a text that leads to it, in the order of its length."""
        tie, seen = count(1), set[_Stack]()
        queue: list[tuple[int, int, _Stack, str]] = [(0, 0, (self._root,), "")]
        while queue and len(seen) < _MOST_PLACES:
            cost, _, stack, text = heapq.heappop(queue)
            if stack in seen:
                continue
            seen.add(stack)
            yield stack, text
            for terminal in self._expected(stack):
                shown = self._texts[terminal]
                for _, target in self._steps(stack, terminal):
                    if target not in seen:
                        heapq.heappush(queue, (cost + len(shown) + 1, next(tie), target, text + shown))

    def _expected(self, stack: _Stack) -> list[str]:
        """The terminals that may be next, and the end of the text, as far as the last state tells."""
        if not stack:
            return []
        found = {name for name in self._targets[stack[-1]] if name in self._texts} | self._ends[stack[-1]].keys()
        return sorted(found | ({END} if stack[-1] is self._accepting else set[str]()))

    def _steps(self, stack: _Stack, terminal: str) -> list[tuple[_Ended, _Stack]]:
        """All ways to read a terminal, each with the stack after it."""
        waiting: list[tuple[_Ended, _Stack]] = [((), stack)]
        steps, seen = list[tuple[_Ended, _Stack]](), Counter([stack])
        for ended, reached in waiting:
            target = self._targets[reached[-1]].get(terminal)
            if terminal == END and reached[-1] is self._accepting:
                steps.append((ended, ()))
            elif target is not None:
                steps.append((ended, (*reached, target)))
            for rule in self._ends[reached[-1]].get(terminal, ()):
                after = self._reduced(reached, rule)
                if after is not None and seen[after] < _MOST_WAYS and len(waiting) < _MOST_STACKS:
                    seen[after] += 1
                    waiting.append(((*ended, rule), after))
        return steps

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

    def finding(self, conflict: _Conflict, details: list[str]) -> Diagnostic:
        """The conflict as a finding; `details` say from where it is, and how many others there are."""
        items = [self._item(conflict, action) for action in conflict.actions]
        texts = [self._rule(*item) for item in items]
        where = "the text ends" if conflict.terminal == END else f"`{short(conflict.terminal)}` comes next"
        goes_on = conflict.actions[1] is None  # else both end
        shown = [self._place(rule) for rule, _ in items[goes_on:]]
        source, span = next(filter(None, shown), (self._grammar.source, (0, 0)))
        text, helps = conflict.text, _MERGED if conflict.text is None else _PARTING
        note = f"the shortest text that shows it is `{text}`" if text else "the empty text shows it"
        note = "no text shows it: different texts lead to one state" if text is None else note
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
