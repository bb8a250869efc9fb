"""What the constraint of a format has, without making it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outspoken.grammar import registry
from outspoken.rendering.render import render_path
from outspoken.results.actions.base import BaseAction
from outspoken.results.errors import RenderError
from outspoken.results.settings import DEFAULT

from .action_paths import learned
from .action_words import usages
from .skeleton import EXAMPLES, REASONING, TEXT, a_call


def parts_of(format: str) -> list[str]:
    """What a constraint lets a model write in a format: "calls", "actions", "text" and "reasoning".

    Raises UnknownFormatError for an unknown format.
    """
    name = registry.resolve(format)
    header = registry.automaton(name).tables.header
    calls = [[a_call()], *[[a_call(kind)] for kind in EXAMPLES]]
    found = ["calls"] if any(_is_written(name, call) for call in calls) else []
    actions = next((paths for usage in usages(header) if (paths := learned(usage, name, header)) is not None), None)
    found += ["actions"] if actions is not None else []
    return [*found, *_said(name, [] if actions is None else [actions.sample])]


def _said(format: str, actions: list[BaseAction]) -> Iterator[str]:
    """Text and reasoning, which some formats write only before an action."""
    if _is_written(format, [TEXT]):
        yield "text"
    if any(_is_written(format, [REASONING, *rest]) for rest in ([], [TEXT], actions)):
        yield "reasoning"


def _is_written(format: str, response: list[Any]) -> bool:
    try:
        render_path(response, format, None, DEFAULT)
    except RenderError:
        return False
    return True
