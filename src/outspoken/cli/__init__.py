"""The command `outspoken`. Nothing imports it; it may import every room.

`main` parses the arguments and runs the commands; `stats` and `stream` are commands of their own. They share `inputs`,
`outputs` and `explain`.
"""
