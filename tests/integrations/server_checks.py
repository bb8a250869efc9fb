"""What the servers' own classes have to make of a response with our parsers, whole and streamed, whichever server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outspoken import parse
from tests.integrations.model_texts import BOTH, FORMATS, TOOLS, written

#: The formats whose reasoning stands between tags.
TAGGED = tuple(name for name in FORMATS if name != "react")

#: Reads a response with the parsers of a format: the reasoning, the content, and the calls.
Read = Callable[..., Any]


def check_parallel_calls(format: str, whole: Read, streamed: Read) -> None:
    """Two calls in one response, with text before them."""
    text = written(format, *BOTH, text="Let me look.")
    expected = ("", parse(text, format=format, tools=TOOLS).text, [(name, dict(given)) for name, given in BOTH])
    assert whole(text, format) == expected
    for size in (1, 3, 1000):
        assert streamed(text, format, size=size) == expected


def check_reasoning(format: str, whole: Read, streamed: Read) -> str:
    """Reasoning before a call. Returns the response."""
    text = written(format, BOTH[0], reasoning="The tide first.")
    expected = ("The tide first.", "", [("tide", BOTH[0][1])])
    assert whole(text, format, format) == expected
    for size in (1, 5, 1000):
        assert streamed(text, format, format, size=size) == expected
    return text
