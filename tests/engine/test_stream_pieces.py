"""What a stream holds back of short texts, character by character: markers that may still grow, and what is typed."""

import pytest

from outspoken import Parser, parse
from outspoken.actions import ActionText
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.invariants.events import check_events

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
TEXTS = [
    ("hermes", f"<think>\nMaybe {CALL} or not.\n</think>\nSo `{CALL}`, then {CALL}"),
    ("glm_v_web", "Action: Click [3]."),
    ("gelab", "action:CLICK\tpoint:1,2,3\tsummary:\n"),
    ("gelab", "action:FLY\tpoint:1,2\tsummary:Flown."),
    ("glm_4_5", "<tool_call>find_"),
    ("minicpm5", '<function name="find'),
    ("inkling", "Good evening.<|end_message|>"),
    ("autoglm", 'do(action="Type", text="moss\n\nfern")'),
    ("autoglm", 'do(action="Type", text="the "red" lichen")'),
    ("mistral", '[THINK]They want tea.[TOOL_CALLS]set_timer[ARGS]{"minutes": 12}</s>'),
]


@pytest.mark.parametrize(("format_", "text"), TEXTS)
def test_characters_add_up_to_the_reply(format_: str, text: str) -> None:
    events, reply = ParseArguments(format_).stream(text)
    assert reply == parse(text, format=format_)
    check_events(events)


def test_what_is_typed_is_sent_while_it_arrives() -> None:
    events = Parser("autoglm").session().feed('do(action="Type", text="moss')
    assert [event.text for event in events if isinstance(event, ActionText)] == ["moss"]
