"""What is done with a browser: addresses, history, tabs."""

from __future__ import annotations

from typing import Literal

from .base import BaseAction


class Navigate(BaseAction):
    """Open an address."""

    type: Literal["navigate"] = "navigate"
    url: str
    new_tab: bool = False


class GoBack(BaseAction):
    """Go back to the page before."""

    type: Literal["go_back"] = "go_back"


class GoForward(BaseAction):
    """Go on to the page after."""

    type: Literal["go_forward"] = "go_forward"


class Reload(BaseAction):
    """Load the page again."""

    type: Literal["reload"] = "reload"


class WebSearch(BaseAction):
    """Search the web; without a query, open a search engine."""

    type: Literal["web_search"] = "web_search"
    query: str | None = None
    engine: str | None = None


class NewTab(BaseAction):
    """Open a tab."""

    type: Literal["new_tab"] = "new_tab"
    url: str | None = None


class SwitchTab(BaseAction):
    """Go to another tab, by its place from 0 or its id."""

    type: Literal["switch_tab"] = "switch_tab"
    index: int | None = None
    tab_id: str | None = None


class CloseTab(BaseAction):
    """Close a tab: by its place from 0, by its id, or the one that is open."""

    type: Literal["close_tab"] = "close_tab"
    index: int | None = None
    tab_id: str | None = None


class Restart(BaseAction):
    """Begin again from the first page."""

    type: Literal["restart"] = "restart"
