"""A process that has imported what many commands need, and forks for each of them: a start costs more than most do."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["Forks", "Ran", "forks"]

#: Runs a module as `python -m` does, in a folder, for each line that it reads; what is printed goes to two files.
_PROGRAM = """
import json, os, runpy, sys
for line in sys.stdin:
    folder, out, err, module, *arguments = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(folder)
        sys.path[0] = folder
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = [module, *arguments]
        code = 0
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as exit:
            code = exit.code
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(code or 0))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Ran(NamedTuple):
    """What a command returned and printed."""

    code: int
    out: str
    err: str


class Forks:
    """Runs commands in forks of a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, folder: Path, module: str, *arguments: str) -> Ran:
        """Run `python -m module` in a folder; what it prints is kept beside the folder."""
        assert self._process.stdin
        assert self._process.stdout
        printed = [folder.with_name(f"{folder.name}.{end}") for end in ("stdout", "stderr")]
        given = [*map(str, (folder, *printed)), module, *arguments]
        print(json.dumps(given), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        return Ran(code, *[path.read_text("utf-8") for path in printed])


@contextmanager
def forks(first: str, *folders: Path, **variables: str) -> Generator[Forks]:
    """A process that has run the lines `first`, with folders to import from and environment variables."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | variables
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*map(str, folders), environment.get("PYTHONPATH")]))
    command, pipe = [sys.executable, "-c", first + _PROGRAM], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        yield Forks(process)
        assert process.stdin
        process.stdin.close()
