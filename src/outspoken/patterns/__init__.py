"""Analysis of regular expressions: how matches begin, whether they can grow, and fast tests for where one may begin.

`grammar`, `detection` and the rooms above them import from here. May import `results` only.
"""
