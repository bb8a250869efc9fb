"""Analysis of regular expressions: what the engine has to know of a terminal's pattern before it can search for it.

`syntax` parses a pattern into typed nodes; all other modules are functions over these nodes. `analysis` finds what a
match begins with, requires and ends with. `prefixes` lists what matches begin with, `prefix_index` finds patterns by
their prefixes, and `prefilter` makes cheap searches from them. `groups` removes capturing groups.

This room imports nothing from the rest of the library.
"""
