"""`outspoken completion`: prints the script that completes commands in a shell."""

from __future__ import annotations

import os
from pathlib import PurePath

import click
from click.shell_completion import get_completion_class
from cloup import argument

from outspoken.cli.options import command
from outspoken.terminal.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    "Print the script that completes commands, options, formats, models, providers and files in a shell."
    "\n\nSHELL is bash, zsh or fish; by default the one that the variable SHELL names.",
    ('eval "$(outspoken completion bash)"', "in ~/.bashrc; for zsh the same in ~/.zshrc, with zsh"),
    ("outspoken completion fish > ~/.config/fish/completions/outspoken.fish", "for fish, once"),
)
@argument("shell", required=False, type=click.Choice(SHELLS), metavar="[SHELL]")
def run(shell: str | None) -> int:
    """Print the script."""
    kind = get_completion_class(shell or PurePath(os.environ.get("SHELL", "")).name)
    if kind is None:
        raise UsageError(f"which shell? Name it: `outspoken completion {'|'.join(SHELLS)}`")
    click.echo(kind(click.get_current_context().find_root().command, {}, "outspoken", "_OUTSPOKEN_COMPLETE").source())
    return 0
