"""What a stream holds back of short texts, character by character: markers that may still grow, and what is typed."""

from typing import Any

import pytest

from outspoken import Parser, parse
from outspoken.actions import ActionText
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.invariants.events import check_events
from tests.loops import some

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


def tool(name: str, *required: str) -> dict[str, Any]:
    properties: dict[str, Any] = {key: {} for key in required}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": [*required]}}


def test_the_reason_why_a_call_is_refused_does_not_depend_on_the_chunks() -> None:
    """What follows the end of a damaged call is known before the call is judged."""
    text = (
        '<function_calls>delete_path(path="/srv/data/reports")\n'
        'send_parcel(recipient=(recipient="late delivery of paint", weight=4711, notice="Roof is tight.")\n'
        'measure_depth(station="Ada and Grace", metres=193)</function_calls>'
    )
    tools = [
        tool("delete_path", "path"),
        tool("send_parcel", "recipient", "weight", "notice"),
        tool("measure_depth", "station", "metres"),
    ]
    args = ParseArguments("olmo3", {"tools": tools}, "stop")
    whole = args.parse(text)
    assert [call.name for call in whole.tool_calls] == ["delete_path"]
    for cut in some(range(1, len(text)), "refused", 0.34):
        assert args.stream((text[:cut], text[cut:]))[1] == whole
