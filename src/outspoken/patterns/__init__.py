"""Analysis of regular expressions: what the engine has to know of a terminal's pattern before it can search for it.

`syntax` parses a pattern into typed nodes, and removes capturing groups. All other modules are functions over these
nodes: `analysis` finds what a match begins with, requires and ends with; `prefixes` lists what matches begin with and
finds patterns by that; `prefilter` makes cheap searches from it; `arriving` makes look-aheads wait for text that is
still arriving.

This room imports nothing from the rest of the library.
"""
