"""Compiles the text of a grammar to tables. Only trees need Lark elsewhere.

Lark has no public way to its LALR states and to the definitions of terminals before it joins them, so some of its
parts that are not documented are used; `tests/patterns/test_patterns.py` fails if they change.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from lark import Lark, Tree, lexer, load_grammar
from lark.common import ParserConf
from lark.exceptions import GrammarError as LarkGrammarError
from lark.exceptions import LarkError
from lark.grammar import Rule as LarkRule
from lark.lexer import TerminalDef
from lark.parsers.lalr_analysis import LALR_Analyzer

from outspoken.patterns.analysis import UnsafePatternError, first_chars, may_begin_match_of, may_grow, may_stay_open
from outspoken.patterns.backtracking import find_slow
from outspoken.patterns.spellings import spellings as spellings_of
from outspoken.patterns.syntax import without_groups
from outspoken.results.errors import GrammarError

from .header import Header, read_header
from .sources import own_folder, sources
from .tables import BROKEN, START, Rule, Tables, Terminal, order
from .vocabulary import CALLS, EMBEDDED_VALUES, FREE_TEXT, NODES, SPELLED_VALUES, short

_LOADING: Any = load_grammar
_LITERALS: Any = _LOADING.PrepareLiterals() * _LOADING.TerminalTreeToPattern()

#: How a terminal is written, and the pattern of what else it reads.
Spelling = tuple[str | None, str | None]


def compile_grammar(path: Path) -> Tables:
    """Compile a grammar file. Raises GrammarError if the grammar cannot be used, also for a conflict of its rules."""
    return compile_text(path.read_text("utf-8"), path, recorded=sources(path))


def compile_text(text: str, path: Path, *, recorded: dict[str, int] | None = None) -> Tables:
    """Compile the text of a grammar. Its imports are relative to `path`, or of the library's own grammars.

    `recorded` holds the checksums of its files, if it has any. Raises GrammarError as `compile_grammar` does.
    """
    try:
        return _compiled(text, path, recorded)
    except re.error as error:
        raise GrammarError(str(path), f"a regular expression cannot be read: {error}") from error
    except RecursionError as error:
        raise GrammarError(str(path), "it is nested too deeply") from error


def _compiled(text: str, path: Path, recorded: dict[str, int] | None) -> Tables:
    header = read_header(text, str(path))
    starts = [START, *([BROKEN] if re.search(rf"^{BROKEN}\s*:", text, re.MULTILINE) else [])]
    try:
        lark = lark_of(text, path, starts)
        analyses = {start: _analysis(lark, start) for start in starts}
    except (LarkGrammarError, LarkError) as error:
        raise GrammarError(str(path), _without_lark_words(str(error))) from error
    except OSError as error:
        raise GrammarError(str(path), f"there is no file `{error.filename}` to import from") from error
    texts = spellings(lark)
    terminals = {
        str(t.name): terminal_of(str(t.name), t, texts.get(str(t.name)), str(path))
        for t in sorted(lark.terminals, key=lambda t: str(t.name))
        if str(t.name) not in lark.ignore_tokens
    }
    _check_evidence(header, terminals, str(path))
    _check_time(lark, terminals, text, str(path))
    numbered = sorted(lark.rules, key=lambda r: (r.origin.name, r.order, [s.name for s in r.expansion]))
    numbers, rules = {rule: i for i, rule in enumerate(numbered)}, tuple(map(_rule, numbered))
    ignored = [t.pattern.to_regexp() for t in lark.terminals if t.name in lark.ignore_tokens]
    tables: Tables | None = None
    for symbol in reversed(starts):
        states, nodes, start = _states(analyses[symbol], numbers, rules, symbol)
        tables = Tables(
            header=header,
            terminals=_with_open_markers(_without_openers(terminals, states, nodes), states),
            rules=rules,
            states=states,
            nodes=nodes,
            start=start,
            ignore=_optional("|".join(ignored)),
            sources=recorded or {},
            symbol=symbol,
            broken=tables,
        )
    assert tables is not None
    return tables


def lark_of(text: str, path: Path, starts: list[str], **options: Any) -> Lark:
    """Lark's own object of a grammar, with its rules and terminals. `options` are those of Lark, such as `lexer`.

    The names in it have Lark's import prefixes (`shared__json_call__tool_call`); `vocabulary.short` removes them.
    Raises what Lark raises for an invalid grammar, and OSError if a file to import from does not exist.
    """
    with without_collisions():
        return Lark(
            text,
            source_path=str(path),
            maybe_placeholders=False,
            start=starts,
            import_paths=[imported],
            **{"parser": "lalr", **options},
        )


_building = RLock()


@contextmanager
def without_collisions() -> Generator[None, None, None]:
    """Lets Lark compare no terminals with each other, as it does where interegular is installed: it takes minutes."""
    module: Any = lexer
    with _building:
        known = module.has_interegular
        module.has_interegular = False
        try:
            yield
        finally:
            module.has_interegular = known


def _check_evidence(header: Header, terminals: dict[str, Terminal], path: str) -> None:
    """Raise GrammarError if `evidence` names a marker that the grammar does not have."""
    for marker in sorted(header.evidence.keys() - {t.short for t in terminals.values()}):
        raise GrammarError(path, f"`evidence` names `{marker}`, which is no terminal of this grammar")


def _check_time(lark: Lark, terminals: dict[str, Terminal], text: str, path: str) -> None:
    """Raise GrammarError if a search for a terminal, or for what is ignored, may take too long."""
    searched = {name: one.regex for name, one in terminals.items() if one.short not in FREE_TEXT | EMBEDDED_VALUES}
    ignored = {str(t.name): t.pattern.to_regexp() for t in lark.terminals if t.name in lark.ignore_tokens}
    for name, regex in (searched | ignored).items():
        if slow := find_slow(regex):
            place = re.search(rf"^[ \t]*(?:%\w+[ \t]+)?{re.escape(short(name))}[ \t]*[.:]", text, re.MULTILINE)
            line = 0 if place is None else text.count("\n", 0, place.start()) + 1
            message = f"terminal `{short(name)}` backtracks without bound: {slow.why}"
            raise GrammarError(path, message, line=line, helps=(slow.helps,))


def imported(base: str | None, grammar: str) -> tuple[str, str]:
    """The path and text of an imported file: beside the grammar, otherwise of the library's own."""
    folders = [Path(base)] if base else []
    for folder in (*folders, own_folder()):
        path = folder / grammar
        if path.is_file():
            return str(path), path.read_text("utf-8")
    raise FileNotFoundError(2, "there is no such file", grammar)


