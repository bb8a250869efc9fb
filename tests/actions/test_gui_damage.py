"""Mistakes in the markup of actions and payloads: read as meant, or said, and never run otherwise."""

import pytest

from outspoken import parse
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.invariants.replies import pieces
from tests.tables import tables

TABLES = tables(__file__)

#: By format: texts with one mistake, and the types of the actions and payloads that they mean.
MEANT = TABLES["MEANT"]

#: By format: texts from which nothing is run.
REFUSED = TABLES["REFUSED"]

#: By format: texts in which an action is lost or odd, and the types of those that run.
REPORTED = TABLES["REPORTED"]


@pytest.mark.parametrize("format", MEANT)
def test_one_mistake(format: str) -> None:
    for text, types in MEANT[format].items():
        reply = parse(text, format=format, finish_reason="stop")
        assert [found.type for found in (*reply.actions, *reply.payloads)] == types, text
        assert reply == ParseArguments(format, reason="stop").stream(pieces(text, 3))[1], text
    if format == "suggestions":
        assert [len(parse(text, format=format).payloads[0].data) for text in MEANT[format]] == [2, 1, 2]


def test_what_is_refused_is_said() -> None:
    for format, texts in REFUSED.items():
        for text in texts:
            reply = parse(text, format=format, finish_reason="stop")
            assert reply.actions == [], text
            assert reply.tool_calls == [], text
            assert reply.diagnostics, text
            assert reply == ParseArguments(format, reason="stop").stream(pieces(text, 3))[1], text


def test_what_is_lost_or_odd_is_said() -> None:
    for format, texts in REPORTED.items():
        for text, types in texts.items():
            reply = parse(text, format=format, finish_reason="stop")
            assert [action.type for action in reply.actions] == types, text
            assert reply.diagnostics, text
            assert reply == ParseArguments(format, reason="stop").stream(pieces(text, 3))[1], text
