"""What a request to a model says, of any API and as any client holds it: its tools, and what it lets the model call."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, cast

from outspoken.notations.tools import Tools
from outspoken.results.errors import OutspokenError

_logger = logging.getLogger("outspoken.providers")


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
