"""Structural tags of xgrammar (0.2): https://xgrammar.mlc.ai/docs/structural_tag/structural_tag.html."""

from __future__ import annotations

from typing import Any

from outspoken.constraints.forms import Grammar

from .bnf import bnf_grammar
from .dispatch import dispatch_format


def structural_tag(grammar: Grammar) -> dict[str, Any]:
    """The structural tag of a grammar: a `dispatch` if that can say it, or else its EBNF."""
    found = dispatch_format(grammar) or {"type": "grammar", "grammar": bnf_grammar(grammar)}
    return {"type": "structural_tag", "format": found}
