"""The arguments of the tools of a checkout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError

from .checkout import Checkout


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of printing the usage and ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)


def refuse(prefix: str, error: Exception, checkout: Checkout) -> int:
    """Print why a tool of a checkout cannot run, and return 2. Raises UsageError for the command line."""
    if not checkout.is_project:
        message = f"cannot write `{error.filename}`: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise UsageError(message) from error
    print(f"{prefix}{visible(' '.join(str(error).split()))}", file=sys.stderr)
    return 2


def positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    """What reads a number of this kind that is more than 0."""

    def number(text: str) -> float:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not more than 0")
        return value

    return number
