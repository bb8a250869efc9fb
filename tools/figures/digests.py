"""Digests of code: the same for the same statements, whatever comments, docstrings and line breaks there are.

The options that a command takes, in its `main`, do not count either.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

#: The part of the code that is no Python.
GRAMMARS = "grammars"


def digest_of(root: Path, path: str, formats: Iterable[str] = ()) -> str:
    """The digest of a module, of all modules below a folder, or of the grammars of `formats` for `GRAMMARS`.

    `path` leads from the top of the checkout, `root`. Raises FileNotFoundError if there is nothing.
    """
    where = root / path
    parts = hashlib.sha256()
    files = _grammars(where, formats) if path == GRAMMARS else _modules(where)
    for file in files:
        parts.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
        parts.update(file.read_bytes() if path == GRAMMARS else _statements(file))
    return parts.hexdigest()[:16]


def _modules(where: Path) -> list[Path]:
    found = [where] if where.suffix == ".py" else sorted(where.rglob("*.py"))
    if not found:
        raise FileNotFoundError(f"there is no Python below {where}")
    return found


def _grammars(folder: Path, formats: Iterable[str]) -> list[Path]:
    """The grammars of formats, and what all grammars import."""
    return [*[folder / f"{name}.lark" for name in sorted(formats)], *sorted((folder / "shared").rglob("*.lark"))]


def _statements(file: Path) -> bytes:
    return "\n".join(_words(ast.parse(file.read_text("utf-8")))).encode()


def _words(node: Any) -> Iterator[str]:
    """A syntax tree as words that every version of Python writes alike: none for fields that are empty."""
    if isinstance(node, ast.AST):
        yield node.__class__.__name__
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if value is None or value == []:
                continue
            yield name
            yield from _words(value)
    elif isinstance(node, list):
        yield from [word for item in cast("list[Any]", node) if not _says_nothing(item) for word in _words(item)]
    else:
        yield repr(node)


def _says_nothing(node: Any) -> bool:
    """Whether it is a docstring, the `main` of a command, or the empty text that some Pythons put into f-strings."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "main"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.Constant):
        return node.value == "" and (node.lineno, node.col_offset) == (node.end_lineno, node.end_col_offset)
    return False
