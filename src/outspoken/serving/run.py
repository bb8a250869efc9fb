"""Starts the proxy. The packages of the extra `serve` are imported only here, when it starts."""

from __future__ import annotations

from .settings import ServerSettings, ServerStartError


def run(settings: ServerSettings, host: str, port: int) -> None:
    """Serve until the process is asked to stop. Raises ServerStartError if the extra `serve` is not installed."""
    try:
        import uvicorn

        from .app import Proxy
    except ImportError as error:
        raise ServerStartError(f"serving needs {error.name}: pip install 'outspoken[serve]'") from None
    uvicorn.run(Proxy(settings).app(), host=host, port=port, ws="none", access_log=False)
