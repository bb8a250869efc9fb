"""Starts the playground, or writes a page of one response. Only to serve needs the packages of the extra `ui`."""

from __future__ import annotations

import json
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from outspoken.grammar import registry
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError

from .given import Given, ProblemError, shared
from .worker import Worker, WorkerEndedError

#: The only address that is served: this machine's own.
HOST = "127.0.0.1"
#: How long a page of a response may take to write, in seconds.
_WRITE_LIMIT = 120.0


class PlaygroundError(UsageError):
    """The playground cannot start, or a page cannot be written: one sentence."""


def begin_with(
    text: str | None = None,
    name: str = "response",
    *,
    format: str = "auto",
    tools: str = "",
    screen: str = "",
    prefix: str | None = None,
    finish_reason: str = "",
    chunk: int = 0,
) -> Given | None:
    r"""What a page begins with; None for the example, if there is neither a text nor an option.

    `text` is a response, or what a page saved: its options come with it. `format` is the name of a format or the path
    of a grammar, `tools` JSON text, `screen` a size such as `1280x720`, `prefix` the end of the prompt, with `\n` for
    line breaks, and `chunk` how many characters arrive at once (0: as few as a slider has room for).

    Raises PlaygroundError if the grammar cannot be read or a saved file is damaged, and UnknownFormatError.
    """
    try:
        found = shared(text) if text is not None else None
    except ProblemError as problem:
        raise PlaygroundError(f"{visible(name)} is a saved file that is damaged: {problem.message}") from None
    if found is not None:
        return found
    grammar = None
    if format.endswith(".lark"):
        grammar, format = _read(format), "auto"
    elif format != "auto":
        format = registry.resolve(format)
    options = {"tools": tools, "screen": screen, "prefix": prefix, "finish_reason": finish_reason, "chunk": chunk}
    made = Given.model_validate({"name": name, "text": text or "", "format": format, "grammar": grammar, **options})
    return None if made == Given() else made


def serve(
    first: Given | None = None,
    *,
    port: int = 0,
    open_browser: bool = True,
    tell: Callable[[str], object] | None = None,
) -> None:
    """Serve the playground on this machine until the process is asked to stop.

    `first` is what the page begins with (see `begin_with`), `port` 0 takes a free one. `tell` gets the line that says
    where the page is; by default it is printed.

    Raises PlaygroundError if the extra `ui` is not installed or the port is in use.
    """
    try:
        import uvicorn

        from .app import Playground
    except ImportError as error:
        raise PlaygroundError(f"the playground needs {error.name}: pip install 'outspoken[ui]'") from None
    listening = _listen(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/"
    (tell or _print)(f"The playground is at {url} (Ctrl-C stops it)")
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
    Raises PlaygroundError if the response cannot be read as asked for, or the page cannot be written.
    """
    worker = Worker()
    try:
        asked = {"do": "file", "given": (first or Given()).model_dump(), "formats": formats or []}
        status, data = worker.ask(asked, _WRITE_LIMIT)
    except WorkerEndedError as error:
        words = f"took longer than {_WRITE_LIMIT:g} seconds" if error.was_slow else "made the worker end"
        raise PlaygroundError(f"this {words}; shorten the response or simplify the grammar") from None
    finally:
        worker.close()
    found: Any = json.loads(data)
    if status != 200:
        raise PlaygroundError(found["error"]["message"])
    try:
        Path(path).write_text(found["html"], "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise PlaygroundError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from None


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise PlaygroundError(f"there is no port {port}; choose one from 1 to 65535, or 0 for a free one")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise PlaygroundError(f"cannot use port {port}: {error.strerror}; `--port 0` takes a free one") from None
    return listening


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise PlaygroundError(f"cannot read `{visible(path)}`: it is not UTF-8") from None
    except (OSError, ValueError) as error:
        raise PlaygroundError(f"cannot read `{visible(path)}`: {getattr(error, 'strerror', None) or error}") from None


def _print(line: str) -> None:
    print(line, flush=True)
