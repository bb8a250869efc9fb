"""Rendered text reads back as what was rendered."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outspoken
import outspoken.actions as gui
from outspoken import Payload, Reasoning, RenderError, Screen, Settings, Text, ToolCall, load_format, parse, render
from outspoken.grammar.registry import automaton, header, names
from outspoken.rendering import render_history
from tests.cases import CASES, Case
from tests.loops import in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

CALLING = [n for n in names() if any(r.short == "tool_call" for r in automaton(n).tables.rules)]

THINKING = [n for n in names() if any(r.short == "think" for r in automaton(n).tables.rules)]

#: Of so many formats, at least, the example is written as `render` writes it. More formats may be added.
CANONICAL = 96

#: Terminals of values that have no escapes, so that some string cannot be carried.
WITHOUT_ESCAPES = {"ARG_VALUE", "BRACED_OBJECT", "TAGGED_OBJECT"}


@cache
def marks(name: str) -> tuple[str, ...]:
    """The markers of a format as it writes them: what its free text can least hold."""
    terminals = automaton(name).tables.terminals.values()
    return tuple({t.canonical: None for t in terminals if len(t.canonical.strip()) > 1})


def has(name: str, terminals: set[str]) -> bool:
    """Has the format one of the terminals?"""
    return not terminals.isdisjoint(t.short for t in automaton(name).tables.terminals.values())


def is_clean(text: str) -> bool:
    return text.encode("utf-8", "ignore").decode() == text


@cache
def texts(name: str) -> st.SearchStrategy[str]:
    """Hostile strings, for this format above all."""
    parts = st.one_of(st.sampled_from([*TABLES["HOSTILE"], *marks(name)]), st.text(max_size=6))
    return st.lists(parts, max_size=6).map("".join).filter(is_clean)


@cache
def calls(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Calls with arguments of every kind, and hostile strings in them."""
    clean = texts(name)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.integers(10**18, 10**30), numbers, clean)
    values: st.SearchStrategy[Any] = st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(clean, inner, max_size=3)),
        max_leaves=6,
    )
    names = identifiers if has(name, {"ARG_NAME", *WITHOUT_ESCAPES}) else st.one_of(identifiers, clean)
    return st.fixed_dictionaries({"name": identifiers, "arguments": st.dictionaries(names, values, max_size=4)})


identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)


