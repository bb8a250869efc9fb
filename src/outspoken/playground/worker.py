"""Processes that answer the requests of pages: a lane has one, which answers one request at a time.

A grammar that was edited and a response that was pasted may take any time, so they are read in a process that can be
killed. It has a registry of its own: nothing that is loaded in it can be seen elsewhere.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from outspoken.results.packages import install_command

_SPAWN = multiprocessing.get_context("spawn")
#: How much memory a worker may take, in bytes, where the system can say so.
_MEMORY = 3 << 30
#: How long a request that nobody waits for may still run, in seconds, before its worker is killed and replaced.
_PATIENCE = 1.0


class WorkerEndedError(Exception):
    """The process ended before it answered, or was killed since it took too long."""

    def __init__(self, was_slow: bool) -> None:
        super().__init__("the worker took too long" if was_slow else "the worker ended")
        self._was_slow = was_slow

    def said(self, limit: float) -> str:
        """What happened, in a sentence for users; `limit` is how many seconds the worker had."""
        words = f"took longer than {limit:g} seconds" if self._was_slow else "made the worker end"
        return f"this {words}; shorten the response or simplify the grammar"


class Worker:
    """A process that answers. It starts at once, and imports what it needs before it is asked."""

    def __init__(self) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=answer_all, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, asked: dict[str, Any], limit: float) -> tuple[int, bytes]:
        """Ask, and wait for the HTTP status and the JSON of the answer.

        Raises WorkerEndedError if the process dies or takes longer than `limit` seconds; it is of no use then.
        """
        was_slow = False
        with suppress(OSError, EOFError):
            self._pipe.send(asked)
            if self._pipe.poll(limit):
                return self._pipe.recv()
            was_slow = True
        self.kill()
        raise WorkerEndedError(was_slow)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """End the process and close the pipe to it."""
        self.kill()
        self._pipe.close()


class Lane:
    """A worker and those that wait for it. `limit` is how long a request may take, in seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._lock = asyncio.Lock()
        self._threads = ThreadPoolExecutor(2, "outspoken-playground")
        self._worker: Worker | None = None
        #: how many workers were started; each but the first is in the place of one that was killed or died
        self.started = 0

    def warm(self) -> Worker:
        """Start the worker, so that the first request need not wait for it."""
        if self._worker is None:
            self._worker = Worker()
            self.started += 1
        return self._worker

    async def ask(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        """The HTTP status and the JSON of the answer. Raises WorkerEndedError.

        If this is cancelled, the worker may finish if that takes no longer than a new one would take to start.
        """
        async with self._lock:
            worker = self.warm()
            answer = asyncio.wrap_future(self._threads.submit(worker.ask, asked, self.limit))
            try:
                await asyncio.wait([answer])
            except asyncio.CancelledError:
                await asyncio.wait([answer], timeout=_PATIENCE)
                if not answer.done():
                    worker.kill()
                    await asyncio.wait([answer])
                raise
            finally:
                if not answer.done() or answer.exception() is not None:
                    self.close_worker()
                    self.warm()
            return answer.result()

    def close_worker(self) -> None:
        """End the worker, if there is one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def close(self) -> None:
        """End the worker and the threads."""
        self.close_worker()
        self._threads.shutdown(wait=False, cancel_futures=True)


def answer_all(pipe: Connection) -> None:
    """Answer what comes from a pipe until it is closed: the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server alone
    try:
        from .answers import answer
    except ModuleNotFoundError as error:
        from .given import ProblemError, as_json

        missing = as_json(ProblemError("", f"the playground needs {error.name}: {install_command('ui')}").body)

        def answer(asked: dict[str, Any]) -> tuple[int, bytes]:
            return 500, missing

    _bound_memory()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(answer(pipe.recv()))


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
