"""Groups of commands, listed in sections. A group imports a command only when it is run.

This needs Click alone: cloup, which commands are made with, takes as long to import as Click does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from outspoken.terminal.errors import UsageError, did_you_mean

#: The settings of every command; the help is as wide as the narrowest usual terminal.
CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


def example_text(*examples: tuple[str, str]) -> str:
    """The examples of a command or a group, as a part of its help that is not wrapped."""
    return "\n".join(["\b", "Examples:", *[f"  # {purpose}\n  {line}" for line, purpose in examples]])


class Group(click.Group):
    """A group of commands, by the titles of the sections that they are listed in.

    With a `package`, the command `x` is the attribute `run` of the module `package.x`; what is listed is only its name
    and its purpose. Without a command, the group shows its help.
    """

    def __init__(
        self, name: str, *, listed: Mapping[str, Sequence[click.Command]], package: str = "", **settings: Any
    ) -> None:
        commands = [one for section in listed.values() for one in section]
        settings |= {"context_settings": CONTEXT, "invoke_without_command": True, "callback": _show_help_if_bare}
        super().__init__(name, commands, **settings)
        self.listed, self.package = listed, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the sections."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their sections, with their purposes below each other."""
        width = max(map(len, self.commands))
        for title, commands in self.listed.items():
            with formatter.section(title):
                formatter.write_dl([((one.name or "").ljust(width), one.short_help or "") for one in commands])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write exit codes and examples, as far left as those of a command."""
        formatter.write_paragraph()
        formatter.write_text(self.epilog or "")

    def load(self, name: str) -> click.Command:
        """Return a command, which is imported if there is a package of commands."""
        return import_module(f"{self.package}.{name}").run if self.package else self.commands[name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name. Raises UsageError with the nearest name for an unknown one."""
        name, *rest = args
        if name in self.commands:
            return name, self.load(name), rest
        if ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name == "help" and rest:
            return self.resolve_command(ctx, [rest[0], "--help"])
        if name == "help":
            click.echo(ctx.get_help())
            ctx.exit()
        raise UsageError(self._unknown(name, ctx))

    def _unknown(self, name: str, ctx: click.Context) -> str:
        """What to do instead of a command that there is not."""
        if os.path.exists(name):
            return f"`{name}` is no command; did you mean `{ctx.command_path} {next(iter(self.commands))} {name}`?"
        known = [*self.commands, *[one for param in self.get_params(ctx) for one in param.opts]]
        hint = did_you_mean(name, known) or f"; see `{ctx.command_path} --help`"
        return f"there is no command `{name}`{hint}"


@click.pass_context
def _show_help_if_bare(ctx: click.Context) -> int:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0
