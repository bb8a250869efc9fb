"""The tolerant grammar of a format: its rules, and productions for what may be wrong in a damaged response.

It is the text of a Lark grammar for Lark's Earley parser, derived from the rules of the format's grammar. Each rule
keeps its name and its alternatives. Each marker becomes a rule, so that it may be damaged or missing, or stand behind
text that does not belong there. Free text is a row of pieces, which may be markers. What a production costs is its
priority, below zero; Lark takes the parse with the greatest sum. All terminals are declared: the tokens come from
`recovery.tolerant_lexer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from .tables import BROKEN, START, Rule, Tables, Terminal, rules_from_data, rules_to_data
from .vocabulary import EMBEDDED_VALUES, FREE_TEXT, JSON_FIRST, NODES, TOKENS, short

#: The rules that may begin a response whose end is known, and one that may be cut off.
ENDED, CUT, FOREIGN = "ended", "cut", "foreign"
#: The terminals that are no terminals of the format.
RUN, RUN_END, MARKER, OPENER, SHORT = "RUN", "RUN_END", "MARKER", "OPENER", "SHORT"
STRAY_TEXT, UNSURE_TEXT, STRAY_CHARACTER = "STRAY_TEXT", "UNSURE_TEXT", "STRAY_CHARACTER"
CUT_MARKER, CUT_VALUE, SKIP = "CUT_MARKER", "CUT_VALUE", "_SKIP"
#: The rule of a piece of text that is an item of a repetition.
TEXT_ITEM = "text_item"
#: What the names of the rules for a marker begin with that is missing, or must not be missing.
MISSING, PRESENT = "missing_", "present_"
#: The powers of two that the cost of a token is the sum of.
COST_BITS = (1, 2, 4, 8, 16, 32)

_INTRODUCTION = """\
// The priority of a rule is what it costs, below zero. Lark takes the tree with the greatest sum.
// A token may be several terminals at once: a marker is itself, MARKER or OPENER (stray, or text), and what may be
// missing at a place is a token there, which may be skipped. RUN and RUN_END are text between markers.
// COST_1 to COST_32 stand before a token that is damaged or repaired. CUT_MARKER and CUT_VALUE end a text that is cut.
""".splitlines()
_GENERATED = re.compile(r"_+(.+)_(?:star|plus|opt)_\d+")


class TolerantRules(NamedTuple):
    """A tolerant grammar as Lark's Earley parser takes it.

    `names` gives the names that the terminals of the format have in it, `readers` the terminals that its rules for
    terminals read, `may_be_missing` the terminals that may be missing; `nullable` are the rules that read nothing.
    """

    names: dict[str, str]
    readers: dict[str, str]
    may_be_missing: frozenset[str]
    rules: tuple[Rule, ...]
    nullable: frozenset[str]

    def to_data(self) -> dict[str, Any]:
        """The rules as plain data."""
        lists = {"may_be_missing": sorted(self.may_be_missing), "nullable": sorted(self.nullable)}
        return {"names": self.names, "readers": self.readers, **lists, **rules_to_data(self.rules)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> TolerantRules:
        """The inverse of `to_data`."""
        missing, nullable = frozenset(data["may_be_missing"]), frozenset(data["nullable"])
        return cls(data["names"], data["readers"], missing, rules_from_data(data), nullable)


def starts_of(tables: Tables) -> list[str]:
    """The start rules of the tolerant grammar of a format."""
    return [ENDED, CUT, *([FOREIGN] if tables.broken is not None else [])]


def tolerant_rules(tables: Tables, costs: Mapping[str, int]) -> TolerantRules:
    """The rules of the tolerant grammar of a format; see `tolerant_grammar`. This takes some tenths of a second."""
    from lark import Lark

    writer = _Writer(tables, costs)
    options: Any = {"parser": "earley", "lexer": "basic", "maybe_placeholders": False}
    lark: Any = Lark(writer.text, start=starts_of(tables), ambiguity="resolve", **options)
    rules = [
        Rule(str(r.origin.name), tuple([str(s.name) for s in r.expansion]), r.alias or "", r.order, r.options.priority)
        for r in lark.rules
    ]
    nullable = frozenset([str(symbol.name) for symbol in lark.parser.parser.NULLABLE])
    return TolerantRules(writer.names, writer.readers, writer.may_be_missing, tuple(rules), nullable)


def tolerant_grammar(tables: Tables, costs: Mapping[str, int]) -> str:
    """Derive the text of the tolerant grammar of a format.

    `costs` are those of rules, or of all rules whose names begin so.
    """
    return _Writer(tables, costs).text


class _Writer:
    """Writes a tolerant grammar: its `text`; for `names`, `readers` and `may_be_missing`, see `TolerantRules`."""

    def __init__(self, tables: Tables, costs: Mapping[str, int]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in tables.rules:
            self._rules.setdefault(rule.name, []).append(rule)
        terminals = self._terminals = tables.terminals
        self._costs = costs
        self._has_json = any(terminal.short in JSON_FIRST for terminal in terminals.values())
        self._names = _readable_names(self._rules, terminals)
        #: the rules that read terminals
        taken = {name.strip("_") for name in self._names.values()} | {TEXT_ITEM}
        tokens = dict.fromkeys([self._names[name] for name in terminals])
        readers = {token: _unique(token.lower(), taken) for token in tokens}
        self._readers = {name: readers[self._names[name]] for name in terminals}
        self._in_nodes = self._rules_in_nodes()
        self._insertable = {name for name in terminals if self._may_be_missing(name)}
        self._lines: list[str] = []
        self.text = self._written()
        self.names = {name: self._names[name] for name in terminals}
        self.readers = {p + reader: self._names[name] for name, reader in self._readers.items() for p in ("", PRESENT)}
        self.may_be_missing = frozenset([self._names[name] for name in self._insertable])

    def _written(self) -> str:
        self._section("The rules of the format")
        for name in self._rules:
            self._rule(name)
        title = "Beginnings of rules, where only a section of calls is open at the end"
        unclosed = self._write_beginnings(self._in_nodes, "_unclosed", title)
        cut = self._write_beginnings(set(), "_cut", "Beginnings of rules, where the text is cut off")
        self._write_terminals()
        starts = [f"{ENDED}: start _skips? | _rest" + (f" | {unclosed} _rest?" if unclosed else "")]
        starts.append(f"{CUT}: start _skips? | _rest | start (cut_marker | cut_value) _skips? | {cut} _cut_off?")
        starts.append("_rest: _stray | _stray? _skips")
        starts.append(f"_skips: {SKIP} | {SKIP} _skips")
        starts.append("_cut_off: _rest | (cut_marker | cut_value) _skips?")
        starts.append(f"cut_marker: {CUT_MARKER} | {SKIP} cut_marker")
        starts.append(f"cut_value.-{self._costs['cut_value']}: _cut_value")
        starts.append(f"_cut_value: {CUT_VALUE} | {SKIP} _cut_value")
        if BROKEN in self._rules:
            starts.append(f"{FOREIGN}.-{self._costs[FOREIGN]}: {self._names[BROKEN]} _rest?")
        self._lines[:0] = starts
        return "\n".join([*_INTRODUCTION, "", *self._declared(), "", *self._lines, ""])

    def _line(self, line: str) -> None:
        self._lines.append(line)

    def _section(self, title: str) -> None:
        self._lines += ["", f"// {title}"]

    # what may be missing

    def _may_be_missing(self, name: str) -> bool:
        """May a marker be missing? Not if it has no spelling, or begins only reasoning or code."""
        terminal = self._terminals[name]
        written = terminal.canonical.strip()
        if not written or not terminal.short.startswith("_"):
            return False
        if self._has_json and (written[0] == '"' or written in ("{", "[", ":")):
            return False
        same = {other for other in self._terminals if self._names[other] == self._names[name]}
        begun = {r.short for group in self._rules.values() for r in group if same.intersection(r.symbols[:1])}
        return not begun or not begun <= {"think", "code"}

    def _must_be_there(self, rule: Rule, at: int) -> bool:
        """Must a marker not be missing: behind it stands a tool's name, or all of the alternative could be missing?"""
        following = self._terminals.get(rule.symbols[at + 1]) if at + 1 < len(rule.symbols) else None
        if following is not None and following.short == "TOOL_NAME" and self._is_long(rule.symbols[at]):
            return True
        return at == 0 and all(s in self._insertable or self._is_free(s) for s in rule.symbols)

    def _is_free(self, symbol: str) -> bool:
        return symbol in self._terminals and self._terminals[symbol].short in FREE_TEXT

    # rules

    def _rule(self, name: str) -> None:
        group = self._rules[name]
        alternatives: list[str] = []
        for rule in group:
            body = " ".join([self._symbol(rule, i) for i in range(len(rule.symbols))])
            alias = rule.short if rule.short and rule.short != short(name) and not rule.short.startswith("_") else ""
            alternatives.append(f"{body} -> {alias}" if alias else body)
        self._alternatives(self._names[name], alternatives)

    def _alternatives(self, name: str, alternatives: Iterable[str]) -> None:
        kept = list(dict.fromkeys(alternatives))
        self._line(f"{name}: " + f"\n{' ' * len(name)}| ".join(kept))

    def _symbol(self, rule: Rule, at: int) -> str:
        """How a symbol of an alternative is read."""
        symbol = rule.symbols[at]
        terminal = self._terminals.get(symbol)
        if terminal is None:
            return self._names[symbol]
        if terminal.short == "TEXT" and self._is_item(rule, at):
            return TEXT_ITEM
        name = self._readers[symbol]
        return f"{PRESENT}{name}" if symbol in self._insertable and self._must_be_there(rule, at) else name

    def _is_item(self, rule: Rule, at: int) -> bool:
        """Is free text an item of a repetition by itself?"""
        return rule.symbols in (("TEXT",), (rule.name, rule.symbols[at])) or (
            len(rule.symbols) == 1 and any(r.symbols[:1] == (rule.name,) for r in self._rules[rule.name])
        )

    # beginnings of rules

    def _rules_in_nodes(self) -> set[str]:
        """The rules of the nodes, and those that stand inside of them."""
        found = {name for name, group in self._rules.items() if any(r.short in NODES for r in group)}
        waiting = list(found)
        for name in waiting:
            for symbol in {symbol for rule in self._rules[name] for symbol in rule.symbols}:
                if symbol in self._rules and symbol not in found:
                    found.add(symbol)
                    waiting.append(symbol)
        return found

    def _beginnings(self, without: set[str]) -> dict[str, list[tuple[Rule, int, bool]]]:
        """How rules may begin without being complete, apart from those in `without`.

        Each way is an alternative, how many of its symbols are complete, and whether the next one has begun.
        """
        beginnings: dict[str, list[tuple[Rule, int, bool]]] = {}
        while True:
            more = {
                name: self._beginnings_of(name, beginnings, anywhere=not without)
                for name in self._rules
                if name not in without
            }
            more = {name: ways for name, ways in more.items() if ways}
            if more == beginnings:
                return beginnings
            beginnings = more

    def _ends_for_sure(self, symbol: str, seen: set[str]) -> bool:
        """Does a symbol end with a marker, so that the automaton closes it whatever follows?"""
        if symbol in self._terminals or symbol in seen:
            return True
        seen.add(symbol)
        return all(rule.symbols and self._ends_for_sure(rule.symbols[-1], seen) for rule in self._rules[symbol])

    def _beginnings_of(self, name: str, known: Iterable[str], *, anywhere: bool) -> list[tuple[Rule, int, bool]]:
        complete = {rule.symbols for rule in self._rules[name]}
        beginnings: list[tuple[Rule, int, bool]] = []
        for rule in self._rules[name]:
            for i, symbol in enumerate(rule.symbols):
                begun = rule.symbols[:i]
                is_new = i and not self._is_free(symbol) and begun not in complete and begun != (name,)
                if is_new and (anywhere or self._ends_for_sure(begun[-1], set())):
                    beginnings.append((rule, i, False))
                if symbol in known and not (i == 0 and symbol == name):
                    beginnings.append((rule, i, True))
        return beginnings

    def _write_beginnings(self, without: set[str], suffix: str, title: str) -> str:
        """Write the rules for beginnings; returns that of the start rule, or ""."""
        beginnings = self._beginnings(without)
        taken = set(self._names.values())
        names = {name: _unique(f"{self._names[name]}{suffix}", taken) for name in beginnings}
        self._section(title)
        for name, places in beginnings.items():
            bodies: list[str] = []
            for rule, count, begun in places:
                parts = [self._symbol(rule, i) for i in range(count)]
                bodies.append(" ".join([*parts, names[rule.symbols[count]]] if begun else parts))
            self._alternatives(names[name], bodies)
        return names.get(START, "")

    # terminals

    def _write_terminals(self) -> None:
        used = {symbol for group in self._rules.values() for rule in group for symbol in rule.symbols}
        terminals = list({self._names[name]: name for name in reversed(self._terminals) if name in used}.values())[::-1]
        self._section("Markers: each may be damaged or missing, or stand behind what does not belong there")
        for name in terminals:
            if self._terminals[name].short not in FREE_TEXT | EMBEDDED_VALUES | TOKENS:
                self._read(name)
        self._section("Names and ids")
        for name in terminals:
            if self._terminals[name].short in TOKENS:
                reader = self._readers[name]
                self._line(f"{reader}: {self._names[name]} | _cost {reader} | {SKIP} {reader}")
        self._section("Embedded values")
        for name in terminals:
            if self._terminals[name].short in EMBEDDED_VALUES:
                self._read(name)
        self._section("What the damage of a marker or the repair of a value costs; it stands before them")
        self._line("_cost: " + " | ".join([f"cost_{cost}" for cost in COST_BITS]))
        for cost in COST_BITS:
            self._line(f"cost_{cost}.-{cost}: COST_{cost}")
        self._free_text([name for name in terminals if self._terminals[name].short in FREE_TEXT])
        self._section("What belongs nowhere: a marker, or some words")
        kinds = (
            ("stray_text", STRAY_TEXT),
            ("stray_text_unsure", UNSURE_TEXT),
            ("stray_character", STRAY_CHARACTER),
        )
        self._line(f"_stray: stray_marker | {' | '.join([rule for rule, _ in kinds])} | {SKIP} _stray")
        self._line(f"stray_marker.-{self._costs['stray_marker']}: _marker | _opener")
        for rule, token in kinds:
            self._line(f"{rule}.-{self._costs[rule]}: _{rule}")
            self._line(f"_{rule}: {token} | _cost _{rule}")

    def _read(self, name: str) -> None:
        """Write how a marker or a value is read, which may stand behind what belongs nowhere."""
        token, reader = self._names[name], self._readers[name]
        if name in self._insertable:
            missing = f"{MISSING}{reader}"
            self._line(f"{reader}: _{reader} | _stray _{reader} | {missing} | _stray {missing}")
            self._line(f"{PRESENT}{reader}: _{reader} | _stray _{reader}")
            self._line(f"{missing}.-{self._costs[MISSING]}: {missing.upper()}")
        else:
            self._line(f"{reader}: _{reader} | _stray _{reader}")
        self._line(f"_{reader}: {token} | _cost _{reader} | {SKIP} _{reader}")

    def _is_long(self, name: str) -> bool:
        return len(self._terminals[name].canonical.strip()) > 3

    def _free_text(self, terminals: Sequence[str]) -> None:
        self._section("Free text: runs between markers, and markers that are text")
        if any(self._terminals[name].short == "TEXT" for name in terminals):
            self._line(f"{TEXT_ITEM}: _text_piece")
        for name in terminals:
            piece = "_text_piece" if self._terminals[name].short == "TEXT" else "_value_piece"
            self._line(f"{self._readers[name]}: {piece}*")
        self._line("_text_piece: _run | opener_as_text | marker_as_text | short_in_value")
        self._line("_value_piece: _run | marker_in_value | short_in_value")
        self._line(f"_run: {RUN_END} | {RUN} _run")
        pieces = {"short_in_value": SHORT, "marker_in_value": "_marker | _opener"}
        for rule, body in {**pieces, "opener_as_text": "_opener", "marker_as_text": "_marker"}.items():
            self._line(f"{rule}.-{self._costs[rule]}: {body}")
        self._line(f"_marker: {MARKER} | {RUN} _marker")
        self._line(f"_opener: {OPENER} | {RUN} _opener")

    def _declared(self) -> list[str]:
        known = [line for line in self._lines if not line.startswith("//")]
        names = sorted(set(re.findall(r"\b_?[A-Z][A-Z0-9_]*\b", "\n".join(known))))
        return [f"%declare {line}" for line in wrap(" ".join(names), 110)]


def _readable_names(rules: dict[str, list[Rule]], terminals: dict[str, Terminal]) -> dict[str, str]:
    """Names without the prefixes of imports; a number tells those apart that are the same without."""
    names: dict[str, str] = {}
    taken: set[str] = {ENDED, CUT, FOREIGN, "rest", "skips", "cut_value", "cut_marker"}
    for name in rules:
        generated = _GENERATED.fullmatch(name)
        brief = f"_{short('_' + generated[1]).strip('_')}_items" if generated else short(name)
        names[name] = _unique(brief, taken)
    taken = {RUN, RUN_END, MARKER, OPENER, SHORT, STRAY_TEXT, UNSURE_TEXT, STRAY_CHARACTER, CUT_MARKER, CUT_VALUE}
    alike: dict[Terminal, str] = {}
    for name, terminal in terminals.items():
        same = terminal._replace(name="", may_stay_open=False)
        if same not in alike:
            alike[same] = _unique(terminal.short.strip("_"), taken)
        names[name] = alike[same]
    return names


def _unique(name: str, taken: set[str]) -> str:
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique
