"""The tools of a checkout for a grammar file anywhere: what `outspoken grammar new|check|show|fuzz|diagram` runs.

The cases of a grammar `my.lark` are its header's example, and the files in the folder `my` beside it: `my/ok/*.txt` are
sound responses, `my/err/*.txt` damaged ones. Both folders may be missing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from outspoken.results.packages import missing_package
from outspoken.terminal.errors import UsageError

from .workspace import Workspace, workspace

#: The module of each tool, by its name on the command line.
TOOLS = {"new": "new_format", "check": "check", "show": "show", "fuzz": "fuzz", "diagram": "diagram"}


def run(tool: str, file: str, words: Sequence[str] = ()) -> int:
    """Run a tool on a grammar file, with `words` as its other arguments. Returns its exit code.

    Raises UsageError if the tool cannot run, MissingPackageError if it needs the extra `grammar`, and GrammarError for
    other files.
    """
    try:
        with workspace(Path(file), is_new=tool == "new") as made:
            main: Callable[[list[str], Workspace], int] = import_module(f"outspoken.authoring.{TOOLS[tool]}").main
            return _new(main, [made.name, *words], made) if tool == "new" else main([made.name, *words], made)
    except ModuleNotFoundError as error:
        raise missing_package(error, "grammar", f"`outspoken grammar {tool}`") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{error.filename or file}: {error.strerror or error}") from error


def _new(tool: Callable[[list[str], Workspace], int], words: list[str], made: Workspace) -> int:
    """Write a new grammar and its cases, and copy them to where they belong."""
    for path in (made.file, made.cases):
        if path.exists():
            raise UsageError(f"`{path}` is there already, and nothing is overwritten")
    try:
        return tool(words, made)
    finally:  # also if nobody reads the report
        if made.grammar(made.name).is_file():
            made.file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made.grammar(made.name), made.file)
            shutil.copytree(made.corpus / made.name, made.cases)
