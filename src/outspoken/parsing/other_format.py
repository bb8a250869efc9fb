"""A format that was named and found nothing, although the text holds calls of another one."""

from __future__ import annotations

from collections.abc import Callable

from outspoken.patterns.escaped_text import other_writings
from outspoken.patterns.shown import ShownPlaces
from outspoken.results.diagnostics import PendingDiagnostic
from outspoken.results.replies import Reasoning, Reply, Segment, Text
from outspoken.semantics.announcements import ANNOUNCES
from outspoken.semantics.call_signs import signs_in

from .options import ReadOptions

#: Text behind more signs than this is not looked at. It says nothing new.
_MANY = 50
#: So much of the text before a block of code is looked at.
_LEAD = 200
#: What segments that are no text are called.
_NOUNS = {"tool_call": "call", "action": "action", "payload": "payload"}


def other_format(
    raw: str,
    segments: list[Segment],
    options: ReadOptions,
    read: Callable[[str, ReadOptions], Reply],
    *,
    is_damaged: bool = False,
    start: int = 0,
) -> list[PendingDiagnostic]:
    """The diagnostic that says which format the calls of a text are in, if another one than the named one has some.

    If a damaged segment of the named format was lost, one that needs repairs is none of another format. The text begins
    at the offset `start` of the response.
    """
    raw, whole = raw[: _end_of_signs(raw)], options._replace(format=None, on_error="keep")
    if is_damaged and not _made(read(raw, whole._replace(repair="none")), segments, options):
        return []
    reply = read(raw, whole)
    requests = _made(reply, segments, options)
    if not requests:
        return []
    message = f"this reads as {reply.format}, {_counted(requests)}"
    helps = (f'pass format="{reply.format}"' + ("" if options.format is None else ' or format="auto"'),)
    span = (start + requests[0].span[0], start + requests[0].span[1])
    return [PendingDiagnostic("other-format", message, span, "error", options.format, "", (), helps)]


def in_last_part(
    segment: Segment, options: ReadOptions, read: Callable[[str, ReadOptions], Reply]
) -> list[PendingDiagnostic]:
    """The same for the last segment of a response, if it is reasoning or ends in a block of code.

    Without a format, neither of these holds calls. Where the words before a block announce an example, it is one.
    """
    if isinstance(segment, Reasoning):
        return other_format(segment.text, [], options, read, start=segment.span[0])
    if not isinstance(segment, Text) or not (blocks := ShownPlaces(segment.text).blocks):
        return []
    start, end = blocks[-1]
    if segment.text[end:].strip() or ANNOUNCES.search(segment.text[max(start - _LEAD, 0) : start]):
        return []
    block = segment.text[start:end]
    start, block = start + block.index("\n") + 1, block[block.index("\n") + 1 : block.rindex("\n") + 1]
    diagnostics = other_format(block, [], options, read, start=segment.span[0] + start)
    return [diagnostic._replace(severity="warning") for diagnostic in diagnostics]


def written_otherwise(
    segments: list[Segment], options: ReadOptions, read: Callable[[str, ReadOptions], Reply]
) -> list[PendingDiagnostic]:
    """A diagnostic for each text that holds calls once its markup is written plainly."""
    diagnostics: list[PendingDiagnostic] = []
    any_format = options._replace(format=None, on_error="keep")
    for segment in segments:
        for plain, begun in other_writings(segment.text) if isinstance(segment, Text) else ():
            reply = read(plain[: _end_of_signs(plain)], any_format)
            if requests := _made(reply, [], any_format):
                message = f"written plainly, this is {reply.format}, {_counted(requests)}; as it is, it stays text"
                span = (segment.span[0] + begun, segment.span[0] + begun + 1)
                diagnostics.append(PendingDiagnostic("unread-markup", message, span, "warning", options.format, "text"))
                break
    return diagnostics


def _made(reply: Reply, segments: list[Segment], options: ReadOptions) -> list[Segment]:
    """What a reply in another format has made of the text, but for what stands in the reasoning of the named one."""
    if reply.format in (None, options.format):
        return []
    thoughts = [s.span for s in segments[:-1] if type(s) is Reasoning]
    return [s for s in reply.segments if s.kind in _NOUNS and not any(a <= s.span[0] < b for a, b in thoughts)]


def _counted(segments: list[Segment]) -> str:
    """How many calls, actions and payloads there are, in words."""
    kinds = [segment.kind for segment in segments]
    counts = [(kinds.count(kind), noun) for kind, noun in _NOUNS.items()]
    return ", ".join([f"{count} {noun}{'s' * (count > 1)}" for count, noun in counts if count])


def _end_of_signs(raw: str) -> int:
    """Where the text ends that is looked at."""
    signs = signs_in(raw)
    return signs[_MANY].start() if len(signs) > _MANY else len(raw)
