"""What authors of grammars use: `outspoken grammar new`, `check`, `show`, `fuzz` and `diagram`.

The commands work on a grammar file anywhere (`commands`) and, as `python -m tools.check` and the like, on the formats
of a checkout: `shared.checkout` has both. `shared/` also has the corpus, and grammars as texts with places. Only
`outspoken.cli` and the playground import this room.
"""
