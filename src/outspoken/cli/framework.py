"""Commands, groups and options as this command line has them, on top of Click.

A command has examples, and options in sections. A lazy group imports a command only when it is run: its table has what
the list of commands needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from outspoken.terminal.errors import UsageError, did_you_mean

_F = TypeVar("_F", bound=Callable[..., Any])

#: The section of options that say what is printed; it comes behind the others.
OUTPUT = "Output"
#: The section of options that name none, and the last ones.
_SECTION, _LAST = "Options", "Other"
_ENDS = (OUTPUT, _LAST)
_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Option(click.Option):
    """An option that is listed in a section of the help.

    With `several`, it takes all words up to the next option, or to one that ends in `until`. With `optional_value`, the
    value may be left out; only a number counts as one, so that a file may follow.
    """

    def __init__(
        self,
        *names: Any,
        section: str = _SECTION,
        several: bool = False,
        until: str = "",
        optional_value: int | None = None,
        **settings: Any,
    ) -> None:
        settings["multiple"] = several or settings.get("multiple", False)
        super().__init__(*names, **settings)
        self.section, self.several, self.until, self.optional_value = section, several, until, optional_value

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete the value; behind an option whose value may be left out, a file."""
        if self.optional_value is not None:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)


def option(*names: str, **settings: Any) -> Callable[[_F], _F]:
    """Declare an option; see `Option`, and `click.option` for other settings."""
    return click.option(*names, cls=Option, **settings)


class Command(click.Command):
    """A command with `examples`: pairs of a command line and what it does."""

    def __init__(self, *arguments: Any, examples: Sequence[tuple[str, str]] = (), **settings: Any) -> None:
        super().__init__(*arguments, context_settings=_CONTEXT, **settings)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Several values, and values that may be left out, are written as Click takes them."""
        try:
            return super().parse_args(ctx, self._completed(args) if not ctx.resilient_parsing else args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # its parser does not always say whose option is wrong
            raise

    def _completed(self, args: list[str]) -> list[str]:
        """Repeat an option that takes several values before each of them, and give each option a value."""
        own = {name: one for one in self.params if isinstance(one, Option) for name in one.opts}
        found: list[str] = []
        current: Option | None = None
        for position, word in enumerate(args):
            if word == "--":
                return found + args[position:]
            if word.startswith("-") and word != "-":
                current = own.get(word)
                following = args[position + 1 : position + 2]
                if current is not None and current.optional_value is not None:
                    has_value = following and following[0].lstrip("-").isdecimal()
                    found.append(word if has_value else f"{current.opts[0]}={current.optional_value}")
                elif current is None or not current.several:
                    found.append(word)
            elif current is not None and current.several and not (current.until and word.endswith(current.until)):
                found += [current.opts[0], word]
            else:
                current = None
                found.append(word)
        return found

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The pieces of the usage line: options that are required are in it."""
        pieces = super().collect_usage_pieces(ctx)
        required = [one for one in self.params if isinstance(one, click.Option) and one.required]
        return pieces + [f"{max(one.opts, key=len)} {one.metavar}" for one in required]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option `--help`, with words like those of the others."""
        return _help_option(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        _format_sections(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        _format_examples(self.examples, formatter)


def declare(name: str, help: str, examples: Sequence[tuple[str, str]]) -> Callable[[Callable[..., int]], Command]:
    """Declare a command. The first sentence of `help` is its purpose; the function returns the exit code."""

    def make(run: Callable[..., int]) -> Command:
        params: list[click.Parameter] = getattr(run, "__click_params__", [])
        return Command(name, callback=run, params=params[::-1], help=help, examples=examples)

    return make


class Entry(NamedTuple):
    """A command in the table of a lazy group: its purpose, and the section that it is listed in."""

    help: str
    section: str = "Commands"


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run.

    The command `x` is the attribute `run` of the module `package.x`.
    """

    def __init__(self, name: str, package: str, table: dict[str, Entry], **settings: Any) -> None:
        self.examples: tuple[tuple[str, str], ...] = tuple(settings.pop("examples", ()))
        self.notes: tuple[tuple[str, str], ...] = tuple(settings.pop("notes", ()))
        settings |= {"callback": _show_help, "invoke_without_command": True, "context_settings": _CONTEXT}
        super().__init__(name, **settings)
        self.package, self.table = package, table

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option `--help`, with words like those of the others."""
        return _help_option(super().get_help_option(ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        if cmd_name not in self.table:
            return None
        return cast("click.Command", import_module(f"{self.package}.{cmd_name}").run)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name. Raises UsageError with the nearest name for an unknown one."""
        name = args[0]
        if name in self.table or ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name == "help":
            return self.resolve_command(ctx, [args[1], "--help"]) if args[1:] else ("--help", _HELP, [])
        if any(f"--{name}" in param.opts for param in self.get_params(ctx)):
            raise UsageError(f"there is no command `{name}`; did you mean `{ctx.command_path} --{name}`?")
        if os.path.exists(name):
            raise UsageError(
                f"`{name}` is no command; did you mean `{ctx.command_path} {next(iter(self.table))} {name}`?"
            )
        hint = did_you_mean(name, self.table) or f" (`{ctx.command_path} --help` lists the commands)"
        raise UsageError(f"there is no command `{name}`{hint}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete the names of commands and of the options, without importing the commands."""
        found = [CompletionItem(name, help=one.help) for name, one in self.table.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section, and the options."""
        width = max([len(name) for name in self.table])
        for section in dict.fromkeys([one.section for one in self.table.values()]):
            rows = [(f"{name:<{width}}", one.help) for name, one in self.table.items() if one.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)
        _format_sections(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the notes and the examples."""
        if self.notes:
            with formatter.section("Exit codes"):
                formatter.write_dl(self.notes)
        _format_examples(self.examples, formatter)


@click.pass_context
def _show_help(ctx: click.Context) -> int:
    """Show the help of a group that was given no command."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0


@click.pass_context
def _show_help_of_group(ctx: click.Context) -> int:
    """Show the help of the group that was given the command `help`."""
    click.echo((ctx.parent or ctx).get_help())
    return 0


#: The command `help` of every group, which is not listed.
_HELP = click.Command("help", callback=_show_help_of_group)


def _help_option(found: click.Option | None) -> click.Option | None:
    if found is not None:
        found.help = "show this help"
    return found


def _format_sections(one: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command: each section with its title, and those that every command has at the end."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in one.get_params(ctx):
        if not isinstance(param, click.Option):
            continue
        row = param.get_help_record(ctx)
        if row is not None:
            section = param.section if isinstance(param, Option) else _LAST
            sections.setdefault(section, []).append(row)
    for section in [name for name in sections if name not in _ENDS] + [name for name in _ENDS if name in sections]:
        rows = sections[section]
        with formatter.section(section):
            formatter.write_dl(rows)


def _format_examples(examples: Sequence[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    if not examples:
        return
    with formatter.section("Examples"):
        for line, purpose in examples:
            formatter.write_text(f"# {purpose}")
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def version_option(version: str) -> Callable[[click.Command], click.Command]:
    """Add `--version` to a command."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(f"outspoken {version}")
            ctx.exit()

    def declare(one: click.Command) -> click.Command:
        words = "print the version"
        flag = Option(["-V", "--version"], is_flag=True, is_eager=True, expose_value=False, callback=show,
                      section=_LAST, help=words)  # fmt: skip
        one.params.append(flag)
        return one

    return declare
