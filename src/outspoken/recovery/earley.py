"""The Earley reading of a damaged region: Lark's Earley parser reads it with the tolerant grammar of its format.

It stands behind the search, which is much faster, and reads more than that. Its tree gives the terminals in order; from
them the strict automaton gives the steps of a recovery path, so that the same driver applies them to the same builder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from lark import Token, Tree, UnexpectedInput
from lark.common import LexerConf, ParserConf
from lark.grammar import NonTerminal, Rule, RuleOptions, Terminal
from lark.parse_tree_builder import ParseTreeBuilder
from lark.parsers import earley

from outspoken.grammar import registry, tolerant
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tolerant import TolerantRules, tolerant_rules
from outspoken.grammar.vocabulary import FREE_TEXT
from outspoken.results.edits import Edit
from outspoken.semantics.steps import RecoveryStep

from . import costs
from .edges import EdgeFinder
from .marker_lexer import is_closed, marker_lexer
from .path import BLANK, Node, RecoveryPath, Region, steps_to
from .search import marked_foreign, may_be_foreign
from .tolerant_lexer import rows_of
from .tolerant_tokens import Kinds, Lexeme

#: A region with more markers, or more tokens, is not read. In a hundred tokens, half are what may be missing.
MAX_MARKERS, MAX_TOKENS = 48, 120

#: What the rules of a tolerant grammar cost, or all of those whose names begin so.
RULES = {
    tolerant.MISSING: costs.MISSING_MARKER, "stray_marker": costs.STRAY_MARKER, "stray_text": costs.STRAY_TEXT,
    "stray_text_unsure": costs.STRAY_TEXT_UNSURE, "stray_character": costs.STRAY_CHARACTER,
    "marker_in_value": costs.MARKER_IN_VALUE, "short_in_value": costs.MARKER_IN_STRING,
    "opener_as_text": costs.OPENER_AS_TEXT, "marker_as_text": costs.MARKER_AS_TEXT, "cut_value": costs.CUT_VALUE,
    tolerant.FOREIGN: costs.FOREIGN_NOTATION,
}  # fmt: skip


class ReadTerminal(NamedTuple):
    """A terminal of a reading: its name in the tolerant grammar, its token, and how it is read.

    `use` is "", "missing", "stray", "text" or "cut". The name of what is stray is the edit's code.
    """

    name: str
    token: Lexeme | None
    use: str = ""


def grammar_text(name: str) -> str:
    """The text of the tolerant grammar of a format, by a name or alias. Raises UnknownFormatError."""
    return tolerant.tolerant_grammar(registry.tables(registry.resolve(name)), RULES)


@lru_cache(maxsize=256)
def grammar_of(automaton: Automaton) -> TolerantRules:
    """The tolerant grammar of a format: that of its compiled grammar, if there is one."""
    found = automaton.tables.tolerant
    return TolerantRules.from_data(found) if found is not None else tolerant_rules(automaton.tables, RULES)


@lru_cache(maxsize=64)
def earley_of(automaton: Automaton) -> earley.Parser:
    """Lark's Earley parser of the tolerant grammar of a format.

    Lark would analyse the grammar for some hundredths of a second: it does that with a single rule, and then gets what
    it would find, which was compiled ahead of time. It predicts at once all rules that may begin a symbol, and these
    rules predict again what they may begin with; each symbol's own rules lead to the same items, several times as fast.
    """
    grammar, starts = grammar_of(automaton), tolerant.starts_of(automaton.tables)
    rules = [
        Rule(
            NonTerminal(r.name),
            [_symbol(s) for s in r.symbols],
            r.order,
            r.short or None,
            RuleOptions(priority=r.priority),
        )
        for r in grammar.rules
    ]
    builder: Any = ParseTreeBuilder(rules, Tree, False, False, False)
    callbacks = builder.create_callback()
    first: Any = [Rule(NonTerminal(start), [Terminal(start)], 0, None, RuleOptions(priority=1)) for start in starts]
    lexer: Any = LexerConf([], re)
    lexer.lexer_type = "custom"
    parser: Any = earley.Parser(lexer, ParserConf(first, callbacks, starts), _is_of_kind)
    parser.parser_conf = ParserConf(rules, callbacks, starts)
    parser.NULLABLE = {NonTerminal(name) for name in grammar.nullable}
    symbols = {symbol for rule in rules for symbol in rule.expansion}
    parser.TERMINALS = {symbol for symbol in symbols if symbol.is_term}
    parser.NON_TERMINALS = symbols - parser.TERMINALS
    own: dict[Any, list[Any]] = {}
    for rule in rules:
        own.setdefault(rule.origin, []).append(rule)
    parser.predictions = own
    return parser


def _symbol(name: str) -> Any:
    """A symbol of Lark. A terminal whose name begins with an underscore is not in the tree."""
    return Terminal(name, name.startswith("_")) if name.isupper() else NonTerminal(name)


def _is_of_kind(terminal: Any, token: Token) -> bool:
    return bool(terminal.name == token.type)


class _Tokens(NamedTuple):
    """Tokens that were found before, as Lark's parser reads them from its lexer."""

    found: list[Token]

    def lex(self, parser_state: Any) -> Iterator[Token]:
        """The tokens."""
        return iter(self.found)


