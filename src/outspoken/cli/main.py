"""Runs a command: its errors as one sentence, and its exit code (see `program.EXIT_CODES`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import shell_complete

from outspoken.results.errors import OutspokenError
from outspoken.results.packages import missing_package
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError, did_you_mean
from outspoken.terminal.outputs import use_utf8

from .program import COMPLETE, program


def main(arguments: Sequence[str] | None = None, command: click.Command = program, **settings: Any) -> int:
    """Run a command and return its exit code. By default, the arguments are those of the process.

    The `settings` of its context may be the name by which it is called (`info_name`), and `obj`, a tool's checkout.
    """
    if arguments is None and COMPLETE in os.environ:
        return shell_complete(program, {}, "outspoken", COMPLETE, os.environ[COMPLETE])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the process was started without it (`>&-`)
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it is open until the process ends
    try:
        use_utf8()
        code = _run(command, list(sys.argv[1:] if arguments is None else arguments), **settings)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return 0
    except (KeyboardInterrupt, click.Abort):
        return 130
    except click.ClickException as error:
        message = _sentence(error)
    except (UsageError, OutspokenError) as error:
        message = str(error)
    except ModuleNotFoundError as error:  # the other commands say themselves what they need
        message = str(missing_package(error, "grammar", "`outspoken grammar`"))
    except OSError as error:
        if error.filename is None:
            _drop_output()
        place = "the output cannot be written" if error.filename is None else f"`{error.filename}`"
        message = f"{place}: {error.strerror or error}"
    print(f"outspoken: error: {visible(' '.join(message.split()))}", file=sys.stderr)
    return 2


def _drop_output() -> None:
    """Discard what was not written yet. Without this, Python reports at exit that it cannot flush the buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(command: click.Command, arguments: list[str], info_name: str = "outspoken", **settings: Any) -> int:
    try:
        with command.make_context(info_name, arguments, **settings) as context:
            return command.invoke(context) or 0
    except click.exceptions.Exit as end:  # after `--help` and `--version`
        return end.exit_code


def _sentence(error: click.ClickException) -> str:
    """Return what is wrong with the arguments, in one sentence."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "outspoken"
    help = f"see `{path} --help`"
    if isinstance(error, click.NoSuchOption) and context:
        if isinstance(context.command, click.Group):
            help = f"options follow the command, as in `{path} {next(iter(context.command.commands))} --json`"
        options = [
            name for param in context.command.get_params(context) for name in param.opts if name.startswith("--")
        ]
        return f"there is no option `{error.option_name}`{did_you_mean(error.option_name, options) or f'; {help}'}"
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        return f"{_place(error.param)}: {error.message.rstrip('.')}; {help}"
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        help = f"write it as `{_place(error.param)} {error.param.metavar}` ({help})"
    if "unexpected extra argument" in error.message:
        help = f"quote a value that has spaces ({help})"
    return f"{error.format_message().strip().rstrip('.')}; {help}"


def _place(param: click.Parameter) -> str:
    """The option, or the name of the argument, as people write it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").replace("[", "").replace("]", "")
