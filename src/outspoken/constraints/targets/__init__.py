"""The grammars of constrained decoding: one module for each engine."""
