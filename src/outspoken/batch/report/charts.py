"""Bars as SVG, without styles of their own: the page's policy allows none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .markup import Html, element

#: The statuses that bars show, in their order.
DAMAGED = ("repaired", "truncated", "invalid")
_WIDTH, _HEIGHT = 240, 28


def share_bar(counts: Mapping[str, int], scale: float) -> Html:
    """The shares of rows that are not ok, side by side; the full width is the share `scale`."""
    rows, at, parts = sum(counts.values()), 0.0, list[Html]()
    for status in DAMAGED:
        share = counts.get(status, 0) / rows if rows else 0.0
        if not share:
            continue
        width = min(max(share / scale * 1000, 3.0), 1000 - at) if scale else 0.0
        parts.append(_rect(at, 0, width, 10, status))
        at += width
    return element("svg", parts, viewBox="0 0 1000 10", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def columns(values: Sequence[float], labels: Sequence[str], title: str) -> Html:
    """A small chart of columns, each with its label; the highest fills it."""
    most = max(values, default=0.0)
    width = _WIDTH / max(1, len(values))
    bars: list[Html] = []
    for n, (value, label) in enumerate(zip(values, labels, strict=True)):
        height = max(value / most * _HEIGHT, 1.5) if value and most else 0.0
        name = element("title", label)
        hover = _rect(n * width, 0, width, _HEIGHT, "ground")
        bar = _rect(n * width + width * 0.1, _HEIGHT - height, width * 0.8, height, "column") if height else None
        bars.append(element("g", name, hover, bar))
    return element(
        "svg",
        bars,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        class_="columns",
        role="img",
        aria_label=title,
    )


def _rect(x: float, y: float, width: float, height: float, name: str) -> Html:
    return element("rect", x=f"{x:.6g}", y=f"{y:.6g}", width=f"{width:.6g}", height=f"{height:.6g}", class_=name)
