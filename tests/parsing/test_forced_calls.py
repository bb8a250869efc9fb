"""Calls that engines force in place of the format of the model, and other classes of what models really write."""

import json

import pytest

from outspoken import Parser, Reply, formats
from outspoken.grammar import registry

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
ONE = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
CALL = [("get_weather", {"city": "Paris"}, "ok")]


def read(text: str, parser: Parser, size: int = 3) -> Reply:
    """The reply to a text, which is the same in chunks."""
    session = parser.session()
    for start in range(0, len(text), size):
        session.feed(text[start : start + size])
    session.close()
    assert session.reply == parser.parse(text)
    assert session.reply is not None
    return session.reply


def calls(reply: Reply) -> list[tuple[str, object, str]]:
    return [(call.name, dict(call.arguments), call.status) for call in reply.tool_calls]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (f"[{ONE}]", CALL),
        (ONE, CALL),
        (f"\n [{ONE}, {ONE}]\n", CALL * 2),
        (f"<think>\nHm.\n</think>\n\n[{ONE}]", CALL),
        (f"[{ONE.replace('parameters', 'arguments')}]", CALL),
        (f"<tools>\n[{ONE.replace('parameters', 'arguments')}]\n</tools>", CALL),
        (f"[{ONE[:-1]}]", [("get_weather", {"city": "Paris"}, "repaired")]),
        (f"[{ONE}] is how it is written.", []),
        (f"This is it: [{ONE}]", []),
        (f"[{ONE[:-3]}", []),
        (f"[{ONE.replace('get_weather', 'Ada')}]", []),
        (f"[{ONE}, {ONE.replace('get_weather', 'Ada')}]", []),
        ('[{"name": "get_weather", "description": "The weather.", "parameters": {"type": "object"}}]', []),
        (json.dumps([{"name": "get_weather", "parameters": WEATHER}]), []),
    ],
)
def test_nothing_but_calls_of_given_tools(text: str, made: list[object]) -> None:
    for format_ in ("hermes", "qwen3_coder", "mistral", "glm_4_5", "deepseek_v3_1"):
        assert calls(read(text, Parser(format_, tools=TOOLS))) == made, format_


def test_every_format_with_calls() -> None:
    for info in formats():
        if any("tool_call" in kinds.split() for kinds in registry.automaton(info.name).tables.nodes):
            prompt = "" if "think" in registry.header(info.name).opened else None
            reply = Parser(info.name, tools=TOOLS).parse(f"[{ONE}]", prefix=prompt)
            assert (calls(reply), reply.text) == (CALL, ""), info.name


def test_without_tools_only_a_list_is_forced() -> None:
    assert calls(read(f"[{ONE}]", Parser("hermes"))) == CALL
    assert calls(read(ONE, Parser("hermes"))) == []


def test_tools_that_need_exact_calls_are_not_forced() -> None:
    reply = read(f"[{ONE}]", Parser("hermes", tools=TOOLS, proof={"get_weather": "exact"}))
    assert [found.code for found in reply.diagnostics] == ["needs-exact"]


@pytest.mark.parametrize(
    ("format_", "text", "made", "codes"),
    [
        # lmstudio-bug-tracker#2224: the server drops the token before each tag
        (
            "minimax_m3",
            '<tool_call>\n<invoke name="get_weather">\n<city>Paris</city>\n</invoke>\n</tool_call>',
            CALL,
            [],
        ),
        # ollama, cogito_test.go: results that the model makes up
        ("deepseek_v3", "<｜tool▁outputs▁begin｜>{}<｜tool▁outputs▁end｜>", [], ["invented-result"]),
        # ollama, glimmer_test.go: the recipient and the tag name different tools
        (
            "muse_glimmer",
            ' to=get_time<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n</atem:invoke>\n'
            "</atem:function_calls>",
            [],
            ["invalid-call"],
        ),
        # made up: a quotation before an opening marker that is doubled
        (
            "kimi_k3",
            'He wrote `<|open|>tools<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
            '<|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|>'
            "<|close|>tools<|sep|>` there.",
            [],
            ["quoted-call", "unread-markup"],
        ),
    ],
)
def test_classes_of_reports(format_: str, text: str, made: list[object], codes: list[str]) -> None:
    reply = read(text, Parser(format_, tools=TOOLS))
    assert calls(reply) == made
    assert [found.code for found in reply.diagnostics] == codes


def test_compact_points_of_ui_tars() -> None:
    """UI-TARS#229: also behind `Action:`, and with one word."""
    for text in (
        "Action: click>point>point>892 351",
        "click>point>892 351",
        "Thought: So.\nAction: click>point>892 351",
    ):
        points = [getattr(action, "point", None) for action in read(text, Parser("doubao_ui_tars")).actions]
        assert [(point.x, point.y) for point in points if point is not None] == [(892, 351)], text
