"""The parser: it walks the automaton over text, whole or in chunks, and calls the builder.

Knows no format by name. Detection, payloads and `parsing` use it. May import the rooms from `results` to `recovery`.
"""
