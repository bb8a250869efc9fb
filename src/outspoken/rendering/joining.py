"""Neighbouring texts of a reply or a list, joined: a format writes them as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any, TypeAlias

from outspoken.results.message_text import BLANK, CLOSING
from outspoken.results.replies import JsonValue, Reply, Text

_Shown: TypeAlias = "Text | JsonValue"


def join_texts(what: Reply | Sequence[Any]) -> list[Any]:
    """The segments of a reply, or a list of them, with neighbouring texts joined.

    Those of a reply as in `Reply.text`. In a list, texts with a gap between their spans get a space as at its borders.
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


def _shown(segment: _Shown) -> str:
    """What a text or a JSON value adds to the text."""
    return segment.text if isinstance(segment, Text) else segment.raw


def _joined(run: list[_Shown]) -> str:
    text = _shown(run[0])
    for before, segment in pairwise(run):
        piece = _shown(segment)
        is_apart = text[-1:].isspace() or piece[:1].isspace() or piece.startswith(CLOSING)
        text += piece if is_apart or segment.span[0] == before.span[1] else " " + piece
    return text


def _with_own_ends(text: str, run: list[_Shown]) -> str:
    """A joined text with the white space at its ends that its first and its last part have."""
    first, last = _shown(run[0]), _shown(run[-1])
    lead = first[: len(first) - len(first.lstrip(BLANK))]
    return lead + text.strip(BLANK) + last[len(last.rstrip(BLANK)) :]
