"""The rules of a grammar as expressions: sequences, choices and repetitions of markers, free text and other rules.

They are read from the tree that Lark's own loader makes of a grammar file and of all that it imports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lark import Tree, load_grammar

from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.compiler import imported
from outspoken.grammar.tables import BROKEN, START, Terminal
from outspoken.grammar.vocabulary import is_meaningful, short
from outspoken.results.errors import GrammarError

_LOADING: Any = load_grammar
_LITERALS: Any = _LOADING.PrepareLiterals() * _LOADING.TerminalTreeToPattern()


class Expression(NamedTuple):
    """What stands on the right side of a rule.

    - `use`: the rule or terminal of a full `name`
    - `sequence`: its parts, one after the other; where there are none, nothing
    - `choice`: one of its parts; `NOTHING` among them says that all may be left out
    - `repeat`: its first part, any number of times, but once at least if its name is `+`; the second one stands between
    - `meant`: its part, an alternative that means its `name` rather than what its rule is called
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    name: str = ""

    def renamed(self, names: Mapping[str, str]) -> Expression:
        """It with other names for what it uses."""
        name = names.get(self.name, self.name) if self.kind == "use" else self.name
        return Expression(self.kind, tuple([part.renamed(names) for part in self.parts]), name)

    def uses(self) -> Iterator[str]:
        """The rules and terminals that it uses, in order, as often as they are used."""
        if self.kind == "use":
            yield self.name
        for part in self.parts:
            yield from part.uses()


NOTHING = Expression("sequence")
STARTS = (START, BROKEN)


class Marker(NamedTuple):
    """A terminal by its short name: what is written of it, "" where nothing is, and what is read.

    What is read is spelled as in the grammar: strings in quotes, regular expressions between slashes.
    """

    name: str
    written: str
    read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Syntax:
    """The rules of a format by full name, in the order of reading: its own first, then the imported ones.

    `damaged` names the rules that only `broken_start` leads to. `labels` are the names by which rules are shown,
    without import prefix and each once. `terminals` are those that the rules use, in the order of their use.
    """

    rules: dict[str, Expression]
    damaged: frozenset[str]
    labels: dict[str, str]
    terminals: dict[str, Marker]


def read_syntax(path: Path) -> Syntax:
    """Read the grammar of one of the formats in use. Raises GrammarError if it cannot be used."""
    tables = registry.tables(path.stem)
    grammar: Any = _LOADING.load_grammar(path.read_text("utf-8"), str(path), [imported], False)[0]
    written = {
        str(name): _marker(tables.terminals[name], tree)
        for name, (tree, _) in grammar.term_defs
        if name in tables.terminals
    }
    loaded = {str(name): _rule(str(name), tree, path) for name, _, tree, _ in grammar.rule_defs}
    own = {definition.name: place for place, definition in enumerate(Source.of(path).definitions)}
    needed = {name for start in STARTS for name in _reached(start, loaded)}  # Lark drops the terminals of the others
    ordered = {
        name: loaded[name] for name in sorted(loaded, key=lambda name: own.get(name, len(own))) if name in needed
    }
    found, terminals = _merged(ordered, written)
    reached = {start: sorted(_reached(start, found), key=lambda name: own.get(name, len(own))) for start in STARTS}
    damaged = [name for name in reached[BROKEN] if name not in reached[START]]
    rules = {name: found[name] for name in [*reached[START], *damaged]}
    used = dict.fromkeys(name for rule in rules.values() for name in rule.uses() if name in terminals)
    return Syntax(rules, frozenset(damaged), _labels(list(rules)), {name: terminals[name] for name in used})


def _merged(
    rules: dict[str, Expression], terminals: dict[str, Marker]
) -> tuple[dict[str, Expression], dict[str, Marker]]:
    """The rules and terminals without those that say the same under the same short name; the first of them stay.

    All of one name are taken for the same, until what they lead to shows that they are not.
    """
    names = [*rules, *terminals]
    #: of each name, that of the first which says the same, as far as is known
    first: dict[object, str] = {}
    same = {name: first.setdefault(terminals.get(name, short(name)), name) for name in names}
    for _ in names:
        first = {}
        said = {n: (same[n], rules[n].renamed(same)) if n in rules else terminals[n] for n in names}
        finer = {name: first.setdefault(said[name], name) for name in names}
        if finer == same:
            break
        same = finer
    kept = {name: rule.renamed(same) for name, rule in rules.items() if same[name] == name}
    return kept, {name: marker for name, marker in terminals.items() if same[name] == name}