def read(region: Region) -> RecoveryPath | None:
    """The cheapest reading of a region; None if there is none, or if it is beyond the bound."""
    automaton = region.automaton
    if automaton.tables.header.format not in registry.names():
        return None  # payloads of an application, whose grammar is made of its markers
    prefix, best = _prefix(automaton, region.outer), None
    limit = min(MAX_TOKENS, region.tokens_left) - len(prefix)  # it costs time to make tokens, too
    lexed = marker_lexer(automaton).tokens(region.text, MAX_MARKERS) if limit > 0 else None
    if lexed is None:
        return None
    region.tokens, region.near = lexed
    for row in rows_of(region, grammar_of(automaton), limit):
        size = len(row) + len(prefix)
        if len(row) > limit or size > region.tokens_left:
            break
        for start in _starts(region):
            region.tokens_left -= size
            path = _read_row([*prefix, *row], len(prefix), region, start)
            if path is not None and path.cost <= costs.MAX_COST and (best is None or path.cost < best.cost):
                best = path
    return best


def _starts(region: Region) -> list[str]:
    """The start rules of the tolerant grammar that a region may be read by."""
    first = tolerant.ENDED if region.end_is_certain else tolerant.CUT
    return [first, tolerant.FOREIGN] if may_be_foreign(region) else [first]


def _read_row(row: list[Lexeme], skipped: int, region: Region, start: str) -> RecoveryPath | None:
    """The cheapest reading of a row of tokens, of which the first few only lead to where the region begins."""
    tree = _tree(region.automaton, tuple([str(lexeme.kinds) for lexeme in row]), start)
    if tree is None:
        return None
    grammar = grammar_of(region.automaton)
    readings = list(_readings(tree, row, grammar))
    return _Walk(region, grammar, foreign=start == tolerant.FOREIGN).path(readings[skipped:], cost_of(tree))


@lru_cache(maxsize=256)
def _tree(automaton: Automaton, kinds: tuple[str, ...], start: str) -> Tree[Token] | None:
    """The cheapest tree of a row of tokens, which are known by their kinds and numbers; None if there is none.

    Models repeat their mistakes. A tree holds nothing of the text, so the next text with the same mistake can share it.
    """
    tokens: Any = [Token(Kinds.parse(kind), str(i), start_pos=i) for i, kind in enumerate(kinds)]
    parser: Any = earley_of(automaton)
    try:
        return parser.parse(_Tokens(tokens), start)
    except UnexpectedInput:
        return None


def cost_of(tree: Tree[Token]) -> int:
    """What a tree of the tolerant grammar costs: the sum of its priorities."""
    return sum(_cost_of_rule(str(subtree.data)) for subtree in tree.iter_subtrees_topdown())


def _cost_of_rule(rule: str) -> int:
    kind, _, number = rule.rpartition("_")
    if kind == "cost" and number.isdigit():
        return int(number)
    return RULES.get(tolerant.MISSING if rule.startswith(tolerant.MISSING) else rule, 0)


def _readings(tree: Tree[Token], row: list[Lexeme], grammar: TolerantRules) -> Iterator[ReadTerminal]:
    """The terminals of a tree in order."""
    rule = str(tree.data)
    if rule.startswith(tolerant.MISSING):
        yield ReadTerminal(grammar.readers[rule.removeprefix(tolerant.MISSING)], None, "missing")
        return
    if rule.startswith("stray_"):
        token = [row[t.start_pos or 0] for t in tree.scan_values(lambda t: isinstance(t, Token))][-1]
        yield ReadTerminal("stray-marker" if rule == "stray_marker" else "stray-text", token, "stray")
        return
    name = grammar.readers.get(rule, "")
    if rule == tolerant.TEXT_ITEM or name in FREE_TEXT or name.rstrip("_0123456789") in FREE_TEXT:
        yield ReadTerminal("TEXT" if rule == tolerant.TEXT_ITEM else name, None, "text")
        return
    for child in tree.children:
        if not isinstance(child, Token):
            yield from _readings(child, row, grammar)
        elif rule in ("cut_marker", "cut_value"):
            yield ReadTerminal("", row[child.start_pos or 0], "cut")
        elif not rule.startswith("cost_"):
            yield ReadTerminal(name, row[child.start_pos or 0])


