"""Code of users is typed: mypy, strict, finds what a call returns and what is wrong with one.

So does pyright, which `./tools/test` runs on all of the project.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from outspoken import Parser
from tests.documents import user_code
from tests.models.templates import TEMPLATES

CODE = user_code.__file__
TOP = Path(CODE).parents[2]
MYPY = ("mypy", "--strict", "--config-file=", "--python-version=3.10", CODE)


def test_mypy_accepts_user_code(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What mypy has found of the library is kept, so that it reads again only what has changed."""
    stored = getattr(request.config, "cache", None)
    cache = tmp_path if stored is None else stored.mkdir("mypy")
    command = [sys.executable, "-m", *MYPY, "--cache-dir", str(cache)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
    assert found.returncode == 0, found.stdout + found.stderr


def test_user_code_runs() -> None:
    assert [call.name for call in user_code.whole()] == ["tide"]
    assert user_code.streamed(Parser("hermes")) == "Hi."
    assert [message["content"] for message in user_code.ran()] == ["day 3"]
    assert user_code.of_provider() == "tool_calls"
    assert user_code.with_payloads() == user_code.Card(title="Moss")
    assert user_code.processed() == [{"a": None}]
    assert [action.type for action in user_code.acted()] == ["click"]
    assert user_code.others().values == ([1],)
    assert user_code.prompted(Parser.for_model(TEMPLATES["hermes"])).text == "nine."
    assert user_code.exported()[0]["type"] == "start"
