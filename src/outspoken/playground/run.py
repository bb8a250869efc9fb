"""Starts the playground, or writes a page of one response. Only to serve needs the packages of the extra `ui`."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Any

from outspoken.models.finding import find_model
from outspoken.parsing.parser import read_sound
from outspoken.results.packages import install_command
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text
from outspoken.terminal.outputs import write_file
from outspoken.terminal.ports import listen

from .given import Asked, Given, ProblemError, checked, shared

#: The only address that is served: this machine's own.
HOST = "127.0.0.1"


def begin_with(
    text: str | None = None, name: str = "response", *, format: str = "auto", **options: Any
) -> Given | None:
    """What a page begins with; None for the example, if there is neither a text nor an option.

    `text` is a response, or what a page saved: its options come with it. `format` is the name of a format, the path of
    a grammar, or the id or the folder of a model, of which the end of the prompt is known. The `options` are the other
    fields of `Given`; those that are None are not given.

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
        known = find_model(format, read_sound)
        options["format"] = known.format
        if options.get("prefix") is None:
            options["prefix"] = known.ends.end(thinking=None)
    options = {key: value for key, value in options.items() if value is not None}
    made = checked(Given.model_validate, {"name": name, "text": text or "", **options})
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
    listening = listen(HOST, port)
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
    from .answers import file  # imports what reads grammars

    write_file(path, file(Asked(given=first or Given(), formats=formats or []))["html"])
