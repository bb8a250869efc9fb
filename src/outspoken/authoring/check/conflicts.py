"""LALR conflicts of a grammar as findings, with the shortest text that shows each and both derivations.

A grammar is LALR(1): one terminal ahead has to be enough to know what the text before it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.text import listed
from outspoken.grammar.tables import BROKEN
from outspoken.results.snippet import visible

from .counterexamples import SHIFT, Counterexample, CounterexampleSearch, Read, ReadingPair
from .derivations import RuleText, SourcePlace
from .findings import CheckedFile, Finding
from .lalr import Item, LalrAutomaton, TableConflict, lalr_automaton

#: At most this many conflicts are reported; the others mostly go with them.
MOST = 5


class Conflict(NamedTuple):
    """A table conflict with its counterexample; `terminals` are all those with the same conflict."""

    site: TableConflict
    terminals: tuple[str, ...]
    counterexample: Counterexample
    pair: ReadingPair | None


def conflicts(rules: list[Any], start: str, texts: Mapping[str, str]) -> tuple[LalrAutomaton, list[Conflict]]:
    """The parser of Lark's rules from a start rule, and its conflicts, the one with the shortest text first.

    `texts` holds a text for each terminal.
    """
    automaton = lalr_automaton(rules, start)
    grouped: dict[tuple[Any, ...], list[TableConflict]] = {}
    for site in automaton.table_conflicts:
        grouped.setdefault(_kind(site), []).append(site)
    if not grouped:
        return automaton, []
    search = CounterexampleSearch(automaton, 0, {name: len(text) for name, text in texts.items()})
    met = search.counterexamples(automaton.table_conflicts)
    found: list[Conflict] = []
    for sites in grouped.values():
        best = min(sites, key=lambda site: _order(met[site]))
        found.append(Conflict(best, tuple([c.terminal for c in sites]), met[best], None))
    found.sort(key=lambda conflict: _order(conflict.counterexample))
    return automaton, [c._replace(pair=search.pair(c.counterexample)) for c in found[:MOST]] + found[MOST:]


def _kind(site: TableConflict) -> tuple[Any, ...]:
    """What the table conflicts of one conflict have in common."""
    return (
        tuple([item for item in site.shifts if item.read]),
        bool(site.shifts),
        site.ends,
        site.state,
    )


def _order(counterexample: Counterexample) -> tuple[bool, int]:
    return not counterexample.is_confirmed, min(
        [len(path.reads) for row in counterexample.paths for path in row], default=1000
    )


def conflict_findings(
    checkout: Checkout, source: Source, rules: list[Any], starts: list[str], texts: Mapping[str, str]
) -> list[Finding]:
    """All conflicts of a grammar, from each of its start rules, as findings in the files of their rules."""
    found: dict[str, Finding] = {}
    for start in starts:
        automaton, all_of_them = conflicts(rules, start, texts)
        words = RuleText(source, automaton, texts)
        for conflict in all_of_them[:MOST]:
            finding = _ConflictReport(words, automaton, conflict, source).finding(checkout, start, len(all_of_them))
            found.setdefault(finding.diagnostic.message, finding)
    return list(found.values())


class _ConflictReport:
    """Describes a conflict to the author of the grammar."""

    def __init__(self, words: RuleText, automaton: LalrAutomaton, conflict: Conflict, source: Source) -> None:
        self._rule_text, self._automaton, self._conflict, self._source = words, automaton, conflict, source
        first, second = self._two_actions()
        #: the actions and what was read by each, an end before what goes on
        self._actions = (second[0], first[0]) if first[0] == SHIFT else (first[0], second[0])
        self._reads = (second[1], first[1]) if first[0] == SHIFT else (first[1], second[1])

    def _two_actions(self) -> tuple[tuple[int, tuple[Read, ...]], tuple[int, tuple[Read, ...]]]:
        """The two actions that are reported, with all that was read by each."""
        pair, site = self._conflict.pair, self._conflict.site
        if pair is not None:
            return (pair.first.action, pair.first.reads), (pair.second.action, pair.second.reads)
        actions = (*([SHIFT] if site.shifts else []), *site.ends)
        return (actions[0], ()), (actions[1], ())

    def finding(self, checkout: Checkout, start: str, number: int) -> Finding:
        """The conflict as a finding; `number` is how many of them there are from a start rule."""
        at, label = self._spot()
        command = checkout.command("check", self._source.path.stem)
        helps = [self._advice(), f"`{command} --explain` prints both derivations"]
        file = CheckedFile.of_source(checkout, at.source)
        return file.finding(
            "grammar-conflict",
            self._message(),
            at.span,
            label=label,
            notes=[self._shows() + self._beside(start, number), self._readings()],
            helps=helps,
            explanation=self._explanation(),
        )

    @staticmethod
    def _beside(start: str, number: int) -> str:
        details = [f"from `{start}`"] if start == BROKEN else []
        details += [f"{number} conflicts in all"] if number > MOST else []
        return f" ({', '.join(details)})" if details else ""

    def _message(self) -> str:
        one, two = [self._subject(action) for action in self._actions]
        if one[0] == two[0]:
            verbs = one[1] if one[1] == two[1] else f"{one[1]} or {two[1]}"
            both = f"{one[0]} can {verbs}" + (" in two ways" if one[1] == two[1] else "")
        else:
            both = f"{one[0]} can {one[1]} or {two[0]} {two[1]}"
            both = f"{one[0]} and {two[0]} can both {one[1]}" if one[1] == two[1] else both
        return f"{both} where {self._rule_text.next_terminal(self._conflict.site.terminal)}"

    def _subject(self, action: int) -> tuple[str, str]:
        """The subject and the verb for an action."""
        if action == SHIFT:
            item = self._shifted_item()
            rule = self._name(item.production)
            return rule, "go on" if item.read else "begin"
        return self._name(action), "end" if self._automaton.productions[action].symbols else "be empty"

    def _name(self, number: int) -> str:
        owner = f"`{self._rule_text.owner(number)}`"
        return f"the repetition in {owner}" if self._automaton.productions[number].is_repetition else owner

    def _shifted_item(self) -> Item:
        """The item that goes on: one of which a part was read, where there is one."""
        shifts = self._conflict.site.shifts
        return max(
            shifts, key=lambda item: (item.read > 0, not self._automaton.productions[item.production].is_repetition)
        )

    def _item(self, action: int) -> Item:
        return (
            self._shifted_item() if action == SHIFT else Item(action, len(self._automaton.productions[action].symbols))
        )

    def _spot(self) -> tuple[SourcePlace, str]:
        """Where the conflict is shown, and what is there."""
        for action in sorted(self._actions, key=lambda action: action != SHIFT):
            place = self._rule_text.place(self._item(action))
            if place is not None:
                subject, verb = self._subject(action)
                return place, f"{subject} {_THIRD[verb]} here"
        return SourcePlace(self._source, self._source.find("start") or (0, 0)), ""

    def _shows(self) -> str:
        """The shortest text that shows the conflict."""
        pair, counterexample = self._conflict.pair, self._conflict.counterexample
        if pair is None:
            return "no short text leads there"
        texts = [self._rule_text.text(reads) for reads in self._reads]
        if not counterexample.is_confirmed:
            return f"no text shows it: `{texts[0]}` and `{texts[1]}` are read in one way each, but end up in one state"
        upto = self._rule_text.text(counterexample.paths[0][0].reads)
        shortest = f"shortest text that shows it: `{upto}`" if upto else "shortest text that shows it: no text at all"
        if not pair.is_same:
            return f"{shortest}; what tells is behind it: `{texts[0]}` or `{texts[1]}`"
        return f"{shortest}{f'; `{texts[0]}`' if texts[0] != upto else ', which'} is read in both ways to its end"

    def _readings(self) -> str:
        first, second = self._actions
        return f"either {self._reading(first)}, or {self._reading(second)}"

    def _reading(self, action: int) -> str:
        place = self._rule_text.place(self._item(action))
        where = ""
        if place is not None:
            other = "" if place.source.path == self._source.path else f"{place.source.path.name}, "
            where = f" ({other}line {place.line})"
        return f"`{self._rule_text.item(self._item(action))}`{where}"

    def _advice(self) -> str:
        pair, counterexample = self._conflict.pair, self._conflict.counterexample
        if pair is not None and pair.is_same:
            return "two ways to read one text are one too many: take one of them out, or give them different markers"
        if pair is not None and not counterexample.is_confirmed:
            names = sorted({self._rule_text.owner(a) for a in self._actions if a != SHIFT})
            return f"write a rule of its own for each place where {listed(names, 'or')} stands, or one rule for both"
        return "write what both readings begin with once, and let them part behind it"

    def _explanation(self) -> str:
        """Both derivations as trees."""
        if self._conflict.pair is None:
            return ""
        lines: list[str] = []
        for number, (action, reads) in enumerate(zip(self._actions, self._reads, strict=True), 1):
            subject, verb = self._subject(action)
            lines.append(f"reading {number}, {subject} {_THIRD[verb]}: {visible(self._rule_text.text(reads))}")
            for node in self._rule_text.derivation(reads):
                lines += node.lines()
        return "\n".join(lines)


#: How something is said of one that does it.
_THIRD = {"go on": "goes on", "begin": "begins", "end": "ends", "be empty": "is empty"}
