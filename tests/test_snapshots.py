"""Snapshots are safe: `--snapshot-update` writes and deletes what it should, and never accepts what must not be.

Each test runs pytest in a small project of its own, with this project's `conftest.py` and a corpus of five cases.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from shutil import copy, copytree

import pytest

from outspoken import parse
from outspoken.authoring.shared.checkout import TOP, Checkout
from outspoken.authoring.shared.corpus import Case, load
from tests.forks import Forks, forks
from tests.snapshots import Complete, markup, readable, refusal

SOUND = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
OTHER = '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
DAMAGED = '<tool_call>\n{"name": "f", "arguments": {"x": 1,}}\n</tool_call>'
PLAIN = '{"name": "f", "arguments": {"x": 1}}'

CASES = {
    "hermes/ok/first": SOUND,
    "hermes/ok/json": OTHER,
    "hermes/err/comma": DAMAGED,
    "json/ok/call": PLAIN,
    "json/err/cut": PLAIN[:-9],
}

TEST = """\
from tests.loops import every_case
from tests.snapshots import readable, refusal

@every_case
def test_case(case, snapshot):
    reply = case.parse()
    assert refusal(case, reply) == ""
    assert readable(case, reply) == snapshot(name=f"{case.kind}-{case.name}")
"""

#: What all of these runs need.
IMPORTED = """\
from importlib.metadata import entry_points
import hypothesis, pytest, regex, syrupy.extensions.amber
from outspoken import parse
from outspoken.authoring.shared import corpus
for format in ("hermes", "json"):
    parse('{"name": "f", "arguments": {"x": 1,}}', format)
for plugin in entry_points(group="pytest11"):
    plugin.load()
"""

ALONE = "tests/test_formats.py::test_case[hermes]"


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
    with forks(IMPORTED, TOP / "src") as process:
        yield process


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory, runner: Forks) -> Path:
    """A project whose snapshots were just accepted."""
    root = tmp_path_factory.mktemp("project")
    (root / "tests").mkdir()
    for name in ("conftest.py", "cases.py", "loops.py", "snapshots.py"):
        copy(TOP / "tests" / name, root / "tests" / name)
    (root / "tests" / "test_formats.py").write_text(TEST, "utf-8")
    settings = TOP.joinpath("pyproject.toml").read_text("utf-8").partition("[tool.pytest]\n")[2].partition("\n[")[0]
    (root / "pyproject.toml").write_text(f"[tool.pytest]\n{settings}", "utf-8")
    project = Project(root, runner)
    for case, text in CASES.items():
        project.write(case, text)
    assert project.run("--snapshot-update") == "2 passed (0)"
    return root


@pytest.fixture
def project(accepted: Path, tmp_path: Path, runner: Forks) -> Project:
    """A copy of it for one test."""
    copytree(accepted, tmp_path / "project")
    return Project(tmp_path / "project", runner)


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """The snapshots that were written, added or deleted."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def test_each_format_has_a_file_of_its_name(project: Project) -> None:
    assert list(project.snapshots()) == [
        "test_formats/hermes.ambr",
        "test_formats/hermes.ambr test_case[hermes-err-comma]",
        "test_formats/hermes.ambr test_case[hermes-ok-first]",
        "test_formats/hermes.ambr test_case[hermes-ok-json]",
        "test_formats/json.ambr",
        "test_formats/json.ambr test_case[json-err-cut]",
        "test_formats/json.ambr test_case[json-ok-call]",
    ]
    assert project.run() == "2 passed (0)"


FIRST = "test_formats/hermes.ambr test_case[hermes-ok-first]"
CUT = "test_formats/json.ambr test_case[json-err-cut]"


@pytest.mark.parametrize(
    ("options", "result", "written"),
    [
        ("", "2 failed (1)", []),
        (f"{ALONE} --snapshot-update", "1 passed (0)", [FIRST]),
        ("-k hermes --snapshot-update", "1 passed, 1 deselected (0)", [FIRST]),
        (f"--deselect {ALONE} --snapshot-update", "1 passed, 1 deselected (0)", [CUT]),
        ("-n 1 --snapshot-update", "2 passed (0)", [FIRST, CUT]),
    ],
)
def test_update_writes_only_the_tests_that_ran(project: Project, options: str, result: str, written: list[str]) -> None:
    before = project.snapshots()
    project.write("hermes/ok/first", SOUND.replace("Hi", "Hello"))
    project.write("json/err/cut", PLAIN[:-12])
    assert project.run(*options.split()) == result
    assert changed(before, project.snapshots()) == written