def _analysis(lark: Lark, start: str) -> LALR_Analyzer:
    """The LALR analysis of a grammar from one of its start rules. Raises Lark's GrammarError for a conflict."""
    analysis = LALR_Analyzer(ParserConf(lark.rules, {}, [start]), debug=True, strict=True)
    analysis.compute_lalr()
    return analysis


def spellings(lark: Any) -> dict[str, Spelling]:
    """The spelling and the pattern of each terminal whose definition begins with a string: `"written" | /read/`.

    The string is how the terminal is written. The other alternatives, if there are any, are what it reads.
    """
    by_name: dict[str, Spelling] = {}
    for name, (tree, _) in lark.grammar.term_defs:
        options = list(tree.children) if tree.data == "expansions" else []
        if len(list(tree.find_data("value"))) != len(options) or not all(_is_literal(o) for o in options):
            continue
        first, *rest = [_LITERALS.transform(Tree("expansions", [option])) for option in options]
        if first.type == "str" and not first.flags:
            read = "|".join([pattern.to_regexp() for pattern in rest])
            by_name[str(name)] = (first.value, f"(?:{read})" if rest else None)
    return by_name


def _is_literal(option: Any) -> bool:
    """Is an alternative of a terminal a single string or regular expression?"""
    parts = getattr(option, "children", ())  # none in a token
    return bool(parts) and (option.data == "literal" or (len(parts) == 1 and _is_literal(parts[0])))


def terminal_of(name: str, definition: TerminalDef, written: Spelling | None, path: str) -> Terminal:
    """A terminal from Lark's definition, its spelling and its pattern. Raises GrammarError if no stream can read it."""
    brief = short(name)
    regex = definition.pattern.to_regexp()
    canonical = ""
    if brief in SPELLED_VALUES:
        canonical = (written and written[0]) or ""
        if not canonical:
            raise GrammarError(path, f"terminal `{brief}` is not a string, but its notation needs one")
    elif written and brief not in FREE_TEXT | EMBEDDED_VALUES:
        canonical, read = written[0] or "", written[1]
        regex = read or regex
    regex = without_groups(regex)
    try:
        bounded = brief not in FREE_TEXT | EMBEDDED_VALUES
        growing, spanning = bounded and may_grow(regex), bounded and may_stay_open(regex)
    except UnsafePatternError as error:
        raise GrammarError(path, f"terminal `{brief}` cannot be read in a stream: {error}") from error
    return Terminal(
        name,
        brief,
        regex,
        canonical,
        growing,
        spanning,
        definition.priority,
        first_chars(regex) if bounded else "",
        spellings_of(regex),
    )


