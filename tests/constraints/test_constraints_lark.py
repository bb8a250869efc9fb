"""interegular, which `lark[interegular]` and some engines of constrained decoding install, changes what Lark does."""

from typing import Any

import lark.lexer
import pytest

from outspoken.authoring.check.lark_errors import Loaded, load
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.compiler import lark_of


def test_terminals_are_not_compared_where_interegular_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused:
        class Comparator:
            @staticmethod
            def from_regexes(*_: Any) -> None:
                raise AssertionError("Lark compares all terminals with each other")

    monkeypatch.setattr(lark.lexer, "has_interegular", True)
    monkeypatch.setattr(lark.lexer, "interegular", Refused, raising=False)
    text, path = registry.grammar_text("hermes")
    assert lark_of(text, path, ["start"]).terminals
    assert isinstance(load(Source(path, text)), Loaded)
    assert lark.lexer.has_interegular
