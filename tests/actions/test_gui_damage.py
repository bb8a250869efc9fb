"""Mistakes in the markup of actions and payloads: read as meant, or said, and never run otherwise."""

import pytest

from outspoken import Reply, parse
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.invariants.replies import pieces
from tests.tables import tables

TABLES = tables(__file__)


def read(text: str, format: str) -> Reply:
    """The reply to a text, which is the same in pieces."""
    reply = parse(text, format=format, finish_reason="stop")
    assert reply == ParseArguments(format, reason="stop").stream(pieces(text, 3))[1], text
    return reply


@pytest.mark.parametrize("format", TABLES["MEANT"])
def test_one_mistake(format: str) -> None:
    """The table has texts with one mistake, and the types of the actions and payloads that they mean."""
    for text, types in TABLES["MEANT"][format].items():
        reply = read(text, format)
        assert [found.type for found in (*reply.actions, *reply.payloads)] == types, text
    if format == "suggestions":
        assert [len(parse(text, format=format).payloads[0].data) for text in TABLES["MEANT"][format]] == [2, 1, 2]


def test_what_is_lost_or_odd_is_said() -> None:
    """Of the texts of one table nothing is run; in the other one an action is lost or odd, with the types that run."""
    refused = [(format, {text: list[str]() for text in texts}) for format, texts in TABLES["REFUSED"].items()]
    for format, texts in [*refused, *TABLES["REPORTED"].items()]:
        for text, types in texts.items():
            reply = read(text, format)
            assert [action.type for action in reply.actions] == types, text
            assert types or not reply.tool_calls, text
            assert reply.diagnostics, text
