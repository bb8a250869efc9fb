"""Workers for the server: a lane answers one request at a time, and drops those that nobody waits for."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import anyio

from .worker import Worker, WorkerEndedError

#: How long a request that nobody waits for may still run, in seconds, before its worker is killed and replaced.
_PATIENCE = 1.0


class Lane:
    """A worker and those that wait for it. `limit` is how long a request may take, in seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._lock = anyio.Lock()
        self._threads = ThreadPoolExecutor(2, "outspoken-playground")
        self._worker: Worker | None = None
        #: how many workers were started; each but the first is in the place of one that was killed or died
        self.started = 0

    def warm(self) -> None:
        """Start the worker, so that the first request need not wait for it."""
        if self._worker is None:
            self._worker = Worker()
            self.started += 1

    async def ask(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        """The HTTP status and the JSON of the answer. Raises WorkerEndedError.

        If this is cancelled, the worker may finish if that takes no longer than a new one would take to start.
        """
        async with self._lock:
            self.warm()
            worker = self._worker
            assert worker is not None
            waiting = asyncio.wrap_future(self._threads.submit(worker.ask, asked, self.limit))
            try:
                return await asyncio.shield(waiting)
            except WorkerEndedError:
                self._replace(worker)
                raise
            except asyncio.CancelledError:
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([waiting], timeout=_PATIENCE)
                    if not waiting.done():
                        worker.kill()
                        await asyncio.wait([waiting])
                with suppress(WorkerEndedError):
                    waiting.result()
                    raise
                self._replace(worker)
                raise

    def _replace(self, worker: Worker) -> None:
        worker.close()
        self._worker = None
        self.warm()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        self._threads.shutdown(wait=False, cancel_futures=True)
