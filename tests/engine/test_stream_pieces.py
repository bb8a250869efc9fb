"""What a stream holds back of short texts, character by character: markers that may still grow, and what is typed."""

from typing import Any

from outspoken.authoring.fuzz.checks import ParseArguments
from tests.loops import some


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
