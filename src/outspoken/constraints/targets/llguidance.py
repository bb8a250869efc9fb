"""Lark grammars of llguidance (1.7 and newer): https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md.

Its lexer is greedy, so free text and the literal that ends it are one terminal.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise

from outspoken.constraints.automata import matching
from outspoken.constraints.char_sets import CharSet, both, char_set
from outspoken.constraints.dfa_patterns import dfa_pattern, set_pattern
from outspoken.constraints.forms import EMPTY, Choice, Form, FreeText, Grammar, Literal, Pattern, Rule, Seq, times
from outspoken.constraints.forms import seq as in_sequence
from outspoken.constraints.free_text import FENCE, SPAN, text_automaton
from outspoken.constraints.heads import ends_of, size_of_end, with_ends

_LINE_END, _ANY = r"[\n]", "(?s:.)"
#: The pattern of an automaton is written if it has no more states, and is no longer.
_FEW_STATES, _LONGEST = 30, 600
#: Brackets of values. They are no literals, or markers that begin with one would be divided behind it.
_BRACKETS = ("[", "{")
#: A pattern that matches nothing.
_NOTHING = r"/[^\s\S]/"


class LarkWriter:
    """Writes a grammar. Texts in `special` are special tokens of the tokenizer."""

    def __init__(self, grammar: Grammar, special: tuple[str, ...]) -> None:
        self._grammar = grammar
        self._special = re.compile(
            "|".join([re.escape(text) for text in sorted(special, key=len, reverse=True)]) or "(?!)"
        )
        self._terminals: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._literals: dict[str, int] = {}

    def write(self) -> str:
        """The grammar as text."""
        lines = [f"start: {self._form(self._ended(self._grammar.root))}"]
        for name, form in self._grammar.rules.items():
            lines.append(f"{name}: {self._form(self._ended(form))}")
        lines += [rules.replace("\1", name) for rules, name in self._texts.items()]
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        written = [" ".join(map(_quoted, parts)) for parts in _prefix_free([*self._literals])]
        return re.sub("\0([0-9]+)\0", lambda found: written[int(found[1])], "\n".join(lines)) + "\n"

    def _ended(self, form: Form) -> Form:
        return with_ends(form, self._grammar, self._special)

    def _form(self, form: Form) -> str:
        if isinstance(form, Literal):
            return self._literal(form.text)
        if isinstance(form, FreeText) and form.with_code:
            return self._text_with_code(form, EMPTY)
        if isinstance(form, (FreeText, Pattern)):
            return self._terminal(self._body(form))
        if isinstance(form, Rule):
            return form.name
        if isinstance(form, Seq):
            return self._sequence(form)
        if isinstance(form, Choice):
            options = [self._form(option) for option in form.options]
            return f"({' | '.join(options)})" if options else _NOTHING
        return f"({self._form(form.part)}){times(form.low, form.high)}"

    def _sequence(self, form: Seq) -> str:
        if form == EMPTY:
            return '""'
        written: list[str] = []
        for at, (before, part) in enumerate(pairwise((EMPTY, *form.parts)), 1):
            behind = form.parts[at] if at < len(form.parts) else EMPTY
            if isinstance(part, FreeText) and part.with_code:
                return " ".join([*written, self._text_with_code(part, in_sequence(*form.parts[at:]))])
            if isinstance(part, FreeText) and isinstance(behind, Literal):
                text, rest = self._split(behind.text, part)
                written.append(self._terminal(f"{self._body(part)} {_quoted(text)}" if text else self._body(part)))
                written += [self._literal(rest)] if rest else []
            elif not (isinstance(part, Literal) and isinstance(before, FreeText)):
                written.append(self._form(part))
        return " ".join(written)

    def _text_with_code(self, text: FreeText, rest: Form) -> str:
        """Text that may hold code, and what follows. Code is a terminal of its own: the lexer has fewer states so."""
        held = (*text.excluded, "`")
        first = FreeText(held, begins=text.begins, ends=text.ends, low=text.low)
        text_ends = ends_of(FreeText(held), rest, self._grammar, self._special)
        if text_ends is None:
            return f"{self._terminal(self._body(first))} {self._form(self._ended(rest))}"
        behind = [
            Seq((Literal(head), *(after.parts if isinstance(after, Seq) else (after,)))) for head, after in text_ends
        ]

        def ended(plain: FreeText) -> str:
            """Text without code, and what follows it."""
            return " | ".join([self._sequence(Seq((plain, *following.parts))) for following in behind])

        def going_on(begins: str = "") -> str:
            """Text up to the next piece of code, with the code."""
            span = f"{self._body(FreeText(held, begins=begins, low=1))} /{SPAN}/"
            fence = f"{self._body(FreeText(held, begins=begins, ends=_LINE_END, low=1))} /{FENCE}/"
            return f"{self._terminal(span)} \1_in | {self._terminal(fence)} \1_fence"

        code = f"{self._terminal(f'/{FENCE}/')} \1_fence | {self._terminal(f'/{SPAN}/')} \1_in"
        ends_in = partial(_may_be, text.ends)
        lines = [
            f"\1: {going_on(text.begins)} | {ended(first)}" + (f" | {code}" if _may_be(text.begins, "`") else ""),
            f"\1_in: {going_on()} | {ended(FreeText(held, ends=text.ends, low=int(not ends_in('`'))))}",
            f"\1_fence: {self._lexeme(chr(10))} \1_line",
            f"\1_line: {going_on()} | {code} | {ended(FreeText(held, ends=text.ends, low=int(not ends_in(chr(10)))))}",
        ]
        if ends_in("`"):
            bare = [self._form(self._ended(in_sequence(*following.parts))) for following in behind]
            lines[2] += "".join([f" | {end}" for end in bare])
        return self._texts.setdefault("\n".join(lines), f"text{len(self._texts)}")

    def _split(self, literal: str, before: FreeText) -> tuple[str, str]:
        """A literal up to where it ends the text before it, but no special token, and from there on.

        Where another literal may end the same text, neither of the first parts is the beginning of the other one, so
        the lexer never goes back.
        """
        found = self._special.search(literal)
        size = len(literal) if found is None else found.start()
        size = min(size, size_of_end(before, literal))
        return literal[:size], literal[size:]

    def _literal(self, text: str) -> str:
        if text in _BRACKETS:
            return self._terminal(f"/\\{text}/")
        parts: list[str] = []
        at = 0
        for token in self._special.finditer(text):
            parts += [self._lexeme(text[at : token.start()])] if token.start() > at else []
            parts.append(token[0] if re.fullmatch(r"<[^<>\s]+>", token[0]) else f"<{token[0]}>")
            at = token.end()
        if at < len(text) or not parts:
            parts.append(self._lexeme(text[at:]))
        return " ".join(parts)

    def _lexeme(self, text: str) -> str:
        """The place of a literal, which `write` fills."""
        return f"\0{self._literals.setdefault(text, len(self._literals))}\0"

    def _terminal(self, body: str) -> str:
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def _body(self, form: FreeText | Pattern) -> str:
        if isinstance(form, Pattern):
            return f"/{_slashed(form.regex)}/"
        # few parts: what the lexer may do for a token is bounded
        parts = [f"/{_slashed(pattern)}/" for pattern in form.patterns]
        if not parts or form.begins or form.ends or form.low or form.high is not None:
            parts.append(f"/{_slashed(_bounded(form))}/")
        if len(parts) > 1 and (joined := _joined(form)):
            parts = [f"/{_slashed(joined)}/"]
        if form.excluded:
            # any bytes beside it: the lexer would follow the bytes of characters there as well
            anything = f"~{self._terminal(_NOTHING)}"
            held = self._terminal(f"({anything} /{_slashed('|'.join(form.excluded))}/ {anything})")
            parts.append(f"~{held}")
        return f"({' & '.join(parts)})" if len(parts) > 1 else parts[0]


@lru_cache(maxsize=512)
def _joined(text: FreeText) -> str:
    """The pattern of a text's patterns, ends and length together; "" if it is long."""
    try:
        dfa = text_automaton(replace(text, excluded=()))
    except ValueError:
        return ""
    written = dfa_pattern(dfa) if len(dfa.steps) <= _FEW_STATES else ""
    return written if len(written) <= _LONGEST else ""


