"""Text with blocks of calls as a `dispatch` of xgrammar's structural tags, which is its fastest form for free text.

It reads free text until a trigger, and then what must follow. It admits less than the same as EBNF: reasoning behind
calls, and blocks of code where calls have no line break. What text may not hold is listed as texts, a little more than
the patterns of them match.
"""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from outspoken.constraints import forms
from outspoken.constraints.forms import Grammar
from outspoken.patterns import syntax

from .bnf import bnf_grammar

#: No more texts are listed for one pattern, and no shorter ones.
_MOST_TEXTS, _SHORTEST = 16, 3
#: What stands behind a span of code, so that another one does not follow at once.
_BEHIND_SPAN = r"[ \n.,;:!?)\]*_]"


def dispatch_format(grammar: forms.Grammar) -> dict[str, Any] | None:
    """The format of a grammar's loop; None if it has none, or dispatch cannot say what text may not hold."""
    loop = grammar.loop
    if loop is None or not loop.blocks or loop.text.begins or loop.text.ends:
        return None
    excluded = [_texts_of(pattern) for pattern in loop.text.excluded]
    if any(texts is None for texts in excluded):
        return None
    texts = sorted({text for found in excluded for text in found or ()})
    rules: list[list[Any]] = []
    for literal, block in loop.blocks:
        trigger = _trigger(literal, texts)
        if trigger is None:
            return None
        rest = forms.seq(forms.Literal(literal[len(trigger) :]), block)
        rules.append([trigger, _leaf(rest, grammar)])
    triggers = [rule[0] for rule in rules]
    excludes = [text for text in texts if not any(text in trigger for trigger in triggers)]
    if loop.text.with_code:
        has_lines = all("\n" in literal for literal, _ in loop.blocks)
        rules += _code_rules(excludes, has_blocks=has_lines)
    dispatch = {"type": "dispatch", "rules": rules, "loop": True, "excludes": excludes}
    leads = _leads(loop, grammar)
    return {"type": "sequence", "elements": [*leads, dispatch]} if leads else dispatch


def _leads(loop: forms.TextLoop, grammar: forms.Grammar) -> list[dict[str, Any]]:
    """The format of what a response may begin with."""
    some = [lead for lead in loop.leads if lead != forms.EMPTY]
    if not some:
        return []
    formats = [_lead(lead, grammar) for lead in some]
    either = formats[0] if len(formats) == 1 else {"type": "or", "elements": formats}
    return [either if len(some) == len(loop.leads) else {"type": "optional", "content": either}]


def _lead(lead: forms.Form, grammar: forms.Grammar) -> dict[str, Any]:
    """Reasoning between its tags."""
    parts = getattr(lead, "parts", ())
    if len(parts) == 3 and isinstance(parts[0], forms.Literal) and isinstance(parts[1], forms.FreeText):
        listed = [_texts_of(pattern) for pattern in parts[1].excluded]
        if None not in listed and isinstance(parts[2], forms.Literal):
            content = {"type": "any_text", "excludes": sorted({text for found in listed for text in found or ()})}
            return {"type": "tag", "begin": parts[0].text, "content": content, "end": parts[2].text}
    return _leaf(lead, grammar)


def _leaf(form: forms.Form, grammar: forms.Grammar) -> dict[str, Any]:
    """A form as a format, with JSON by its schema; as EBNF where there is none."""
    if isinstance(form, forms.Literal):
        return {"type": "const_string", "value": form.text}
    if isinstance(form, forms.Rule) and form.name in grammar.schemas:
        return {"type": "json_schema", "json_schema": json.loads(grammar.schemas[form.name])}
    if isinstance(form, forms.Rule) and _holds_schema(grammar.rules[form.name], grammar):
        return _leaf(grammar.rules[form.name], grammar)
    if isinstance(form, forms.Seq) and _holds_schema(form, grammar):
        return {"type": "sequence", "elements": [_leaf(part, grammar) for part in form.parts]}
    if isinstance(form, forms.Choice) and _holds_schema(form, grammar):
        return {"type": "or", "elements": [_leaf(option, grammar) for option in form.options]}
    if isinstance(form, forms.Repeat) and _holds_schema(form.part, grammar) and (form.low, form.high) == (0, None):
        return {"type": "star", "content": _leaf(form.part, grammar)}
    return {"type": "grammar", "grammar": bnf_grammar(forms.Grammar(form, None, grammar.rules))}


def _holds_schema(form: forms.Form, grammar: forms.Grammar) -> bool:
    if isinstance(form, forms.Rule):
        is_call = form.name.startswith("call")
        return form.name in grammar.schemas or (is_call and _holds_schema(grammar.rules[form.name], grammar))
    return any(_holds_schema(part, grammar) for part in forms.inner_forms(form))


def _trigger(literal: str, texts: list[str]) -> str | None:
    """The shortest beginning of a literal that text may not hold anyway; None if text may hold the literal."""
    ends = [at + len(text) for text in texts if (at := literal.find(text)) >= 0]
    return literal[: min(ends)] if ends else None


def _code_rules(excludes: list[str], *, has_blocks: bool) -> list[list[Any]]:
    """Spans of code, and blocks where a line or a word begins. Code holds nothing that text may not hold."""
    inner = {"type": "any_text", "excludes": [*excludes, "`", "\n"]}
    span = {"type": "sequence", "elements": [inner, {"type": "regex", "pattern": f"`{_BEHIND_SPAN}"}]}
    if not has_blocks:
        return [["`", span]]
    lines = {"type": "any_text", "excludes": [*excludes, "`"]}
    opened = {"type": "regex", "pattern": "``(?:[a-ik-su-wyz][a-z+#-]*|jav[a-z]*|jsx?|tsx?|te[a-z]*|ty[a-z]*)?\n"}
    block = {"type": "sequence", "elements": [opened, lines, {"type": "const_string", "value": "\n```\n"}]}
    either = {"type": "or", "elements": [span, block]}
    return [["\n`", either], [" `", either]]


def _texts_of(pattern: str) -> list[str] | None:
    """Texts of which every match of a pattern holds one; None if there are too many."""
    try:
        return _beginnings(syntax.parse(pattern))
    except ValueError:
        return None


def _beginnings(nodes: syntax.Sequence) -> list[str] | None:
    found = [""]
    is_whole = True
    for node in nodes:
        options = _options(node)
        if options is None or len(found) * len(options) > _MOST_TEXTS:
            is_whole = False
            break
        found = [begun + option for begun, option in product(found, options)]
        if isinstance(node, (syntax.Group, syntax.Alternatives)):
            is_whole = False
            break  # an option may be cut off
    return found if is_whole or all(len(text) >= _SHORTEST or _are_signs(text) for text in found) else None


def _are_signs(text: str) -> bool:
    return len(text) > 1 and not any(char.isalnum() or char.isspace() for char in text)


def _options(node: syntax.Node) -> list[str] | None:
    if isinstance(node, syntax.Chars) and node.only_literals:
        return list(node.literals)
    if isinstance(node, syntax.Group):
        return _beginnings(node.body)
    if isinstance(node, syntax.Alternatives):
        branches = [_beginnings(branch) for branch in node.branches]
        return None if None in branches else [text for branch in branches for text in branch or ()]
    return None


def structural_tag(grammar: Grammar) -> dict[str, Any]:
    """The structural tag of a grammar: a `dispatch` if that can say it, or else its EBNF."""
    found = dispatch_format(grammar) or {"type": "grammar", "grammar": bnf_grammar(grammar)}
    return {"type": "structural_tag", "format": found}
