"""The types of arguments that click has not: what they accept, what they refuse, and what shells complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen

    _Type = click.ParamType[str]
    _Path = click.Path[str]
else:
    _Type, _Path = click.ParamType, click.Path  # no generic classes in older versions of click


class Name(_Type):
    """A name that the command checks itself; `known` gives the names that shells complete."""

    name = "name"

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete a name."""
        return [CompletionItem(name) for name in self._known() if name.startswith(incomplete)]


class File(_Path):
    """A path, or `-` where a command reads standard input. The command says what is wrong with it."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or raise BadParameter for an empty one, such as that of a variable that is not set."""
        return value or self.fail("the name of a file is empty", param, ctx)


def screen_size(value: str) -> Screen:
    """The size of a screen, as `1280x720`. Raises BadParameter for other words."""
    from outspoken.results.geometry import Screen  # not every command needs it

    width, _, height = value.lower().replace("×", "x").partition("x")
    try:
        return Screen(int(width), int(height))
    except ValueError:
        raise click.BadParameter(f"`{value}` is no size; write it as 1280x720") from None


def positive(value: str) -> float:
    """A number of more than 0. Raises BadParameter for others."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise click.BadParameter(f"`{value}` is not a number of more than 0")
    return number


def unescaped(prefix: str) -> str:
    r"""A prefix with line breaks where it has `\n`, which is what can be typed in a shell."""
    return prefix.replace("\\n", "\n")


def format_names() -> list[str]:
    """The names and aliases of all formats, and `auto`."""
    from outspoken.grammar import registry  # imports pydantic, which a list of commands need not wait for

    names = registry.names()
    return ["auto", *names, *sorted({alias for name in names for alias in registry.header(name).aliases} - {*names})]


def provider_names() -> list[str]:
    """The names of all providers."""
    from outspoken.providers.registry import PROVIDERS

    return sorted(PROVIDERS)
