"""What commands of every room share: reading files, showing replies to people, and writing to a terminal or a pipe.

`inputs` reads responses and tools, `explain` turns replies into lines, and `outputs` writes them, coloured on a
terminal. Commands raise `UsageError`; the command line prints its message.
"""
