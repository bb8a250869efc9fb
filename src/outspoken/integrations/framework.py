"""The frameworks of integrations: packages whose extra has the name of the module, and the names of their models."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, cast

from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.results.errors import MissingPackageError, OutspokenError, UnknownFormatError
from outspoken.results.packages import Package

__all__ = ["MissingPackageError", "framework"]

_logger = logging.getLogger("outspoken.integrations")
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


def value_of(place: Any, key: str) -> Any:
    """A field of a dict or an object; None if it is missing."""
    return cast("Mapping[str, Any]", place).get(key) if isinstance(place, Mapping) else getattr(place, key, None)


def choice_of(tool_choice: Any, tools: Any = True) -> str:
    """What a request with some `tools` lets the model call: "auto", "none", "required", or the tool of this name."""
    if not tools or tool_choice is False:
        return "none"
    if isinstance(tool_choice, str):
        return tool_choice if tool_choice in ("none", "required") else "auto"
    named = value_of(tool_choice, "function") or tool_choice
    name = value_of(named, "name") or value_of(named, "mode")
    return name if isinstance(name, str) and name else "auto"


def readable_tools(tools: Iterable[Any] | None) -> Tools | None:
    """The functions among the tools of a request; None if there are none. Other tools are the server's own."""
    functions: list[Any] = []
    for tool in tools or ():
        plain: Any = tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool
        try:
            Tools.of([plain])
            functions.append(plain)
        except OutspokenError as error:
            _logger.warning("outspoken: a tool of a request is not read: %s", error)
    return Tools.of(functions)


@registry.cached
def _is_known(name: str, edition: int) -> bool:
    """Is the format of a model known? A name with commas is that of several."""
    try:
        return "," not in name and bool(registry.resolve(name))
    except UnknownFormatError:
        return False
