"""Mistakes in the markup of actions and payloads: read as meant, or said, and never run otherwise."""

from __future__ import annotations

import pytest

from outspoken import Parser, Reply, parse

#: By format: texts with one mistake, and the types of the actions and payloads that they mean.
MEANT = {
    "browser_use": {
        '{"actiOn": [{"wait": {"seconds": 7}}]}': ["wait"],
        '{"action"": [{"wait": {"seconds": 7}}]}': ["wait"],
    },
    "openai_computer_use": {
        'Now.\n{"tpye": "click", "x": 1, "y": 2}': ["click"],
        'Now.\n{"type" :"click", "x": 1, "y": 2}': ["click"],
    },
    "showui": {"{'Action': 'CLICK', 'position': [0.1, 0.2]}": ["click"]},
    "gelab": {"Now.\naction:WAIT\tvalue:7\tsummry:\n\n\naction:CLICK\tpoint:3,4\tsummary:\n": ["wait", "click"]},
    "os_atlas": {
        "actions:\nTYPE <point>moss</poitn>\n\nactions:\nCLICK <point>[[1, 2]]</point>": ["type_text", "click"],
        "actions:\nCLICK <point>[[1, 2]]</Point>": ["click"],
    },
    "ui_tars": {
        "Now.\nAAction: wait(time=7)": ["wait"],
        "Now.Action: wait(time=7)": ["wait"],
    },
    "ui_venus": {"<action>Hotkey(keys=['ctrl' 'k'])</action>": ["press_keys"]},
    "glm_v_computer": {"<|begn_of_box|>scroll(direction='up')<|end_of_box|>": ["scroll"]},
    "opencua": {"## Code:\n```ypthon\npyautogui.click(x=1, y=2)\n```": ["click"]},
    "gemini_computer_use": {
        '{"name": "click_at", "argss": {"x": 1, "y": 2}}': ["click"],
        '{"Name": "click_at", "args": {"x": 1, "y": 2}}': ["click"],
    },
    "suggestions": {
        'SUGGESTED_VALUES:\n{"label": "a", "value": "b"}, {"label": "c", "value": "d"}]': ["suggested_values"],
        'SUGGESTED_VALUE:\n[{"label": "a", "value": "b"}]': ["suggested_values"],
        'SUGGESTED_VALUES:\n[{"label": "a", "value": "b"}, "label": "c", "value": "d"}]': ["suggested_values"],
    },
}

#: By format: texts from which nothing is run.
REFUSED = {
    "ui_tars": [
        "Thought: a\nAction: click(start_box='(1,2')",
        "Thought: a\nAction: type('hello')",
        "Thought: a\nAction: type hello",
    ],
    "skyvern": ['{"acton_type": "CLICK", "id": "A"}'],
    "gemini_computer_use": ['{"name": "click_at"; "arrgs": 3}'],
}


def _pieces(text: str, format: str) -> Reply:
    session = Parser(format).session()
    for at in range(0, len(text), 3):
        session.feed(text[at : at + 3])
    session.close("stop")
    reply = session.reply
    assert reply is not None
    return reply


@pytest.mark.parametrize("format", MEANT)
def test_one_mistake(format: str) -> None:
    for text, types in MEANT[format].items():
        reply = parse(text, format, finish_reason="stop")
        assert [found.type for found in (*reply.actions, *reply.payloads)] == types, text
        assert reply == _pieces(text, format), text
    if format == "suggestions":
        assert [len(parse(text, format).payloads[0].data) for text in MEANT[format]] == [2, 1, 2]


def test_what_is_refused_is_said() -> None:
    for format, texts in REFUSED.items():
        for text in texts:
            reply = parse(text, format, finish_reason="stop")
            assert not reply.actions, text
            assert reply.diagnostics, text
            assert reply == _pieces(text, format), text
