"""`outspoken serve`: a proxy in front of a server that returns raw text."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from typing import Any, cast

from outspoken.cli.framework import declare, option
from outspoken.cli.options import format_option
from outspoken.cli.types import Choice, Number
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


def _limits(run: Callable[..., int]) -> Callable[..., int]:
    """Declare an option for each limit."""
    for name, words in reversed(_LIMITS.items()):
        default = cast("float", getattr(ServerSettings, name))
        kind = Number(least=None) if isinstance(default, int) else float  # the settings refuse what is too small
        run = option(
            f"--{name.replace('_', '-')}", name, type=kind, default=default, metavar="N", section="Limits",
            help=f"{words}; default: {default:.15g}",
        )(run)  # fmt: skip
    return run


@declare(
    "serve",
    "Run a proxy that reads calls and reasoning from the raw text of a server.",
    [
        ("outspoken serve --upstream http://localhost:8000 -f hermes", "in front of vLLM, on port 8080"),
        ("outspoken serve --upstream http://localhost:8000 -f hermes --constrain vllm", "and constrain its calls"),
    ],
)
@option("-u", "--upstream", required=True, metavar="URL", section="Server",
        help="the server's base URL, as clients take it")  # fmt: skip
@option("--host", default="127.0.0.1", metavar="NAME", section="Server", help="default: 127.0.0.1")
@option("--port", type=Number(least=0, most=65535), default=8080, metavar="N", section="Server", help="default: 8080")
@option("--log-requests/--no-log-requests", default=True, section="Server",
        help="write a line for each request to standard error; default: yes")  # fmt: skip
@format_option(words="the format of the model's output: a name or alias, or auto")
@option("--reasoning-field", default="reasoning_content", metavar="NAME", section="Responses",
        help="the field for reasoning; default: reasoning_content")  # fmt: skip
@option("--action-tool", metavar="NAME", section="Responses", help="export GUI actions as calls of a tool of this name")
@option("--constrain", type=Choice(UPSTREAMS), metavar="KIND", section="Responses",
        help=f"constrain requests with tools, for an upstream of this kind: {', '.join(UPSTREAMS)}")  # fmt: skip
@option("--constrain-strict", is_flag=True, section="Responses",
        help="reject a request that cannot be constrained, or not in everything")  # fmt: skip
@_limits
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
