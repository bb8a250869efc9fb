"""Names and arguments of earlier versions answer with what to write now."""

from importlib import import_module

import pytest

from outspoken import Parser, ResponseProcessor
from outspoken.processing import ResponseCache
from outspoken.results.old_names import _NEW  # pyright: ignore[reportPrivateUsage]

MOVED = {old: new for old, new in _NEW.items() if old.startswith("outspoken.")}
ATTRIBUTES = {"Parser": Parser(), "Processed": ResponseProcessor().process("Hi."), "ResponseCache": ResponseCache()}


@pytest.mark.parametrize("old", MOVED)
def test_names_of_modules(old: str) -> None:
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
def test_names_of_classes(old: str) -> None:
    owner, _, name = old.partition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(ATTRIBUTES[owner], name)
    assert str(caught.value) == f"`{old}` is gone; use `{owner}.{_NEW[old]}`"
    assert hasattr(ATTRIBUTES[owner], _NEW[old].partition("(")[0])
