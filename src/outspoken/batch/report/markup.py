"""HTML from Python: text is always escaped, and only `Html` is not."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

from outspoken.results.snippet import visible

#: Elements without an end.
_EMPTY = frozenset({"meta"})


class Html(str):
    """Text that is HTML."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def element(name: str, /, *children: Child, **attributes: str | int | None) -> Html:
    """An element. Children are elements and text; `class_` is its class, and `aria_label` the attribute aria-label."""
    shown = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    start = f"<{name}{''.join(shown)}>"
    return Html(start if name in _EMPTY else f"{start}{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """Elements and text as HTML. Control characters, and those that turn the direction of text, become escapes."""
    made: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            made.append(child)
        elif isinstance(child, int):
            made.append(f"{child:,}")
        elif isinstance(child, str):
            made.append(html.escape(visible(child)))
        else:
            made.append(joined(child))
    return Html("".join(made))


def preformatted(text: str, **attributes: str) -> Html:
    """Lines of text as they are."""
    lines = Html("\n".join([html.escape(visible(line)) for line in text.split("\n")]))
    return element("pre", lines, tabindex="0", **attributes)


def code(text: str) -> Html:
    """A word of the data."""
    return element("code", text)


def table(label: str, heads: Iterable[str], rows: Iterable[Iterable[Child]], numbers: Iterable[int] = ()) -> Html:
    """A table. The first cell of each row is its head; `numbers` are the columns that are aligned to the right."""
    heads, right = list(heads), set(numbers)
    classes = ["number" if n in right else None for n in range(len(heads))]
    head = [element("th", one, scope="col", class_=class_) for one, class_ in zip(heads, classes, strict=True)]
    body: list[Html] = []
    for row in rows:
        first, *rest = [element("td", cell, class_=class_) for cell, class_ in zip(row, classes, strict=True)]
        cells = [Html(f'<th scope="row"{first[3:-5]}</th>'), *rest]
        body.append(element("tr", cells))
    made = element("table", element("thead", element("tr", head)), element("tbody", body))
    return element("div", made, class_="scroll", role="region", aria_label=label, tabindex="0")