@pytest.mark.parametrize(
    ("options", "result", "deleted"),
    [
        ("--snapshot-update", "2 passed (0)", [FIRST]),
        ("tests/test_formats.py --snapshot-update", "2 passed (0)", [FIRST]),
        ("-k hermes --snapshot-update", "1 passed, 1 deselected (0)", []),
        ("-k hermes", "1 passed, 1 deselected (1)", []),
        ("-k json", "1 passed, 1 deselected (0)", []),
        ("", "2 passed (1)", []),
    ],
)
def test_the_snapshot_of_a_removed_case(project: Project, options: str, result: str, deleted: list[str]) -> None:
    before = project.snapshots()
    project.remove("hermes/ok/first")
    assert project.run(*options.split()) == result
    assert changed(before, project.snapshots()) == deleted


def test_the_file_of_a_removed_format_is_deleted(project: Project) -> None:
    before = project.snapshots()
    project.remove("json/ok/call")
    project.remove("json/err/cut")
    assert project.run("--snapshot-update") == "1 passed (0)"
    assert project.snapshots() == {name: text for name, text in before.items() if "hermes" in name}


UNACCEPTABLE = {
    "hermes/ok/first": DAMAGED,
    "hermes/ok/new": DAMAGED,
    "hermes/err/comma": SOUND,
    "json/err/new": PLAIN,
    "text/ok/new": "<think>\nIt goes on",
}


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ("", "3 failed (1)"),
        ("-n 1", "3 failed (1)"),
        ("-x", "1 failed (1)"),
        ("-k hermes", "1 failed, 2 deselected (1)"),
        (ALONE, "1 failed (1)"),
    ],
)
def test_unacceptable_case_changes_nothing(project: Project, options: str, result: str) -> None:
    before = project.snapshots()
    for case, text in UNACCEPTABLE.items():
        project.write(case, text)
    assert project.run(*options.split(), "--snapshot-update") == result
    assert project.snapshots() == before


def test_last_failed_run_deletes_nothing(project: Project) -> None:
    before = project.snapshots()
    project.write("hermes/ok/first", SOUND.replace("Hi", "Hello"))
    assert project.run() == "1 failed, 1 passed (1)"
    assert project.run("--lf", "--snapshot-update") == "1 passed (0)"
    assert changed(before, project.snapshots()) == [FIRST]


def test_a_test_outside_of_the_folder_of_tests_has_no_snapshots(project: Project) -> None:
    before = project.snapshots()
    deeper = project.root / "tests" / "deeper"
    deeper.mkdir()
    (deeper / "test_it.py").write_text("def test_it(snapshot):\n    assert 1 == snapshot\n", "utf-8")
    assert project.run("--snapshot-update") == "2 passed, 1 error (1)"
    assert project.snapshots() == before


@pytest.mark.parametrize(
    ("kind", "text", "refused"),
    [
        ("ok", SOUND, ""),
        ("err", DAMAGED, ""),
        ("err", SOUND, "a case in `err/` has no diagnostic"),
        (
            "ok",
            DAMAGED,
            "a case in `ok/` has a diagnostic: hermes:2:35 trailing-comma: a comma with nothing after it was dropped",
        ),
    ],
)
def test_rejected_replies(kind: str, text: str, refused: str) -> None:
    case = Case("hermes", kind, "case", text)
    assert refusal(case, case.parse()) == refused


def test_status_without_diagnostic_is_rejected() -> None:
    case = Case("hermes", "ok", "case", SOUND)
    reply = case.parse().model_copy(update={"status": "truncated"})
    assert refusal(case, reply) == "a case in `ok/` is truncated"


def test_readable_reply() -> None:
    case = load(Checkout().corpus / "hermes" / "ok" / "one_call.txt")
    reply = case.parse()
    assert readable(case, reply) == {
        "input": case.text,
        "text": "",
        "reasoning": None,
        "segments": [Complete(segment) for segment in reply.segments],
        "markup": [],
        "status": "ok",
        "diagnostics": [],
    }


def test_readable_reply_of_an_envelope_and_after_a_prefix() -> None:
    text = '{"toolCalls": [], "content": "Hi.", "needsMoreWork": false}'
    case = Case("json", "ok", "case", text, {"prefix": "<think>\n"})
    value = readable(case, parse(text, format="json"))
    assert (value["needs_more_work"], value["prefix"], value["text"]) == (False, "<think>\n", "Hi.")


def test_markup_is_the_text_outside_segments() -> None:
    assert markup(parse(SOUND, format="hermes")) == ["\n"]
