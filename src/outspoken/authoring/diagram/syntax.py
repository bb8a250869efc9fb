"""The rules of a grammar as Lark's loader reads them, with what it imports, and each of them as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lark import Tree, load_grammar

from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.compiler import imported
from outspoken.grammar.tables import BROKEN, START, Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS, short
from outspoken.results.errors import GrammarError
from outspoken.results.snippet import visible

_LOADING: Any = load_grammar
_LITERALS: Any = _LOADING.PrepareLiterals() * _LOADING.TerminalTreeToPattern()
_EMPTY: Any = Tree[Any]("expansion", [])


class Marker(NamedTuple):
    """A terminal by its short name: what is written of it, "" where nothing is, and what is read.

    What is read is spelled as in the grammar: strings in quotes, regular expressions between slashes.
    """

    name: str
    written: str
    read: tuple[str, ...]

    def __str__(self) -> str:
        """It on one line: its name where that means something, else as it is written, else as it is read."""
        if self.name in FREE_TEXT | EMBEDDED_VALUES | TOKENS:
            return self.name
        return f'"{visible(self.written)}"' if self.written else " | ".join(self.read)


@dataclass(frozen=True, slots=True)
class Syntax:
    """The rules of a format by the names by which they are shown, in the order of reading: its own first.

    `labels` says how each full name of a rule is shown: without import prefix, and once for all that say the same.
    `terminals` are those that the rules use, by full name.
    """

    path: Path
    rules: dict[str, Any]
    labels: dict[str, str]
    terminals: dict[str, Marker]

    def text(self, rule: str) -> str:
        """A rule on one line: `[a]` may be left out, of `{a}` are none or more, of `{a}+` one or more."""
        return _bare(made_of(self.rules[rule], _Text(self.labels, self.terminals), self.path))


def made_of(node: Any, maker: Any, path: Path) -> Any:
    """What is made of a node of Lark's tree by a `maker`, which has the methods of `_Text`.

    Raises GrammarError for what formats do not use.
    """
    options = _options(node)
    parts = [_single(one, maker, path) for one in options if one != _EMPTY]
    return maker.choice(parts, _EMPTY in options) if parts else maker.sequence([])


def _options(node: Any) -> list[Any]:
    """The alternatives of a node; `_EMPTY` among them says that it may be left out."""
    children: list[Any] = node.children
    is_part = node.data in ("value", "expansion") and len(children) == 1 and isinstance(children[0], Tree)
    if is_part or node.data in ("expansions", "maybe") or (node.data == "expr" and children[1:] == ["?"]):
        found = [one for child in children if isinstance(child, Tree) for one in _options(child)]
        return found if is_part or node.data == "expansions" else [*found, _EMPTY]
    return [node]


def _single(node: Any, maker: Any, path: Path) -> Any:
    children: list[Any] = node.children
    if node.data == "value":
        return maker.use(str(children[0].name))
    if node.data == "expansion":
        return maker.sequence([made_of(child, maker, path) for child in children])
    if node.data == "alias":
        return maker.meant(made_of(children[0], maker, path), short(str(children[1].name)))
    if node.data == "expr" and children[1:] in (["*"], ["+"]):
        return maker.repeat(made_of(children[0], maker, path), str(children[1]))
    raise GrammarError(str(path), f"a diagram cannot show `{node.data}`, which no format needs")


class _Text:
    """Writes a rule. A choice stands between marks, which are parentheses in a sequence and nothing elsewhere."""

    def __init__(self, labels: dict[str, str], terminals: dict[str, Marker]) -> None:
        self._labels, self._terminals = labels, terminals

    def use(self, name: str) -> str:
        """The rule or terminal of a full name."""
        return self._labels.get(name) or str(self._terminals[name])

    def sequence(self, parts: list[str]) -> str:
        """One after the other; nothing if there are none."""
        return " ".join([part.replace("\0", "(").replace("\1", ")") for part in parts])

    def choice(self, parts: list[str], is_optional: bool) -> str:
        """One of some parts, of which there may be a single one, or nothing if it is optional."""
        said = " | ".join(map(_bare, parts))
        return f"[{said}]" if is_optional else f"\0{said}\1" if len(parts) > 1 else parts[0]

    def repeat(self, part: str, mark: str) -> str:
        """A part any number of times (`*`), or once at least (`+`)."""
        return f"{{{_bare(part)}}}{mark.strip('*')}"

    def meant(self, part: str, name: str) -> str:
        """An alternative that means its name rather than what its rule is called."""
        return f"{part} -> {name}"


def _bare(text: str) -> str:
    return text.replace("\0", "").replace("\1", "")


def read_syntax(path: Path) -> Syntax:
    """Read the grammar of one of the formats in use. Raises GrammarError if it cannot be used."""
    tables = registry.tables(path.stem)
    grammar: Any = _LOADING.load_grammar(path.read_text("utf-8"), str(path), [imported], False)[0]
    trees = {str(name): tree for name, _, tree, _ in grammar.rule_defs}
    used_terminals = tables.terminals
    terminals = {
        str(name): _marker(used_terminals[name], tree)
        for name, (tree, _) in grammar.term_defs
        if name in used_terminals
    }
    own = {definition.name: place for place, definition in enumerate(Source.of(path).definitions)}
    order = [sorted(_reached(s, trees), key=lambda name: own.get(name, len(own))) for s in (START, BROKEN)]
    names = list(dict.fromkeys([*order[0], *order[1]]))
    labels = _labels({name: trees[name] for name in names}, terminals, path)
    rules: dict[str, Any] = {}
    for name in names:
        rules.setdefault(labels[name], trees[name])
    used = dict.fromkeys([name for tree in rules.values() for name in _uses(tree) if name in terminals])
    return Syntax(path, rules, labels, {name: terminals[name] for name in used})


def _uses(tree: Any) -> Iterator[str]:
    """The rules and terminals that a rule uses, in order."""
    for node in tree.iter_subtrees_topdown():
        if node.data == "value" and not isinstance(node.children[0], Tree):
            yield str(node.children[0].name)


def _reached(start: str, trees: dict[str, Any]) -> dict[str, None]:
    """The rules that a rule leads to, itself included, in the order in which they are met."""
    found: dict[str, None] = {}
    waiting = [start] if start in trees else []
    for name in waiting:
        if name not in found:
            found[name] = None
            waiting += [used for used in _uses(trees[name]) if used in trees]
    return found


def _labels(trees: dict[str, Any], terminals: dict[str, Marker], path: Path) -> dict[str, str]:
    """How rules are shown. Those of one name are the same until what they say shows that they are not."""
    labels = {name: short(name) for name in trees}
    for _ in trees:
        said = {name: (short(name), made_of(tree, _Text(labels, terminals), path)) for name, tree in trees.items()}
        first: dict[object, str] = {}
        same = {name: first.setdefault(said[name], name) for name in trees}
        count = [short(name) for name in first.values()]
        renewed = {
            n: short(n) if count.count(short(n)) == 1 or n == short(n) else f"{short(n)} ({_module(n)})" for n in trees
        }
        renewed = {name: renewed[same[name]] for name in trees}
        if renewed == labels:
            break
        labels = renewed
    return labels


def _module(name: str) -> str:
    """The grammar that a name was imported from: `json_call` of `_shared__json_call__other`."""
    return name.strip("_").rpartition("__")[0].rpartition("__")[2]


def _marker(terminal: Terminal, definition: Any) -> Marker:
    read = [_spelled(option, terminal) for option in definition.children]
    # The first of several alternatives is only written
    return Marker(terminal.short, terminal.canonical, tuple(read[1:] if terminal.canonical and read[1:] else read))


def _spelled(option: Tree[Any], terminal: Terminal) -> str:
    """An alternative of a terminal as its grammar spells it; its pattern, where it is made of several parts."""
    if [tree.data for tree in option.iter_subtrees()] != ["literal", "value", "expansion"]:
        return f"/{terminal.regex}/"
    return str(_LITERALS.transform(Tree("expansions", [option])).raw)
