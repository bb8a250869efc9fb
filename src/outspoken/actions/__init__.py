"""GUI actions: the mapping between a format's words and the action models, and the page that actions are checked on.

Exports every action model, their union `Action`, `MODELS` (the models by `type`), `Point`, `PageContext`,
`PageElement`, `ElementLike` and `playwright_key`. The names are imported on first use, because the fifty models take
time to build. May import `results`, `patterns`, `grammar`, `json` and `notations`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outspoken.results.actions.models import MODULES

if TYPE_CHECKING:
    from outspoken.results.actions.union import *  # noqa: F403

    from .key_names import playwright_key as playwright_key
    from .page import ElementLike as ElementLike, PageContext as PageContext, PageElement as PageElement

_HOMES = {
    **{name: f"outspoken.results.actions.{module}" for module, names in MODULES.items() for name in names.split()},
    **dict.fromkeys(("PROVENANCE", "BaseAction", "ElementRef"), "outspoken.results.actions.base"),
    **dict.fromkeys(("MODELS", "Action"), "outspoken.results.actions.union"),
    **dict.fromkeys(("ElementLike", "PageContext", "PageElement"), f"{__name__}.page"),
    "Point": "outspoken.results.geometry",
    "playwright_key": f"{__name__}.key_names",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
