"""Runs commands in this process: what they are given and what they print, whole."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from outspoken.cli.main import main

CALL = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
CUT = CALL[:65]
COMMAND = [sys.executable, "-m", "outspoken"]


class Ran(NamedTuple):
    """The exit code of a command, and what it printed."""

    code: int
    out: str = ""
    err: str = ""


class Cli:
    """Runs the command, or another one in its place."""

    def __init__(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        run: Callable[[list[str]], int] = main,
    ) -> None:
        self._capsys, self._monkeypatch, self._run = capsys, monkeypatch, run

    def __call__(self, *arguments: str, stdin: str | bytes | Terminal = "") -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        given = io.TextIOWrapper(io.BytesIO(data)) if isinstance(data, bytes) else data
        self._monkeypatch.setattr(sys, "stdin", given)
        code = self._run(list(arguments))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def out(self, *arguments: str, stdin: str | bytes = "") -> str:
        """What a command prints that has no errors."""
        ran = self(*arguments, stdin=stdin)
        assert (ran.code, ran.err) == (0, ""), arguments
        return ran.out


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True
