"""Random texts for terminals: markers as they are written or read, and free text, names and values."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from string import printable
from typing import Any, NamedTuple

import regex

from outspoken.actions.mapping import MappingRule, mapping_of
from outspoken.authoring.shared.regex_samples import Branch, RegexSampler, branches
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, SPELLED_VALUES
from outspoken.notations.interface import notation_of
from outspoken.patterns.spellings import look_ahead
from outspoken.results.settings import DEFAULT

from . import random_values as values
from .lexer import Token

#: How often an action is drawn that fits where it stands.
_TRIES = 60
#: A marker of fewer characters than this may stand in text by chance.
_TELLING = 4
#: Arguments that are named by their position.
_PLACES = tuple([f"${place}" for place in range(1, 9)])
_BLANKS = (" ", "\n", "  ", "\n\n", "\t", "\r\n ")

#: Embedded values that hold one kind of scalar.
_SCALARS: dict[str, tuple[Any, ...]] = {
    "JSON_NUMBER": (0, -7, 2.5, 10**20),
    "JSON_BOOLEAN": (True, False),
    "JSON_NULL": (None,),
}


class TerminalForm(NamedTuple):
    """One way in which a terminal can be spelled: as it is written (None), or by a branch of its expression."""

    terminal: str
    branch: Branch | None


def forms_of(terminal: Terminal) -> set[TerminalForm]:
    """The forms of a marker or name; none for free text, embedded values and words of the mapping."""
    if terminal.short in FREE_TEXT | EMBEDDED_VALUES | {"ACTION_NAME"}:
        return set()
    found = {TerminalForm(terminal.name, branch) for branch in branches(terminal.regex)}
    return found | ({TerminalForm(terminal.name, None)} if _is_one(terminal) else set())


@cache
def _is_one(terminal: Terminal) -> bool:
    """Whether a marker in its canonical form is read as that terminal. One that looks ahead may match in part."""
    written = terminal.canonical.strip() or terminal.canonical
    return bool(written and regex.compile(terminal.regex).fullmatch(written, partial=True))


@dataclass(slots=True)
class Lexeme:
    """A terminal that is spelled: its text, and the white space before it.

    `action` and `key` are the names of the action and the argument that it belongs to, "" where it belongs to none.
    """

    transition: Transition
    action: str = ""
    key: str = ""
    gap: str = ""
    text: str = ""
    value: Any = None
    forms: tuple[TerminalForm, ...] = ()

    @property
    def short(self) -> str:
        """The name of the terminal, without import prefix."""
        return self.transition.terminal.short

    @property
    def is_empty(self) -> bool:
        """Whether it is empty free text."""
        return self.short in FREE_TEXT and not self.text

    def is_read_as(self, token: Token, piece: str) -> bool:
        """Whether a token at its place is the intended one, with the intended text."""
        if token.step.terminal.name != self.transition.terminal.name:
            return False
        if self.short in EMBEDDED_VALUES:
            return repr(token.value) == repr(self.value)
        if self.short in FREE_TEXT:
            return piece.strip() == self.text.strip()
        return piece.strip() in self.text if self.short.startswith("_") else piece == self.text


class TokenWriter:
    """Spells terminals. Only where it is `strict` may free text hold markers that mean nothing where they stand.

    Of several spellings of a marker, those that are `wanted` come first.
    """

    def __init__(
        self, automaton: Automaton, random: Random, *, strict: bool, wanted: Collection[TerminalForm] = ()
    ) -> None:
        self._automaton, self._random, self._strict, self._wanted = automaton, random, strict, wanted
        self._actions = mapping_of(automaton.tables.header)
        self._sampler = RegexSampler(random)
        #: the mapping rule of the last name of a call
        self._rule: MappingRule | None = None

    @property
    def acts(self) -> bool:
        """Whether the format has words for actions."""
        return self._actions is not None

    def key(self, terminal: Terminal, wanted: list[str], used: list[str]) -> str:
        """The name of an argument that is not used yet; one of those that are wanted, where there are any.

        A terminal that is one name has no other.
        """
        if terminal.canonical:
            return terminal.canonical
        wanted = [key for key in wanted if key not in _PLACES]
        free = [key for key in (wanted or values.KEYS) if key not in used]
        if not self._actions and self._random.random() < 0.3:
            drawn = self._sampler.sample(terminal.regex)
            free = [drawn] if drawn not in used else free
        if wanted and not used:
            return wanted[0]
        return self._random.choice(free or [f"k{len(used)}"])

    def action(self, terminal: Terminal) -> tuple[str, list[str]]:
        """The name of an action that a terminal may be, and the arguments that it needs, the first one first."""
        expression, found = re.compile(terminal.regex), ("", [""])
        for _ in range(_TRIES):
            name, keys = found = self._random_action()
            behind = f"({keys[0]}=" if keys else "()"
            if expression.match(f"\n{name}{behind}", 1) or (not keys and expression.match(f"{name}{behind}")):
                break
            if any(key in _PLACES for key in keys) or not keys:
                match = regex.compile(terminal.regex).fullmatch(f"\n{name}", 1, partial=True)
                if match is not None:
                    break
        return found

    def unnamed(self) -> tuple[str, list[str]]:
        """An action whose word is the value of an argument, as `action` gives it; that argument comes first mostly."""
        if self._actions is None or not self._actions.naming:
            return "", []
        rules = [rule for rule in self._actions.rules if _action_words(rule)]
        if not rules:  # it is known by an argument that may say anything
            return "", []
        rule = self._random.choice(rules)
        keys = self._keys_of(rule)
        naming = next(key for key in keys if key in self._actions.naming)
        if self._random.random() < 0.8:
            keys = [naming, *[key for key in keys if key != naming]]
        return self._random.choice(_action_words(rule)), keys

    def follows(self, name: Lexeme, terminal: Terminal) -> bool:
        """Whether a marker may stand behind the name of an action. True for anything else than a marker."""
        if not terminal.short.startswith("_"):
            return True
        marker = terminal.canonical or self._sampler.sample(terminal.regex)
        text, at = f"\n{name.action}{marker}", len(name.action) + 1
        blank = len(marker) - len(marker.lstrip())
        reads = regex.compile(terminal.regex).match  # a marker may look ahead at what is not there yet
        stands = any(reads(text, at + gap, partial=True) for gap in {0, blank})
        match = regex.compile(name.transition.terminal.regex).match(text, 1, partial=True)
        return stands and match is not None and (match.partial or match.end() == at)

    def leads_to(self, marker: Lexeme, terminal: Terminal) -> bool:
        """Whether a terminal may stand behind a marker that looks ahead at how it begins."""
        looks_ahead = marker.transition.terminal.regex
        if "(?=" not in looks_ahead or terminal.short in FREE_TEXT:
            return True
        firsts = terminal.first
        if terminal.short in EMBEDDED_VALUES:
            begins = re.compile(notation_of(terminal).first_chars)
            firsts = "".join([char for char in printable if begins.match(char)])
        written = f"\n{self._sampler.sample(looks_ahead)}"
        reads = regex.compile(looks_ahead).match
        return not firsts or any(reads(written + char, 1, partial=True) for char in firsts)

    def _random_action(self) -> tuple[str, list[str]]:
        """Any action with arguments."""
        assert self._actions is not None
        rule = self._random.choice(self._actions.rules)
        return self._random.choice(rule.names), self._keys_of(rule)

    def _keys_of(self, rule: MappingRule) -> list[str]:
        """Arguments of an action: those that it needs, and some that it may have."""
        required = [name for name, info in rule.model.model_fields.items() if info.is_required()]
        keys = [self._random.choice(condition.keys) for condition in rule.conditions if condition.expected]
        for field, origin in rule.origins.items():
            sources = [source for source in origin.sources if all("$" not in key or key in _PLACES for key in source)]
            needed = origin.required or field in required
            is_given = any(set(source) <= set(keys) for source in sources)
            if sources and not is_given and (needed or self._random.random() < 0.3):
                keys += [key for key in self._random.choice(sources) if key not in keys]
        self._random.shuffle(keys)
        return sorted(keys, key=lambda key: key not in _PLACES)

    def spell(self, lexeme: Lexeme, before: Lexeme | None) -> None:
        """Spell a terminal anew. White space may stand before it, but not beside free text, whose own it would be."""
        beside = lexeme.short in FREE_TEXT or before is None or before.short in FREE_TEXT
        has_gap = not beside and self._automaton.tables.ignore and self._random.random() < 0.2
        lexeme.gap = self._random.choice(_BLANKS) if has_gap else ""
        lexeme.forms = ()
        expected = self._expected(before) if lexeme.short == "ARG_VALUE" and before is not None else ""
        if expected:
            lexeme.text = expected
        elif lexeme.short == "ARG_VALUE" and lexeme.action:
            lexeme.text = self._text_of(lexeme)
        elif lexeme.short in FREE_TEXT:
            lexeme.text = self._free(lexeme.short)
        elif lexeme.short in EMBEDDED_VALUES:
            self._embedded_value(lexeme)
        elif lexeme.short == "ARG_NAME" and not lexeme.transition.terminal.canonical:
            lexeme.text = lexeme.key
        elif lexeme.short == "ACTION_NAME":
            lexeme.text = lexeme.action
        elif lexeme.short == "TOOL_NAME" and self._random.random() < 0.6:
            lexeme.text = self._random.choice(values.NAMES)
        else:
            self._marker(lexeme)

    def _expected(self, marker: Lexeme) -> str:
        """The text that a marker looks ahead at, up to the next marker; "" if it looks at nothing but markers."""
        ahead = look_ahead(marker.transition.terminal.regex)
        free = marker.transition.target.free
        if not ahead or free is None:
            return ""
        written = self._sampler.sample(ahead)
        ends = [re.search(step.terminal.regex, written) for step in free.target.markers]
        return written[: min([end.start() for end in ends if end is not None], default=0)]

    def _marker(self, lexeme: Lexeme) -> None:
        """A marker, as the grammar writes it or as it reads it."""
        terminal = lexeme.transition.terminal
        wanted = [form.branch for form in self._wanted if form.terminal == terminal.name]
        if terminal.canonical and self._random.random() < (0.7 if None in wanted else 0.4) and _is_one(terminal):
            lexeme.text, lexeme.forms = terminal.canonical, (TerminalForm(terminal.name, None),)
            return
        self._sampler.wanted = {branch for branch in wanted if branch is not None}
        lexeme.text = self._sampler.sample(terminal.regex)
        self._sampler.wanted = set()
        lexeme.forms = tuple([TerminalForm(terminal.name, branch) for branch in sorted(self._sampler.taken)])

    def _free(self, short: str) -> str:
        if short == "CODE":
            return self._random.choice(values.CODE) * self._random.randint(0, 2)
        markers = self._markers()
        pieces = tuple(markers if self._strict else [values.broken(self._random, marker) for marker in markers])
        text = values.bare(self._random, pieces) if short == "ARG_VALUE" else values.prose(self._random, pieces)
        if self._random.random() < 0.3:
            text += "\n"
        return text if self._strict or not self._holds_marker(text) else ""

    def _markers(self) -> list[str]:
        """Some markers of the grammar."""
        terminals = [t for t in self._automaton.tables.terminals.values() if t.short.startswith("_")]
        chosen = self._random.sample(terminals, min(3, len(terminals)))
        return [t.canonical.strip() or self._sampler.sample(t.regex) for t in chosen]

    def _holds_marker(self, text: str) -> bool:
        return any(len(m[0].strip()) >= _TELLING for finder in _marker_searches(self._automaton) for m in finder(text))

    def _embedded_value(self, lexeme: Lexeme) -> None:
        """A value: what it has to be where it stands, and how that is written."""
        role, pieces = lexeme.transition.role, tuple(self._markers())
        if lexeme.short == "PYTHON_VALUE":
            lexeme.value = self._argument(lexeme, pieces)
            lexeme.text = values.as_python(self._random, lexeme.value)
            return
        if lexeme.short in SPELLED_VALUES:
            self._spelled(lexeme, pieces)
            return
        is_known_argument = lexeme.short == "JSON_VALUE" and role == "argument" and bool(lexeme.action)
        if self._actions and role == "arguments" and lexeme.short == "JSON_OBJECT" and self._random.random() < 0.5:
            lexeme.value = self._arguments(lexeme, pieces)
        else:
            lexeme.value = (
                self._argument(lexeme, pieces) if is_known_argument else self._json(lexeme.short, role, pieces)
            )
        lexeme.text = values.as_json(self._random, lexeme.value)

    def _spelled(self, lexeme: Lexeme, pieces: tuple[str, ...]) -> None:
        """An object in a notation that the grammar spells, and what it says without a schema."""
        step = lexeme.transition
        notation, markers = notation_of(step.terminal), step.target.markers
        behind = markers[0].terminal.canonical if markers else ""
        for _ in range(_TRIES):
            written = notation.write(values.mapping(self._random, pieces if self._random.random() < 0.5 else ()))
            found = notation.read_at(f"{written}{behind}", 0, DEFAULT.max_depth, True) if written is not None else None
            if written is not None and found is not None and found[1] == len(written):
                lexeme.text, lexeme.value = written, found[0]
                return
        lexeme.text, lexeme.value = notation.write({}) or "", {}

    def _json(self, short: str, role: str, pieces: tuple[str, ...]) -> Any:
        random = self._random
        if role == "tool_name" and self._actions and random.random() < 0.5:
            self._rule = random.choice(self._actions.rules)
            return random.choice(self._rule.names)
        if role == "tool_name":
            return random.choice((*values.NAMES, 'a "b"', "ü\\"))
        if role == "arguments" and short != "JSON_OBJECT" and (short == "JSON_STRING" or random.random() < 0.3):
            odd = ("", " ", values.as_json(random, values.mapping(random, pieces)))
            return random.choice(odd if short == "JSON_STRING" else (*odd, None))
        if role == "needs_more_work" and random.random() < 0.8:
            return random.random() < 0.5
        if short in _SCALARS:
            return random.choice(_SCALARS[short])
        if short == "JSON_STRING":
            return values.text_value(random, pieces)
        if short == "JSON_ARRAY":
            return [values.mapping(random, pieces) for _ in range(random.randint(0, 3))]
        if short == "JSON_OBJECT" or role == "arguments":
            return values.mapping(random, pieces)
        return values.value(random, pieces)

    def _argument(self, lexeme: Lexeme, pieces: tuple[str, ...]) -> Any:
        """The value of an argument; one that an action takes is of the kind that it takes."""
        found = self._rules_of(lexeme)
        if self._actions and lexeme.action and lexeme.key in self._actions.naming:
            return lexeme.action
        field = next((field for m in found for field, names in m.sources.items() if lexeme.key in names), "")
        if field in values.FIELDS:
            return self._random.choice(values.FIELDS[field])
        return values.text_value(self._random) if field else values.value(self._random, pieces)

    def _arguments(self, lexeme: Lexeme, pieces: tuple[str, ...]) -> dict[str, Any]:
        """The arguments of some action, all of them in one object."""
        assert self._actions is not None
        rule = self._rule or self._random.choice(self._actions.rules)
        word = self._random.choice(_action_words(rule) or rule.names)
        keys = [key for key in self._keys_of(rule) if key not in _PLACES]
        return {key: self._argument(replace(lexeme, action=word, key=key), pieces) for key in keys}

    def _text_of(self, lexeme: Lexeme) -> str:
        """The bare text of an argument that an action takes."""
        value = self._argument(lexeme, ())
        return value if isinstance(value, str) else values.as_json(self._random, value)

    def _rules_of(self, lexeme: Lexeme) -> list[MappingRule]:
        """The mapping rules of the action that a lexeme belongs to."""
        rules = self._actions.rules if self._actions else []
        return [rule for rule in rules if lexeme.action in rule.names or lexeme.action in _action_words(rule)]


def _action_words(rule: MappingRule) -> tuple[str, ...]:
    """The words of an action that has no name of its own: it is known by an argument that says one of them."""
    return rule.conditions[0].words if "" in rule.names and rule.conditions else ()


@cache
def _marker_searches(automaton: Automaton) -> list[Any]:
    """Searches for the markers of a grammar, wherever they stand."""
    markers = [t for t in automaton.tables.terminals.values() if t.short.startswith("_")]
    written = [re.escape(t.canonical.strip()) for t in markers if len(t.canonical.strip()) >= _TELLING]
    return [re.compile(regex).finditer for regex in [*[t.regex for t in markers], *written]]
