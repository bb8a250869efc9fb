"""GUI actions: the mapping between a format's words and the action models, and the page that actions are checked on.

Exports every action model, their union `Action`, `MODELS` (the models by `type`), `Point`, `PageContext` and
`PageElement`. The names are imported on first use, because the fifty models take time to build. May import `results`,
`patterns`, `grammar`, `json` and `notations`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outspoken.results.actions.union import *  # noqa: F403

    from .page import PageContext as PageContext
    from .page import PageElement as PageElement


def __getattr__(name: str) -> Any:
    from outspoken.results.actions import union

    if name in ("PageContext", "PageElement"):
        from . import page

        return getattr(page, name)
    if name not in union.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(union, name)
