"""What commands of every room share: reading files, and writing to a terminal or a pipe.

`inputs` reads responses and tools, and `outputs` writes lines, coloured on a terminal. Commands raise `UsageError`; the
command line prints its message.
"""
