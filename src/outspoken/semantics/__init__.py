"""From what the parser reads to typed segments and events.

What a rule or terminal of the grammars' vocabulary means is here and nowhere else: `handlers` lists the operations,
and the parts of `builder.Builder` carry them out. The engine and the rooms above import from here. May import
`results`, `patterns`, `grammar`, `json`, `notations` and `actions`.
"""
