"""What the tests of vLLM, SGLang and llama.cpp assert, where that data lies beside the project.

Every row is read by the format that its parser's name is an alias of. Where we differ, that is on purpose and for one
of the reasons here; any other difference fails. Some of the reasons are habits, which are told from what was read
(`comparison.py`); the others are given by rows. Where the data is missing there is nothing to read.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from tests.parsing.comparison import BROKEN, CUT, KEPT, PREFILLED, SPELLED, TYPED, UNKNOWN, differs, found, habit, read
from tests.parsing.peers import DATA, Row, llamacpp, sglang, vllm
from tests.tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.usefixtures("other_grammars")

CITED = "what reasoning cites stays in it, as it was written: a segment is a part of the text"
NAMELESS = "there is no sound name; what stands there is text"
EMPTY = "tags with nothing between them are as likely spoken of as written; they are text"
SCHEMA = "an argument is kept as it was written, and a call as well, whatever the tool's schema knows of it"
UNWRAPPED = "an argument that holds all others is kept: it may have been sent when the schema says that it is none"
SWAPPED = "reasoning stays reasoning where there is no answer; a caller may show it"
OPTIONS = "reasoning and calls are told from what was written, whatever the request asked for"
DIALECT = "all dialects of a format are read; a request need not say which"
REPAIRED = "damage is repaired, and the repairs are listed; the peer gives all of the text as content"
INVALID = "what cannot be read for certain is invalid and is not run; the peer runs what it has"
PART = "the row holds a part of the text only: the test had set the parser's state itself"
MARKUP = "a marker that has no place where it stands is text"
UNSAID = "only the beginning of a sound call ends reasoning; the test's payload is none"
CALLED = "a call in reasoning ends it, as with other formats' parsers"
STAYS = "a closing marker alone does not make reasoning of text that was sent already"
ENTITIES = "names and values are as they were written; nothing is unescaped"
FENCED = "a fence round JSON is part of the text; `read_json` reads what is in it"
LEAK = "the test asserts a fault of the peer's: its parser of reasoning lets a cut header through"
MERGED = "the test asserts a fault of the peer's: two calls are merged, or the second one is lost"
DECLARED = "an object that the schema admits is an object; the peer prefers text"
ZEROS = "digits with a zero before them are no number as written, and stay text"
ITEMS = "elements that are all called `item` are a list, also where no schema says so"
TRIMMED = "one line break at each end of a value belongs to its tags, as in the peer's parser of the same name today"
TWICE = "an opening marker in reasoning is part of it"
NOTE = "a message to the developer is kept as reasoning; it is not for the user"
MIDLINE = "an opening tag within a line is part of a value, as code that quotes it"
EXAMPLE = "a call without markers that other text follows is an example, if the tools are known"
GUESSED = "a name that the model did not write is not guessed from the arguments"

SGLANG = ("sglang_tool_complete", "sglang_tool_stream", "sglang_reasoning", "sglang_manual")

#: Why rows differ where no habit explains it, by parts of their ids.
DIFFERENCES = TABLES["DIFFERENCES"]


def check(rows: Iterable[Row], least: int, most: dict[str, int]) -> None:
    """Read all rows. No reason may stand for more of them than is known."""
    seen: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    wrong: list[str] = []
    for row in rows:
        seen[row.parser] += 1
        reply = read(row)
        what = differs(row, found(reply))
        if not what:
            continue
        given = next((why for why, ids in DIFFERENCES.items() if any(part in row.id for part in ids)), None)
        reason = habit(row, reply) or given
        if reason is None:
            wrong.append(f"{row.id}: {', '.join(what)}")
        else:
            differing[reason] += 1
    assert wrong == []
    assert not DATA.exists() or (sum(seen.values()) >= least and differing <= Counter(most)), differing - Counter(most)


def test_vllm() -> None:
    check(
        vllm(),
        1641,
        {
            BROKEN: 34,
            CITED: 3,
            CUT: 42,
            DIALECT: 4,
            EMPTY: 7,
            INVALID: 11,
            ITEMS: 1,
            KEPT: 36,
            LEAK: 3,
            MARKUP: 14,
            MERGED: 1,
            MIDLINE: 1,
            NAMELESS: 17,
            NOTE: 3,
            OPTIONS: 8,
            PART: 6,
            REPAIRED: 8,
            SCHEMA: 9,
            SPELLED: 15,
            STAYS: 3,
            SWAPPED: 7,
            TRIMMED: 3,
            TYPED: 29,
            UNKNOWN: 5,
            UNWRAPPED: 10,
            ZEROS: 2,
        },
    )


def test_sglang() -> None:
    check(
        sglang(*SGLANG),
        485,
        {
            BROKEN: 1,
            CUT: 7,
            ENTITIES: 1,
            EXAMPLE: 5,
            GUESSED: 3,
            INVALID: 12,
            KEPT: 18,
            MARKUP: 5,
            MERGED: 7,
            PART: 2,
            SCHEMA: 3,
            SWAPPED: 7,
            TWICE: 1,
            UNKNOWN: 7,
            UNSAID: 5,
        },
    )


def test_llamacpp() -> None:
    check(llamacpp(), 463, {CALLED: 2, CUT: 10, DECLARED: 1, FENCED: 2, KEPT: 2, MARKUP: 3, PART: 1, PREFILLED: 74})


def test_known_differences_still_differ() -> None:
    ids = {row.id for rows in (vllm(), sglang(*SGLANG), llamacpp()) for row in rows}
    unused = [part for parts in DIFFERENCES.values() for part in parts if not any(part in id_ for id_ in ids)]
    assert not DATA.exists() or unused == []
