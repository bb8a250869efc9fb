"""What authors of grammars use: `outspoken grammar new`, `check`, `show`, `fuzz` and `diagram`.

There is a function for each, which works on a grammar file anywhere or, as `python -m tools.check` and the like, on
the formats of a checkout: `shared.checkout` has both. `outspoken.cli` declares the options. `shared/` also has the
corpus, and grammars as texts with places. Only `outspoken.cli` and the playground import this room.
"""
