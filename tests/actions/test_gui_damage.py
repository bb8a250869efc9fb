"""Mistakes in the markup of actions and payloads: read as meant, or said, and never run otherwise."""

import pytest

from outspoken import Parser, Reply, parse
from tests.tables import tables

TABLES = tables(__file__)

#: By format: texts with one mistake, and the types of the actions and payloads that they mean.
MEANT = TABLES["MEANT"]

#: By format: texts from which nothing is run.
REFUSED = TABLES["REFUSED"]


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
        reply = parse(text, format=format, finish_reason="stop")
        assert [found.type for found in (*reply.actions, *reply.payloads)] == types, text
        assert reply == _pieces(text, format), text
    if format == "suggestions":
        assert [len(parse(text, format=format).payloads[0].data) for text in MEANT[format]] == [2, 1, 2]


def test_what_is_refused_is_said() -> None:
    for format, texts in REFUSED.items():
        for text in texts:
            reply = parse(text, format=format, finish_reason="stop")
            assert not reply.actions, text
            assert reply.diagnostics, text
            assert reply == _pieces(text, format), text
