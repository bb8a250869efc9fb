"""The runner of commands."""

from pathlib import Path

import pytest

from tests.cli.runner import CALL, CUT, Cli


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run commands in a folder with responses."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "call.txt").write_text(CALL, "utf-8")
    (tmp_path / "cut.txt").write_text(CUT, "utf-8")
    return Cli(capsys, monkeypatch)
