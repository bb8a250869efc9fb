"""The texts that decide which parts a fast path has: sound responses of the corpus, and what `render` writes.

What `render` writes in formats that are like this one counts too: with the format open, this one reads it.

A part is a state or a branch (see `markers`). Every part that one of the texts takes is generated. So the result
depends on nothing but the checkout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from outspoken import Reasoning, Text, render
from outspoken.authoring.shared.checkout import Case, Checkout, cases
from outspoken.detection.opener_index import likeness_chain
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.matchers import matcher_of
from outspoken.grammar.tables import Tables
from outspoken.notations.tools import Tools
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.results.errors import RenderError
from outspoken.results.settings import DEFAULT
from outspoken.semantics.handlers import HANDLERS
from outspoken.semantics.output import Output

from .layout import source_of
from .markers import Part, Shared
from .states import StateWriter
from .usual import Ways

_T = TypeVar("_T")
#: How many places with an opening marker are read in the texts of each other format.
_MAX_FOREIGN = 4

#: What so many markers may lack, responses lack.
_MANY = 5

#: A value of each type, and how a schema declares it; the last one takes any type.
_VALUES: dict[str, tuple[Any, dict[str, Any]]] = {
    "title": ("Ferry", {"type": "string"}),
    "copies": (2, {"type": "integer"}),
    "share": (0.5, {"type": "number"}),
    "draft": (True, {"type": "boolean"}),
    "tags": (["a", "b"], {"type": "array", "items": {"type": "string"}}),
    "place": ({"city": "Oslo"}, {"type": "object", "properties": {"city": {"type": "string"}}}),
    "note": (None, {}),
}


def _in_all_orders(items: Sequence[_T]) -> list[_T]:
    """A sequence in which each item stands behind each, itself included."""
    ordered = [x for i, one in enumerate(items) for x in (one, *[x for other in items[i + 1 :] for x in (one, other)])]
    return [*ordered, items[0]]


#: Arguments in which a value of each type stands behind one of each: `{"title_0": …, "title_1": …, "copies_2": …}`.
_LONG = {f"{key}_{i}": _VALUES[key][0] for i, key in enumerate(_in_all_orders([*_VALUES]))}
_PROPERTIES = {key: _VALUES[key.partition("_")[0]][1] for key in (*_VALUES, *_LONG)}
_TOOLS = Tools.of(
    [
        {"name": name, "parameters": {"type": "object", "properties": _PROPERTIES}}
        for name in ("save_note", "functions.save_note")
    ]
)
#: Texts in every format: the prompt may have opened the reasoning.
_MORE = ("Mosses grow slowly.\n</think>\n\nHello.", "</think>\n\nHello.", "Hello.")
_TEXT = Text(text="I will write that down.", span=(0, 23))
_REASONING = Reasoning(text="The user wants a note.", span=(0, 22))
_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"title": "Ferry", "copies": 2, "note": "at nine"},
    {"copies": 2, "title": "Ferry"},
    {},
    {"title": 'Say "nine"\nor ten', "note": None},
    *[{key: value} for key, (value, _) in _VALUES.items()],
    _LONG,
)
#: Arguments that begin and end with a string, with another value, or with nothing.
_KINDS: list[dict[str, Any]] = [
    {},
    {"title": "a"},
    {"copies": 2},
    {"title": "a", "copies": 2},
    {"copies": 2, "title": "a"},
]


@cache
def rendered(name: str) -> list[str]:
    """Responses as the format writes them: text, reasoning and one or several calls with arguments of all types."""
    before, reader.ENABLED = reader.ENABLED, False  # what is generated depends on no older fast path
    calls, kinds = [[{"name": "save_note", "arguments": found} for found in some] for some in (_ARGUMENTS, _KINDS)]
    alone = [_rendered([call], name) for call in calls]
    calls = [call for call, text in zip(calls, alone, strict=True) if text]
    wanted: list[list[Any]] = [
        *[[call] * 3 for call in [*calls[:4], *calls[-1:]]],
        *[calls[:count] for count in (2, 3, len(calls))],
        *[[call, _TEXT, call] for call in calls[:1]],
        *[[one, other] for one in kinds for other in kinds],
        _in_all_orders(kinds),
    ]
    several = [[], *[calls[:count] for count in (1, 2)], calls[:1] * 2, calls]
    wanted += [[*leading, *rest] for leading in ([_TEXT], [_REASONING], [_REASONING, _TEXT]) for rest in several]
    texts = [*alone, *[_rendered(items, name) for items in wanted]]
    reader.ENABLED = before
    return list(dict.fromkeys([text for text in texts if text is not None]))


def _rendered(items: list[Any], name: str) -> str | None:
    try:
        return render(items, format=name, tools=_TOOLS)
    except RenderError:
        return None  # the format cannot say it


class _Entry(NamedTuple):
    """How the function is called: for a text from a position on, in a state. The text begins with `prompt` characters
    of the prompt."""

    text: str
    pos: int = 0
    state: int = 0
    once: int = reader.WHOLE
    prompt: int = 0


class Trainer:
    """Finds the parts that texts take. `cases` are the sound responses of all formats."""

    def __init__(self, cases: list[Case]) -> None:
        self._cases = cases

    def parts(self, shared: Shared, entries: list[_Entry]) -> set[Part]:
        """The parts of a format that some calls of its function take."""
        parts: set[Part] = set()
        while entries:
            writer = StateWriter(shared, parts, learning=True)
            learned: set[int] = set()
            scope: dict[str, Any] = {"learned": learned.add}
            exec(compile(source_of(writer, shared), "<fast path>", "exec"), scope)
            read, trims = scope["read_sound"], scope["TRIMS_TEXT"]
            missing, waiting = set[Part](), list[_Entry]()
            for entry in entries:
                text, pos, state, once, prompt = entry
                output = Output(text[prompt:], None, trims=trims)
                output.consumed = pos - prompt
                found: Any = read(text, pos, state, output, None, DEFAULT, once, prompt)
                if found.__class__ is tuple:
                    missing.add(writer.missing[int(found[0])])
                    waiting.append(entry)
            states = list(writer.states)
            parts |= {*missing, *[states[number] for number in learned]}
            entries = waiting
        return parts

    def module(self, name: str, automaton: Automaton, entries: list[_Entry]) -> str:
        """The source of the module of a format, by its lenient automaton and the `entries` of the corpus."""
        shared = Shared(automaton)
        parts = self.parts(shared, [*entries, *self.rendered_entries(automaton, name)])
        own = [*rendered(name), *[case.text for case in self._cases if case.format == name]]
        own += _without_parts(automaton.tables, own)
        ways = Ways(shared, [automaton.tables.header.opened + text for text in own])
        return source_of(StateWriter(shared, parts, ways), shared)

    def entries(self, automaton: Automaton, name: str) -> list[_Entry]:
        """How the function is called for each text of the corpus: from its beginning, and from opening markers."""
        own = [case.text for case in self._cases if case.format == name]
        own += [automaton.tables.header.example, *_MORE]
        texts_of = {name: own}
        for case in self._cases:
            if case.format != name:
                texts_of.setdefault(case.format, []).append(case.text)
        entries, alike = _from_beginning(automaton, own), _formats_like(name)
        for format_, texts in texts_of.items():
            entries += islice(_from_markers(automaton, texts), None if format_ in alike else _MAX_FOREIGN)
        return entries

    def rendered_entries(self, automaton: Automaton, name: str) -> list[_Entry]:
        """The same for what `render` writes in the format, and in those that are like it."""
        entries = _from_beginning(automaton, rendered(name))
        for format_ in _formats_like(name):
            entries += _from_markers(automaton, rendered(format_))
        return entries


def _formats_like(name: str) -> list[str]:
    """The formats that are like one, itself included."""
    return [format_ for format_ in registry.names() if name in likeness_chain(format_)]


def _from_beginning(automaton: Automaton, texts: list[str]) -> list[_Entry]:
    """How the function is called for whole texts; the prompt may have opened them."""
    opened = automaton.tables.header.opened
    more = [_Entry(opened + text, prompt=len(opened)) for text in texts] if opened else []
    return [*map(_Entry, texts), *more]


def _from_markers(automaton: Automaton, texts: list[str]) -> Iterator[_Entry]:
    """How the function is called at the opening markers of texts."""
    find = matcher_of(automaton.top_level, "find", HANDLERS, final=True).find
    for text in dict.fromkeys(texts):
        at = 0
        while (match := find(text, at)) is not None:
            yield _Entry(text, match.start(), 1, reader.SEGMENT)
            at = max(match.end(), match.start() + 1)


def _without_parts(tables: Tables, texts: list[str]) -> list[str]:
    """Some texts without what many markers may lack, such as the suffix of all tags."""
    parts = Counter[str]()
    for terminal in tables.terminals.values():
        written = (terminal.canonical or "").strip()
        for short in {form.strip() for form in spellings(without_conditions(terminal.regex))}:
            at = next((at for at, pair in enumerate(zip(written, short, strict=False)) if pair[0] != pair[1]), 0)
            part = written[at : at + len(written) - len(short)]
            parts[part] += len(short) < len(written) and short == written.replace(part, "", 1)
    return [text.replace(part, "") for part, count in parts.items() if count >= _MANY for text in texts if part in text]


@cache
def trainer() -> Trainer:
    """The trainer that knows the sound responses of the corpus."""
    return Trainer([case for case in cases(Checkout()) if case.kind == "ok" and not case.options.get("prefix")])
