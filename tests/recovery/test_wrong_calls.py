"""No damage runs a call that nobody made; and the tolerant grammar, whose parser judges the search of damaged regions.

The texts are a share of those that `outspoken grammar fuzz` makes, in every format. `python -m tools.damage markup`
counts what becomes of more of them.
"""

from dataclasses import replace
from random import Random

import pytest
from lark import Lark

from outspoken import parse
from outspoken.authoring.fuzz.damage import ENDS, ROWS, Case, cases
from outspoken.authoring.fuzz.sound import has_node
from outspoken.cli.main import main
from outspoken.grammar import registry, tolerant
from outspoken.recovery import search
from outspoken.recovery.earley import grammar_text, read
from outspoken.recovery.path import RecoveryPath, Region
from outspoken.recovery.search import recover
from outspoken.trees.lark_parser import TokenLexer
from tests.cases import CORPUS
from tests.loops import SEED, some
from tools.damage.judging import damaged_texts
from tools.damage.judging import read as read_damaged
from tools.damage.responses import bases

NAMES = [name for name in registry.names() if has_node(name, "tool_call")]
#: Nothing else than what was meant runs of these, whether something is reported or not.
STRICT = ("thought", "number", "read off", *ENDS)
#: So many texts of other kinds are read of each format.
OTHERS = 3


def is_wrong(case: Case, outcome: str) -> bool:
    """Whether an outcome breaks a bound that holds."""
    return outcome.startswith("wrong") if case.kind in STRICT else outcome == "wrong, ok"


@pytest.mark.parametrize("name", some(NAMES, "wrong calls", 0.17))
def test_no_damage_runs_a_wrong_call_silently(name: str) -> None:
    seed, others = f"wrong calls {SEED}", [row for row in ROWS if row not in STRICT]
    rows = [*STRICT, *Random(f"{seed} {name}").sample(others, OTHERS)]
    made = [*cases(name, seed, len(rows), rows)]
    assert made
    readings = [
        read_damaged(case, pieces=at % 4 == 0) for at, case in enumerate(made)
    ]  # in the time that a test may take
    told = f"OUTSPOKEN_TEST_SEED={SEED}"
    assert [(r.case.text, r.items) for r in readings if is_wrong(r.case, r.outcome)] == [], told
    assert [r.case.text for r in readings if r.differs] == [], told


def test_every_format_with_calls_is_tried() -> None:
    assert len(NAMES) >= 70


# the tolerant grammar of a format, and Lark's Earley parser that reads damaged regions with it


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_the_tolerant_grammar_is_a_grammar_of_lark(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--tolerant-grammar", name]) == 0
    text = capsys.readouterr().out
    assert text == grammar_text(name)
    Lark(text, parser="earley", lexer=TokenLexer, start=[tolerant.ENDED, tolerant.CUT])


def test_the_tolerant_grammar_says_what_may_be_wrong_with_a_marker() -> None:
    lines = grammar_text("qwen3_coder").splitlines()
    assert "argument: parameter_open arg_name value_open arg_value parameter_close" in lines
    assert [line for line in lines if "parameter_close" in line.partition(":")[0]] == [
        "parameter_close: _parameter_close | _stray _parameter_close"
        " | missing_parameter_close | _stray missing_parameter_close",
        "present_parameter_close: _parameter_close | _stray _parameter_close",
        "missing_parameter_close.-3: MISSING_PARAMETER_CLOSE",
        "_parameter_close: PARAMETER_CLOSE | _cost _parameter_close | _SKIP _parameter_close",
    ]
    assert "marker_in_value.-4: _marker | _opener" in lines
    assert "foreign.-2: broken_start _rest?" in lines


#: Formats of several families.
_FORMATS = ("hermes", "qwen3_coder", "glm_4_5", "pythonic")


def _regions(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """The damaged regions in the damaged texts of the corpus, and in sound ones with a mistake."""
    found: list[Region] = []

    def note(region: Region) -> RecoveryPath | None:
        found.append(replace(region))
        return recover(region)

    monkeypatch.setattr(search, "recover", note)
    for path in sorted((CORPUS / name / "err").glob("*.txt")):
        parse(path.read_text("utf-8"), format=name)
    for case in damaged_texts(bases(name, 20), Random(f"20 {SEED} {name}"), 3, 1):
        parse(case.text, format=name, tools=case.base.tools, finish_reason="stop")
    return found


def _reads_text_only(path: RecoveryPath | None) -> bool:
    return path is not None and all(step.is_text or step.transition is None for step in path.steps)


@pytest.mark.parametrize("name", some(_FORMATS, "earley", 0.5))
def test_the_search_and_the_earley_parser_give_the_same_cost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of most of the regions. The parser may cost less only where the search reads nothing, or text."""
    compared = 0
    for region in some(_regions(name, monkeypatch), name, 0.5):
        path, other = recover(replace(region, nodes=4000)), read(replace(region, nodes=4000, tokens_left=10_000))
        if path is None or other is None or _reads_text_only(path):
            continue
        compared += 1
        assert other.cost == path.cost, region.text
    assert compared > 2
