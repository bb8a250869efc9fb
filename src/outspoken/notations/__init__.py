"""Embedded values in other notations than JSON (Python literals, braced and tagged objects), and bare text.

`interface.notation_of` gives the notation of a terminal. `tools` holds the caller's tools, by whose schemas bare text
gets its type (`coerce`). May import `results`, `patterns`, `grammar` and `json`.
"""
