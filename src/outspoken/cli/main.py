"""Runs a command: its errors as one sentence, and its exit code.

Exit codes: 0 for success, 1 if a response, row or grammar has errors, 2 if the command cannot run, 3 if `batch` is
stopped, 130 and 143 if it is interrupted or terminated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError, did_you_mean
from outspoken.terminal.outputs import use_utf8

from .program import program

#: The variable in which a shell asks for completions; the script of `outspoken completion` sets it.
COMPLETE = "_OUTSPOKEN_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. By default, the arguments are those of the process."""
    if arguments is None and COMPLETE in os.environ:
        return shell_complete(program, {}, "outspoken", COMPLETE, os.environ[COMPLETE])
    _open_what_is_closed()
    try:
        use_utf8()
        code = _reported(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        place = f"`{error.filename}`: " if error.filename else "the output cannot be written: "
        return _refuse(f"{place}{error.strerror or error}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    return code


def _reported(arguments: list[str]) -> int:
    """Run a command, and print its error as one sentence."""
    try:
        return _run(arguments)
    except click.ClickException as error:
        message = _sentence(error)
    except (UsageError, OutspokenError) as error:
        message = str(error)
    return _refuse(message)


def _refuse(message: str) -> int:
    print(f"outspoken: error: {visible(' '.join(message.split()))}", file=sys.stderr)
    return 2


def _open_what_is_closed() -> None:
    """Give the process an output and an error stream if it was started without them (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it is open until the process ends


def _drop_output() -> None:
    """Discard what was not written yet. Without this, Python reports at exit that it cannot flush the buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    try:
        with program.make_context("outspoken", arguments) as context:
            return program.invoke(context) or 0
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
        known = [name for param in context.command.get_params(context) for name in param.opts if name.startswith("--")]
        return f"there is no option `{error.option_name}`{did_you_mean(error.option_name, known) or f'; {help}'}"
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
