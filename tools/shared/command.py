"""Runs a tool as a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn


def run_module(name: str) -> NoReturn:
    """Run the `main` of a module. If a package is missing that it needs, say how to install it."""
    try:
        main: Callable[[], int] = import_module(name).main
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith(("outspoken", "tools")):
            raise
        print(f'`{error.name}` is missing: run `{sys.executable} -m pip install -e ".[grammar]"`', file=sys.stderr)
        sys.exit(2)
    run(main)


def run(main: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its exit code. A reader that goes away (`| head`) is no error."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer has no reader; without this, Python complains of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
