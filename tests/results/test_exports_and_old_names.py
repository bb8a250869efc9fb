"""The public names: packages export what they import for type checkers, and old names answer with what to write now."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import outspoken
from outspoken import Parser, ResponseProcessor
from outspoken.processing import ResponseCache
from outspoken.results.old_names import _NEW  # pyright: ignore[reportPrivateUsage]

TOP = Path(outspoken.__file__).parent
PACKAGES = [path for path in sorted(TOP.rglob("__init__.py")) if "export_lazily(" in path.read_text("utf-8")]
MOVED = {old: new for old, new in _NEW.items() if old.startswith("outspoken.")}
ATTRIBUTES = {"Parser": Parser(), "Processed": ResponseProcessor().process("Hi."), "ResponseCache": ResponseCache()}


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_all_names_under_type_checking_are_exported(path: Path) -> None:
    blocks = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    expected = {alias.name: "." * node.level + (node.module or "") for node in imports for alias in node.names}
    package = ".".join(("outspoken", *path.parent.relative_to(TOP).parts))
    module = import_module(package)
    assert expected
    assert vars(module)["__all__"] == sorted(expected)
    assert {*expected} <= {*dir(module)}
    for name, home in expected.items():
        assert vars(module)["__getattr__"](name) is getattr(import_module(home, package), name)


def test_there_are_few_names_and_no_others() -> None:
    assert len(vars(outspoken)["__all__"]) <= 46
    with pytest.raises(AttributeError, match="module 'outspoken' has no attribute 'StreamParser'"):
        getattr(outspoken, "StreamParser")  # noqa: B009


@pytest.mark.parametrize("old", MOVED)
def test_old_names_of_modules(old: str) -> None:
    module, _, name = old.rpartition(".")
    home = import_module(module)
    message = f"`{old}` is gone; use `{MOVED[old]}`"
    assert not hasattr(home, name)
    with pytest.raises(AttributeError) as caught:
        getattr(home, name)
    with pytest.raises(ImportError) as refused:
        exec(f"from {module} import {name}")
    assert str(caught.value) == str(refused.value) == message
    path, _, function = MOVED[old].partition("(")[0].rpartition(".")
    assert hasattr(import_module(path or module), function)


@pytest.mark.parametrize("old", [old for old in _NEW if old not in MOVED and "(" not in old])
def test_old_names_of_classes(old: str) -> None:
    owner, _, name = old.partition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(ATTRIBUTES[owner], name)
    assert str(caught.value) == f"`{old}` is gone; use `{owner}.{_NEW[old]}`"
    assert hasattr(ATTRIBUTES[owner], _NEW[old].partition("(")[0])
