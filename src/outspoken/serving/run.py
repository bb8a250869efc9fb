"""Starts the proxy. The packages of the extra `serve` are imported only here, when it starts."""

from __future__ import annotations

from .settings import ServeError, ServeSettings


def run(settings: ServeSettings, host: str, port: int) -> None:
    """Serve until the process is asked to stop. Raises ServeError if the extra `serve` is not installed."""
    try:
        import uvicorn

        from .app import Proxy
    except ImportError as error:
        raise ServeError(f"serving needs {error.name}: pip install 'outspoken[serve]'") from None
    uvicorn.run(Proxy(settings).app(), host=host, port=port, ws="none", access_log=False)
