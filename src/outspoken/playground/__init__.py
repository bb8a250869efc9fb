"""The playground: a page on this machine where a response is pasted and read, and pages of one response as files.

`app.serve` opens it, which needs the extra `ui`; `answers.write` writes a page that works from a file. Only the command
line imports it.
"""
