"""GUI actions: the mapping between a format's words and the action models, and the page that actions are checked on.

Exports every action model, their union `Action`, `MODELS` (the models by `type`), `Point`, `PageContext`,
`PageElement` and `ElementLike`. The names are imported on first use, because the fifty models take time to build. May
import `results`, `patterns`, `grammar`, `json` and `notations`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outspoken.results.actions.union import *  # noqa: F403

    from .page import ElementLike as ElementLike, PageContext as PageContext, PageElement as PageElement

_PAGE = ("ElementLike", "PageContext", "PageElement")


def __getattr__(name: str) -> Any:
    if name in _PAGE:
        found = getattr(import_module(f"{__name__}.page"), name)
    else:
        from outspoken.results.actions import union

        if name not in union.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(union, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from outspoken.results.actions import union

    return sorted({*globals(), *_PAGE, *union.__all__})
