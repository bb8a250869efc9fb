"""The environments of the integrations: `.venv-integrations/GROUP`, made once and kept until what they need changes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from outspoken.authoring.shared.checkout import TOP

from .frameworks import GROUPS, TEST_REQUIREMENTS, Group

FOLDER = TOP / ".venv-integrations"
#: The exact versions of everything in an environment, as `--pin` found them.
PINS = Path(__file__).parent / "pins"

#: More than the largest install needs, in seconds.
_PATIENCE = 1800


def environment(name: str, *, pinned: bool = True) -> Path:
    """The Python of a group's environment. It is made anew if it is missing or was made from something else.

    Unless it is `pinned`, pip chooses the versions that the group leaves open. Raises CalledProcessError if an install
    fails.
    """
    folder, group = FOLDER / name, GROUPS[name]
    python, stamp = folder / "bin" / "python", folder / "installed"
    state = _state(name, group)
    if pinned and stamp.is_file() and stamp.read_text("utf-8") == state:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{name}: making {folder}", file=sys.stderr)
    venv.create(folder, with_pip=True)
    pins = PINS / f"{name}.txt"
    limits = ["--constraint", str(pins)] if pinned and pins.is_file() else []
    _install(python, *limits, "--editable", str(TOP), *TEST_REQUIREMENTS, *group.requirements)
    if group.bare:
        _install(python, "--no-deps", *group.bare)
    stamp.write_text(state, "utf-8")
    return python


def pin(name: str) -> Path:
    """Install the newest versions that a group's requirements allow, and write them down."""
    python = environment(name, pinned=False)
    (FOLDER / name / "installed").unlink()  # what it was made from is about to change
    command = [python, "-m", "pip", "freeze", "--exclude-editable", "--exclude", "outspoken"]
    found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE).stdout
    PINS.mkdir(exist_ok=True)
    path = PINS / f"{name}.txt"
    path.write_text(f"# Written by `python -m tools.integrations --pin {name}`.\n{found}", "utf-8")
    return path


def _install(python: Path, *what: str) -> None:
    """Install with the uv that `tools/bootstrap` installs, which is much faster; with pip if that fails."""
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    if subprocess.run([*uv, *what], check=False, capture_output=True, timeout=_PATIENCE).returncode:
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *what], check=True, timeout=_PATIENCE)


def _state(name: str, group: Group) -> str:
    """What an environment is made from: another one has another text."""
    pins = PINS / f"{name}.txt"
    parts = [
        str(sys.version_info[:2]),
        str(TOP),
        repr((group.requirements, group.bare, TEST_REQUIREMENTS)),
        pins.read_text("utf-8") if pins.is_file() else "",
        (TOP / "pyproject.toml").read_text("utf-8").partition("\n[tool.")[0],
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
