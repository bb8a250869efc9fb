"""`constraint`: what a model may write, as a grammar for constrained decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from outspoken.grammar import registry
from outspoken.notations.tools import ToolLike, Tools

from .builder import Builder, Wishes
from .forms import Grammar
from .registry import merged_skeleton


@dataclass(frozen=True)
class Constraint:
    """What a model may write in a format."""

    format: str
    grammar: Grammar
    special_tokens: tuple[str, ...]

    @property
    def warnings(self) -> list[str]:
        """What the constraint does not enforce."""
        return self.grammar.warnings

    def to_llguidance(self) -> str:
        """The constraint as a Lark grammar of llguidance."""
        from .targets.llguidance import lark_grammar

        return lark_grammar(self.grammar, self.special_tokens)

    def to_gbnf(self) -> str:
        """The constraint as a grammar of llama.cpp."""
        from .targets.bnf import BnfWriter

        return BnfWriter(self.grammar).write()

    def to_ebnf(self) -> str:
        """The constraint as a grammar of xgrammar."""
        return self.to_gbnf()

    def accepts(self, text: str) -> bool:
        """Does the constraint let a model write a text, from its first character to its end?"""
        from .matcher import Matcher

        return Matcher(self.grammar).reads(text)


def constraint(
    format: str,
    *,
    tools: Tools | Sequence[ToolLike] | None = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    reasoning: Literal["free", "none", "required"] = "free",
    max_calls: int | None = None,
    special_tokens: Sequence[str] = (),
) -> Constraint:
    name = registry.resolve(format)
    automaton, skeleton = merged_skeleton(name)
    known = Tools.of(tools)
    most = max_calls if parallel else 1
    least, with_text = 0, True
    if tool_choice == "none":
        most = 0
    elif tool_choice != "auto":
        least, with_text = 1, False
    wishes = Wishes(least, most, with_text, reasoning)
    return Constraint(name, Builder(skeleton, automaton, known, wishes, tuple(special_tokens)).build(), tuple(special_tokens))
