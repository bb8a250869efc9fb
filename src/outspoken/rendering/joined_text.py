"""Neighbouring texts as `render` writes them: one text, joined as in the text of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any, TypeAlias

from outspoken.results.message_text import BLANK, MessageBuilder
from outspoken.results.replies import JsonValue, Reply, Text

Shown: TypeAlias = "Text | JsonValue"


def join_texts(what: Reply | Sequence[Any]) -> list[Any]:
    """The segments of a reply, or a list of them, with neighbouring texts joined.

    The separator is that of `Reply.text`. In a list, texts with a gap between their spans had markup between them.
    """
    segments: Sequence[Any] = what.segments if isinstance(what, Reply) else what
    joined: list[Any] = []
    for is_text, group in groupby(range(len(segments)), lambda n: isinstance(segments[n], (Text, JsonValue))):
        numbers = list(group)
        run: list[Any] = [segments[number] for number in numbers]
        if is_text and len(run) > 1:
            pieces = what.text_pieces() if isinstance(what, Reply) else []
            text = "".join([pieces[number] for number in numbers]) if pieces else _joined(run)
            run = [Text(text=_with_own_ends(text, run), span=(run[0].span[0], run[-1].span[1]))]
        joined += run
    return joined


def shown(segment: Shown) -> str:
    """What a text or a JSON value adds to the text."""
    return segment.text if isinstance(segment, Text) else segment.raw


def _joined(run: list[Shown]) -> str:
    message = MessageBuilder()
    pieces = [message.text(shown(run[0]))]
    for before, segment in pairwise(run):
        if segment.span[0] > before.span[1]:
            message.cut()
        pieces.append(message.text(shown(segment)))
    return "".join([*pieces, message.close()])


def _with_own_ends(text: str, run: list[Shown]) -> str:
    """A joined text with the white space at its ends that its first and its last part have."""
    first, last = shown(run[0]), shown(run[-1])
    lead = first[: len(first) - len(first.lstrip(BLANK))]
    return lead + text.strip(BLANK) + last[len(last.rstrip(BLANK)) :]
