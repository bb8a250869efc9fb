"""Snapshots are safe: `--snapshot-update` writes and deletes what it should, and never accepts what must not be.

Each test runs pytest in a small project of its own, with this project's `conftest.py` and a corpus of five cases.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from shutil import copy, copytree

import pytest

from outspoken.authoring.shared.checkout import TOP, Case
from tests.forks import Forks, forks
from tests.snapshots import refusal
from tests.tables import tables

TABLES = tables(__file__)


@dataclass(frozen=True)
class Project:
    """A project with a corpus and snapshots, whose tests can be run."""

    root: Path
    runner: Forks

    def write(self, case: str, text: str) -> None:
        path = self.root / "tests" / "corpus" / f"{case}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def remove(self, case: str) -> None:
        (self.root / "tests" / "corpus" / f"{case}.txt").unlink()

    def run(self, *options: str) -> str:
        """Run the tests, and return the last line without its time, as `1 failed, 4 passed`."""
        ran = self.runner.run(self.root, "pytest", "-q", "--no-header", "--assert=plain", *options)
        assert ran.err == ""
        return f"{re.sub(r' in [0-9.]+s.*', '', ran.out.rstrip().splitlines()[-1])} ({ran.code})"

    def snapshots(self) -> dict[str, bytes]:
        """Each snapshot, by file and case, and each file's name for itself, so that nothing else may be there."""
        found: dict[str, bytes] = {}
        for path in sorted((self.root / "snapshots").rglob("*")):
            if path.is_file():
                place = path.relative_to(self.root / "snapshots").as_posix()
                head, *parts = path.read_bytes().split(b"# name: ")
                found[place] = head
                found |= {f"{place} {part.decode().partition('#')[0].splitlines()[0]}": part for part in parts}
        return found


@pytest.fixture(scope="module")
def runner() -> Generator[Forks]:
    """The process that runs the tests of projects."""
    with forks(TABLES["IMPORTED"], TOP / "src") as process:
        yield process


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory, runner: Forks) -> Path:
    """A project whose snapshots were just accepted."""
    root = tmp_path_factory.mktemp("project")
    (root / "tests").mkdir()
    for name in ("conftest.py", "cases.py", "garbage.py", "loops.py", "snapshots.py"):
        copy(TOP / "tests" / name, root / "tests" / name)
    (root / "tests" / "test_formats.py").write_text(TABLES["TEST"], "utf-8")
    settings = TOP.joinpath("pyproject.toml").read_text("utf-8").partition("[tool.pytest]\n")[2].partition("\n[")[0]
    (root / "pyproject.toml").write_text(f"[tool.pytest]\n{settings}", "utf-8")
    project = Project(root, runner)
    for case, text in TABLES["CASES"].items():
        project.write(case, text)
    assert project.run("--snapshot-update") == "2 passed (0)"
    return root


@pytest.fixture
def project(accepted: Path, tmp_path: Path, runner: Forks) -> Project:
    """A copy of it for one test."""
    copytree(accepted, tmp_path / "project")
    return Project(tmp_path / "project", runner)


def test_each_format_has_a_file_of_its_name(project: Project) -> None:
    assert list(project.snapshots()) == TABLES["SNAPSHOTS"]
    assert project.run() == "2 passed (0)"


@pytest.mark.parametrize("name", TABLES["RUNS"])
def test_what_a_run_writes_and_deletes(project: Project, name: str) -> None:
    """The corpus is changed, the tests are run with some options, and only the snapshots of `changed` are others."""
    before, case = project.snapshots(), TABLES["RUNS"][name]
    for path, text in TABLES["CHANGES"][case["change"]].items():
        project.write(path, text) if text else project.remove(path)
    for options, result in case["runs"].items():
        assert project.run(*options.split()) == result
    after = project.snapshots()
    assert sorted(one for one in before.keys() | after.keys() if before.get(one) != after.get(one)) == case["changed"]


def test_a_test_outside_of_the_folder_of_tests_has_no_snapshots(project: Project) -> None:
    before = project.snapshots()
    deeper = project.root / "tests" / "deeper"
    deeper.mkdir()
    (deeper / "test_it.py").write_text("def test_it(snapshot):\n    assert 1 == snapshot\n", "utf-8")
    assert project.run("--snapshot-update") == "2 passed, 1 error (1)"
    assert project.snapshots() == before


@pytest.mark.parametrize(("kind", "text", "refused"), TABLES["REJECTED_REPLIES"])
def test_rejected_replies(kind: str, text: str, refused: str) -> None:
    case = Case("hermes", kind, "case", text)
    assert refusal(case, case.parse()) == refused


def test_status_without_diagnostic_is_rejected() -> None:
    case = Case("hermes", "ok", "case", TABLES["SOUND"])
    reply = case.parse().model_copy(update={"status": "truncated"})
    assert refusal(case, reply) == "a case in `ok/` is truncated"
