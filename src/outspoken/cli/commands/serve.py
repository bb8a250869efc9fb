"""`outspoken serve`: a proxy in front of a server that returns raw text."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from typing import Any, cast

import click
from cloup import option_group

from outspoken.cli.framework import command
from outspoken.cli.options import format_option, option
from outspoken.serving.settings import UPSTREAMS, ServerSettings
from outspoken.terminal.errors import UsageError

#: The limits of the proxy, by the names of its settings.
_LIMITS = {
    "connect_timeout": "seconds to connect to the upstream",
    "read_timeout": "seconds between two pieces of a response",
    "total_timeout": "seconds for a whole response",
    "max_body": "bytes of a request",
    "max_chars": "characters of a response",
    "max_concurrent": "requests that are served at once",
}


def _limit(name: str, words: str) -> Callable[[Any], Any]:
    """Declare the option of a limit; the settings refuse what is too small."""
    default = cast("float", getattr(ServerSettings, name))
    return option(f"--{name.replace('_', '-')} N", words, type(default), default=default, shown=f"{default:.15g}")


@command(
    "serve",
    "Run a proxy that reads calls and reasoning from the raw text of a server.",
    ("outspoken serve --upstream http://localhost:8000 -f hermes", "in front of vLLM, on port 8080"),
    ("outspoken serve --upstream http://localhost:8000 -f hermes --constrain vllm", "and constrain its calls"),
)
@option_group(
    "Server",
    option("-u --upstream URL", "the server's base URL, as clients take it", required=True),
    option("--host NAME", "the address to listen on", default="127.0.0.1"),
    option("--port N", "the port to listen on", click.IntRange(0, 65535), default=8080),
    option("--log-requests/--no-log-requests", "write a line for each request to standard error", default=True),
)
@option_group("Reading", format_option("the format of the model's output: a name or alias, or auto"))
@option_group(
    "Responses",
    option("--reasoning-field NAME", "the field for reasoning", default="reasoning_content"),
    option("--action-tool NAME", "export GUI actions as calls of a tool of this name"),
    option(
        "--constrain KIND",
        f"constrain requests with tools, for an upstream of this kind: {', '.join(UPSTREAMS)}",
        click.Choice(UPSTREAMS),
    ),
    option("--constrain-strict", "reject a request that cannot be constrained, or not in everything"),
)
@option_group("Limits", *[_limit(name, words) for name, words in _LIMITS.items()])
def run(host: str, port: int, **settings: Any) -> int:
    """Serve until the process is asked to stop."""
    from outspoken.serving.run import run as serve

    checked = ServerSettings(**settings)
    _check_port(host, port)
    serve(checked, host, port)
    return 0


def _check_port(host: str, port: int) -> None:
    """Raise UsageError if nothing can listen there; the server would only log it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is in use; choose another with `--port`") from error
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(
            f"cannot listen on {host}, port {port}: {reason}; choose others with `--host` and `--port`"
        ) from error
