"""Where snapshots lie: `snapshots/<test module>/<format>.ambr`, one file for each format.

Never combine `--ignore=tests/test_x.py` with `--snapshot-update`: it deletes the snapshots of `test_x`.

The folder is spelled through `tests/` on purpose. Syrupy asks whether a run covered only a part of a snapshot file by
looking for the path of the tests in the path of the file; with any other spelling, updating one test deletes the
snapshots of all others in its file. Update snapshots with Python 3.11 or newer; 3.10 can only compare them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

TESTS = Path(__file__).resolve().parent

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=5000)
settings.load_profile("ci")  # `--hypothesis-profile=long` takes the other one


class FormatSnapshots(AmberSnapshotExtension):
    """Keeps the snapshots of a parametrised test by format: the first part of a test's id, up to the first `-`."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of the test's module. Raises ValueError for a test module that is not directly in `tests/`."""
        if Path(test_location.filepath).resolve().parent != TESTS:
            raise ValueError(f"{test_location.filepath}: a test that uses snapshots lies directly in {TESTS}")
        return f"{TESTS}/../snapshots/{test_location.basename}"

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        """All of them, so that those of a format or test module that is gone are found."""
        return f"{TESTS}/../snapshots"

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        """The format; `all` for a test without parameters."""
        _, bracket, parameters = test_location.testname.partition("[")
        return parameters.rstrip("]").partition("-")[0] if bracket else "all"

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Whether a file is the one that holds the test's snapshots."""
        path = Path(snapshot_location)
        format_ = cls.get_file_basename(test_location=test_location, index=0)
        return path.parent.name == test_location.basename and path.stem == format_


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares a value with the one that lies in `snapshots/`."""
    return snapshot.use_extension(FormatSnapshots)
