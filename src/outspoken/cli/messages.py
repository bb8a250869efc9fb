"""What Click refuses, as one sentence of ours that says what to do instead."""

from __future__ import annotations

import re

import click

from outspoken.terminal.errors import did_you_mean

from .types import Choice


def sentence(error: click.ClickException) -> str:
    """Return what is wrong with the arguments, in one sentence."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "outspoken"
    if isinstance(error, click.NoSuchOption) and context and isinstance(context.command, click.Group):
        return (
            f"`{path}` itself has no option `{error.option_name}`; options follow the command, as in "
            f"`{path} {context.command.list_commands(context)[0]} {error.option_name}`"
        )
    if isinstance(error, click.NoSuchOption) and context and _is_of_root(error.option_name, context):
        return f"`{path}` has no option `{error.option_name}`; it is `outspoken {error.option_name}`"
    if isinstance(error, click.NoSuchOption):
        hint = did_you_mean(error.option_name, _options(context)) or f" (`{path} --help` lists the options)"
        return f"there is no option `{error.option_name}`{hint}"
    if isinstance(error, click.MissingParameter):
        return _missing(error, path)
    if isinstance(error, click.BadParameter):
        place = _place(error.param)
        return f"{place}: {error.message}" if place else error.message
    if isinstance(error, click.BadOptionUsage):
        return _bad_option(error, path)
    extra = re.search(r"unexpected extra arguments? \((.*)\)", error.message)
    if extra:
        return f"`{path}` takes no further argument `{extra[1]}`; quote a value that has spaces (see `{path} --help`)"
    return error.format_message().rstrip(".")


def _is_of_root(name: str, context: click.Context) -> bool:
    """Is an option one of `outspoken` itself?"""
    return any(name in param.opts for param in context.find_root().command.params)


def _options(context: click.Context | None) -> list[str]:
    """The spellings of the options of a command."""
    found: list[str] = []
    for param in context.command.get_params(context) if context else ():
        if isinstance(param, click.Option) and not param.hidden:
            found += [name for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]
    return found


def _place(param: click.Parameter | None) -> str:
    """The option, or the name of the argument, as people write it."""
    if param is None:
        return ""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").replace("[", "").replace("]", "")


def _missing(error: click.MissingParameter, path: str) -> str:
    place = _place(error.param)
    words = ""
    if error.param is not None and isinstance(error.param.type, Choice):
        words = f" (one of {', '.join(error.param.type.words)})"
    if isinstance(error.param, click.Option):
        place = f"`{place} {error.param.metavar}`"
    return f"`{path}` needs {place}{words}; see `{path} --help`"


def _bad_option(error: click.BadOptionUsage, path: str) -> str:
    name = error.option_name
    if "not take a value" in error.message:
        return f"`{name}` takes no value"
    if "requires" in error.message:
        return f"`{name}` needs a value; see `{path} --help`"
    return error.message.rstrip(".")
