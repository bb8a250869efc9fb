"""Answers requests in processes of their own.

A grammar that was edited and a response that was pasted may take any time, so they are read in a process that can be
killed. It has a registry of its own: nothing that is loaded in it can be seen elsewhere.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import anyio
from anyio.to_process import run_sync

from .answers import answer
from .given import Asked, ProblemError

#: How much memory a process may take, in bytes, where the system can say so.
_MEMORY = 3 << 30
#: How long a request that nobody waits for may still run, in seconds, before its process is killed.
_PATIENCE = 1.0


class Lane:
    """Answers one request at a time. `limit` is how long an answer may take, in seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._lock = asyncio.Lock()

    async def ask(self, what: str, asked: Asked) -> tuple[int, bytes]:
        """The HTTP status and the JSON of an answer. Raises ProblemError if the process ends or takes too long.

        If this is cancelled, the process may finish if that takes no longer than a new one would take to start.
        """
        async with self._lock:
            task = asyncio.create_task(self._run(what, asked))
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                await asyncio.wait([task], timeout=_PATIENCE)
                raise
            finally:
                task.cancel()

    async def _run(self, what: str, asked: Asked) -> tuple[int, bytes]:
        try:
            with anyio.fail_after(self.limit):
                one = anyio.CapacityLimiter(1)  # the lock is the limit
                return await run_sync(answer_bounded, what, asked, cancellable=True, limiter=one)
        except TimeoutError:
            words = f"took longer than {self.limit:g} seconds"
        except anyio.BrokenWorkerProcess:
            words = "made the worker end"
        raise ProblemError("", f"this {words}; shorten the response or simplify the grammar", status=503)


def answer_bounded(what: str, asked: Asked) -> tuple[int, bytes]:
    """Answer with bounded memory: what a process runs."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    return answer(what, asked)
