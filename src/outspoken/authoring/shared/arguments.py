"""The arguments of the tools of a checkout, and small pieces of the messages that they print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
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


#: Of more names, only the first ones are listed.
_MOST = 6


def listed(names: Iterable[str]) -> str:
    """Names in backticks as a list in a sentence; of many, the first ones and the number of the others."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > _MOST:
        quoted[_MOST - 1 :] = [f"{len(quoted) - _MOST + 1} more"]
    return joined(quoted)


def joined(words: list[str]) -> str:
    """Words as a list in a sentence: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(number: int, thing: str) -> str:
    """A number of things: `1 call`, `2 calls`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
