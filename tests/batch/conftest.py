"""Workers of batches in this process: to start one of its own takes longer than most tests do."""

import pickle
from collections.abc import Generator
from queue import SimpleQueue
from typing import Any

import pytest

from outspoken.batch import pool
from outspoken.batch.units import Unit
from outspoken.batch.worker import NO_ROW, Setup, Worker, map_cursors


class WorkerHere:
    """A worker as the pool sees it, which reads a unit when it gets it. What is sent to it is pickled all the same."""

    def __init__(self, setup: Setup, cursors: str, place: int, answers: SimpleQueue[tuple[Any, object]]) -> None:
        self.place, self.row, self.since, self.unit = place, NO_ROW, 0.0, None
        self.is_late = self.is_ready = False
        self.process = self
        self._answers = answers
        cursor = memoryview(map_cursors(cursors)).cast("q")[place : place + 1]
        self._worker = Worker(pickle.loads(pickle.dumps(setup)), cursor)
        answers.put((self, None))

    def give(self, unit: Unit) -> None:
        self.unit = unit
        self._answers.put((self, self._worker.run(pickle.loads(pickle.dumps(unit)))))

    def kill(self) -> None:
        """There is no process to be killed."""

    def end(self) -> str:
        return "ended"


@pytest.fixture(scope="module", autouse=True)
def without_processes(request: pytest.FixtureRequest) -> Generator[None]:
    """Let batches have their workers here, but for the tests of the processes themselves."""
    with pytest.MonkeyPatch.context() as made:
        if request.path.stem != "test_batch_run":
            made.setattr(pool, "_Process", WorkerHere)
        yield


@pytest.fixture
def workers_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a test of that module have its workers here."""
    monkeypatch.setattr(pool, "_Process", WorkerHere)
