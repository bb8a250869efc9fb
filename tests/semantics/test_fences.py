"""Fences and spans of code round what a model was prompted to write as JSON."""

from itertools import product
from random import Random
from typing import Any

import pytest

from outspoken import Parser, Reply
from tests.invariants.replies import pieces
from tests.streams import streamed
from tests.tables import tables

TABLES = tables(__file__)

#: Objects as each format's prompt asks for them.
OBJECTS = TABLES["OBJECTS"]
_LANGUAGES = ("", "json", " json", "JSON5", "jsonc", "js", "javascript", "python", "text", 'json title="x"')
_MARKS = ("```", "````", "`" * 7, "~~~", "~~~~~")
_PROSE = ("", "Here it is:\n\n", "Run `x = 1` and\n```python\nprint({1})\n```\nThen:\n", "State: {1}.\n")
_SPANS = ("`{}`", "```{}```", "```json {}```")


def _fenced(value: str, mark: str, language: str, closer: str, line: str) -> str:
    return f"{mark}{language}{line}{value}{line}{closer}"


def _found(reply: Reply) -> list[dict[str, Any]]:
    """The actions and calls of a reply, without their places."""
    left_out = {"span", "raw", "order", "id", "repairs"}
    return [s.model_dump(exclude=left_out) for s in reply.segments if s.kind in ("action", "tool_call")]


def _texts(value: str, random: Random) -> list[str]:
    """The value in some fences of each kind, complete and unclosed, and in spans that have a line to themselves."""
    texts = [span.format(value) for span in _SPANS if "`" not in value]
    for mark, language in product(_MARKS, _LANGUAGES):
        closer = random.choice([mark, mark + mark[0], mark + "\nDone.", "", f"{mark}\n"])
        texts.append(_fenced(value, mark, language, closer, random.choice(["\n", "\r\n", "\n\n", "\n  "])))
    return [random.choice(_PROSE) + text for text in texts]


@pytest.mark.parametrize("format", OBJECTS)
def test_a_fence_of_any_kind_holds_what_was_asked_for(format: str) -> None:
    """In a format that is prompted JSON, what stands in a fence decides what it is, not its mark or its language."""
    parser, random = Parser(format), Random(format)
    for value in OBJECTS[format]:
        expected = _found(parser.parse(value))
        assert expected
        for text in _texts(value, random):
            reply = parser.parse(text)
            assert (_found(reply), reply.status) == (expected, "ok"), text
            assert streamed(parser, pieces(text, random.choice([1, 5, 40]))) == reply, text


def test_a_fence_without_such_an_object_stays_a_code_sample() -> None:
    """Code and other JSON in fences stays text, to the byte."""
    samples = ("x = [1, 2]", '{"title": "Mosses"}', "[a, b] = [b, a]", "{ int x; }", "[link](x)", "{'name': f}")
    for format, sample, mark, language in product(OBJECTS, samples, _MARKS[:4], ("", "json", "js", "python", "c")):
        text = f"See:\n\n{_fenced(sample, mark, language, mark, chr(10))}\n\nThat is all."
        reply = Parser(format).parse(text)
        assert (_found(reply), reply.text) == ([], text), (format, text)
