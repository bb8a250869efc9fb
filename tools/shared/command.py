"""Runs a tool as a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn


def run_grammar(tool: str) -> NoReturn:
    """Run a command of `outspoken grammar` on formats of this checkout, and end the process with its exit code."""
    from outspoken.authoring.shared.checkout import Checkout  # the other tools need neither

    sys.exit(grammar(tool, Checkout(), sys.argv[1:]))


def grammar(tool: str, checkout: object, arguments: Sequence[str]) -> int:
    """Run a command of `outspoken grammar` on formats of a checkout, and return its exit code."""
    from outspoken.cli.commands.grammar import run as group
    from outspoken.cli.main import main

    command = group.commands["new" if tool == "new_format" else tool]
    return main(arguments, command, info_name=f"python -m tools.{tool}", obj=checkout)


def run(main: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its exit code. A reader that goes away (`| head`) is no error."""
    from outspoken.results.errors import OutspokenError

    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer has no reader; without this, Python complains of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = 130
    except OutspokenError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    sys.exit(code)
