"""Invariants of one segment and the text at its span."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from outspoken import Payload, Reasoning, Reply, Text, ToolCall
from outspoken.authoring.fuzz.checks import require
from outspoken.parsing import Repair, Segment

from .events import FINISHED


def check_segment(segment: Segment, reply: Reply, raw: str) -> None:
    """A segment says what stands at its span, which is `raw`; text in an envelope, answers and reasoning may be JSON
    strings."""
    if isinstance(segment, (Text, Reasoning)):
        require(segment.text, "segments", f"an empty {segment.kind}")
        says = segment.text == raw or segment.text == _says(segment, reply) or _is_begun(segment, reply)
        says = says or _is_read_in_part(segment.text, raw)
        require(says, "segments", f"{segment.text!r} where {raw!r} stands")
    elif isinstance(segment, ToolCall):
        if segment.status in FINISHED:
            # a lone surrogate that the model wrote as an escape is still one in the text, and no longer in the value
            value = json.dumps(json.loads(segment.arguments_text), ensure_ascii=False)
            value = json.loads(_LONE.sub("\ufffd", value))
            require(value == segment.arguments, "segments", f"{segment.arguments} of {segment.arguments_text}")
    elif not isinstance(segment, Payload):
        require(segment.raw == raw, "segments", f"{segment.raw!r} where {raw!r} stands")


_LONE = re.compile("[\ud800-\udfff]")


def _is_read_in_part(text: str, raw: str) -> bool:
    """Is a text the beginning of a JSON string up to a quote or a backslash, and the raw text from there on?"""
    for match in re.finditer(r'["\\]', raw):
        with suppress(ValueError):
            if json.loads(f'"{raw[: match.start()]}"', strict=False) + raw[match.start() :] == text:
                return True
    return False


def _says(segment: Segment, reply: Reply) -> Any:
    """What the JSON string at the place of a segment says, with the repairs made there; None if there is none."""
    try:
        value = json.loads(_repaired(segment, reply))
        return _LONE.sub("\ufffd", value) if isinstance(value, str) else value
    except ValueError:
        return None


def _repaired(segment: Segment, reply: Reply) -> str:
    """The text at the place of a segment, with the repairs made in it."""
    start, end = segment.span
    inside = [repair for repair in reply.repairs if start <= repair.span[0] and repair.span[1] <= end]
    return with_repairs(reply.raw[:end], inside, start)


def with_repairs(text: str, repairs: Iterable[Repair], start: int = 0) -> str:
    """The text from `start` on with the repairs made in it."""
    parts: list[str] = []
    for repair in sorted(repairs, key=lambda repair: repair.span):
        parts += [text[start : repair.span[0]], repair.after]
        start = repair.span[1]
    return "".join([*parts, text[start:]])


#: the beginning of a JSON string up to the escape that it is cut in; half a pair of surrogates waits for the other
_UNCUT = re.compile(
    r"""\"(?:[^\\]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89abAB]..(?!(?:\\(?:u(?:[dD](?:[c-fC-F].?)?)?)?)?\Z)
    |\\u(?![dD][89abAB])....|\\[^u])*""",
    re.DOTALL | re.VERBOSE,
)


def _is_begun(segment: Text | Reasoning, reply: Reply) -> bool:
    """Is it an answer that never ended, and all that stands of its JSON string up to where its last escape is cut?

    Or one that cannot be read, and what such a string begins with?
    """
    found = {d.code for d in reply.diagnostics if d.span[0] <= segment.span[0] and segment.span[1] <= d.span[1]}
    mended = _repaired(segment, reply)
    if not found & {"unclosed-answer", "invalid-answer"} or not mended.startswith('"'):
        return False
    if "unclosed-answer" in found:
        whole = _UNCUT.match(mended)
        return whole is not None and _string(whole[0]) == segment.text
    return any(_string(mended[:end]) == segment.text for end in range(1, len(mended) + 1))


def _string(begun: str) -> str | None:
    """What a JSON string or its beginning says, over line breaks, too; None if it is none."""
    for end in ("", '"'):
        with suppress(ValueError):
            return _LONE.sub("\ufffd", json.loads(begun + end, strict=False))
    return None
