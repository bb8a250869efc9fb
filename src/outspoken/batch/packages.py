"""Packages of others: imported when they are first used, with a message if they are missing or too old."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from .errors import MissingPackageError

#: The oldest versions that have what is used of them. `pyproject.toml` has the same in its extras.
OLDEST = {"pandas": (2, 0), "polars": (1, 20), "duckdb": (1, 0), "ray": (2, 10), "pyspark": (3, 5)}


def load(package: str, extra: str | None = None) -> Any:
    """A package. Raises MissingPackageError if it is missing or too old; `extra` is the extra that installs it."""
    oldest = OLDEST[package]
    wanted, extra = f"{package} {'.'.join(map(str, oldest))} or newer", extra or package
    try:
        module = import_module(package)
    except ImportError:
        raise MissingPackageError(wanted, extra) from None
    version = str(module.__version__)
    if tuple([int(digits) for digits in re.findall(r"\d+", version)[:2]]) < oldest:
        raise MissingPackageError(wanted, extra, version)
    return module
