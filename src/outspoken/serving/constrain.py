"""Adds constraints to the requests that are passed on: the upstream may write only what the format and tools allow."""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from typing import Any

from outspoken.constraints.deriving import Constraint, constraint
from outspoken.notations.tools import Tools
from outspoken.results.errors import OutspokenError

from .http_errors import HttpError, write_object
from .rewriter import choice_of
from .settings import ServerSettings
from .upstream import Headers, header_value

_LOG = logging.getLogger("outspoken.serving")
#: The fields by which a request constrains the response itself.
_OWN = ("response_format", "structured_outputs", "grammar", "json_schema", "ebnf", "regex")
#: A header is no longer.
_LONGEST = 200


def constrain_request(settings: ServerSettings, body: bytes, request: dict[str, Any]) -> tuple[bytes, Headers]:
    """Add the constraint to a request with tools, and headers that tell the client what was done.

    Raises HttpError if it has none and the settings are strict.
    """
    if settings.constrain is None or not request.get("tools"):
        return body, []
    try:
        request_constraint = _constraint_of(settings, request)
        fields: dict[str, Any] = getattr(request_constraint, f"to_{settings.constrain}")()
    except (OutspokenError, ValueError) as error:
        problem = " ".join(str(error).split())
        if settings.constrain_strict:
            raise HttpError(400, f"the response cannot be constrained: {problem}", "no_constraint") from error
        _LOG.warning("a request is passed on without a constraint: %s", problem)
        return body, _header(f"none; {problem}")
    for warning in request_constraint.warnings:
        _LOG.warning("a constraint does not enforce everything: %s", warning)
    if settings.constrain == "sglang":
        # with "none", the tools would not be in the prompt; with others, the server constrains calls itself
        fields["tool_choice"] = "none" if request.get("tool_choice") == "none" else "auto"
    return write_object({**request, **fields}), _header(f"applied; warnings={len(request_constraint.warnings)}")


def _header(text: str) -> Headers:
    return [(b"outspoken-constraint", header_value(text[:_LONGEST]))]


def _constraint_of(settings: ServerSettings, request: dict[str, Any]) -> Constraint:
    """The constraint of a request. Raises ValueError or OutspokenError if there is none."""
    given = [name for name in _OWN if request.get(name) not in (None, {"type": "text"})]
    if given:
        raise ValueError(f"the request has a constraint of its own, `{given[0]}`")
    if not isinstance(request.get("tool_choice"), str | dict | None):
        raise ValueError("the request has a `tool_choice` of an unknown shape")
    choice = choice_of(request)
    tools = json.dumps(request["tools"], ensure_ascii=False)
    is_parallel = request.get("parallel_tool_calls") is not False
    return _made(settings.format_of(request.get("model")), tools, choice, is_parallel, settings.constrain_strict)


@lru_cache(maxsize=128)
def _made(format: str, tools: str, choice: str, is_parallel: bool, strict: bool) -> Constraint:
    return constraint(
        format, tools=Tools.of(json.loads(tools)), tool_choice=choice, parallel=is_parallel, strict=strict
    )
