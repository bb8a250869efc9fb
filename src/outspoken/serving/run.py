"""Starts the proxy. Imports what it needs only then, so that nobody else has to have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .settings import ServeError

if TYPE_CHECKING:
    from .settings import ServeSettings


def run(settings: ServeSettings, host: str, port: int) -> None:
    """Serve until the process is told to end. Raises ServeError where the extra `serve` is missing."""
    try:
        import uvicorn

        from .app import Proxy
    except ImportError as error:
        raise ServeError(f"serving needs {error.name}: pip install 'outspoken[serve]'") from None
    uvicorn.run(Proxy(settings).app(), host=host, port=port, ws="none", access_log=False)
