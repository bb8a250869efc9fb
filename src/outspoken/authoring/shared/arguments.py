"""The arguments of the tools of a checkout."""

from __future__ import annotations

import argparse
from typing import NoReturn

from outspoken.terminal.errors import UsageError


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of printing the usage and ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)
