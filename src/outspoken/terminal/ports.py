"""A port to listen on."""

from __future__ import annotations

import errno
import socket

from .errors import UsageError


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port, 0 for a free one. Raises UsageError if that cannot be; a server would only log it."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family, backlog=64)
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is in use; choose another with `--port`") from error
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        reason = reason.partition(" (while attempting")[0]  # which names the address again
        raise UsageError(f"cannot listen on {host}, port {port}: {reason}; choose others with `--port`") from error
