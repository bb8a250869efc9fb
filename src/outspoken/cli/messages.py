"""What click refuses, as one sentence that says what to do instead."""

from __future__ import annotations

import click


def sentence(error: click.ClickException) -> str:
    """Return what is wrong with the arguments, in one sentence."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "outspoken"
    help = f"see `{path} --help`"
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        return f"{_place(error.param)}: {error.message.rstrip('.')}"
    if isinstance(error, click.NoSuchOption) and context and isinstance(context.command, click.Group):
        first = context.command.list_commands(context)[0]
        help = f"options follow the command, as in `{path} {first} {error.option_name}`"
    if "unexpected extra argument" in error.message:
        help = f"quote a value that has spaces ({help})"
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        help = f"write it as `{_place(error.param)} {error.param.metavar}` ({help})"
    message = error.format_message().rstrip(".")
    return message if message.endswith("?") else f"{message}; {help}"


def _place(param: click.Parameter) -> str:
    """The option, or the name of the argument, as people write it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").replace("[", "").replace("]", "")