def typed(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools that say of every argument what type it has."""
    kinds = {
        str: "string",
        bool: "boolean",
        int: "integer",
        float: "number",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    tools: dict[str, dict[str, Any]] = {}
    for call in made:
        known = tools.setdefault(call["name"], {})
        for key, value in call["arguments"].items():
            known.setdefault(key, set()).add(kinds[type(value)])
    return [
        {"name": n, "parameters": {"type": "object", "properties": {k: {"type": sorted(t)} for k, t in p.items()}}}
        for n, p in tools.items()
    ]


def written(made: Any, name: str, tools: Any = None) -> tuple[str, str]:
    """What is rendered, or why it is not."""
    try:
        return render(made, format=name, tools=tools), ""
    except RenderError as error:
        refusal = str(error)
    assert re.fullmatch(
        rf"`{name}` (?:cannot carry .+: what it would .+|has no way to write .+)", refusal, re.DOTALL
    ), refusal
    return "", refusal


def test_a_response_may_be_empty() -> None:
    for name in names():
        assert parse(written([], name)[0], format=name).segments == []


def test_the_end_of_the_prompt_is_not_written() -> None:
    """Even if the text is the same; what is written is a response."""
    for name in ("harmony", "functionary_v3_2"):
        opened = header(name).opened
        text = render([Text(text=opened, span=(0, 0))], format=name)
        assert not text.startswith(opened)
        assert parse(text, format=name).text == opened


def test_every_format_with_calls_can_be_rendered() -> None:
    assert {case.format for case in CASES if case.kind == "ok" and case.parse().tool_calls} <= {*CALLING}


@pytest.mark.parametrize("name", some(CALLING, "rendered calls", 0.17))
@settings(max_examples=8)
@given(data=st.data())
def test_rendered_calls_read_back(name: str, data: st.DataObject) -> None:
    made = data.draw(st.lists(calls(name), min_size=1, max_size=3))
    tools = typed(made)
    text, refusal = written(made, name, tools)
    if refusal:
        assert _may_be_refused(name, made), made
        return
    reply = parse(text, format=name, tools=tools)
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(c["name"], c["arguments"]) for c in made]
    assert reply.status == "ok"
    assert not reply.text.strip()


def _may_be_refused(name: str, made: list[dict[str, Any]]) -> bool:
    """Only formats that write strings as they are may refuse one, and only one that holds markup or needs its type."""
    if not has(name, WITHOUT_ESCAPES):
        return False
    held = [value for call in made for value in call["arguments"].values()]
    bare = any(isinstance(v, str) or (v and isinstance(v, (list, dict))) for v in held)
    return bare or len(typed(made)) < len(made)


@pytest.mark.parametrize("name", some(names(), "rendered texts", 0.17))
@settings(max_examples=8)
@given(data=st.data())
def test_text_and_reasoning_read_back(name: str, data: st.DataObject) -> None:
    text, thought = data.draw(texts(name)), data.draw(texts(name))
    made: list[Any] = [Reasoning(text=thought, span=(0, 0)), Text(text=text, span=(0, 0))]
    if name in CALLING:
        made.append(ToolCall(name="set_timer", arguments={"minutes": 12}))
    made = made[data.draw(st.integers(0, 1)) :]
    whole, refusal = written(made, name)
    if refusal:
        return
    reply = parse(whole, format=name, tools=typed([{"name": "set_timer", "arguments": {"minutes": 12}}]))
    assert reply.text.strip() == text.strip()
    assert (reply.reasoning or "").strip() == "".join(p.text for p in made if isinstance(p, Reasoning)).strip()
    assert [c.arguments for c in reply.tool_calls] == [p.arguments for p in made if isinstance(p, ToolCall)]


def test_a_text_with_markup_reads_back_as_it_was() -> None:
    """Markup in a text may split it in two, which are one text again."""
    call = {"name": "set_timer", "arguments": {"minutes": 12}}
    for text in ("</tool_call><|end|>", "One<|end|><|end|>", "One<|end|>"):
        for name in ("harmony", "solar_open"):
            whole, _ = written([Text(text=text, span=(0, 0)), call], name)
            reply = parse(whole, format=name)
            assert (reply.text, [one.name for one in reply.tool_calls], reply.status) == (text, ["set_timer"], "ok")


def test_neighbouring_texts_are_written_with_their_separator() -> None:
    """Texts with markup between them are written as the text of the reply has them, in any format."""
    between = "<|end|><|start|>assistant<|channel|>commentary<|message|>"
    for first, second in [("One.", "Two."), ("One.\n\n", "- two"), ("One", ", two"), ("One.", "\nTwo.")]:
        reply = parse(f"<|channel|>final<|message|>{first}{between}{second}<|end|>", format="harmony")
        assert len(reply.segments) == 2
        for name in ("harmony", "hermes", "thinking_tags"):
            assert parse(render(reply, format=name), format=name).text.strip() == reply.text.strip()
        read = parse(render(reply.segments, format="harmony"), format="harmony").text
        assert read.split() == reply.text.split()


@in_one_item("name", CALLING)
def test_text_reasoning_and_calls_in_order(name: str) -> None:
    call = ToolCall(name="set_timer", arguments={"minutes": 12, "label": "tea"})
    made: list[Any] = [Text(text="First the tea.", span=(0, 0)), call, ToolCall(name="read_clock", arguments={})]
    if name in THINKING:
        made.insert(0, Reasoning(text="It takes twelve minutes.", span=(0, 0)))
    calls = [part for part in made if isinstance(part, ToolCall)]
    reply = parse(
        render(made, format=name), format=name, tools=typed([{"name": c.name, "arguments": c.arguments} for c in calls])
    )
    assert reply.reasoning == ("It takes twelve minutes." if name in THINKING else None)
    assert reply.text.strip() == "First the tea."
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [(c.name, c.arguments) for c in calls]


def test_the_example_of_a_header_is_canonical() -> None:
    """But for a few that show a common spelling; `tools.check` tells their authors."""
    examples = {name: header(name).example for name in names()}
    others = [name for name, example in examples.items() if render(parse(example, format=name), format=name) != example]
    assert len(examples) - len(others) >= CANONICAL, others


@in_one_item("case", [case for case in CASES if case.name == "canonical"])
def test_canonical_cases_are_written_as_they_stand(case: Case) -> None:
    as_parsed = [
        ToolCall(name=s.name, arguments=s.arguments) if isinstance(s, ToolCall) else s for s in case.parse().segments
    ]
    assert render(as_parsed, format=case.format) == case.text


def test_actions_read_back() -> None:
    point, other = gui.Point(x=1, y=2, space="px_smart28"), gui.Point(x=3.5, y=4, space="px_smart28")
    made = [
        gui.Click(point=point, clicks=2), gui.Drag(start=point, end=other), gui.Scroll(point=point, direction="down"),
        gui.TypeText(text="it's \"so\"\nand so", submit=True), gui.PressKeys(keys=["ctrl", "c"]), gui.Wait(seconds=3),
        gui.Complete(answer="Done."),
    ]  # fmt: skip
    read = parse(render(made, format="ui_tars"), format="ui_tars").actions
    left_out = {"name", "raw", "span", "order"}
    assert [a.model_dump(exclude=left_out) for a in read] == [a.model_dump(exclude=left_out) for a in made]


def test_payloads_read_back() -> None:
    made = [
        Text(text="Pick one.", span=(0, 0)),
        Payload(type="suggested_values", data=[{"label": "]", "value": '"'}], span=(0, 0)),
    ]
    reply = parse(render(made, format="suggestions"), format="suggestions")
    assert [(p.type, p.data) for p in reply.payloads] == [("suggested_values", [{"label": "]", "value": '"'}])]
    assert reply.text == "Pick one."


def test_a_value_that_a_format_cannot_carry() -> None:
    code = "a</parameter>\n<parameter=b>"
    with pytest.raises(RenderError) as caught:
        render({"name": "save", "arguments": {"text": code}}, format="qwen3_coder")
    assert str(caught.value).startswith(
        "`qwen3_coder` cannot carry `text` of the call of `save`: what it would write reads back as "
    )
    assert str(caught.value).endswith(repr("</parameter>\n</function>\n</tool_call>")[1:])


CUT = '<tool_call>\n{"name": "f", "arguments": {"a": 1'
TWICE = '<tool_call>\n{"name": "f", "arguments": {"a": 1, "a": 2}}\n</tool_call>'


@pytest.mark.parametrize(("text", "status"), [(CUT, "truncated"), (TWICE, "invalid")])
def test_what_is_unfinished_is_refused_or_left_out(text: str, status: str) -> None:
    reply = parse(f"Hi.\n{text}", format="hermes")
    for format_ in ("hermes", "qwen3_coder"):
        for what in (reply, reply.segments):
            with pytest.raises(
                RenderError, match=f"the call of `f` is {status}: written as text, it would look complete"
            ):
                render(what, format=format_)
            assert render(what, format=format_, unfinished="skip") == "Hi."
    with pytest.raises(ValueError, match="`unfinished` is 'keep'"):
        render(reply, format="hermes", unfinished="keep")  # pyright: ignore[reportArgumentType]


def test_unclosed_reasoning_is_written() -> None:
    assert render(parse("<think>\nSo", format="qwen3"), format="qwen3").startswith("<think>\nSo\n</think>")


deep: list[Any] = []
for _ in range(5000):
    deep = [deep]


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), {1, 2}, b"x", deep, {1: 2}])
def test_values_that_are_no_json_are_refused(value: Any) -> None:
    for format_ in ("hermes", "qwen3_coder", "pythonic"):
        with pytest.raises(RenderError):
            render({"name": "f", "arguments": {"a": value}}, format=format_)


def test_another_alternative_is_taken_where_the_first_does_not_read_back(tmp_path: Path) -> None:
    """A value with markup is quoted; a name is written if all that it looks ahead at follows."""
    (tmp_path / "two_ways.lark").write_text(
        TABLES["TWO_WAYS"].replace("<f><a>1</f>", "<call f><arg a>1</arg></call>"), "utf-8"
    )
    load_format(tmp_path / "two_ways.lark")
    for value in ("x", "a</arg>", "</arg><arg b>", "</call>", "</arg></call>\n"):
        call = {"name": "f", "arguments": {"a": value, "b": "y"}}
        reply = parse(render(call, format="two_ways"), format="two_ways")
        assert [(c.name, c.arguments) for c in reply.tool_calls] == [("f", call["arguments"])]
        assert (" json>" in reply.raw) == (value != "x")
    only_actions = (
        TABLES["TWO_WAYS"]
        .replace("two_ways", "only_actions")
        .replace("tool_call | ", "")
        .replace("tool_call:", "_call:")
    )
    only_actions = only_actions.replace("<f><a>1</f>", "<do>back</do>")
    (tmp_path / "only_actions.lark").write_text(only_actions, "utf-8")
    load_format(tmp_path / "only_actions.lark")
    actions = [gui.Click(point=gui.Point(x=1, y=2)), gui.GoBack()]
    assert render(actions, format="only_actions").replace("\n", "") == "<do>tap at=[1, 2]</do><do>back</do>"


@in_one_item("name", CALLING)
@in_one_item("code", ["x = 1\n", "\nx = 1", "\n", "\n\nx\n\n", "x = 1\n  "])
def test_line_breaks_at_the_ends_of_a_value(name: str, code: str) -> None:
    reply = parse(render({"name": "save", "arguments": {"code": code}}, format=name), format=name)
    assert reply.tool_calls[0].arguments == {"code": code}


def test_id_that_is_not_a_valid_number() -> None:
    made: list[dict[str, Any]] = [{"name": "f", "id": "ab_7"}, {"name": "g"}, {"name": "h", "id": 'x"'}]
    assert [call.id for call in parse(render(made, format="cohere"), format="cohere").tool_calls] == ["ab_7", "1", 'x"']


ENTER: list[Any] = [gui.KeyDown(key="ctrl"), gui.PressKeys(keys=["c"]), gui.KeyUp(key="ctrl")]
WAITING = gui.Batch(actions=[gui.Wait(seconds=2), gui.Click(point=gui.Point(x=3, y=4, space="rel1000"))])
TIMER = ToolCall(name="set_timer", arguments={"minutes": 12})
#: What is rendered in a format, and the text: batches as the format writes them, names in the spelling of arguments
#: that goes with each, arguments without names at their places, and what the prompt ends with not at all.
WRITTEN: list[tuple[Any, str, str]] = [
    ([], "hermes", ""),
    (outspoken.Reply(raw="", format=None, segments=[]), "hermes", ""),
    ([], "solar_open", "<|begin|>assistant<|content|><|end|>"),
    (Text(text="Hello.", span=(0, 0)), "functionary_v3_2", "all\nHello."),
    *[([Reasoning(text="Tea.", span=(0, 0)), TIMER], *one) for one in TABLES["REASONING_BEFORE_A_CALL"].items()],
    (Text(text="Hello.", span=(0, 0)), "step3", "</think>\n\nHello."),
    (Text(text="Hello.", span=(0, 0)), "minimax_m2", "</think>\n\nHello."),
    (parse(TABLES["TIMER"], format="hermes"), "qwen3-coder", TABLES["TIMER_IN_ANOTHER_FORMAT"]),
    ([Text(text="So.", span=(0, 0)), gui.Batch(actions=ENTER)], "cogagent", TABLES["PARTS_OF_AN_ACTION"]),
    (WAITING, "yutori_navigator", TABLES["PARTS_IN_AN_ARGUMENT"]),
    (gui.Click(element=gui.ElementRef(mark="3")), "glm_v_web", "Action: Click [3]"),
    (gui.PressKeys(keys=["enter"]), "glm_v_web", "Action: Key; [enter]"),
    (gui.Complete(answer="a"), "glm_v_web", "Action: ANSWER; <content>a</content>"),
    (gui.GoBack(), "glm_v_web", "Action: GoBack"),
    (gui.TypeText(text="a] [0", element=gui.ElementRef(id="3"), submit=True), "webarena", "type [3] [a] [0] [1]"),
    (gui.Scroll(direction="up"), "webarena", "scroll [up]"),
    (gui.Fail(), "webarena", "stop [N/A]"),
]


@pytest.mark.parametrize(("what", "format", "expected"), WRITTEN)
def test_what_is_written(what: Any, format: str, expected: str) -> None:
    written = render(what, format=format)
    assert (written.split("```")[1] if format == "webarena" else written) == expected


@pytest.mark.parametrize(("what", "format", "pattern", "expected"), TABLES["PARTS"])
def test_parts_of_what_is_written(what: Any, format: str, pattern: str, expected: list[str]) -> None:
    found = re.findall(pattern, render(what, format=format))
    assert [[*one] if isinstance(one, tuple) else one for one in found] == expected


# the actions of GUI models


TARS = ["ui_tars", "ui_tars_1_0", "doubao_ui_tars", "ui_tars_calls"]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
PLACES = st.builds(gui.Point.of, st.lists(st.integers(0, 1000) | st.floats(0, 1000), min_size=2, max_size=2) | st.lists(
    st.integers(0, 1000), min_size=4, max_size=4), st.just("rel1000"))  # fmt: skip
KEYS = st.lists(st.sampled_from(["ctrl", "shift", "a", "enter", "page_down"]), min_size=1, max_size=3)
WAYS = st.sampled_from(["up", "down", "left", "right"])
ACTIONS: Any = st.one_of(
    st.builds(gui.Click, point=PLACES, clicks=st.integers(1, 3), button=st.just("left")),
    st.builds(gui.Click, point=PLACES, button=st.sampled_from(["right", "middle"])),
    st.builds(gui.Drag, start=PLACES, end=PLACES),
    st.builds(gui.Swipe, start=PLACES, end=PLACES),
    st.builds(gui.Scroll, point=st.none() | PLACES, direction=WAYS),
    st.builds(gui.LongPress, point=PLACES, seconds=st.none() | st.floats(0, 100)),
    st.builds(gui.Move, point=PLACES),
    st.builds(gui.PressKeys, keys=KEYS),
    st.builds(gui.Wait, seconds=st.none() | st.floats(0, 100)),
    st.builds(gui.TypeText, text=TEXTS.filter(lambda text: not text.endswith("\n")), submit=st.booleans(),
              point=st.none() | PLACES),
)  # fmt: skip


@pytest.mark.parametrize("format", TARS)
@given(actions=st.lists(ACTIONS, min_size=1, max_size=3))
def test_actions_are_written_in_the_words_of_a_format(format: str, actions: list[Any]) -> None:
    settings = Settings(coordinates="rel1000")
    text = render(actions, format=format, settings=settings)
    reply = parse(text, format=format, settings=settings)
    left_out = {"name", "raw", "span", "order", "point", "start", "end", "submit"}
    assert [a.model_dump(exclude=left_out) for a in reply.actions] == [a.model_dump(exclude=left_out) for a in actions]
    for one, other in zip(reply.actions, actions, strict=True):
        for key in ("point", "start", "end"):
            assert getattr(one, key, None) == getattr(other, key, None)
        assert bool(getattr(one, "submit", False)) == bool(getattr(other, "submit", False))


def test_points_are_moved_into_the_space_of_the_format() -> None:
    click = gui.Click(point=gui.Point(x=960, y=540, space="px"))
    for format, written in TABLES["MOVED"].items():
        assert render(click, format=format, screen=Screen(1920, 1080)) == written
    with pytest.raises(RenderError, match="requires the size of the screen"):
        render(click, format="ui_tars")


@pytest.mark.parametrize(("format", "messages", "wanted"), TABLES["HISTORY"].values(), ids=TABLES["HISTORY"])
def test_a_chat_is_text_in_the_format(format: str, messages: list[Any], wanted: list[Any] | str) -> None:
    if isinstance(wanted, str):
        with pytest.raises(RenderError, match=wanted):
            render_history(messages, format)
        return
    made = render_history(messages, format, action_tool="computer")
    assert [message["content"] for message in made] == wanted
    assert {message["role"] for message in made} <= {"user", "assistant"}
