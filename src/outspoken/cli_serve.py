"""`outspoken serve`: a proxy that takes calls and reasoning out of a server's text."""

from __future__ import annotations

import argparse

from .serving.limits import ServeSettings
from .serving.run import run


def add(command: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    default = ServeSettings("http://localhost")
    command.add_argument("--upstream", required=True, metavar="URL", help="the server's base URL, as clients take it")
    command.add_argument("--format", default="auto", help="the format of what its model writes; default: auto")
    command.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    command.add_argument("--port", type=int, default=8080, help="default: 8080")
    seconds = {
        "--connect-timeout": "seconds to connect to the upstream",
        "--read-timeout": "seconds that may pass between two pieces of a response",
        "--total-timeout": "seconds that a whole response may take",
    }
    counts = {
        "--max-body": "bytes that a request may have",
        "--max-chars": "characters that a response may have",
        "--max-concurrent": "requests that are served at once",
    }
    for names, kind in ((seconds, float), (counts, int)):
        for name, words in names.items():
            value = getattr(default, name[2:].replace("-", "_"))
            command.add_argument(name, type=kind, default=value, metavar="N", help=f"{words}; default: {value:g}")
    command.add_argument("--reasoning-field", default=default.reasoning_field, help="default: reasoning_content")
    command.add_argument("--action-tool", metavar="NAME", help="GUI actions are calls of a tool of this name")
    command.set_defaults(run=serve)


def serve(given: argparse.Namespace) -> int:
    """Serve until the process is told to end."""
    names = ServeSettings.__dataclass_fields__
    run(ServeSettings(**{name: getattr(given, name) for name in names}), given.host, given.port)
    return 0
