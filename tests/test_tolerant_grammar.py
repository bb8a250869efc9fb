"""The tolerant grammar of a format, and Lark's Earley parser that reads damaged regions with it."""

from __future__ import annotations

import pytest
from lark import Lark

from outspoken.cli.main import main
from outspoken.grammar import tolerant
from outspoken.recovery import costs
from outspoken.recovery.earley import grammar_text
from outspoken.trees.lark_parser import TokenLexer


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_the_tolerant_grammar_is_a_grammar_of_lark(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--tolerant-grammar", name]) == 0
    text = capsys.readouterr().out
    assert text == grammar_text(name)
    Lark(text, parser="earley", lexer=TokenLexer, start=[tolerant.ENDED, tolerant.CUT])


def test_the_tolerant_grammar_says_what_may_be_wrong_with_a_marker() -> None:
    lines, near = grammar_text("qwen3_coder").splitlines(), costs.DAMAGED_MARKER + costs.INTACT_OTHER
    assert "argument: parameter_open arg_name value_open arg_value parameter_close" in lines
    assert [line for line in lines if "parameter_close" in line.partition(":")[0]] == [
        "parameter_close: _parameter_close | _stray _parameter_close"
        " | missing_parameter_close | _stray missing_parameter_close",
        "present_parameter_close: _parameter_close | _stray _parameter_close",
        "missing_parameter_close.-3: MISSING_PARAMETER_CLOSE",
        "_parameter_close: PARAMETER_CLOSE | damaged_parameter_close | _SKIP _parameter_close",
        "damaged_parameter_close: _cost PARAMETER_CLOSE | _cost damaged_parameter_close | near_parameter_close",
        f"near_parameter_close.-{near}: NEAR_PARAMETER_CLOSE",
    ]
    assert "marker_in_value.-4: _marker | _opener" in lines
    assert "foreign.-2: broken_start _rest?" in lines
