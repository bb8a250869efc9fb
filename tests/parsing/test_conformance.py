"""What the tests of vLLM, SGLang and llama.cpp assert, where that data lies beside the project.

Every row is read by the format that its parser's name is an alias of. Where we differ, that is on purpose and for one
of the reasons here; any other difference fails. Some of the reasons are habits, which are told from what was read
(`comparison.py`); the others are given by rows, and the table says why.
Where the data is missing there is nothing to read.
"""

from collections import Counter

import pytest

from tests.parsing.comparison import differs, found, habit, read
from tests.parsing.peers import llamacpp, sglang, vllm
from tests.tables import BESIDE, tables

TABLES = tables(__file__)

pytestmark = pytest.mark.usefixtures("other_grammars")

#: The rows that differ where no habit explains it, as parts of their ids, by the name of the reason.
DIFFERENCES: dict[str, list[str]] = TABLES["DIFFERENCES"]
#: How many rows of a peer there are at least, and how many at most differ, by the names of reasons and habits.
COUNTS: dict[str, dict[str, int]] = TABLES["COUNTS"]

SGLANG = ("sglang_tool_complete", "sglang_tool_stream", "sglang_reasoning", "sglang_manual")

PEERS = {"vllm": vllm, "sglang": lambda: sglang(*SGLANG), "llamacpp": llamacpp}


@pytest.mark.parametrize("peer", PEERS)
def test_rows_of_a_peer(peer: str) -> None:
    """No reason may stand for more of them than is known."""
    read_rows = 0
    differing: Counter[str] = Counter()
    wrong: list[str] = []
    for row in PEERS[peer]():
        read_rows += 1
        reply = read(row)
        what = differs(row, found(reply))
        if not what:
            continue
        given = next((name for name, ids in DIFFERENCES.items() if any(part in row.id for part in ids)), None)
        reason = habit(row, reply) or given
        if reason is None:
            wrong.append(f"{row.id}: {', '.join(what)}")
        else:
            differing[reason] += 1
    assert wrong == []
    most = Counter(COUNTS[peer])
    least = most.pop("rows")
    assert not BESIDE.exists() or (read_rows >= least and differing <= most), differing - most


def test_known_differences_still_differ() -> None:
    ids = {row.id for rows in PEERS.values() for row in rows()}
    assert TABLES["REASONS"].keys() == DIFFERENCES.keys()
    assert {name for most in COUNTS.values() for name in most} == {"rows", *TABLES["REASONS"], *TABLES["HABITS"]}
    unused = [part for parts in DIFFERENCES.values() for part in parts if not any(part in id_ for id_ in ids)]
    assert not BESIDE.exists() or unused == []
