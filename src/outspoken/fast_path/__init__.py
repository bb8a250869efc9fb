"""A faster reader for sound, complete text: functions that `tools.compile` generates from the automata ahead of time.

It gives the same reply as the parser, or none; tests hold it to that. `Parser.parse` asks it first. May import the
rooms from `results` to `engine`.
"""
