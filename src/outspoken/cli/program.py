"""The command `outspoken`: the table of its commands, each in a module of `commands` that is imported when it is run.

To add a command, write a module with an attribute `run` and add a row to the table.
"""

from __future__ import annotations

from textwrap import fill

import click

from outspoken import __version__

from .groups import Group, example_text

#: The variable in which a shell asks for completions; the script of `outspoken completion` sets it.
COMPLETE = "_OUTSPOKEN_COMPLETE"

#: The exit codes of all commands.
EXIT_CODES = {
    "0": "all is well",
    "1": "it ran, and a response, row or grammar has errors",
    "2": "it cannot run: wrong arguments, a file that cannot be read, a package that is missing",
    "3": "`batch` was stopped before the end; the same command goes on",
    "130, 143": "interrupted (Ctrl-C), terminated",
}
_CODES = [
    fill(words, 78, initial_indent=f"  {code:<10}", subsequent_indent=" " * 12) for code, words in EXIT_CODES.items()
]

COMMANDS = {
    "One response": {
        "parse": "parse a response and show its segments",
        "explain": "show a response part by part, and the formats that match it",
        "stream": "show a provider's stream as it arrives",
        "ui": "open a page on this machine that shows how a response is read",
        "formats": "list the formats",
    },
    "Many responses": {
        "stats": "count how many responses are ok, repaired, truncated or invalid",
        "batch": "read files of responses with every core, into a folder of results",
        "report": "write a page of HTML about a folder of results",
    },
    "Models and servers": {
        "model": "say which format a model writes, and what its prompts end with",
        "constrain": "write the grammar that keeps a model to a format",
        "serve": "run a proxy that reads calls and reasoning from a server's text",
    },
    "Grammars": {"grammar": "work on a grammar file: new, check, show, fuzz or diagram"},
    "This command": {"completion": "print the script that completes commands in your shell"},
}
_EXAMPLES = example_text(
    ("outspoken parse response.txt", "show what is in a response"),
    ("outspoken parse -t 'Action: wait()' --json", "the same as JSON, for a text"),
    ("outspoken parse --help", "the options and examples of a command"),
)


_version = click.version_option(
    __version__, "-V", "--version", message="outspoken %(version)s", help="print the version"
)
program = _version(
    Group(
        "outspoken",
        package="outspoken.cli.commands",
        listed={
            title: [click.Command(name, short_help=words) for name, words in rows.items()]
            for title, rows in COMMANDS.items()
        },
        help="Read what language models say: tool calls, reasoning and GUI actions.",
        epilog="\n".join(["\b", "Exit codes:", *_CODES, "", _EXAMPLES]),
    )
)
