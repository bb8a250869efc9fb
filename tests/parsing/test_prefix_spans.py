"""Places are those of the response, also where its first marker begins in the prompt."""

import pytest

from outspoken import parse
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.cases import Case
from tests.loops import DRAWN, for_each


@pytest.mark.parametrize("prefix", ["\n", "</think>\n"])
def test_spans_lie_within_the_response(prefix: str) -> None:
    def check(case: Case) -> None:
        reply = ParseArguments(case.format, case.options).parse(case.text, prefix=prefix)
        places = [one.span for one in (*reply.segments, *reply.diagnostics)]
        assert all(0 <= start <= end <= len(case.text) for start, end in places), places

    for_each(DRAWN, check)


def test_a_marker_that_begins_with_the_last_line_break_of_the_prompt() -> None:
    (payload,) = parse("SUGGESTED_VALUES: []", format="suggestions", prefix="\n").segments
    assert payload.span == (0, 20)