def _without_openers(
    terminals: dict[str, Terminal], states: tuple[dict[str, int], ...], nodes: tuple[str, ...]
) -> dict[str, Terminal]:
    """Give a literal closing marker of bare values that an opening marker of a call begins with a look-ahead.

    So "```" does not close a value where "```tool" stands. A stream allows the look-ahead one character.
    """
    opens = {
        name for state in states for name, to in state.items() if to >= 0 and not CALLS.isdisjoint(nodes[to].split())
    }
    openers = {terminals[name].canonical for name in opens if name in terminals}
    ends = {
        name
        for state in states
        for value in state
        if short(value) == "ARG_VALUE" and state[value] >= 0
        for name in states[state[value]]
        if name in terminals
    }
    changed = dict(terminals)
    for name in ends:
        written = terminals[name].canonical
        longer = [form for form in openers if form.startswith(written) and form != written]
        behind = {sign for form in longer for sign in (form[len(written)].lower(), form[len(written)].upper())}
        if written and terminals[name].regex == re.escape(written) and (signs := "".join(sorted(behind)).strip()):
            regex = f"{re.escape(written)}(?![{re.escape(signs)}])"
            changed[name] = terminals[name]._replace(
                regex=regex, grows=may_grow(regex), may_stay_open=may_stay_open(regex), spelled=spellings_of(regex)
            )
    return changed


def _with_open_markers(terminals: dict[str, Terminal], states: tuple[dict[str, int], ...]) -> dict[str, Terminal]:
    """Mark terminals `may_stay_open` if another terminal of the same state may match their beginning."""
    markers = sorted([t for t in terminals.values() if t.short not in FREE_TEXT | EMBEDDED_VALUES], key=order)
    places = {t.name: {number for number, state in enumerate(states) if t.name in state} for t in markers}
    found = dict(terminals)
    for i, terminal in enumerate(markers):
        shorter = [t for t in markers[i + 1 :] if places[t.name] & places[terminal.name]]
        if not terminal.may_stay_open and any(may_begin_match_of(t.regex, terminal.regex) for t in shorter):
            found[terminal.name] = terminal._replace(may_stay_open=True)
    return found


def _rule(rule: LarkRule) -> Rule:
    """An alternative; its name in the vocabulary is its alias (`-> tool_call`) or the name of the rule."""
    name, alias = str(rule.origin.name), rule.alias or rule.origin.name
    return Rule(name, tuple([str(symbol.name) for symbol in rule.expansion]), short(str(alias)), rule.order)


def _states(
    analysis: LALR_Analyzer, numbers: dict[LarkRule, int], rules: tuple[Rule, ...], symbol: str
) -> tuple[tuple[dict[str, int], ...], tuple[str, ...], int]:
    """The parse table, the rules that begin in each state, and the start; states are numbered from the start on."""
    table: Any = analysis.parse_table
    start = table.start_states[symbol]
    order: dict[Any, int] = {start: 0}
    queue = [start]
    for state in queue:
        for name in sorted(table.states[state]):
            action, target = table.states[state][name]
            if action.name == "Shift" and target not in order:
                order[target] = len(order)
                queue.append(target)

    def next_of(action: Any, target: Any) -> int:
        return order[target] if action.name == "Shift" else -1 - numbers[target]

    states = tuple([{str(k): next_of(*v) for k, v in sorted(table.states[state].items())} for state in order])
    corners = _left_corners(rules)
    begun = [
        set[str]().union(*[corners[numbers[item.rule]] for item in state if item.index == 1 and item.rule in numbers])
        for state in order
    ]
    return states, tuple([" ".join(sorted(kinds)) for kinds in begun]), order[start]


def _left_corners(rules: tuple[Rule, ...]) -> list[set[str]]:
    """For each rule: the rules of the vocabulary that may begin with it, itself included."""
    above: dict[str, set[str]] = {rule.name: set() for rule in rules}
    corners: list[set[str]] = []
    for _ in above:  # no chain of rules that begin with each other is longer
        corners = [above[rule.name] | ({rule.short} & NODES) for rule in rules]
        for rule, kinds in zip(rules, corners, strict=True):
            if rule.symbols and rule.symbols[0] in above:
                above[rule.symbols[0]] |= kinds
    return corners


def _optional(ignored: str) -> str:
    """The pattern of what may stand between tokens. A repeated class of characters is by far the fastest."""
    simple = re.fullmatch(r"\(\?:(\[[^\]]*\])\)\+", ignored)
    if not ignored:
        return ""
    return f"{simple[1]}*" if simple else f"(?:{ignored})?"


def _without_lark_words(message: str) -> str:
    """Lark's message on one line, without words that only Lark knows."""
    lines = message.replace("Terminal", "").replace("NonTerminal", "").splitlines()
    return "; ".join([line.strip() for line in lines if line.strip()])
