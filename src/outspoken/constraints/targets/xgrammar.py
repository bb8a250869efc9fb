"""Structural tags of xgrammar (0.2): https://xgrammar.mlc.ai/docs/structural_tag/structural_tag.html."""

from __future__ import annotations

import json
from typing import Any

from outspoken.constraints.forms import Choice, Form, FreeText, Grammar, Literal, Pattern, Repeat, Rule, Seq
from outspoken.patterns import syntax

from .bnf import bnf_grammar
from .dispatch import dispatch_format
from .loops import without_rules

#: Formats that are longer than the same as EBNF by this factor are not used.
_LONGER = 6


class _NotExactError(ValueError):
    """The formats of structural tags cannot say this."""


def structural_tag(grammar: Grammar) -> dict[str, Any]:
    """The structural tag of a grammar: in formats if they can say it at a reasonable length, or else as EBNF."""
    if (dispatch := dispatch_format(grammar)) is not None:
        return {"type": "structural_tag", "format": dispatch}
    written = bnf_grammar(grammar)
    try:
        found = _format(without_rules(grammar))
        if len(json.dumps(found)) <= _LONGER * len(written):
            return {"type": "structural_tag", "format": found}
    except ValueError:
        pass
    return {"type": "structural_tag", "format": {"type": "grammar", "grammar": written}}


def _format(form: Form) -> dict[str, Any]:
    """A form as a format. Raises ValueError if there is none that means the same."""
    if isinstance(form, Literal):
        return {"type": "const_string", "value": form.text}
    if isinstance(form, Pattern):
        return {"type": "regex", "pattern": form.regex}
    if isinstance(form, FreeText):
        return {"type": "any_text", "excludes": _excludes(form)}
    if isinstance(form, Seq):
        elements = [_format(part) for part in form.parts]
        return {"type": "sequence", "elements": elements} if elements else {"type": "const_string", "value": ""}
    if isinstance(form, Choice):
        if not form.options:
            raise _NotExactError("nothing")
        return {"type": "or", "elements": [_format(option) for option in form.options]}
    if isinstance(form, Rule):
        raise _NotExactError("a rule")
    return _repeated(form)


def _repeated(form: Repeat) -> dict[str, Any]:
    content = _format(form.part)
    if (form.low, form.high) == (0, 1):
        return {"type": "optional", "content": content}
    if form.high is None and form.low <= 1:
        return {"type": "plus" if form.low else "star", "content": content}
    return {"type": "repeat", "min": form.low, "max": -1 if form.high is None else form.high, "content": content}


def _excludes(text: FreeText) -> list[str]:
    """The literals that a text may not hold."""
    if text.with_code or text.begins or text.ends or text.low or text.high is not None or text.patterns:
        raise _NotExactError("text with conditions")
    return [_literal(pattern) for pattern in text.excluded]


def _literal(pattern: str) -> str:
    found = ""
    for node in syntax.parse(pattern):
        if not isinstance(node, syntax.Chars) or not node.only_literals or len(node.literals) != 1:
            raise _NotExactError("a pattern")
        found += "".join(node.literals)
    return found
