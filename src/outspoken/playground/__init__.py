"""The playground: a page on this machine where a response is pasted and read, and pages of one response as files.

`run.serve` opens it, `run.write` writes a page that works from a file. Needs the extra `ui`; only the command line
imports it.
"""
