"""Constraints for the requests of inference servers: the structural tag of a format, the tools and the tool choice."""

from __future__ import annotations

import logging
from typing import Any

from outspoken.constraints.deriving import ReasoningMode, constraint
from outspoken.notations.tools import Tools

_logger = logging.getLogger("outspoken.integrations")


def choice_of(tool_choice: Any) -> str:
    """The tool choice of a request, as `constraint` takes it: a word, or the name of the tool that is called."""
    if tool_choice is None:
        return "auto"
    if isinstance(tool_choice, str):
        return tool_choice
    named = getattr(tool_choice, "function", None) or tool_choice
    return getattr(named, "name", None) or getattr(named, "mode", None) or "auto"


def structural_tag(
    format: str,
    tools: Tools | None,
    tool_choice: Any,
    *,
    parallel: bool = True,
    reasoning: ReasoningMode = "none",
    tokenizer: Any = None,
) -> dict[str, Any] | None:
    """The structural tag that holds a response to the format and the schemas of the tools; None if there are no tools.

    What it does not enforce goes to the log of the server. Raises ConstraintError if the format cannot write what is
    asked for.
    """
    choice = choice_of(tool_choice)
    if tools is None or choice == "none":
        return None
    added = tokenizer if hasattr(tokenizer, "get_added_vocab") else None
    made = constraint(format, tools=tools, tool_choice=choice, parallel=parallel, reasoning=reasoning, tokenizer=added)
    for warning in made.warnings:
        _logger.warning("outspoken: the constraint of %s: %s", made.format, warning)
    return made.to_xgrammar()
