"""A process that answers the requests of a page, one at a time, and the side of it that asks.

A grammar that was edited and a response that was pasted may take any time, so they are read in a process that can be
killed. It has a registry of its own: nothing that is loaded in it can be seen elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from outspoken.results.packages import install_command

_PROGRAM = "import sys; sys.path[:] = {path!r}; from outspoken.playground.worker import main; main()"
#: The length of what follows; in an answer, the HTTP status before it.
_ASKED, _ANSWERED = struct.Struct("!I"), struct.Struct("!HI")
#: How much memory a worker may take, in bytes, where the system can say so.
_MEMORY = 3 << 30


class WorkerEndedError(Exception):
    """The process ended before it answered; `was_slow` if it was killed since it took too long."""

    def __init__(self, was_slow: bool) -> None:
        super().__init__("the worker took too long" if was_slow else "the worker ended")
        self.was_slow = was_slow


class Worker:
    """A process that answers. It starts at once, and imports what it needs before it is asked."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the server alone
        )

    def ask(self, asked: dict[str, Any], limit: float) -> tuple[int, bytes]:
        """Ask, and wait for the HTTP status and the JSON of the answer.

        Raises WorkerEndedError if the process dies or takes longer than `limit` seconds; it is of no use then.
        """
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            data = json.dumps(asked).encode()
            pipe = cast("BinaryIO", self._process.stdin)
            pipe.write(_ASKED.pack(len(data)) + data)
            pipe.flush()
            status, length = _ANSWERED.unpack(_exactly(cast("BinaryIO", self._process.stdout), _ANSWERED.size))
            return status, _exactly(cast("BinaryIO", self._process.stdout), length)
        except (OSError, EOFError, ValueError):
            self.kill()
            raise WorkerEndedError(late.is_set()) from None
        finally:
            timer.cancel()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and close the pipes to it."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError, ValueError):
                cast("BinaryIO", pipe).close()


def _exactly(pipe: BinaryIO, length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data


def main() -> None:
    """Answer what comes on standard input until it ends."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr
    answer = _answers()
    _bound_memory()
    with contextlib.suppress(EOFError, OSError):
        while True:
            (length,) = _ASKED.unpack(_exactly(asked, _ASKED.size))
            status, data = answer(json.loads(_exactly(asked, length)))
            answers.write(_ANSWERED.pack(status, len(data)) + data)
            answers.flush()


def _answers() -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    """What answers. If a package is missing, it says so."""
    try:
        from .answers import answer
    except ModuleNotFoundError as error:
        message = f"the playground needs {error.name}: {install_command('ui')}"
        body = json.dumps({"error": {"field": "", "message": message, "places": []}}).encode()
        return lambda asked: (500, body)
    return answer


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
