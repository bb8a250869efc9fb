"""What belongs to one application: Skyvern's functions, a chat about tables, the names in exported plain objects.

Only the command line, users and `outspoken` itself import from here. May import every room but
`integrations`, `serving` and `cli`.
"""
