"""Names and arguments of earlier versions answer with what to write now."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import outspoken
from outspoken import Parser, PayloadRegistry, ResponseProcessor, Settings
from outspoken.payloads import PayloadSettings
from outspoken.processing import ResponseCache
from outspoken.providers import ProviderStream
from outspoken.results.old_names import _NEW  # pyright: ignore[reportPrivateUsage]

HOME: Any = outspoken
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


def test_other_attributes_are_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="'Parser' object has no attribute 'fromat'"):
        getattr(ATTRIBUTES["Parser"], "fromat")  # noqa: B009
    with pytest.raises(AttributeError, match="'Processed' object has no attribute 'vaule'"):
        getattr(ATTRIBUTES["Processed"], "vaule")  # noqa: B009


CALLS: list[tuple[Callable[[], object], str]] = [
    (lambda: HOME.stream(["x"], "hermes", ""), "write `stream(chunks, format, prefix=…)`"),
    (lambda: HOME.render([], "hermes", []), "write `render(what, format, tools=…)`"),
    (lambda: HOME.stream_response([], "cohere", None), "write `stream_response(chunks, provider, format=…)`"),
    (lambda: HOME.parse_actions("x", "ui_tars", None), "write `parse_actions(response, parser, page=…)`"),
    (lambda: ProviderStream("cohere", "hermes"), "write `ProviderStream(provider, format=…)`"),  # type: ignore
    (lambda: PayloadRegistry().parse(content="x"), "use `parse(response)`"),  # type: ignore
    (lambda: PayloadRegistry().parser().parse(content="x"), "use `parse(response)`"),  # type: ignore
    (lambda: Settings(screen=None), "use `Parser(screen=…)`"),  # type: ignore
    (lambda: PayloadSettings(screen=None), "use `Parser(screen=…)`"),  # type: ignore
    (lambda: ResponseProcessor().process("x", screen=None), "use `ResponseProcessor.replace`"),  # type: ignore
]


@pytest.mark.parametrize(("call", "message"), CALLS, ids=range(len(CALLS)))
def test_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).endswith(message)


def test_a_type_error_from_inside_of_a_function_stays() -> None:
    with pytest.raises(TypeError, match=r"^`text` is an int; expected str, bytes or None$"):
        HOME.parse(7)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'fromat'$"):
        HOME.read_json("1", fromat="")
