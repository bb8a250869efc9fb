"""The wheel has what the package needs and no more: it is built, installed where nothing else is, and used there."""

import json
import os
import re
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from outspoken import __version__
from outspoken.authoring.shared.checkout import TOP
from outspoken.grammar.registry import names
from tests.loops import some
from tests.packaging.wheel_use import GRAMMAR

LARGEST = 3_000_000
CALL = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
#: without what would lead to this environment
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    """What a command prints. It must succeed without a warning."""
    made = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, input=stdin, capture_output=True, encoding="utf-8")
    assert (made.returncode, made.stderr) == (0, ""), f"{command}:\n{made.stderr}"
    return made.stdout


def build(folder: Path) -> Path:
    """The wheel, built of a source distribution as pip builds it."""
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory", folder, "--target"]
    subprocess.run([*hatchling, "sdist"], cwd=TOP, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    source = next(path for path in folder.iterdir() if path.is_dir())
    subprocess.run([*hatchling, "wheel"], cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def required(found: Distribution) -> dict[str, Distribution]:
    """The distributions that one requires without extras, with what they require."""
    all_of_them: dict[str, Distribution] = {}
    for line in found.requires or ():
        name = re.split(r"[^\w.-]", line)[0]
        if "extra ==" not in line and name not in all_of_them:
            try:
                all_of_them |= {name: distribution(name)} | required(distribution(name))
            except PackageNotFoundError:
                assert ";" in line, line  # a marker says that this system does not need it
    return all_of_them


def install(wheel: Path, folder: Path) -> Path:
    """The folder of the commands of an environment that has the wheel and what it requires, and nothing else.

    The requirements are those of this environment, so nothing is downloaded.
    """
    venv.create(folder)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", commands / "python", "install"]
    run(*pip, "--quiet", "--no-index", "--no-deps", "--no-compile", wheel, cwd=folder)
    site = next(folder.glob("[Ll]ib/**/site-packages"))
    for needed in required(Distribution.at(next(site.glob("outspoken-*.dist-info")))).values():
        for part in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
            (site / part).symlink_to(str(needed.locate_file(part)))
    return commands


def check_contents(wheel: Path) -> None:
    """All modules and grammars are there, what is compiled of the grammars, and nothing else."""
    assert wheel.stat().st_size <= LARGEST
    archive, info = ZipFile(wheel), f"outspoken-{__version__}.dist-info"
    files = {name.removeprefix("outspoken/") for name in archive.namelist()}
    sources = [
        path
        for path in (TOP / "src" / "outspoken").glob("**/*.*")
        if path.suffix in (".py", ".css", ".html", ".js", ".lark", ".toml", ".json")
    ]
    wanted = [*sources, *(TOP / "grammars").glob("**/*.lark")]
    wanted += [TOP / "grammars" / "compiled" / f"{name}.{kind}" for name in names() for kind in ("json", "py")]
    wanted += [TOP / "grammars" / "compiled" / name for name in ("index.json", "signs.json")]
    expected = {path.relative_to(TOP).as_posix().removeprefix("src/outspoken/") for path in wanted}
    expected |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    assert files == expected | {"py.typed"}
    fields, _, readme = archive.read(f"{info}/METADATA").decode().partition("\n\n")
    expected = {
        f"Version: {__version__}",
        "License-Expression: MIT",
        "License-File: LICENSE",
        "Requires-Python: >=3.10",
    }
    assert expected <= set(fields.split("\n"))
    assert readme == (TOP / "README.md").read_text("utf-8")


def check_commands(commands: Path, folder: Path) -> None:
    """The command of the package lists formats, and reads a response."""
    listed = run(commands / "outspoken", "formats", cwd=folder)
    assert all(name in listed for name in names())
    reply = json.loads(run(commands / "outspoken", "parse", "--json", cwd=folder, stdin=CALL))
    assert reply["segments"][1]["arguments"] == {"city": "Paris"}


def check_grammars(commands: Path, folder: Path) -> None:
    """The command of the package checks a grammar in a folder, and says what it lacks to fuzz it and to draw it."""
    (folder / "own_tags.lark").write_text(GRAMMAR, "utf-8")
    (folder / "own_tags" / "err").mkdir(parents=True)
    (folder / "own_tags" / "err" / "cut.txt").write_text('<own_call>{"name": "get_wea', "utf-8")
    assert run(commands / "outspoken", "grammar", "check", "own_tags.lark", cwd=folder) == "own_tags: sound\n"
    for words in (["fuzz", "own_tags.lark", "--runs", "2"], ["diagram", "own_tags.lark"]):
        refused = subprocess.run(
            [commands / "outspoken", "grammar", *words],
            cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert (refused.returncode, refused.stdout) == (2, "")
        assert re.search(r"\(`pip install 'outspoken\[grammar\] @ file://\S+\.whl'`\)$", refused.stderr.strip())


@pytest.mark.timeout(240)  # it compiles all grammars
def test_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    wheel = build(tmp_path)
    check_contents(wheel)
    commands, empty = install(wheel, tmp_path / "environment"), tmp_path / "empty"
    empty.mkdir()
    use = empty / "use.py"
    use.write_bytes((TOP / "tests" / "packaging" / "wheel_use.py").read_bytes())
    where = run(commands / "python", "-I", "-W", "error", use, *some(names(), "cut", 0.1), cwd=empty)
    assert Path(where.strip()).is_relative_to(tmp_path)
    check_commands(commands, empty)
    check_grammars(commands, empty)
    run(commands / "outspoken", "ui", "-t", CALL, "-f", "hermes", "--write", "page.html", cwd=empty)
    assert "get_weather" in (empty / "page.html").read_text("utf-8")
