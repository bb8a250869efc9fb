"""What `python -m tools.docs` writes (the table of formats, a page for each), and the steps of the authors' guide."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copy, copytree, ignore_patterns, rmtree
from textwrap import dedent
from typing import NamedTuple

import pytest

from outspoken import formats
from outspoken.authoring.shared.checkout import TOP, Checkout
from outspoken.grammar.registry import compiled_path
from tests.forks import forks
from tests.tables import tables
from tools import docs
from tools.docs import markdown

TABLES = tables(__file__)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with three formats, of which one is made up, and no pages."""
    made = Checkout(tmp_path)
    copytree(Checkout().grammars / "shared", made.grammars / "shared")
    (made.grammars / "compiled").mkdir()
    for name in ("hermes", "text"):
        copy(Checkout().grammar(name), made.grammars)
        copy(compiled_path(Checkout().grammar(name)), made.grammars / "compiled")
    made.grammar("tiny").write_text(TABLES["GRAMMAR"], "utf-8")
    (made.grammars / "README.md").write_text(f"Before.\n{docs.BEGIN}\nOld.\n{docs.END}\nAfter.\n", "utf-8")
    return made


def test_the_table_and_the_picture_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    code = docs.main(["--check"])
    assert (code, *capsys.readouterr()) == (0, "", "")


def test_page_documents_the_whole_grammar(checkout: Checkout) -> None:
    assert docs.main([], checkout) == 0
    assert (checkout.grammars / "pages" / "tiny" / "README.md").read_text("utf-8") == TABLES["PAGE"]


def test_outdated_files_are_listed_and_written(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    expected = [
        "grammars/README.md",
        "tools/docs/stream.svg",
        "grammars/pages/README.md",
        *[
            f"grammars/pages/{name}/{file}"
            for name in ("hermes", "text", "tiny")
            for file in ("README.md", "diagram.svg")
        ],
    ]
    assert docs.main(["--check"], checkout) == 1
    assert not (checkout.grammars / "pages").exists()
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [f"out of date: {path}" for path in expected[:2]]
    assert printed.err == "run `python -m tools.docs`\n"
    assert docs.main([], checkout) == 0
    assert capsys.readouterr().out.splitlines() == [f"written: {path}" for path in expected]
    assert docs.main(["--check"], checkout) == 0
    assert docs.main([], checkout) == 0
    assert tuple(capsys.readouterr()) == ("", "")


def test_the_table_stands_between_its_comments(checkout: Checkout) -> None:
    docs.main([], checkout)
    text = (checkout.grammars / "README.md").read_text("utf-8")
    row = "| [`tiny`](tiny.lark) | A \\| B &lt;tiny> \\*format\\* | Tiny-1, Tiny-2 | `tiny_1` | `tiny-1`, `tiny-2*` |"
    assert text.startswith(
        f"Before.\n{docs.BEGIN}\n\n| format | notation | models | aliases | ids of models |\n|---|---|---|---|---|\n"
    )
    assert text.endswith(f"{row}\n\n{docs.END}\nAfter.\n")


def test_pages_of_removed_formats_are_deleted(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    docs.main([], checkout)
    checkout.grammar("tiny").unlink()
    own = checkout.grammars / "pages" / "hermes" / "mine.txt"
    own.write_text("Not generated.", "utf-8")
    capsys.readouterr()
    assert docs.main([], checkout) == 0
    assert capsys.readouterr().out.splitlines() == TABLES["PAGES_OF_REMOVED_FORMATS_ARE_DELETED"]
    left = sorted(path.name for path in (checkout.grammars / "pages").iterdir())
    assert (left, own.exists()) == (["README.md", "hermes", "text"], True)


def test_errors_are_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    readme = checkout.grammars / "README.md"
    readme.write_text("No table here.", "utf-8")
    assert docs.main([], checkout) == 2
    needed = f"grammars/README.md has no place for the table: it needs the lines {docs.BEGIN} and {docs.END}"
    assert tuple(capsys.readouterr()) == ("", f"error: {needed}\n")
    readme.unlink()
    assert docs.main(["--check"], checkout) == 2
    assert capsys.readouterr().err == f"error: [Errno 2] No such file or directory: '{readme}'\n"
    assert not (checkout.grammars / "pages").exists()


def test_unusable_grammar_is_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkout.grammar("tiny")
    path.write_text(TABLES["GRAMMAR"].replace("// format:", "// form:"), "utf-8")
    assert docs.main([], checkout) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}:1: the header has no field `form`\n")


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        docs.main(["--what"])
    assert "unrecognized arguments: --what" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "expected"), TABLES["CODE_SPANS"])
def test_code_spans(text: str, expected: str) -> None:
    assert markdown.code(text) == expected


def test_fences_are_longer_than_those_in_the_text() -> None:
    assert markdown.fence("a") == "```text\na\n```"
    assert markdown.fence("````\na\n````") == "`````text\n````\na\n````\n`````"


# each command of the guide to a new format prints what the guide shows


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
