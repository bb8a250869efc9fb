"""The command `outspoken`: the table of its commands, each in a module of `commands` that is imported when it is run.

To add a command, write a module with an attribute `command` and add a row to the table.
"""

from __future__ import annotations

from outspoken import __version__

from .framework import Entry, LazyGroup, version_option

ONE, MANY, MODELS, AUTHORS, SHELL = "One response", "Many responses", "Models and servers", "Grammars", "This command"

#: The exit codes of all commands.
EXIT_CODES = (
    ("0", "all is well"),
    ("1", "it ran, and a response, row or grammar has errors"),
    ("2", "it cannot run: wrong arguments, a file that cannot be read, a package that is missing"),
    ("3", "`batch` was stopped before the end; the same command goes on"),
    ("130, 143", "interrupted (Ctrl-C), terminated"),
)

COMMANDS = {
    "parse": Entry("parse a response and show its segments", ONE),
    "explain": Entry("show a response part by part, and the formats that match it", ONE),
    "stream": Entry("show a provider's stream as it arrives", ONE),
    "ui": Entry("open a page on this machine that shows how a response is read", ONE),
    "formats": Entry("list the formats", ONE),
    "stats": Entry("count how many responses are ok, repaired, truncated or invalid", MANY),
    "batch": Entry("read files of responses with every core, into a folder of results", MANY),
    "report": Entry("write a page of HTML about a folder of results", MANY),
    "constrain": Entry("write the grammar that keeps a model to a format", MODELS),
    "serve": Entry("run a proxy that reads calls and reasoning from a server's text", MODELS),
    "grammar": Entry("work on a grammar file: new, check, show, fuzz or diagram", AUTHORS),
    "completion": Entry("print the script that completes commands in your shell", SHELL),
}

program = version_option(__version__)(
    LazyGroup(
        "outspoken",
        "outspoken.cli.commands",
        COMMANDS,
        help="Read what language models say: tool calls, reasoning and GUI actions.",
        examples=(
            ("outspoken parse response.txt", "show what is in a response"),
            ("outspoken parse -t 'Action: wait()' --json", "the same as JSON, for a text"),
            ("outspoken parse --help", "the options and examples of a command"),
        ),
        notes=EXIT_CODES,
    )
)
