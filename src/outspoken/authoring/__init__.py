"""What authors of grammars use: `outspoken grammar new`, `check`, `show`, `fuzz` and `diagram`.

The commands work on a grammar file anywhere (`commands`, `shared.checkout.Workspace`) and, as `python -m tools.check` and the like, on
the formats of a checkout. `shared/` has the files of a checkout, its corpus, and grammars as texts with places. Only
`outspoken.cli` imports this room.
"""
