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
from outspoken.constraints.free_text import CODE_TEXT
from outspoken.constraints.heads import with_ends


class LarkWriter:
    """Writes a grammar. Texts in `special` are special tokens of the tokenizer."""

    def __init__(self, grammar: Grammar, special: tuple[str, ...]) -> None:
        self._grammar = grammar
        self._special = re.compile("|".join([re.escape(text) for text in sorted(special, key=len, reverse=True)]) or "(?!)")
        self._terminals: dict[str, str] = {}

    def write(self) -> str:
        """The grammar as text."""
        lines = [f"start: {self._form(with_ends(self._grammar.root, self._grammar))}"]
        for name, form in self._grammar.rules.items():
            lines.append(f"{name}: {self._form(with_ends(form, self._grammar))}")
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        return "\n".join(lines) + "\n"

    def _form(self, form: Form) -> str:
        if isinstance(form, Literal):
            return self._literal(form.text)
        if isinstance(form, (FreeText, Pattern)):
            return self._terminal(self._body(form))
        if isinstance(form, Rule):
            return form.name
        if isinstance(form, Seq):
            return self._sequence(form)
        if isinstance(form, Choice):
            options = [self._form(option) for option in form.options]
            return f"({' | '.join(options)})" if options else '/[^\\s\\S]/'
        if isinstance(form, Repeat):
            return f"({self._form(form.part)}){_times(form)}"
        raise TypeError(f"no form: {form!r}")

    def _sequence(self, form: Seq) -> str:
        if form == EMPTY:
            return '""'
        parts: list[str] = []
        waiting: FreeText | None = None
        for part in form.parts:
            if waiting is not None:
                text, rest = self._split(part.text) if isinstance(part, Literal) else ("", "")
                ended = f"{self._body(waiting)} {json.dumps(text, ensure_ascii=False)}" if text else self._body(waiting)
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

    def _split(self, text: str) -> tuple[str, str]:
        """A literal up to the first special token, and from there on."""
        found = self._special.search(text)
        return (text, "") if found is None else (text[: found.start()], text[found.start() :])

    def _literal(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for found in self._special.finditer(text):
            parts += [json.dumps(text[at : found.start()], ensure_ascii=False)] if found.start() > at else []
            parts.append(found[0] if re.fullmatch(r"<[^<>\s]+>", found[0]) else f"<{found[0]}>")
            at = found.end()
        if at < len(text) or not parts:
            parts.append(json.dumps(text[at:], ensure_ascii=False))
        return " ".join(parts)

    def _terminal(self, body: str) -> str:
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def _body(self, form: FreeText | Pattern) -> str:
        if isinstance(form, Pattern):
            return f"/{_slashed(form.regex)}/"
        parts = [self._terminal(f"/{_slashed(CODE_TEXT)}/") if form.with_code else "/(?s:.)*/"]
        if form.excluded:
            held = self._terminal(f"/(?s:.)*({_slashed('|'.join(form.excluded))})(?s:.)*/")
            parts.append(f"~{held}")
        if form.begins:
            parts.append(f"/({_slashed(form.begins)}(?s:.)*)?/")
        parts += [f"/{_slashed(pattern)}/" for pattern in form.patterns]
        if form.low or form.high is not None:
            parts.append(f"/(?s:.){{{form.low},{'' if form.high is None else form.high}}}/")
        if form.ends:
            parts.append(f"/((?s:.)*{_slashed(form.ends)})?/")
        return f"({' & '.join(parts)})" if len(parts) > 1 else parts[0]


def _slashed(regex: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", regex)


def _times(form: Repeat) -> str:
    if form.high is None:
        return {0: "*", 1: "+"}.get(form.low, f"{{{form.low},}}")
    return "?" if (form.low, form.high) == (0, 1) else f"{{{form.low},{form.high}}}"


def lark_grammar(grammar: Grammar, special: tuple[str, ...]) -> str:
    """The grammar in llguidance's notation."""
    return LarkWriter(grammar, special).write()
