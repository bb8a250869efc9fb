"""Parses syrupy's snapshot files back into values.

Syrupy writes dicts and lists a line for each entry, strings of several lines as indented blocks, and everything else
as Python shows it. So what a model of the library looks like can be read as the Python expression that it is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syrupy.extensions.amber.serializer import AmberDataSerializer

_INDENT = "  "
_OPENED = {"dict({": "})", "list([": "])", "'''": "'''"}


@dataclass(frozen=True, slots=True)
class Model:
    """A model as it stands in a snapshot: the name of its class, and its fields, as Python values or models again."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict[str, Any])


def read_snapshots(path: Path) -> dict[str, str]:
    """The snapshots of a file by the name of their test, each as syrupy wrote it; none if there is no file."""
    return {snapshot.name: str(snapshot.data) for snapshot in AmberDataSerializer.read_file(str(path))}


def written(value: Any) -> str:
    """A value as syrupy writes it."""
    return AmberDataSerializer.serialize(value)


def read(text: str) -> Any:
    """The value of a snapshot: dicts, lists, strings, numbers, models. Raises ValueError if the text is none."""
    lines = text.split("\n")
    value, end = _value(lines, 0, 0, "")
    if any(lines[end:]):
        raise ValueError(f"`{lines[end]}` stands behind the end of a snapshot")
    return value


def _value(lines: list[str], at: int, depth: int, key: str) -> tuple[Any, int]:
    """The value that begins in a line, behind its key, and the line behind it."""
    if at >= len(lines):
        raise ValueError("a snapshot ends inside a value")
    first = lines[at].removeprefix(_INDENT * depth).removeprefix(key)
    if first not in _OPENED:
        return python_value(first.removesuffix(",") if depth else first), at + 1
    close = _INDENT * depth + _OPENED[first]
    if first == "'''":
        end = next((n for n in range(at + 1, len(lines)) if lines[n] in (close, f"{close},")), len(lines))
        return _block(lines[at + 1 : end], depth + 1 if depth else 0), end + 1
    return _entries(lines, at + 1, depth + 1, close)


def _entries(lines: list[str], at: int, depth: int, close: str) -> tuple[Any, int]:
    """The entries of a dict or a list up to the line that closes it, and the line behind that."""
    pairs: dict[Any, Any] = {}
    items: list[Any] = []
    while at < len(lines) and lines[at] not in (close, f"{close},"):
        key = _key(lines[at][len(_INDENT) * depth :]) if close.endswith("})") else ""
        value, at = _value(lines, at, depth, key)
        if key:
            pairs[ast.literal_eval(key.removesuffix(": "))] = value
        else:
            items.append(value)
    if at == len(lines):
        raise ValueError("a snapshot ends inside a value")
    return pairs if close.endswith("})") else items, at + 1


def _key(line: str) -> str:
    """The key that a line begins with, up to the value."""
    quote = line[:1]
    end = line.find(f"{quote}: ", 1)
    if quote not in ("'", '"') or end < 0:
        raise ValueError(f"`{line}` is no entry of a dict")
    return line[: end + 3]


def _block(lines: list[str], depth: int) -> str:
    """The text of an indented block. Every line is indented, also behind the rarer line breaks."""
    text = "\n".join(lines)
    return "".join([line.removeprefix(_INDENT * depth) for line in text.splitlines(keepends=True)])


def python_value(text: str) -> Any:
    """What Python shows of a value, as the value; the text itself where that is no expression or nests too deeply."""
    try:
        return _made(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _made(node: ast.expr) -> Any:
    """The value of an expression. Raises ValueError for what no model shows."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        return Model(node.func.id, {str(keyword.arg): _made(keyword.value) for keyword in node.keywords})
    if isinstance(node, ast.Dict):
        keys = [_made(key) for key in node.keys if key is not None]
        return dict(zip(keys, [_made(value) for value in node.values], strict=True))
    if isinstance(node, ast.List):
        return [_made(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_made(item) for item in node.elts])
    if isinstance(node, ast.Name):
        return float(node.id)  # inf and nan
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_made(node.operand)
    return ast.literal_eval(node)
