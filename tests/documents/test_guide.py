"""Each command of the guide to a new format prints what the guide shows."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from textwrap import dedent
from typing import NamedTuple

import pytest

from outspoken import formats
from outspoken.authoring.shared.checkout import TOP, Checkout
from tests.forks import forks

GUIDE = TOP / "grammars" / "README.md"
COPIED = ("grammars", "snapshots", "src", "tests", "tools")

#: What the commands of the guide import, but for Hypothesis, which wants to be imported by pytest.
IMPORTED = """\
import pytest, syrupy.extensions.amber
from outspoken.authoring import check, new_format, show
from outspoken.cli.main import main
from tools.compile import compiling
from tools.docs import main
"""

_FENCE = re.compile(r"^( *)```(\w+)(?: (\S+))?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MORE = "…"


class Step(NamedTuple):
    """A file to be written, or a command with the lines that it prints, of which `…` stands for any number."""

    path: str = ""
    text: str = ""
    command: str = ""
    printed: tuple[str, ...] = ()


def steps(guide: str) -> Iterator[Step]:
    """What the guide's reader does, in order."""
    for _, kind, path, text in _FENCE.findall(guide):
        if path:
            yield Step(path, dedent(text).removesuffix("\n") if kind == "text" else dedent(text))
        elif kind == "console":
            for block in re.split(r"^\$ ", dedent(text), flags=re.MULTILINE)[1:]:
                command, *printed = block.splitlines()
                yield Step(command=command, printed=tuple(printed))


STEPS = list(steps(GUIDE.read_text("utf-8")))


def arguments(command: str, folder: Path) -> list[str]:
    """A command of the guide as it is run here: a module of Python in place of it, and the names of files for `*`."""
    program, *rest = shlex.split(command)
    found = {word: sorted(folder.glob(word)) for word in rest if word.endswith("*.txt")}
    rest = [name for word in rest for name in ([str(p.relative_to(folder)) for p in found.get(word, ())] or [word])]
    if program == "./tools/test":
        return ["pytest", "--assert=plain", "-p", "no:cacheprovider", *rest]
    return rest[1:] if program == "python" else [program, *rest]


def is_shown(printed: list[str], shown: tuple[str, ...]) -> bool:
    """Are these the lines that the guide shows?"""
    if not shown:
        return not printed
    if shown[0] == _MORE:
        return any(is_shown(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    return bool(printed) and printed[0].rstrip() == shown[0].rstrip() and is_shown(printed[1:], shown[1:])


def kept(text: str) -> set[str]:
    """The formats that the guide speaks of, every sixtieth of the others, and what these are said to be like.

    Most steps work on all formats of a project, so they take many times as long on all of ours.
    """
    like = {info.name: info.like for info in formats()}
    found = set(re.findall(r"\w+", text)) & like.keys() | {*[*like][::60]}
    while more := {other for name in found if (other := like[name])} - found:
        found |= more
    return found


def copy_project(folder: Path) -> None:
    """Copy the project, with some of its formats."""
    for name in COPIED:
        copytree(TOP / name, folder / name, ignore=ignore_patterns("__pycache__", ".hypothesis", "pages"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (folder / name).write_bytes((TOP / name).read_bytes())
    copied = Checkout(folder)
    for name in set(copied.names()) - kept(GUIDE.read_text("utf-8").partition("\n## Formats\n")[0]):
        copied.grammar(name).unlink()
        for path in (copied.grammars / "compiled").glob(f"{name}.*"):
            path.unlink()
        (folder / "snapshots" / "test_formats" / f"{name}.ambr").unlink()
        rmtree(copied.corpus / name)


@pytest.mark.timeout(300)
def test_every_step_of_the_guide(tmp_path: Path) -> None:
    project = tmp_path / "project"
    copy_project(project)
    with forks(IMPORTED, project / "src", project, COLUMNS="120") as runner:
        for step in STEPS:
            if step.path:
                (project / step.path).parent.mkdir(parents=True, exist_ok=True)
                (project / step.path).write_bytes(step.text.encode())
                continue
            command = arguments(step.command, project)
            if command[0] in ("cp", "sed"):
                subprocess.run(command, cwd=project, check=True)
                continue
            ran = runner.run(project, *command)
            printed = (ran.out + ran.err).splitlines()
            assert is_shown(printed, step.printed), f"$ {step.command}\n" + "\n".join(printed)
            assert ran.code == any(line.startswith("error[") for line in step.printed), "\n".join(
                [step.command, *printed]
            )


def test_the_guide_has_steps() -> None:
    assert sum(bool(step.command) for step in STEPS) >= 12
    assert sum(bool(step.path) for step in STEPS) >= 6
