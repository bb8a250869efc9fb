"""From a Lark file to an automaton: header, LALR tables, configurations, compiled matchers; the registry of formats.

Start with `registry.automaton(name)`. Only `compiler` imports Lark, and only a grammar without current compiled tables
needs it. May import `results` and `patterns`.
"""
