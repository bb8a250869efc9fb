"""Damaged calls of an unknown format that no format reads: each is reported."""

import pytest

from outspoken import parse
from outspoken.authoring.fuzz.sound import TOOLS

ARGUMENTS = '{"origin": "docs/plan_b.md", "goal": "C:/drafts/rates.csv"}'


@pytest.mark.parametrize(
    "text",
    [
        f"I will do this now.\nAction Input: {ARGUMENTS}",
        f"```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        f'Two steps are needed here.\n[TOOL"_CALLS]copy_folder[ARGS]{ARGUMENTS}',
        'As agreed.\n<FUNCTION NAME="book_ferry"><param name="harbour">north</param></function>',
    ],
)
def test_a_call_that_no_format_reads_is_reported(text: str) -> None:
    reply = parse(text, "auto", tools=TOOLS, finish_reason="stop")
    assert (reply.tool_calls, reply.looks_like_failed_tool_call) == ([], True)
