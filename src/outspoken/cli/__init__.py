"""The command `outspoken`. Only `outspoken.__main__` imports it; it may import every room.

`main` runs a command of the table in `program`; each command is a module of `commands`. `options` are those that
commands share, with the types of their values, `framework` and `groups` the classes of
commands and groups.
"""
