"""Which known format a response resembles, and the notation that a renderer shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from outspoken import load_format, parse, render
from outspoken.authoring.new_format.call_slots import UnclearError, slots_of_object, tokens
from outspoken.authoring.new_format.grammar_writer import HeaderFields, grammar
from outspoken.authoring.new_format.notation import Notation
from outspoken.authoring.new_format.sandbox import grammar_in_use, temporary_checkout
from outspoken.authoring.new_format.similarity import (
    locate_calls,
    match_format,
    matching_formats,
    notations,
    rendered_notation,
)
from outspoken.authoring.shared.checkout import Checkout
from tests.tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.usefixtures("other_grammars")

CHECKOUT = Checkout()
CALLS = [{"name": "find_book", "arguments": {"title": "Moss"}}, {"name": "tell", "arguments": {"a": "x", "b": "y"}}]
#: Of so many formats, at least, it can be told how they write calls, so many are the nearest to what they write, and so
#: many are found in it without a change. More formats may be added, and none of these may be lost.
TOLD, NEAREST, FOUND = 45, 39, 35


@pytest.fixture(scope="module")
def known() -> dict[str, Notation]:
    return notations(CHECKOUT, CHECKOUT.names())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Checkout]:
    with temporary_checkout(CHECKOUT) as made:
        yield made


MARKUP = TABLES["MARKUP"]


@pytest.mark.parametrize(("markup", "parts"), MARKUP.items())
def test_tokens(markup: str, parts: list[str]) -> None:
    assert tokens(markup) == parts
    assert "".join(parts) == markup


OBJECTS = TABLES["OBJECTS"]


@pytest.mark.parametrize(("text", "kinds"), OBJECTS.items())
def test_objects_that_are_calls(text: str, kinds: list[str]) -> None:
    slots = slots_of_object(text, 0)
    assert [slot.kind for slot in slots] == kinds


def test_notation_of_a_format(known: dict[str, Notation]) -> None:
    assert len(known) >= TOLD


def test_a_notation() -> None:
    inferred = rendered_notation("glm_4_5")
    assert inferred is not None
    assert inferred.markers == {
        "call open": "<tool_call>",
        "behind the name": "\n",
        "argument open": "<arg_key>",
        "before the value": "</arg_key>\n<arg_value>",
        "value close": "</arg_value>\n",
        "call close": "</tool_call>",
        "reasoning open": "<think>",
        "reasoning close": "</think>\n",
    }


def test_notation_survives_its_grammar(known: dict[str, Notation], sandbox: Checkout) -> None:
    """What a format's renderer writes is enough to make a grammar that writes and reads the same.

    White space aside: some formats leave a blank line before the first of several calls, or indent the arguments. A new
    format may show in what it writes less than it is; no more of those that are told may be lost.
    """
    survived: list[str] = []
    for name, inferred in known.items():
        ids = [{"id": f"{number}"} if "quoted_id" in inferred.kinds else {} for number in range(len(CALLS))]
        calls = [{**call, **id_} for call, id_ in zip(CALLS, ids, strict=True)]
        text = render(calls, name)
        with grammar_in_use(sandbox, "made", grammar(inferred, HeaderFields("made", "t", "m", "s", "e"))):
            reply = parse(text, "made")
            read = [{"name": c.name, "arguments": c.arguments} for c in reply.tool_calls]
            if reply.diagnostics == [] and read == CALLS:
                survived += [name] * ("".join(render(calls, "made").split()) == "".join(text.split()))
    assert len(survived) >= TOLD, {*known} - {*survived}


def test_format_is_nearest_to_itself(known: dict[str, Notation]) -> None:
    """Where the markup round the parts of a call tells all; another format may write the same markup."""
    unchanged: list[str] = []
    told: list[str] = []
    for name, inferred in known.items():
        text = "Well." + render(CALLS, name) + render(CALLS, name)
        try:
            found = match_format([text], name, inferred)
        except UnclearError:
            continue
        nearest = matching_formats([text], known)
        if found.calls == 4 and name in [like.format for like in nearest if like.changes == nearest[0].changes]:
            told.append(name)
        unchanged += [name] * (found.changes == 0)
    assert len(told) >= NEAREST, told
    assert len(unchanged) >= FOUND, unchanged


def test_added_formats_take_none_away(known: dict[str, Notation], tmp_path: Path) -> None:
    """Beside formats that resemble no other, and one that writes as another does, as many are nearest to themselves."""
    twin = tmp_path / "twin.lark"
    text = CHECKOUT.grammar("hermes").read_text("utf-8").replace("// format:  hermes", "// format:  twin")
    twin.write_text(re.sub(r"// aliases:.*\n", "", text), "utf-8")
    copytree(CHECKOUT.grammars / "shared", tmp_path / "shared")
    files = [twin, *sorted((Path(__file__).parents[1] / "authoring/authored").glob("*.lark"))]
    added = {name: rendered_notation(name) for name in map(load_format, files)}
    more = {name: inferred for name, inferred in added.items() if inferred is not None}
    assert "twin" in more
    test_format_is_nearest_to_itself({**more, **known})


@pytest.mark.parametrize(
    ("text", "format_", "calls"),
    [
        ('<a>{"name": "f", "arguments": {}}</a>', "hermes", [1]),
        ('<a>{"name": "f", "arguments": {}}</a>\n<a>{"name": "g", "arguments": {}}</a>', "hermes", [2]),
        ('<a>{"name": "f", "arguments": {}}</a> and <a>{"name": "g", "arguments": {}}</a>', "hermes", [1, 1]),
        ('{"name": "f", "arguments": {}}', "hermes", []),
        ("<a>{}</a>", "hermes", []),
        ('<a>f<b>{"x": 1}', "deepseek_v3_1", [1]),
        ("<a>f<b>[1]", "deepseek_v3_1", []),
        ("plain", "glm_4_5", []),
    ],
)
def test_located_calls(text: str, format_: str, calls: list[int], known: dict[str, Notation]) -> None:
    assert [len(sample.calls) for sample in locate_calls(text, known[format_])] == calls


@pytest.mark.parametrize(
    "text", ["", "no call", "<b>bold</b> {1}", "<" * 500, "[" * 500, '<a>{"name": ' * 50, '{"f": ' * 500]
)
def test_texts_without_a_matching_format(text: str, known: dict[str, Notation]) -> None:
    assert matching_formats([text], known) == []


def test_contradictory_samples(known: dict[str, Notation]) -> None:
    texts = ['<a>{"name": "f", "arguments": {}}</a>', '<b>{"name": "f", "arguments": {}}</b>']
    with pytest.raises(UnclearError) as caught:
        match_format(texts, "hermes", known["hermes"])
    assert str(caught.value) == "the markup before the first call differs: '<a>' and '<b>'"
