"""Which of several formats has read a segment is asked for when one of them has ended it, not with each chunk."""

import pytest

from outspoken import Parser
from outspoken.detection.parsed_candidate import ParsedCandidate

UNITS = ["Thought: x\n", "Action: a\nAction Input: 1\n", "<think>a</think>b\n", "Thought: a, b "]


@pytest.mark.parametrize("unit", UNITS)
def test_a_chunk_that_ends_nothing_ranks_nothing(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank looks at all that a candidate has read: with each chunk, time grows with the square of the text."""
    ranked, rank = 0, ParsedCandidate.rank

    def counted(self: ParsedCandidate, first: str | None) -> tuple[object, ...]:
        nonlocal ranked
        ranked += len(self.builder.output.segments) + 1
        return rank(self, first)

    monkeypatch.setattr(ParsedCandidate, "rank", counted)
    looked: list[int] = []
    for count in (20, 80):
        ranked, session = 0, Parser("auto").session()
        for char in unit * count:
            session.feed(char)
        session.close()
        looked.append(ranked)
    assert looked[1] <= 6 * looked[0] + 20, looked
