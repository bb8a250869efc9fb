"""No damage runs a call that nobody made: a share of the texts that `outspoken grammar fuzz` makes, in every format.

`python -m tools.damage markup` counts what becomes of more of them.
"""

from random import Random

import pytest

from outspoken.authoring.fuzz.damage import ENDS, ROWS, Case, cases
from outspoken.authoring.fuzz.sound import has_node
from outspoken.grammar import registry
from tests.loops import SEED, some
from tools.damage.judging import read

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
    readings = [read(case, pieces=at % 4 == 0) for at, case in enumerate(made)]  # in the time that a test may take
    told = f"OUTSPOKEN_TEST_SEED={SEED}"
    assert [(r.case.text, r.items) for r in readings if is_wrong(r.case, r.outcome)] == [], told
    assert [r.case.text for r in readings if r.differs] == [], told


def test_every_format_with_calls_is_tried() -> None:
    assert len(NAMES) >= 70
