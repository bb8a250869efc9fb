"""Tables of Markdown, and their place in documents."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

from outspoken.authoring.shared.checkout import TOP

#: A measured table in a document: `<!-- figures: NAME, DATE, COMMIT -->` before it, `<!-- end -->` behind it.
_PLACE = re.compile(r"<!-- figures: (\w+), ([\d-]+), (\w+) -->.*?<!-- end -->", re.S)


class Place(NamedTuple):
    """A table in a document, when it was measured, and at which commit."""

    path: Path
    name: str
    date: str
    commit: str


def share(count: int, of: int) -> str:
    """A share; only all of them are 100, and only none 0."""
    shown = round(100 * count / of) if of else 0
    return f"{min(max(shown, 1 if count else 0), 99 if count < of else 100)} %"


def spread(ratios: list[float]) -> str:
    """The geometric mean of ratios, and the least and the greatest one."""
    return f"{geometric_mean(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def told(names: list[str] | dict[str, int]) -> str:
    """Names in words, with their counts if they have any."""
    counts: dict[str, int] = dict(names) if isinstance(names, dict) else dict.fromkeys(names, 0)
    return ", ".join([f"`{name}`{f' {count}' * bool(count)}" for name, count in counts.items()]) or "none"


def places() -> Iterator[Place]:
    """The tables of all documents."""
    for path in sorted([TOP / "README.md", *TOP.glob("src/**/README.md"), *TOP.glob("tools/README.md")]):
        for found in _PLACE.finditer(path.read_text("utf-8")):
            yield Place(path, *found.groups())


def written(text: str, name: str, date: str, commit: str, content: str) -> str:
    """A document with a table in its place."""
    place = f"<!-- figures: {name}, {date}, {commit} -->\n\n{content}\n\n<!-- end -->"
    return _PLACE.sub(lambda found: place if found[1] == name else found[0], text)


def commits_since(commit: str) -> int:
    """How many commits have changed what is measured since one; -1 where that cannot be told."""
    command = ["git", "-C", str(TOP), "rev-list", "--count", f"{commit}..", "--", "src/outspoken", "grammars"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(ran.stdout) if ran.returncode == 0 else -1