def _reached(start: str, rules: dict[str, Expression]) -> dict[str, None]:
    """The rules that a rule leads to, itself included, in the order in which they are met."""
    order: dict[str, None] = {}
    queue = [start] if start in rules else []
    while queue:
        name = queue.pop(0)
        if name not in order:
            order[name] = None
            queue += [used for used in rules[name].uses() if used in rules]
    return order


def _labels(names: list[str]) -> dict[str, str]:
    """The names of rules without import prefix; of several that would be the same, imported ones say from where."""
    count = Counter([short(name) for name in names])
    return {
        name: short(name) if count[short(name)] == 1 or name == short(name) else f"{short(name)} ({_module(name)})"
        for name in names
    }


def _module(name: str) -> str:
    """The grammar that a name was imported from: `json_call` of `_shared__json_call__other`."""
    return name.strip("_").rpartition("__")[0].rpartition("__")[2]


def _marker(terminal: Terminal, definition: Any) -> Marker:
    options = list(definition.children)
    read = [_spelled(option, terminal) for option in options]
    # The first of several alternatives is only written
    return Marker(terminal.short, terminal.canonical, tuple(read[1:] if terminal.canonical and read[1:] else read))


def _spelled(option: Tree[Any], terminal: Terminal) -> str:
    """An alternative of a terminal as its grammar spells it; its pattern, where it is made of several parts."""
    if [tree.data for tree in option.iter_subtrees()] != ["literal", "value", "expansion"]:
        return f"/{terminal.regex}/"
    return str(_LITERALS.transform(Tree("expansions", [option])).raw)


# From Lark's trees to expressions


def _rule(name: str, tree: Tree[Any], path: Path) -> Expression:
    """The right side of a rule; a rule that is a list by calling itself first is shown as a repetition."""
    options = [_expression(option, path) for option in tree.children]
    return choice(options) if is_meaningful(short(name)) else _unrolled(name, options)


def _expression(node: Any, path: Path) -> Expression:
    """What a node of Lark's tree says. Raises GrammarError for what formats do not use."""
    children: list[Any] = node.children
    if node.data == "value" and not isinstance(children[0], Tree):
        return Expression("use", name=str(children[0].name))
    if node.data in ("value", "expansions"):
        return choice([_expression(child, path) for child in children])
    if node.data == "expansion":
        return sequence([_expression(child, path) for child in children])
    if node.data == "alias":
        return Expression("meant", (_expression(children[0], path),), short(str(children[1].name)))
    mark = "?" if node.data == "maybe" else str(children[1]) if node.data == "expr" else ""
    if mark == "?":
        return choice([_expression(children[0], path), NOTHING])
    if mark in ("*", "+"):
        return Expression("repeat", (_expression(children[0], path), NOTHING), mark.strip("*"))
    raise GrammarError(str(path), f"a diagram cannot show `{node.data}`, which no format needs")


def choice(options: list[Expression]) -> Expression:
    """One of several expressions; choices among them become part of it."""
    flat = dict.fromkeys([part for one in options for part in (one.parts if one.kind == "choice" else (one,))])
    return next(iter(flat)) if len(flat) == 1 else Expression("choice", tuple(flat))


def sequence(items: list[Expression]) -> Expression:
    """One expression after the other; `a (b a)*` is a list with something between its items."""
    made: list[Expression] = []
    for item in [part for one in items for part in (one.parts if one.kind == "sequence" else (one,))]:
        made.append(item)
        inner = _items(item.parts[0]) if item.kind == "repeat" and (item.parts[1], item.name) == (NOTHING, "") else ()
        for size in range(min(len(inner), len(made) - 1), 0, -1):
            before = made[-1 - size : -1]
            if tuple(before) == inner[-size:]:
                made[-1 - size :] = [Expression("repeat", (sequence(before), sequence([*inner[:-size]])), "+")]
                break
    return made[0] if len(made) == 1 else Expression("sequence", tuple(made))


def _items(expression: Expression) -> tuple[Expression, ...]:
    return expression.parts if expression.kind == "sequence" else (expression,)


def _unrolled(name: str, options: list[Expression]) -> Expression:
    """A rule that begins some of its alternatives with itself, `r: a | r b`, as the same language: `a b*`."""
    itself = Expression("use", name=name)
    tails: list[Expression] = []
    bases: list[Expression] = []
    for option in options:
        first, *rest = _items(option) or (NOTHING,)
        heads = first.parts if first.kind == "choice" else (first,)
        others = [head for head in heads if head != itself]
        tails += [sequence(rest)] if itself in heads else []
        bases += [option] if itself not in heads else [sequence([choice(others), *rest])] if others else []
    if not tails or not bases:
        return choice(options)
    return sequence([choice(bases), Expression("repeat", (choice(tails), NOTHING))])
