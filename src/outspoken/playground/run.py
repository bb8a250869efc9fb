"""Starts the playground, or writes a page of one response. Only to serve needs the packages of the extra `ui`."""

from __future__ import annotations

import json
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Any

from outspoken.grammar import registry
from outspoken.results.packages import install_command
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text

from .given import Given, ProblemError, shared
from .worker import Worker, WorkerEndedError

#: The only address that is served: this machine's own.
HOST = "127.0.0.1"
#: How long a page of a response may take to write, in seconds.
_WRITE_LIMIT = 120.0


def begin_with(
    text: str | None = None, name: str = "response", *, format: str = "auto", **options: Any
) -> Given | None:
    """What a page begins with; None for the example, if there is neither a text nor an option.

    `text` is a response, or what a page saved: its options come with it. `format` is the name of a format or the path
    of a grammar, the `options` are the other fields of `Given`.

    Raises UsageError if the grammar cannot be read or a saved file is damaged, and UnknownFormatError.
    """
    try:
        found = shared(text) if text is not None else None
    except ProblemError as problem:
        raise UsageError(f"{visible(name)} is a saved file that is damaged: {problem.message}") from None
    if found is not None:
        return found
    if format.endswith(".lark"):
        options["grammar"] = read_text(format)
    elif format != "auto":
        options["format"] = registry.resolve(format)
    made = Given.model_validate({"name": name, "text": text or "", **options})
    return None if made == Given() else made


def serve(first: Given | None = None, *, port: int = 0, open_browser: bool = True) -> None:
    """Serve the playground on this machine until the process is asked to stop, and print where it is.

    `first` is what the page begins with (see `begin_with`), `port` 0 takes a free one.

    Raises UsageError if the extra `ui` is not installed or the port is in use.
    """
    try:
        import uvicorn

        from .app import Playground
    except ImportError as error:
        raise UsageError(f"the playground needs {error.name}: {install_command('ui')}") from None
    listening = _listen(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/"
    print(f"The playground is at {url} (Ctrl-C stops it)", flush=True)
    config = uvicorn.Config(
        Playground(first).app(),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    if open_browser:  # the socket listens already, so the browser may be faster than the server
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def write(path: str | Path, first: Given | None, *, formats: list[str] | None = None) -> None:
    """Write one page of a response that works from a file: all that the playground shows of it.

    It holds the constraint for every target, and the reply as the format writes it and as each of `formats` does.
    Raises UsageError if the response cannot be read as asked for, or the page cannot be written.
    """
    worker = Worker()
    try:
        asked = {"do": "file", "given": (first or Given()).model_dump(), "formats": formats or []}
        status, data = worker.ask(asked, _WRITE_LIMIT)
    except WorkerEndedError as error:
        raise UsageError(error.said(_WRITE_LIMIT)) from None
    finally:
        worker.close()
    found: Any = json.loads(data)
    if status != 200:
        raise UsageError(found["error"]["message"])
    try:
        Path(path).write_text(found["html"], "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from None


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise UsageError(f"there is no port {port}; choose one from 1 to 65535, or 0 for a free one")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot use port {port}: {error.strerror}; `--port 0` takes a free one") from None
    return listening
