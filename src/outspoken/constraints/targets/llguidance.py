"""Lark grammars of llguidance (1.7 and newer): https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md.

Its lexer is greedy, so free text and the literal that ends it are one terminal.
"""

from __future__ import annotations

import json
import re

from outspoken.constraints.forms import (
    EMPTY,
    Choice,
    Form,
    FreeText,
    Grammar,
    Literal,
    Pattern,
    Repeat,
    Rule,
    Seq,
)
from outspoken.constraints.forms import seq as in_sequence
from outspoken.constraints.free_text import COUNTED_SPAN, FENCE
from outspoken.constraints.heads import heads, with_ends

_LINE_END = r"[\n]"
#: A pattern that matches nothing.
_NOTHING = r"/[^\s\S]/"


class _LarkWriter:
    """Writes a grammar. Texts in `special` are special tokens of the tokenizer."""

    def __init__(self, grammar: Grammar, special: tuple[str, ...]) -> None:
        self._grammar = grammar
        self._special = re.compile(
            "|".join([re.escape(text) for text in sorted(special, key=len, reverse=True)]) or "(?!)"
        )
        self._terminals: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._literals: list[str] = []

    def write(self) -> str:
        """The grammar as text."""
        lines = [f"start: {self._form(with_ends(self._grammar.root, self._grammar))}"]
        for name, form in self._grammar.rules.items():
            lines.append(f"{name}: {self._form(with_ends(form, self._grammar))}")
        lines += self._texts.values()
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        written = [" ".join(map(_quoted, parts)) for parts in _prefix_free(self._literals)]
        return re.sub("\0([0-9]+)\0", lambda found: written[int(found[1])], "\n".join(lines)) + "\n"

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
        return f"({self._form(form.part)}){_times(form)}"

    def _sequence(self, form: Seq) -> str:
        if form == EMPTY:
            return '""'
        parts: list[str] = []
        waiting: FreeText | None = None
        for index, part in enumerate(form.parts):
            if isinstance(part, FreeText) and part.with_code:
                parts.append(self._text_with_code(part, in_sequence(*form.parts[index + 1 :])))
                return " ".join(parts)
            if waiting is not None:
                text, rest = self._split(part.text) if isinstance(part, Literal) else ("", "")
                ended = f"{self._body(waiting)} {_quoted(text)}" if text else self._body(waiting)
                parts.append(self._terminal(ended))
                waiting = None
                if isinstance(part, Literal):
                    parts += [self._literal(rest)] if rest else []
                    continue
            if isinstance(part, FreeText):
                waiting = part
            else:
                parts.append(self._form(part))
        if waiting is not None:
            parts.append(self._terminal(self._body(waiting)))
        return " ".join(parts)

    def _text_with_code(self, text: FreeText, rest: Form) -> str:
        """Text that may hold code, and what follows. Code is a terminal of its own: the lexer has fewer states so."""
        plain = FreeText((*text.excluded, "`"), begins=text.begins, ends=text.ends)
        found = heads(rest, self._grammar)
        if found is None:
            return f"{self._terminal(self._body(plain))} {self._form(with_ends(rest, self._grammar))}"
        ends: list[str] = []
        bare: list[str] = []
        for literal, after in found:
            behind = Seq((Literal(literal), *(after.parts if isinstance(after, Seq) else (after,))))
            ends.append(self._sequence(Seq((plain, *behind.parts))))
            if not text.ends:
                bare.append(self._form(with_ends(in_sequence(*behind.parts), self._grammar)))
        held = FreeText((*text.excluded, "`"))
        spans = self._terminal(f"{self._body(FreeText(held.excluded, low=1))} /{COUNTED_SPAN}/")
        fences = self._terminal(f"{self._body(FreeText(held.excluded, ends=_LINE_END, low=1))} /{FENCE}/")
        first_span, first_fence = self._terminal(f"/{COUNTED_SPAN}/"), self._terminal(f"/{FENCE}/")
        key = "|".join([*ends, *bare, spans, text.begins])
        if key not in self._texts:
            name = f"text{len(self._texts)}"
            lines = [
                f"{name}: {name}_in"
                + ("" if text.begins else f" | {first_fence} {name}_fence | {first_span} {name}_in"),
                f"{name}_in: {spans} {name}_in | {fences} {name}_fence | {' | '.join(ends)}",
                f"{name}_fence: {self._lexeme(chr(10))} {name}_line" + "".join([f" | {end}" for end in bare]),
                f"{name}_line: {name}_in | {first_fence} {name}_fence | {first_span} {name}_in",
            ]
            self._texts[key] = "\n".join(lines)
        return self._texts[key].partition(":")[0]

    def _split(self, text: str) -> tuple[str, str]:
        """A literal up to the first special token, and from there on."""
        found = self._special.search(text)
        return (text, "") if found is None else (text[: found.start()], text[found.start() :])

    def _literal(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for found in self._special.finditer(text):
            parts += [self._lexeme(text[at : found.start()])] if found.start() > at else []
            parts.append(found[0] if re.fullmatch(r"<[^<>\s]+>", found[0]) else f"<{found[0]}>")
            at = found.end()
        if at < len(text) or not parts:
            parts.append(self._lexeme(text[at:]))
        return " ".join(parts)

    def _lexeme(self, text: str) -> str:
        """The place of a literal, which `write` fills."""
        if text not in self._literals:
            self._literals.append(text)
        return f"\0{self._literals.index(text)}\0"

    def _terminal(self, body: str) -> str:
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def _body(self, form: FreeText | Pattern) -> str:
        if isinstance(form, Pattern):
            return f"/{_slashed(form.regex)}/"
        parts = ["/(?s:.)*/"]
        if form.excluded:
            # any bytes beside it: the lexer would follow the bytes of characters there as well
            anything = f"~{self._terminal(_NOTHING)}"
            held = self._terminal(f"({anything} /{_slashed('|'.join(form.excluded))}/ {anything})")
            parts.append(f"~{held}")
        if form.begins:
            parts.append(f"/({_slashed(form.begins)}(?s:.)*)?/")
        parts += [f"/{_slashed(pattern)}/" for pattern in form.patterns]
        if form.low or form.high is not None:
            parts.append(f"/(?s:.){{{form.low},{'' if form.high is None else form.high}}}/")
        if form.ends:
            parts.append(f"/((?s:.)*{_slashed(form.ends)})?/")
        return f"({' & '.join(parts)})" if len(parts) > 1 else parts[0]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _prefix_free(texts: list[str]) -> list[list[str]]:
    """Texts in parts of which none begins another: of two literals at one place, the lexer reads only the longer."""
    known, waiting = set(texts), list(texts)
    while waiting:
        text = waiting.pop()
        rest = text[_prefix(text, known) :]
        if rest != text and rest not in known:
            known.add(rest)
            waiting += [rest, *[other for other in known if other.startswith(rest) and other != rest]]
    found: list[list[str]] = []
    for text in texts:
        parts: list[str] = []
        while size := _prefix(text, known):
            parts.append(text[:size])
            text = text[size:]
        found.append([*parts, text])
    return found


def _prefix(text: str, known: set[str]) -> int:
    """The length of the shortest of some texts that a text begins with; 0 if there is none but itself."""
    return next((size for size in range(1, len(text)) if text[:size] in known), 0)


def _slashed(regex: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", regex)


def _times(form: Repeat) -> str:
    if form.high is None:
        return {0: "*", 1: "+"}.get(form.low, f"{{{form.low},}}")
    return "?" if (form.low, form.high) == (0, 1) else f"{{{form.low},{form.high}}}"


def lark_grammar(grammar: Grammar, special: tuple[str, ...]) -> str:
    """The grammar in llguidance's notation."""
    return _LarkWriter(grammar, special).write()
