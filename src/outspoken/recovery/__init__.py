"""Tolerant reading of a segment that the strict grammar refuses.

`search.recover` finds the cheapest path through the automaton over the tokens of the marker lexer; `earley.read` is
Lark's Earley parser with the tolerant grammar. Every deviation
from the text has a cost and becomes a repair. The engine's recovery driver decides what to recover and applies the
result. May import the rooms from `results` to `trees`.
"""
