"""The rules of a grammar as expressions: sequences, choices and repetitions of markers, free text and other rules.

They are read from the tree that Lark's own loader makes of a grammar file and of all that it imports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from lark import Tree, load_grammar

from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.compiler import imported
from outspoken.grammar.tables import BROKEN, START, Terminal
from outspoken.grammar.vocabulary import is_meaningful, short
from outspoken.results.errors import GrammarError

_LOADING: Any = load_grammar
_LITERALS: Any = _LOADING.PrepareLiterals() * _LOADING.TerminalTreeToPattern()


@dataclass(frozen=True, slots=True)
class Use:
    """A rule or a terminal, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; where there are no items, nothing."""

    items: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; an empty sequence among them says that all may be left out."""

    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item, `at_least` times (0 or 1), with `between` between every two."""

    item: Expression
    between: Expression
    at_least: int


@dataclass(frozen=True, slots=True)
class Meant:
    """An alternative that means something else than its rule is called."""

    item: Expression
    meaning: str


Expression: TypeAlias = "Use | Sequence | Choice | Repeat | Meant"
NOTHING = Sequence()
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
    used = dict.fromkeys(name for rule in rules.values() for name in uses(rule) if name in terminals)
    return Syntax(rules, frozenset(damaged), _labels(list(rules)), {name: terminals[name] for name in used})


def uses(expression: Expression) -> Iterator[str]:
    """The rules and terminals of an expression, in order, as often as they are used."""
    if isinstance(expression, Use):
        yield expression.name
    elif isinstance(expression, (Sequence, Choice)):
        for part in expression.items if isinstance(expression, Sequence) else expression.options:
            yield from uses(part)
    else:
        yield from uses(expression.item)
        if isinstance(expression, Repeat):
            yield from uses(expression.between)


def _merged(
    rules: dict[str, Expression], terminals: dict[str, Marker]
) -> tuple[dict[str, Expression], dict[str, Marker]]:
    """The rules and terminals without those that say the same under the same short name; the first of them stay.

    All of one name are taken for the same, until what they lead to shows that they are not.
    """
    groups: dict[str, Any] = {**{name: short(name) for name in rules}, **terminals}
    while True:
        said = {name: (groups[name], _renamed(rule, groups)) for name, rule in rules.items()}
        numbers = {content: f"{number}" for number, content in enumerate(dict.fromkeys(said.values()))}
        finer = {**{name: numbers[content] for name, content in said.items()}, **terminals}
        if len(set(finer.values())) == len(set(groups.values())):
            break
        groups = finer
    first: dict[Any, str] = {}
    for name in [*rules, *terminals]:
        first.setdefault(groups[name], name)
    kept = {name: first[group] for name, group in groups.items()}
    return (
        {name: _renamed(rule, kept) for name, rule in rules.items() if kept[name] == name},
        {name: marker for name, marker in terminals.items() if kept[name] == name},
    )


def _renamed(expression: Expression, names: dict[str, Any]) -> Expression:
    """The expression with other names for what it uses."""
    if isinstance(expression, Use):
        return Use(names.get(expression.name, expression.name))
    if isinstance(expression, Sequence):
        return Sequence(tuple([_renamed(item, names) for item in expression.items]))
    if isinstance(expression, Choice):
        return Choice(tuple([_renamed(option, names) for option in expression.options]))
    if isinstance(expression, Meant):
        return Meant(_renamed(expression.item, names), expression.meaning)
    return Repeat(_renamed(expression.item, names), _renamed(expression.between, names), expression.at_least)


def _reached(start: str, rules: dict[str, Expression]) -> dict[str, None]:
    """The rules that a rule leads to, itself included, in the order in which they are met."""
    order: dict[str, None] = {}
    queue = [start] if start in rules else []
    while queue:
        name = queue.pop(0)
        if name not in order:
            order[name] = None
            queue += [used for used in uses(rules[name]) if used in rules]
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
        return Use(str(children[0].name))
    if node.data in ("value", "expansions"):
        return choice([_expression(child, path) for child in children])
    if node.data == "expansion":
        return sequence([_expression(child, path) for child in children])
    if node.data == "alias":
        return Meant(_expression(children[0], path), short(str(children[1].name)))
    if node.data == "maybe":
        return choice([_expression(children[0], path), NOTHING])
    if node.data == "expr" and str(children[1]) in ("?", "*", "+"):
        item = _expression(children[0], path)
        return choice([item, NOTHING]) if children[1] == "?" else Repeat(item, NOTHING, int(children[1] == "+"))
    raise GrammarError(str(path), f"a diagram cannot show `{node.data}`, which no format needs")


def choice(options: list[Expression]) -> Expression:
    """One of several expressions; choices among them become part of it."""
    flat: list[Expression] = []
    for option in options:
        flat += option.options if isinstance(option, Choice) else [option]
    flat = list(dict.fromkeys(flat))
    return flat[0] if len(flat) == 1 else Choice(tuple(flat))


def sequence(items: list[Expression]) -> Expression:
    """One expression after the other; `a (b a)*` is a list with something between its items."""
    flat: list[Expression] = []
    for item in items:
        flat += item.items if isinstance(item, Sequence) else [item]
    made: list[Expression] = []
    for item in flat:
        made.append(item)
        _join(made)
    return made[0] if len(made) == 1 else Sequence(tuple(made))


def _join(items: list[Expression]) -> None:
    """Make one of the last items where they are `a (b a)*`: an item, and more of it with something between."""
    last = items[-1]
    if not isinstance(last, Repeat) or last.at_least or last.between != NOTHING:
        return
    inner = last.item.items if isinstance(last.item, Sequence) else (last.item,)
    for size in range(len(inner), 0, -1):
        before = items[-1 - size : -1]
        if len(before) == size and tuple(before) == inner[-size:]:
            items[-1 - size :] = [Repeat(sequence(before), sequence(list(inner[:-size])), 1)]
            return


def _unrolled(name: str, options: list[Expression]) -> Expression:
    """A rule that begins some of its alternatives with itself, `r: a | r b`, as the same language: `a b*`."""
    tails: list[Expression] = []
    bases: list[Expression] = []
    for option in options:
        first, rest = (
            (option.items[0], option.items[1:]) if isinstance(option, Sequence) and option.items else (None, ())
        )
        heads = list(first.options) if isinstance(first, Choice) else [first]
        if Use(name) not in heads:
            bases.append(option)
            continue
        tails.append(sequence(list(rest)))
        others = [head for head in heads if head is not None and head != Use(name)]
        bases += [sequence([choice(others), *rest])] if others else []
    if not tails or not bases:
        return choice(options)
    return sequence([choice(bases), Repeat(choice(tails), NOTHING, 0)])
