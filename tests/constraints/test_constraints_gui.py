"""Constraints of GUI formats: their action words with typed arguments."""

import pytest

from outspoken import Screen, parse, render
from outspoken.constraints import constraint
from outspoken.constraints.action_skeleton import learned_actions
from outspoken.grammar import registry
from outspoken.results.errors import ConstraintError, RenderError
from outspoken.results.replies import Reasoning
from tests.constraints.walks import failures
from tests.loops import in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

#: A share of the formats whose calls, JSON objects, Python calls, bare words and tuples differ from each other.
FORMATS = some(TABLES["FORMATS"], "actions", 0.17)


@pytest.mark.parametrize("format", FORMATS)
def test_rendered_actions_are_accepted(format: str):
    made = constraint(format)
    learned = learned_actions(registry.automaton(format))
    assert len(learned) > 8
    for number, paths in enumerate(learned[:: max(len(learned) // 3, 1)]):
        for action in list(paths.spans.values())[:1]:
            for what in ([action], [Reasoning(text="They ask.", span=(0, 9)), action])[: 1 + (number == 0)]:
                try:
                    text = render(what, format=format)
                except RenderError:
                    continue
                assert made.accepts(text), text


@in_one_item("format", FORMATS)
def test_what_is_let_through_is_read(format: str):
    """Random models write actions."""
    found = list(failures(format, "llguidance", 3, 1, kind="actions"))
    assert all(kind in ("", "too long") for kind, _ in found), found
    assert found or not learned_actions(registry.automaton(format))


def test_words_and_arguments():
    made = constraint("ui_tars")
    assert made.accepts("Thought: There.\nAction: click(start_box='(197,525)')")
    assert made.accepts("Action: scroll(start_box='(1,2)', direction='down')")
    assert made.accepts("Action: scroll(direction='down')")
    for refused in TABLES["WORDS_AND_ARGUMENTS"]:
        assert not made.accepts(refused), refused


def test_actions_in_calls():
    made = constraint("qwen3_vl", tool_choice="required")
    call = '<tool_call>\n{{"name": "computer_use", "arguments": {}}}\n</tool_call>'
    assert made.accepts(call.format('{"action": "left_click", "coordinate": [612, 84]}'))
    for arguments in TABLES["ACTIONS_IN_CALLS"]:
        assert not made.accepts(call.format(arguments)), arguments
    assert not made.accepts("Let me see.")


def test_actions_that_are_asked_for():
    typed = constraint("ui_tars", actions=["type_text", "finished"])
    assert typed.accepts("Action: type(content='a')")
    assert typed.accepts("Action: finished()")
    assert not typed.accepts("Action: click(start_box='(1,2)')")
    assert not constraint("ui_tars", actions=False).accepts("Action: finished()")
    assert not constraint("ui_tars", tool_choice="none").accepts("Action: finished()")
    with pytest.raises(ConstraintError, match="no action `dance`"):
        constraint("ui_tars", actions=["dance"])
    with pytest.raises(ConstraintError, match="no action"):
        constraint("hermes", actions=["click"])


def test_beside_tools():
    tools = [{"name": "look_up", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}]
    call = '<tool_call>\n{"name": "look_up", "arguments": {"q": "a"}}\n</tool_call>'
    click = '<tool_call>\n{"name": "computer_use", "arguments": {"action": "wait", "time": 2}}\n</tool_call>'
    alone, both = constraint("qwen3_vl", tools=tools), constraint("qwen3_vl", tools=tools, actions=True)
    assert alone.accepts(call)
    assert both.accepts(call)
    assert both.accepts(click)
    assert not alone.accepts(click)


def test_tools_with_the_names_of_actions():
    """A given tool stays one, unless its arguments are those of the action."""
    move = {"name": "move", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}
    click = {"name": "click", "parameters": {"properties": {"point": {"type": "string"}, "note": {"type": "string"}}}}
    moved, clicked = [
        f'{{"name": "{name}", "arguments": {arguments}}}'
        for name, arguments in (("move", '{"x": 5}'), ("click", '{"point": "<point>1 2</point>"}'))
    ]
    tools = [move, click]
    made = constraint("ui_tars_calls", tools=tools)
    assert made.warnings == ("click: calls of it are actions, whose arguments are those of the format's words",)
    assert made.accepts(moved)
    assert made.accepts(clicked)
    assert not made.accepts(clicked.replace("<point>1 2</point>", "there"))
    assert [call.arguments for call in parse(moved, format="ui_tars_calls", tools=tools).tool_calls] == [{"x": 5}]
    assert [action.type for action in parse(clicked, format="ui_tars_calls", tools=tools).actions] == ["click"]
    assert parse(moved, format="ui_tars_calls").status == "invalid"
    for name, text, other in (("move", moved, clicked), ("click", clicked, moved)):
        only = constraint("ui_tars_calls", tools=tools, tool_choice=name)
        assert only.accepts(text)
        assert not only.accepts(other)


def test_points_on_the_screen():
    on = constraint("openai_computer_use", screen=Screen(800, 600))
    anywhere = constraint("openai_computer_use")
    near = render(
        parse(registry.automaton("openai_computer_use").tables.header.example, format="openai_computer_use"),
        format="openai_computer_use",
    )
    assert on.accepts(near)
    assert anywhere.accepts(near)
    unit = constraint("showui")
    assert unit.accepts("{'action': 'CLICK', 'position': [0.49, 0.42]}")
    assert not unit.accepts("{'action': 'CLICK', 'position': [49, 42]}")


def test_actions_that_hold_others_are_named():
    assert constraint("cogagent").warnings == ("GESTURE: actions that hold others are left out",)
    with pytest.raises(ConstraintError, match="GESTURE"):
        constraint("cogagent", strict=True)
