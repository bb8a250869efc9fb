"""What belongs to one application: Skyvern's functions, luxx's parser, a chat about tables, names of plain objects.

Only the command line, users and `outspoken` itself import from here. May import every room but
`integrations`, `serving` and `cli`.
"""
