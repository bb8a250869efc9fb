"""A faster reader for sound, complete text: functions that are generated from the automaton.

It gives the same reply as the parser, or none; tests hold it to that. `parsing.functions.parse` asks it first. May
import the rooms from `results` to `detection`.
"""
