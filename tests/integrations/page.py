"""Runs the examples of the page on integrations, as a reader would: in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "src" / "outspoken" / "integrations" / "README.md"

#: The server of all examples.
_URL = "http://localhost:8000/v1"


def blocks(framework: str, language: str) -> list[str]:
    """The blocks of code of a framework in a language."""
    section = PAGE.read_text("utf-8").partition(f"\n## {framework}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def configuration(framework: str, url: str) -> str:
    """The first configuration file of a framework, with another server."""
    text = blocks(framework, "yaml")[0]
    assert _URL in text
    return text.replace(_URL, url)


def printed_by_example(framework: str, url: str = _URL, **replaced: str) -> str:
    """What the first example of a framework prints, with another server, and with some modules replaced by others."""
    code = blocks(framework, "python")[0]
    assert _URL in code
    program = code.replace(_URL, url)
    for module, other in replaced.items():
        assert f"from {module} import " in program
        program = program.replace(f"from {module} import ", f"from {other} import ")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "example.py"  # some frameworks read the source of functions
        path.write_text(program, "utf-8")
        known = os.pathsep.join(filter(None, [str(TOP), os.environ.get("PYTHONPATH")]))
        command, variables = [sys.executable, str(path)], os.environ | {"PYTHONPATH": known}
        ran = subprocess.run(command, cwd=TOP, env=variables, capture_output=True, text=True, timeout=50)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
