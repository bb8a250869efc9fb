"""How GUI models write an action beside the usual way: notes, flags, empty alternatives, wrappings, places."""

from random import Random
from typing import Any

from outspoken import Action, Reply, Text, parse, stream
from tests.tables import tables

TABLES = tables(__file__)


def read(text: str, format: str) -> Reply:
    """The reply for a text, which is the same in single characters."""
    reply = parse(text, format=format)
    events = stream(list(text), format=format)
    for _ in events:
        pass
    assert events.reply == reply, text
    return reply


def action_of(text: str, format: str) -> Action:
    """The only action of a text in which nothing else but reasoning is said."""
    reply = read(text, format)
    assert [s for s in reply.segments if isinstance(s, Text)] == [], text
    assert (len(reply.actions), reply.diagnostics) == (1, []), text
    return reply.actions[0]


def test_actions_in_an_environment_tag() -> None:
    """The tag may hold one or several actions, with or without a word before each; the tags are never text."""
    calls = [
        ("click(point='<point>{x} {y}</point>')", "click"),
        ("type(content='Tide\\n')", "type_text"),
        ("wait()", "wait"),
        ("drag(start_point='<point>{x} 4</point>', end_point='<point>9 {y}</point>')", "drag"),
        ("hotkey(key='ctrl s')", "press_keys"),
    ]
    random = Random(7)
    for _ in range(40):
        chosen = [random.choice(calls) for _ in range(random.randint(1, 3))]
        word, gap = random.choice(("Action: ", "Action:", "动作：", "")), random.choice(("\n", "\n\n"))
        lines = [word + call.format(x=random.randint(0, 999), y=random.randint(0, 999)) for call, _ in chosen]
        around = random.choice(("\n", "", " \n"))
        text = f"<computer_env>{around}{gap.join(lines)}{around}</computer_env>"
        reply = read(random.choice(("", "<thinkt>Hm.</thinkt>\n", "<think>Hm.</think>")) + text, "seed_gui")
        assert [action.type for action in reply.actions] == [type for _, type in chosen], text
        assert (reply.text, reply.diagnostics) == ("", [])


def test_answers_in_tags() -> None:
    """An answer stands in tags at the start or behind reasoning; elsewhere the tags are text."""
    for lead in ("", "<think>Hm.</think>", "<thinkt>Hm.</thinkt>\n"):
        for inside in ("{}", "\n{}\n"):
            for answer in ("At 6:10.", "Two\n\nparagraphs", "你好", "f(x) `y`"):
                assert read(f"{lead}<answer>{inside.format(answer)}</answer>", "seed_gui").text == answer
    assert read("Use <answer>.", "seed_gui").text == "Use <answer>."


def test_notes_behind_an_operation() -> None:
    """A note says whether the operation is sensitive; it is no text."""
    operations = ["CLICK(box=[[1,2,3,4]])", "TYPE(box=[[1,2,3,4]], text='<<敏感操作>>')", "KEY_PRESS(key='Enter')"]
    operations += ["GESTURE(actions=[KEY_DOWN(key='Ctrl'), KEY_PRESS(key='C'), KEY_UP(key='Ctrl')])", "END()", "END"]
    for operation in operations:
        for note, sensitive in (("", None), ("<<一般操作>>", None), ("<<敏感操作>>", True)):
            for gap in ("\n", "", " ", "\r\n"):
                text = f"Action: Go on.\nGrounded Operation: {operation}{gap if note else ''}{note}"
                action = action_of(text, "cogagent")
                wanted = sensitive if operation != "END" else None
                assert (action.sensitive, action.extra) == (wanted, {}), text


def test_empty_alternatives_do_not_count() -> None:
    """Of an application and an address, the one that is empty was not meant."""
    for format, written in TABLES["EMPTY_ALTERNATIVES_DO_NOT_COUNT"]:
        for given, wanted in TABLES["ALTERNATIVES"]:
            for arguments in (given, given[::-1]):
                text = written.format(", ".join([f"{key}={value}" for key, value in arguments]))
                actions: list[Any] = read(text, format).actions
                found = [[a.type, getattr(a, "app", None) or getattr(a, "url", None)] for a in actions]
                assert found == ([wanted] if wanted else []), text


def test_parameters_without_a_value_name_the_action() -> None:
    """They do with a closing tag and without; an empty value of any other parameter is an empty text."""
    words = {"left_click": "click", "double_click": "click", "mouse_move": "move", "screenshot": "screenshot"}
    for word, type_ in words.items():
        for flag in ("", "</parameter>", "\n</parameter>\n", "</parameter>\n"):
            place = "<parameter=coordinate>[70, 80]</parameter>"
            for body in (f"<parameter={word}>{flag}{place}", f"{place}\n<parameter={word}>{flag or '</parameter>'}"):
                text = f"<tool_call>\n<function=computer>\n{body}\n</function>\n</tool_call>"
                assert action_of(text, "qwen3_coder_gui").type == type_, text
    text = "<tool_call>\n<function=save>\n<parameter=note>\n\n</parameter>\n</function>\n</tool_call>"
    assert read(text, "qwen3_coder_gui").tool_calls[0].arguments == {"note": ""}


def test_a_bare_place_is_a_click() -> None:
    """The answer to a prompt for a place is two numbers in brackets on their own; other lists are text."""
    random = Random(8)
    for _ in range(30):
        x, y = round(random.random(), random.randint(1, 4)), round(random.random(), random.randint(1, 4))
        space = random.choice(("", " "))
        action = action_of(f"{random.choice(('', chr(10)))}[{space}{x},{space}{y}{space}]", "showui")
        assert action.type == "click"
        assert action.point is not None
        assert (action.point.x, action.point.y, action.point.space) == (x, y, "unit")
    for text in ("[1, 2, 3]", "[0.5]", "[5, 7]", "See [0.5, 0.5].", "[a, b]", "[0.1, 0.2, 0.3]", "[]"):
        assert read(text, "showui").actions == [], text
