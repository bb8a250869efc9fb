"""Objects in braces and in elements: their scanners at every split, and how they are written."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outspoken import Done, RenderError, ToolCallDelta, parse, render, stream
from outspoken.notations.coerce import ANY, SchemaView
from outspoken.notations.interface import notation
from outspoken.notations.tools import Tools, schema_view_of
from tests.invariants.replies import pieces
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

MARK, PREFIX = '<|"|>', "~[~"
DEPTH = 6
BRACED = notation("BRACED_OBJECT", MARK)
TAGGED = notation("TAGGED_OBJECT", PREFIX)
SCHEMA: dict[str, Any] = TABLES["SCHEMA"]
KNOWN = SchemaView(SCHEMA, SCHEMA, "json")


def b(text: str) -> str:
    """Braced text, written here with `'` for the mark."""
    return text.replace("'", MARK)


def t(text: str) -> str:
    """Elements, written here with `~` for the prefix."""
    return text.replace("~", PREFIX)


def scanned(how: Any, pieces: list[str], schema_view: SchemaView) -> tuple[Any, ...]:
    """What a scanner makes of pieces: where it stopped, whether it ended or broke there, its value, what it said."""
    scanner = how.scanner(DEPTH, schema_view)
    buffer, at, done, streamed = "", 0, False, ""
    for piece in pieces:
        buffer += piece
        if not done and not scanner.broken:
            end, done = scanner.feed(buffer, at)
            assert end >= at
            at = end
            streamed += scanner.take_json()
    assert not scanner.finish()
    assert streamed == scanner.text
    return at, done, scanner.broken, repr(scanner.value) if done else None, streamed


def read(how: Any, text: str, schema_view: SchemaView = ANY) -> tuple[Any, int]:
    """The value and its end, which is the same in every split of the text in two, and in single characters."""
    whole = scanned(how, [text], schema_view)
    assert scanned(how, list(text), schema_view) == whole
    for at in range(1, len(text)):
        assert scanned(how, [text[:at], text[at:]], schema_view) == whole
    found = how.read_at(text, 0, DEPTH, True, schema_view)
    assert (found is not None) == whole[1]
    if found is None:
        return ("broken" if whole[2] else "open"), whole[0]
    value, end, streamed = found
    assert json.loads(streamed) == value
    assert end == whole[0]
    return value, end


@pytest.mark.parametrize(("text", "value"), TABLES["BRACED_CASES"])
def test_braced(text: str, value: Any) -> None:
    text = b(text)
    assert repr(read(BRACED, text)) == repr((value, len(text)))
    assert repr(read(BRACED, text + " more}")) == repr((value, len(text)))


@in_one_item("text, at", TABLES["BRACED_ENDS"])
def test_invalid_braced_object(text: str, at: int) -> None:
    assert read(BRACED, b(text)) == ("broken", at)


@pytest.mark.parametrize(
    "text", ["", "{", "{a", "{a:", "{a:1", "{a:1,", "{a:'x", "{a:'x'", '{a:"x\\u00', "{a:<|", "{a:[1", "{a:{}"]
)
def test_unclosed_braced_object(text: str) -> None:
    assert read(BRACED, b(text))[0] == "open"


def test_schema_types_braced_values() -> None:
    text, value = TABLES["SCHEMA_TYPES_BRACED_VALUES"]
    assert read(BRACED, b(text), KNOWN) == (value, len(b(text)))


def test_braced_object_streams_as_json() -> None:
    scanner = BRACED.scanner(DEPTH, ANY)
    text, at, deltas = b("{a:'one two',n:15}"), 0, list[str]()
    for end in range(1, len(text) + 1):
        at, _ = scanner.feed(text[:end], at)
        deltas.append(scanner.take_json())
    assert "".join(deltas) == '{"a": "one two", "n": 15}'
    assert deltas[10] == "e"


@pytest.mark.parametrize(("text", "value"), TABLES["TAGGED"])
def test_tagged(text: str, value: Any) -> None:
    text = t(text)
    assert read(TAGGED, text) == ("open", len(text))
    assert repr(read(TAGGED, text + t("~</call>~<x>"))) == repr((value, len(text)))


@pytest.mark.parametrize(("text", "at"), TABLES["INVALID_TAGGED_OBJECT"])
def test_invalid_tagged_object(text: str, at: int) -> None:
    assert read(TAGGED, t(text)) == ("broken", at)


@pytest.mark.parametrize(("text", "value"), TABLES["SCHEMA_TYPES_TAGGED_VALUES"])
def test_schema_types_tagged_values(text: str, value: Any) -> None:
    text = t(text)
    assert repr(read(TAGGED, text + t("~</call>"), KNOWN)) == repr((value, len(text)))


def test_stray_closing_tag_is_not_text() -> None:
    assert read(TAGGED, t("~<text>a~</call>"), KNOWN) == ("broken", 10)


def test_tagged_object_streams_when_no_key_can_repeat() -> None:
    text = t("~<text>one~</text>~<n>15~</n>~<new>1~</new>~</call>")
    scanner = TAGGED.scanner(DEPTH, KNOWN)
    scanner.feed(text[:11], 0)
    assert scanner.take_json() == '{"text": "on'
    end, done = scanner.feed(text, 11)
    assert (done, scanner.take_json()) == (True, 'e", "n": 15, "new": 1}')
    assert text[end:] == t("~</call>")


def test_shapes() -> None:
    tools = Tools.of([{"name": "f", "parameters": SCHEMA}])
    assert schema_view_of(tools, "f", "n", "json").types == {"integer"}
    assert schema_view_of(tools, "f", None, "json").member("deep").member("more").member("text").is_text
    assert schema_view_of(tools, "g", None, "json") is ANY
    assert schema_view_of(tools, "f", "other", "json").types is None
    assert schema_view_of(None, "f", None, "text").bare("1") == "1"
    root: dict[str, Any] = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"properties": {"a": {"type": "null"}}}]}
    assert SchemaView(root, root, "json").member("a").types == {"null"}


# the formats that use them

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
texts = st.lists(st.sampled_from(TABLES["HOSTILE"]), max_size=5).map("".join)
keys = st.one_of(st.sampled_from(["a", "item", "k-1", "b.c"]), texts, st.text(max_size=4))
values = st.recursive(
    st.one_of(scalars, texts),
    lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(keys, v, max_size=3)),
    max_leaves=8,
)
FORMATS = ["gemma4", "functiongemma", "minimax_m3"]


@pytest.mark.parametrize("format_", FORMATS)
@given(arguments=st.dictionaries(keys, values, max_size=3))
@example(arguments={"a": "", "b": {}, "c": [], "d": [[]], "e": [{}], "f": [""]})
@example(arguments={"a": '<|"', "b": "<escap", "c": "]<]minimax[>"})
@example(arguments={"": 1})
def test_written_objects_read_back_in_any_chunks(format_: str, arguments: dict[str, Any]) -> None:
    try:
        text = render({"name": "f", "arguments": arguments}, format=format_)
    except RenderError:
        return
    plain = parse(text, format=format_)
    assert [call.name for call in plain.tool_calls] == ["f"]
    if format_ != "minimax_m3":  # whose values need a schema
        assert repr(plain.tool_calls[0].arguments) == repr(arguments)
    assert json.loads(plain.tool_calls[0].arguments_text) == plain.tool_calls[0].arguments
    parts: dict[int, str] = {}
    for event in stream(list(text), format=format_):
        if isinstance(event, ToolCallDelta):
            parts[event.index] = parts.get(event.index, "") + event.arguments
        elif isinstance(event, Done):
            assert event.reply == plain
    assert list(parts.values()) == [plain.tool_calls[0].arguments_text]


@pytest.mark.parametrize(("format_", "arguments"), TABLES["VALUES_THAT_THE_NOTATION_CANNOT_HOLD_ARE_NOT_WRITTEN"])
def test_values_that_the_notation_cannot_hold_are_not_written(format_: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(RenderError):
        render({"name": "f", "arguments": arguments}, format=format_)


@pytest.mark.parametrize("format_", FORMATS)
def test_long_values_take_linear_time(format_: str) -> None:
    """Every character is looked at a bounded number of times, also where marks are nearly there again and again."""
    value = '<|" <esc ]<]minimax[> ' * 20_000
    text = render({"name": "f", "arguments": {"a": value}}, format=format_)
    end = list(stream(pieces(text, 7), format=format_))[-1]
    assert isinstance(end, Done)
    assert end.reply.tool_calls[0].arguments == {"a": value}
