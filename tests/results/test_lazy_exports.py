"""Packages export the names that they import for type checkers."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import outspoken

_TOP = Path(outspoken.__file__).parent
_PACKAGES = [path for path in sorted(_TOP.rglob("__init__.py")) if "export_lazily(" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", _PACKAGES, ids=lambda path: path.parent.name)
def test_all_names_under_type_checking_are_exported(path: Path) -> None:
    blocks = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    expected = {alias.name: "." * node.level + (node.module or "") for node in imports for alias in node.names}
    package = ".".join(("outspoken", *path.parent.relative_to(_TOP).parts))
    module = import_module(package)
    assert expected
    assert vars(module)["__all__"] == sorted(expected)
    for name, home in expected.items():
        assert vars(module)["__getattr__"](name) is getattr(import_module(home, package), name)
