"""The corpus: model responses in `tests/corpus/<format>/<ok|err>/<case>.txt`, exact to the byte.

What a case needs beside its text lies in `<case>.toml`: `prefix`, what the prompt had already opened, and `tools`, as
an array of tables or as a string of JSON. `sources.toml` says of every case where it comes from.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken import Parser, Reply, parse
from outspoken.parsing import Session

from .checkout import Checkout

toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

KINDS = ("ok", "err")


@dataclass(frozen=True)
class Case:
    """One text of the corpus, and how it is parsed."""

    format: str
    kind: str
    name: str
    text: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.format}-{self.kind}-{self.name}"

    def parse(self, text: str | None = None, format: str | None = None) -> Reply:
        """Read the text, or another one in its place."""
        return parse(self.text if text is None else text, format=format or self.format, **self.options)

    def session(self, format: str | None = None) -> Session:
        """A session that reads the text in chunks."""
        options = dict(self.options)
        prefix = options.pop("prefix", None)
        return Parser(format or self.format, **options).session(prefix=prefix)


def load(path: Path) -> Case:
    """The case whose text lies at a path of a corpus."""
    options: dict[str, Any] = {}
    beside = path.with_suffix(".toml")
    if beside.exists():
        options = toml.loads(beside.read_text("utf-8"))
        if isinstance(options.get("tools"), str):
            options["tools"] = json.loads(options["tools"])
    return Case(path.parts[-3], path.parts[-2], path.stem, path.read_bytes().decode(), options)


def cases(checkout: Checkout, format: str = "*") -> list[Case]:
    """The cases of a format, or of all, by format, kind and name."""
    return [load(path) for path in checkout.case_files(format)]
