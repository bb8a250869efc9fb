"""Lark's LALR parser of a format, which reads tokens that were found before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lark import Lark, Token, Tree
from lark.lexer import Lexer

from outspoken.grammar import registry
from outspoken.grammar.compiler import lark_of
from outspoken.grammar.tables import START
from outspoken.grammar.vocabulary import short


class TokenLexer(Lexer):
    """The lexer of Lark's parser: the input is a sequence of tokens already."""

    def __init__(self, lexer_conf: Any) -> None:
        """Lark passes its configuration, which is not needed."""

    def lex(self, lexer_state: Any, parser_state: Any = None) -> Iterator[Token]:
        """The tokens."""
        yield from lexer_state


@registry.cached
def _lark_grammar(name: str, edition: int) -> Lark:
    text, path = registry.grammar_text(name)
    return lark_of(text, path, [START], lexer=TokenLexer, keep_all_tokens=True, propagate_positions=True)


def lark_grammar(name: str) -> Lark:
    """Lark's object of a format's grammar, by the format's exact name: its rules, its terminals and its LALR parser.

    Rules and terminals have the names that Lark gives them (`shared__json_call__tool_call`); those in the tables of a
    format (`Tables.terminals`, `Rule.name`) are the same.
    """
    return _lark_grammar(name, registry.edition())


def tree_of(name: str, tokens: Sequence[Token]) -> Tree[Token]:
    """The tree of a sequence of tokens, whose types are names of terminals as Lark gives them.

    In the tree, rules and tokens have the names that the grammar file gives them. All tokens are kept.
    Raises lark.UnexpectedInput if the grammar refuses the sequence.
    """
    parser: Any = lark_grammar(name)
    tree: Tree[Token] = parser.parse(tokens)
    for subtree in tree.iter_subtrees():
        subtree.data = short(str(subtree.data))
        for child in subtree.children:
            if isinstance(child, Token):
                child.type = short(child.type)
    return tree
