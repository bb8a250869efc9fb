"""What belongs to one application or convention: Skyvern's API responses, a chat about tables.

Only the command line and users import from here. May import every room but `serving` and `cli`.
"""
