"""A response with payloads, read whole and cut at places that are drawn."""

from collections.abc import Iterable
from typing import Any

from outspoken import Done, Event, PayloadParsed, PayloadUnfinished, TextDelta
from outspoken.payloads import PayloadRegistry, PayloadReply
from tests.loops import some


def events_of(registry: PayloadRegistry, chunks: Iterable[str], page: str | None, **how: Any) -> list[Event]:
    """All events of a response that comes in these chunks."""
    return list(registry.stream(chunks, page=page, **how))


def check_chunks(
    registry: PayloadRegistry, chunks: Iterable[str], page: str | None, whole: PayloadReply, **how: Any
) -> None:
    """A response in chunks gives the reply of the whole, and its events say what that says."""
    chunks = tuple(chunks)
    events = events_of(registry, chunks, page, **how)
    done = events[-1]
    assert isinstance(done, Done)
    assert done.reply == whole, chunks
    assert "".join([e.text for e in events if isinstance(e, TextDelta)]) == whole.to_message()["message"], chunks
    assert [e.payload for e in events if isinstance(e, PayloadParsed)] == whole.payloads, chunks
    unfinished = [e.payload for e in events if isinstance(e, PayloadUnfinished)]
    assert unfinished == whole.unfinished_payloads, chunks


def read(registry: PayloadRegistry, text: str, page: str | None = None, **how: Any) -> PayloadReply:
    """The reply to a text, after it was read at a third of all splits, and in single characters, too."""
    whole = registry.parse(text, page=page, **how)
    for at in some(range(len(text) + 1), text, 0.34):
        check_chunks(registry, (text[:at], text[at:]), page, whole, **how)
    check_chunks(registry, text, page, whole, **how)
    return whole
