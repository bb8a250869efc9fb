"""`Session.held`: what a stream cannot decide yet, and why."""

import pytest

from outspoken import Parser
from outspoken.parsing import Held

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'

HELD = [
    ("hermes", "Now <tool_", Held("marker", 3, " <tool_")),
    ("hermes", f"<!-- {CALL}", Held("quotation", 5, CALL)),
    ("hermes", f"<think>a {CALL}", Held("reasoning", 9, CALL)),
    ("hermes", '<tool_call>\n{"name": "f" "a', Held("damage", 0, '<tool_call>\n{"name": "f" "a')),
    ("auto", '<tool_call>\n{"name": "f', Held("format", 0, '<tool_call>\n{"name": "f')),
    ("ui_tars", "<pre>\nAction: wait(time=7)", Held("quotation", 14, "wait(time=7)")),
    ("hermes", "Now.", None),
    ("hermes", CALL, None),
]


@pytest.mark.parametrize(("format", "text", "held"), HELD)
def test_what_is_held(format: str, text: str, held: Held | None) -> None:
    session = Parser(format).session()
    assert session.held is None
    session.feed(text)
    assert session.held == held
    session.close()
    assert session.held is None
