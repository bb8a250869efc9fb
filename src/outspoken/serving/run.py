"""Starts the proxy. The packages of the extra `serve` are imported only here, when it starts."""

from __future__ import annotations

import logging

from outspoken.parsing.parser import Parser
from outspoken.results.packages import missing_package

from .settings import ServerSettings

_LOG = logging.getLogger("outspoken.serving")


def run(settings: ServerSettings, host: str, port: int) -> None:
    """Serve until the process is asked to stop. Raises MissingPackageError without the extra `serve`."""
    try:
        import uvicorn

        from .app import Proxy
    except ImportError as error:
        raise missing_package(error, "serve", "serving") from None
    _start_log(settings)
    if settings.format is not None:
        Parser(settings.format).warm()  # the first damaged response does not stop the event loop for it
    uvicorn.run(Proxy(settings).app(), host=host, port=port, ws="none", access_log=False)


def _start_log(settings: ServerSettings) -> None:
    """Write warnings, and a line for each request if the settings say so, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO if settings.log_requests else logging.WARNING)
    _LOG.propagate = False
