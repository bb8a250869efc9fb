"""Registries of payloads that an application names on the command line."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from outspoken.terminal.errors import UsageError

if TYPE_CHECKING:
    from outspoken.payloads import PayloadRegistry


def load_registry(named: str) -> PayloadRegistry:
    """Load the registry `module:name`, or the one that the function of that name returns.

    Modules in the working directory are found, too. Raises UsageError if there is no registry.
    """
    from outspoken.payloads import PayloadRegistry  # imports Lark, which the other commands need not wait for

    module, _, name = named.partition(":")
    if not module or not name:
        raise UsageError(f"`{named}` is not a registry; write it as `module:name`")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        registry = found() if callable(found) else found
    except Exception as error:
        raise UsageError(f"cannot load `{named}`: {type(error).__name__}: {error}") from error
    if not isinstance(registry, PayloadRegistry):
        raise UsageError(f"`{named}` is of type {type(registry).__name__}; expected a PayloadRegistry")
    return registry