def _bounded(text: FreeText) -> str:
    """The pattern of texts of some length, with characters of some classes at their ends."""
    low, high, begins, ends = text.low, text.high, text.begins, text.ends
    if not begins and not ends:
        return _ANY + times(low, high)
    if high == 0:
        return ""
    if not begins or not ends:
        written = f"{begins}{_ANY}{times(max(low - 1, 0), high and high - 1)}{ends}"
    else:
        alone = [begins if begins == ends else set_pattern(_common(begins, ends))] if low <= 1 else []
        longer = f"{begins}{_ANY}{times(max(low - 2, 0), high and max(high - 2, 0))}{ends}"
        written = "|".join([*alone, *([longer] if high != 1 else [])])
    return f"({written})" + "?" * (not low)


def _common(one: str, other: str) -> CharSet:
    return both(
        *[char_set([span for chars, _ in matching(chars).steps[0] for span in chars]) for chars in (one, other)]
    )


def _may_be(chars: str, char: str) -> bool:
    """Is a character one of a class? All are in an empty one."""
    return not chars or matching(chars).reads(char)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _prefix_free(texts: list[str]) -> list[list[str]]:
    """Texts in parts of which none begins another: of two literals at one place, the lexer reads only the longer."""
    beginnings, waiting = set(texts), list(texts)
    while waiting:
        text = waiting.pop()
        rest = text[_prefix(text, beginnings) :]
        if rest != text and rest not in beginnings:
            beginnings.add(rest)
            waiting += [rest, *[other for other in beginnings if other.startswith(rest) and other != rest]]
    part_lists: list[list[str]] = []
    for text in texts:
        parts: list[str] = []
        while size := _prefix(text, beginnings):
            parts.append(text[:size])
            text = text[size:]
        part_lists.append([*parts, text])
    return part_lists


def _prefix(text: str, known: set[str]) -> int:
    """The length of the shortest of some texts that a text begins with; 0 if there is none but itself."""
    return next((size for size in range(1, len(text)) if text[:size] in known), 0)


def _slashed(regex: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", regex)
