"""`outspoken parse --payloads`: the registry of an application, by the name of its module."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from outspoken.payloads import PayloadRegistry


def read_registry(named: str) -> PayloadRegistry:
    """The registry that `module:name` names, or that the function of that name returns.

    Modules of the working directory are found, too. Raises ValueError where there is no registry.
    """
    module, _, name = named.partition(":")
    if not module or not name:
        raise ValueError(f"`{named}` names no registry; it is written as `module:name`")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        made = found() if callable(found) else found
    except Exception as error:
        raise ValueError(f"cannot load `{named}`: {type(error).__name__}: {error}") from error
    if not isinstance(made, PayloadRegistry):
        raise ValueError(f"`{named}` is of type {type(made).__name__}; expected a PayloadRegistry")
    return made
