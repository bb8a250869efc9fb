"""Trees of responses: Lark's own LALR parser over the tokens of a format, and what a tree means.

`lark_parser.lark_grammar(name)` is Lark's object of a format's grammar, `lark_parser.tree_of` parses tokens with it.
`transformer.SegmentTransformer` turns a tree into the segments of a reply. What a rule means is not here: a tree gives
operations of `semantics.handlers`. `outspoken.parsing.parse_tree` makes the tokens.

The modules here import Lark, so import them only where a tree is wanted. May import the rooms from `results` to
`semantics`.
"""
