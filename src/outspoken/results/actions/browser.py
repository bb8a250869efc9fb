"""The browser: pages and tabs."""

from __future__ import annotations

from typing import Literal

from .base import BaseAction


class Navigate(BaseAction):
    """Open a URL."""

    type: Literal["navigate"] = "navigate"
    url: str
    new_tab: bool = False


class GoBack(BaseAction):
    """Go back to the previous page."""

    type: Literal["go_back"] = "go_back"


class GoForward(BaseAction):
    """Go forward to the next page."""

    type: Literal["go_forward"] = "go_forward"


class Reload(BaseAction):
    """Reload the page."""

    type: Literal["reload"] = "reload"


class WebSearch(BaseAction):
    """Search the web; without a query, open the search engine."""

    type: Literal["web_search"] = "web_search"
    query: str | None = None
    engine: str | None = None


class NewTab(BaseAction):
    """Open a new tab."""

    type: Literal["new_tab"] = "new_tab"
    url: str | None = None


class SwitchTab(BaseAction):
    """Switch to a tab by its index (from 0) or its id."""

    type: Literal["switch_tab"] = "switch_tab"
    index: int | None = None
    tab_id: str | None = None


class CloseTab(BaseAction):
    """Close a tab by its index (from 0) or its id, or the current tab."""

    type: Literal["close_tab"] = "close_tab"
    index: int | None = None
    tab_id: str | None = None


class Restart(BaseAction):
    """Start again from the first page."""

    type: Literal["restart"] = "restart"
