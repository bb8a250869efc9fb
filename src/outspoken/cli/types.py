"""The types of the command line's arguments: what they accept, what they refuse, and what shells complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from outspoken.terminal.errors import did_you_mean

if TYPE_CHECKING:
    from outspoken.results.geometry import Screen

    _Type = click.ParamType[Any, Any]
else:
    _Type = click.ParamType  # no generic class in the oldest Click


class Name(_Type):
    """A name that the command checks itself; `known` gives the names that shells complete.

    With `what`, such as `provider`, a name that is like a known one is refused with that one.
    """

    name = "name"

    def __init__(self, known: Callable[[], Iterable[str]], what: str = "") -> None:
        self._known, self._what = known, what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or raise BadParameter."""
        if self._what:
            known = list(self._known())
            hint = "" if value in known else did_you_mean(str(value), known)
            if hint:
                raise click.UsageError(f"there is no {self._what} `{value}`{hint}", ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete a name."""
        return [CompletionItem(name) for name in self._known() if name.startswith(incomplete)]


class File(_Type):
    """A path, or `-` where a command reads standard input. The command says what is wrong with it."""

    name = "file"

    def __init__(self, kind: str = "file") -> None:
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path, or raise BadParameter for an empty one, such as that of a variable that is not set."""
        return value or self.fail("the name of a file is empty", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        """Let the shell complete files, or folders if the kind is `dir`."""
        return [CompletionItem(incomplete, type=self._kind)]


class Choice(_Type):
    """One of a few words. A wrong one is refused with the nearest."""

    name = "choice"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word, or raise BadParameter."""
        if value in self.words:
            return value
        hint = did_you_mean(str(value), self.words) or f"; expected {', '.join(self.words)}"
        return self.fail(f"`{value}` is unknown{hint}", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the words, as the help shows them. Click 8.1 passes no context."""
        return f"[{'|'.join(self.words)}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete a word."""
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class ScreenSize(_Type):
    """The size of a screen, as `1280x720`."""

    name = "screen"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Screen:
        """Return the screen, or raise BadParameter."""
        from outspoken.results.geometry import Screen  # not every command needs it

        if isinstance(value, Screen):
            return value
        width, _, height = str(value).lower().replace("×", "x").partition("x")
        try:
            return Screen(int(width), int(height))
        except ValueError:
            return self.fail(f"`{value}` is no size; write it as 1280x720", param, ctx)


class Number(_Type):
    """A whole number from `least` to `most`, if there are such, or with `fraction` any number of more than 0."""

    name = "number"

    def __init__(self, *, least: int | None = 1, most: int | None = None, fraction: bool = False) -> None:
        self._least, self._most, self._fraction = least, most, fraction

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """Return the number, or raise BadParameter."""
        try:
            number = float(value) if self._fraction else int(value)
        except ValueError:
            number = None
        if number is not None and self._is_allowed(number):
            return number
        return self.fail(f"`{value}` is not {self._wanted()}", param, ctx)

    def _is_allowed(self, number: int | float) -> bool:
        if self._fraction:
            return 0 < number < float("inf")
        return (self._least is None or number >= self._least) and (self._most is None or number <= self._most)

    def _wanted(self) -> str:
        if self._fraction:
            return "a number of more than 0"
        if self._most is not None:
            return f"a whole number from {self._least} to {self._most}"
        return "a whole number" if self._least is None else f"a whole number from {self._least} on"


def format_names() -> list[str]:
    """The names and aliases of all formats, and `auto`."""
    from outspoken.grammar import registry  # imports pydantic, which a list of commands need not wait for

    names = registry.names()
    return ["auto", *names, *sorted({alias for name in names for alias in registry.header(name).aliases} - {*names})]


def provider_names() -> list[str]:
    """The names of all providers."""
    from outspoken.providers.registry import PROVIDERS

    return sorted(PROVIDERS)
