"""The frameworks of integrations: packages whose extra has the name of the module, and the names of their models."""

from __future__ import annotations

from typing import Any

from outspoken.grammar import registry
from outspoken.results.errors import MissingPackageError, UnknownFormatError
from outspoken.results.packages import Package

__all__ = ["MissingPackageError", "framework"]

#: Where models of frameworks keep their name.
_NAMES = ("model_name", "model", "model_id")


def framework(extra: str, distribution: str, lowest: str) -> Package:
    """A framework: the `extra` of its name, the `distribution` that pip installs, and the `lowest` version of it."""
    return Package(extra, distribution, lowest, needed_by=f"`outspoken.integrations.{extra}`")


def format_of(format: str | None, model: Any) -> str:
    """The `format` if one is given, or else the name of a model, if its format is known; "auto" if it is not.

    `model` is the name or what has it.
    """
    names = [model] if isinstance(model, str) else [getattr(model, key, None) for key in _NAMES]
    return format or next((one for one in names if isinstance(one, str) and _is_known(one, registry.edition())), "auto")


@registry.cached
def _is_known(name: str, edition: int) -> bool:
    """Is the format of a model known? A name with commas is that of several."""
    try:
        return "," not in name and bool(registry.resolve(name))
    except UnknownFormatError:
        return False
