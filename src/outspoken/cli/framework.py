"""Commands as this command line has them, with examples, on top of cloup, which has sections of options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import cloup

from .groups import CONTEXT, example_text


class Command(cloup.Command):
    """A command whose errors know it: click's parser does not always say whose option is wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


def command(
    name: str, help: str, *examples: tuple[str, str], kind: type[Command] = Command
) -> Callable[[Callable[..., int]], Command]:
    """Declare a command. The first sentence of `help` is its purpose; the function returns the exit code.

    Examples are pairs of a command line and what it does.
    """
    purpose = help.partition("\n\n")[0].rstrip(".")
    settings: dict[str, Any] = {"help": help, "epilog": example_text(*examples), "context_settings": CONTEXT}
    return cloup.command(name, cls=kind, short_help=purpose[0].lower() + purpose[1:], **settings)
