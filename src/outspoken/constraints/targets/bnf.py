"""Grammars in the notation of llama.cpp (GBNF) and xgrammar (EBNF), which share what is used here.

GBNF: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md.
EBNF: https://xgrammar.mlc.ai/docs/tutorials/ebnf_guided_generation.html.

Free text is written as the rules of its automaton, a rule for each state, since neither has look-around.
"""

from __future__ import annotations

from functools import lru_cache

from outspoken.constraints.automata import Dfa
from outspoken.constraints.char_sets import CharSet, chars_of, negated
from outspoken.constraints.forms import EMPTY, Choice, Form, FreeText, Grammar, Literal, Pattern, Rule, Seq, times
from outspoken.constraints.matcher import dfa_of
from outspoken.patterns import syntax

#: Stands for the beginning of a rule's name.
_PREFIX = "\0"


class BnfWriter:
    """Writes the rules of a grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._rules: dict[str, str] = {}
        self._automata: dict[Dfa, str] = {}

    def write(self) -> str:
        """The grammar as text, which begins with the rule `root`."""
        self._rules["root"] = self._alternatives(self._grammar.root)
        for name, form in self._grammar.rules.items():
            self._rules[_name(name)] = self._alternatives(form)
        return "\n".join([f"{name} ::= {body}" for name, body in self._rules.items()]) + "\n"

    def _alternatives(self, form: Form) -> str:
        options = form.options if isinstance(form, Choice) else (form,)
        return " | ".join([self._form(option) for option in options])

    def _form(self, form: Form) -> str:
        if isinstance(form, Literal):
            return quoted(form.text)
        if isinstance(form, Pattern):
            return _of_pattern(form.regex)
        if isinstance(form, FreeText):
            return self._automaton(dfa_of(form))
        if isinstance(form, Rule):
            return _name(form.name)
        if isinstance(form, Seq):
            return " ".join([self._form(part) for part in form.parts]) if form != EMPTY else '""'
        if isinstance(form, Choice):
            return f"({self._alternatives(form)})"
        return f"({self._form(form.part)}){times(form.low, form.high)}"

    def _automaton(self, dfa: Dfa) -> str:
        """The name of the rule of an automaton's start."""
        if dfa not in self._automata:
            prefix = self._automata[dfa] = f"text-{len(self._automata)}"
            for suffix, body in _automaton_rules(dfa):
                self._rules[prefix + suffix] = body.replace(_PREFIX, prefix)
        return self._automata[dfa]


@lru_cache(maxsize=512)
def _automaton_rules(dfa: Dfa) -> list[tuple[str, str]]:
    """The rules of an automaton: how their names end, and their bodies, in which `_PREFIX` stands for the beginning."""
    found: list[tuple[str, str]] = []
    for state, row in enumerate(dfa.steps):
        options = [f"{_set(chars)} {_PREFIX}{_suffix(target)}" for chars, target in row]
        options += ['""'] if dfa.accepts[state] else []
        found.append((_suffix(state), " | ".join(options)))
    return found


def _suffix(state: int) -> str:
    return f"-{state}" if state else ""


def _name(name: str) -> str:
    return "".join([char if char.isascii() and char.isalnum() else "-" for char in name])


def quoted(text: str) -> str:
    """A text as a string of both notations."""
    return '"' + "".join([_escaped(char, '"\\') for char in text]) + '"'


def _escaped(char: str, special: str) -> str:
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    if char in special:
        return f"\\{char}"
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return char
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _set(chars: CharSet) -> str:
    """A set of characters as a class."""
    others = negated(chars)
    if len(others) < len(chars):
        return f"[^{_ranges(others)}]" if others else "[^\\u0000]"
    return f"[{_ranges(chars)}]"


def _ranges(chars: CharSet) -> str:
    found = ""
    for low, high in chars:
        found += _in_class(low) if low == high else f"{_in_class(low)}-{_in_class(high)}"
    return found


def _in_class(code: int) -> str:
    char = chr(code)
    if char in '-^[]\\"':
        return f"\\u{code:04X}"
    return _escaped(char, "")


@lru_cache(maxsize=1024)
def _of_pattern(regex: str) -> str:
    return _sequence(syntax.parse(regex)) or '""'


def _sequence(nodes: syntax.Sequence) -> str:
    parts: list[str] = []
    literal = ""
    for node in nodes:
        if isinstance(node, syntax.Chars) and node.only_literals and len(node.literals) == 1:
            literal += node.literals[0]
            continue
        parts += [quoted(literal)] if literal else []
        literal = ""
        parts.append(_node(node))
    parts += [quoted(literal)] if literal else []
    return " ".join(parts)


def _node(node: syntax.Node) -> str:
    if isinstance(node, syntax.Chars):
        return _set(chars_of(node))
    if isinstance(node, syntax.Group):
        return f"({_sequence(node.body) or chr(34) * 2})"
    if isinstance(node, syntax.Alternatives):
        return f"({' | '.join([_sequence(branch) or chr(34) * 2 for branch in node.branches])})"
    if isinstance(node, syntax.Repeat):
        high = None if node.high == syntax.UNBOUNDED else node.high
        return f"({_sequence(node.body)}){times(node.low, high)}"
    raise ValueError("a pattern holds what a grammar cannot say")
