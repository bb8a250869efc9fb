"""The command `outspoken`. Only `outspoken.__main__` imports it; it may import every room.

`main` runs a command of the table in `program`; each command is a module of `commands`. `options` declares commands and
has the options that they share, with the types of their values; `groups` has the class of groups.
"""