@lru_cache(maxsize=512)
def _prefix(automaton: Automaton, outer: Config) -> tuple[Lexeme, ...]:
    """Tokens that lead from the start of the grammar to a configuration."""
    if outer in (automaton.start, automaton.top_level):
        return ()
    names, size = grammar_of(automaton).names, len(outer.stack)
    paths: dict[Config, tuple[Transition, ...]] = {automaton.start: ()}
    waiting, before = [automaton.start], None
    for config in waiting:
        if config is outer:
            before = outer
            break
        for step in config.steps:
            stack = step.target.stack
            if before is None and len(stack) > size and stack[:size] == outer.stack:
                before = config  # what was read before may still have to be reduced
            if step.target not in paths:
                paths[step.target] = (*paths[config], step)
                waiting.append(step.target)
    lexemes: list[Lexeme] = []
    for step in paths[before] if before is not None else ():
        is_free = step.terminal.short in FREE_TEXT
        kind = Kinds([tolerant.RUN_END if is_free else names[step.terminal.name]])
        lexemes.append(Lexeme(kind, 0, 0, {}))
    return tuple(lexemes)


class _Walk:
    """Walks the strict automaton over the terminals of a reading."""

    def __init__(self, region: Region, grammar: TolerantRules, *, foreign: bool) -> None:
        self._region, self._names, self._finder = region, grammar.names, EdgeFinder(region)
        broken = region.automaton.broken
        self._is_foreign = foreign
        self._config = broken.top_level if foreign and broken is not None else region.outer
        self._steps: list[RecoveryStep] = []
        self._pos = 0

    def path(self, readings: list[ReadTerminal], cost: int) -> RecoveryPath | None:
        """The recovery path; None if the automaton refuses the terminals."""
        region = self._region
        for i, reading in enumerate(readings):
            if not self._take(reading, readings[i + 1 :]):
                return None
        config = self._config
        if (region.end_is_certain and not is_closed(config)) or self._loses_markup() or self._loses_text():
            return None
        cut = not is_closed(config) and config.end_operations() is None
        steps = steps_to(Node(tuple(self._steps), None, "", False), region.text, region.base)
        if self._is_foreign:
            top_level = region.automaton.top_level
            return RecoveryPath(marked_foreign(steps, region), top_level, cost, cut)
        return RecoveryPath(steps, config, cost, cut)

    def _loses_markup(self) -> bool:
        """Does text behind a marker that is missing hold markers? They belong to what the missing one would end."""
        for before, step in zip(self._steps, self._steps[1:], strict=False):
            is_plain = step.is_text and step.transition is not None and step.transition.terminal.short == "TEXT"
            if before.is_missing and is_plain and any(step.start <= t.start < step.end for t in self._region.tokens):
                return True
        return False

    def _loses_text(self) -> bool:
        """Does something stand between two steps, or behind the last one, that no step has read or dropped?"""
        text, end = self._region.text, 0
        for step in self._steps:
            if text[end : step.start].strip(BLANK):
                return True
            end = max(end, step.end)
        return bool(text[end:].strip(BLANK))

    def _take(self, reading: ReadTerminal, following: list[ReadTerminal]) -> bool:
        name, token, use = reading
        if use == "text":
            return self._take_text(name, following)
        if token is not None and name == "stray-marker" and _is_value(token):
            return False  # a value that only holds one
        if token is not None and use in ("stray", "cut"):
            edits = (Edit(token.start, token.end, "", name, "markup"),) if use == "stray" else ()
            self._add(RecoveryStep(None, token.start, token.end, edits=edits), self._config)
            return True
        transition = self._transition(name)
        if transition is None:
            return False
        if token is None:
            edge = self._finder.inserted(transition, self._pos)
            self._add(edge.steps[0], edge.target)
            return True
        self._add(token.steps[name]._replace(transition=transition), transition.target)
        return True

    def _add(self, step: RecoveryStep, config: Config) -> None:
        self._steps.append(step)
        self._pos, self._config = step.end, config

    def _take_text(self, name: str, following: list[ReadTerminal]) -> bool:
        """Take free text up to the next token."""
        free = self._config.free
        last = self._steps[-1] if self._steps else None
        end = next((self._start(r) for r in following if r.token is not None), len(self._region.text))
        if last is not None and last.is_text and last.transition is not None and self._name(last.transition) == name:
            self._steps[-1] = last._replace(end=end)
            self._pos = end
            return True
        if free is None or self._name(free) != name:
            return False
        self._add(RecoveryStep(free, self._pos, end, is_text=True), free.target)
        return True

    def _start(self, reading: ReadTerminal) -> int:
        token = reading.token
        assert token is not None
        return token.steps[reading.name].start if reading.name in token.steps else token.start

    def _name(self, transition: Transition) -> str:
        return self._names[transition.terminal.name]

    def _transition(self, name: str) -> Transition | None:
        """The transition over a terminal. If only free text may stand before it, that is empty."""
        config, free = self._config, self._config.free
        if free is not None:
            found = self._among(config.leading_markers, name)
            if found is not None:
                return found
            self._add(RecoveryStep(free, self._pos, self._pos, is_text=True), free.target)
            config = free.target
        return self._among([*config.markers, *config.embedded], name)

    def _among(self, known: list[Transition], name: str) -> Transition | None:
        return next((t for t in known if not t.inserted and self._name(t) == name), None)


def _is_value(token: Lexeme) -> bool:
    """Is a token a value, or the beginning of one that is cut?"""
    return tolerant.CUT_VALUE in token.kinds.names or any(step.value_text for step in token.steps.values())
