"""The invariants of every text. Each function checks one and raises `ViolationError`.

`check` covers what holds for any text, beside what the fuzz asks (`outspoken.authoring.fuzz.checks`); `cost.py` has the
invariant of time. The tests use them on the corpus, on texts made of its pieces and on generated texts.
"""

import ast
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from random import Random
from typing import Any

from outspoken import Reasoning, RenderError, Reply, Text, render
from outspoken.authoring.fuzz.checks import ParseArguments, check_nothing_lost, check_spans, markers, require, said
from outspoken.results.replies import STATUSES, JsonValue
from tests.loops import SEED

from .events import FINISHED, check_events, check_segment, with_repairs

#: What says something of text that is text all the same.
ADVICE = frozenset({"unread-markup"})
#: What says of text that it looks like a marker, and like which one.
_LOOKS_LIKE = re.compile(r"this looks like the marker (?P<marker>'.*?'|\".*?\"), but no call", re.DOTALL)
#: A marker has at most one mistake, or two if it has so many characters.
_LONG = 12


def check_advice(reply: Reply) -> None:
    """What is told of text stands in text, reasoning or data."""
    for diagnostic in reply.diagnostics:
        if diagnostic.code not in ADVICE:
            continue
        start, end = diagnostic.span
        inside = [s for s in reply.segments if s.span[0] <= start and end <= s.span[1]]
        require(start < end and inside, "advice", f"{diagnostic} is in no segment")
        segment = inside[0]
        require(isinstance(segment, (Text, Reasoning, JsonValue)), "advice", f"{diagnostic} is in {segment.kind}")


def check_markers(reply: Reply) -> None:
    """What is called a marker of a format that was named differs little from it."""
    for diagnostic in reply.diagnostics:
        looks = _LOOKS_LIKE.match(diagnostic.message) if diagnostic.code in ADVICE else None
        start, end = diagnostic.span
        for segment in reply.segments if looks is not None else ():
            is_around = segment.span[0] <= start and end <= segment.span[1]
            if looks is None or not is_around or getattr(segment, "text", "") != reply.raw[slice(*segment.span)]:
                continue
            marker, found = ast.literal_eval(looks["marker"]), reply.raw[start:end]
            if isinstance(segment, Reasoning):
                is_there = f"\n{marker}" in segment.text or segment.text.rstrip().endswith(marker)
                require(is_there, "advice", f"{diagnostic}: no line begins and no text ends with it")
            else:
                few = distance(found, marker) <= 1 + (len(marker) >= _LONG)
                require(few, "advice", f"{diagnostic}: {found!r} is there")


def distance(one: str, other: str) -> int:
    """How many mistakes make one text of another: characters added, left out, changed or swapped with the next."""
    rows = [list(range(len(other) + 1))]
    for i, char in enumerate(one):
        row = [i + 1]
        for j, meant in enumerate(other):
            least = min(rows[-1][j] + (char != meant), rows[-1][j + 1] + 1, row[j] + 1)
            if i and j and char == other[j - 1] and one[i - 1] == meant:
                least = min(least, rows[-2][j - 1] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


# the invariants of every text. Each function checks one and raises `ViolationError`


# the reply


def check_reply(reply: Reply) -> None:
    """The reply is consistent with itself and with the raw text."""
    check_spans(reply)
    for segment in reply.segments:
        check_segment(segment, reply, reply.raw[slice(*segment.span)])
    require(all(call.status in FINISHED for call in reply.tool_calls), "status", "a call to run is not finished")
    finished = [call for call in reply.unfinished_tool_calls if call.status in FINISHED]
    require(not finished, "status", "an unfinished call is finished")
    for diagnostic in reply.diagnostics:
        line = reply.raw.count("\n", 0, diagnostic.span[0]) + 1
        require(line == diagnostic.line, "spans", f"{diagnostic} is in line {line}")
        diagnostic.frame().encode()
    check_advice(reply)
    check_repairs(reply)
    check_status(reply)


def check_status(reply: Reply) -> None:
    """The status of a reply is the worst of what is in it."""
    found = [segment.status for segment in reply.segments if not isinstance(segment, (Text, JsonValue))]
    if any(d.code in ("unclosed-markup", "unclosed-reasoning", "unclosed-answer") for d in reply.diagnostics):
        found.append("truncated")
    if any(d.code in ("invalid-answer", "invalid-list") for d in reply.diagnostics):
        found.append("invalid")
    behind = reply.segments[-1].span[1] if reply.segments else 0
    closers = re.search(r"[\s,\"'}\])]*\Z", reply.raw[behind:])
    if any(d.code == "unclosed-section" for d in reply.diagnostics) and closers is not None and "," in closers[0]:
        found.append("truncated")  # another call, action or field was to follow
    if reply.repairs:
        found.append("repaired")
    worst = max(found, key=STATUSES.index, default="ok")
    require(reply.status == worst, "status", f"{reply.status}, but the worst segment is {worst}")


def check_repairs(reply: Reply) -> None:
    """Each repair has the right text and position, and the reply has all repairs of its segments."""
    for repair in reply.repairs:
        start, end = repair.span
        require(reply.raw[start:end] == repair.before, "repairs", f"{repair}: {reply.raw[start:end]!r} stood there")
        before = reply.raw[:start]
        place = (before.count("\n") + 1, start - before.rfind("\n"))
        require((repair.line, repair.column) == place, "repairs", f"{repair} is at {place}")
    for segment in reply.segments:
        for repair in getattr(segment, "repairs", ()):
            require(repair in reply.repairs, "repairs", f"{repair} is of a segment, and not of the reply")


def check_written(reply: Reply) -> None:
    """The reply can be written as JSON, and read again."""
    written = reply.model_dump_json()
    written.encode()
    require(Reply.model_validate_json(written) == reply, "json", "the reply reads back as another one")


def check_rendered(reply: Reply, format: str) -> None:
    """`render` raises nothing but RenderError; it checks itself that its output reads back."""
    with suppress(RenderError):
        render(reply, format=format)


def _has_markup(text: str) -> bool:
    """Whether a text holds a marker of some format, or a backtick."""
    return "`" in text or any(len(match[0].strip()) > 2 for finder in markers() for match in finder(text))


# pieces


def pieces(text: str, size: int) -> list[str]:
    """A text in pieces of a size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def at_random(text: str, random: Random, most: int = 8) -> list[str]:
    """A text in pieces, cut at random places."""
    cuts = sorted([random.randrange(len(text) + 1) for _ in range(random.randint(1, most))])
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def chunking(text: str, random: Random) -> Iterable[str | bytes]:
    """A way to cut a text: single characters, pieces of a size or cut at random, or bytes cut inside characters."""
    way, size = random.random(), random.choice((2, 3, 7))
    if way < 0.34:
        return text
    with suppress(UnicodeEncodeError):
        if way < 0.56:
            raw = text.encode()
            return [raw[at : at + size] for at in range(0, len(raw), size)]
    return pieces(text, size) if way < 0.78 else at_random(text, random)


def check_chunks(text: str, args: ParseArguments, whole: Reply, random: Random) -> None:
    """A text gives the same reply in any pieces, and the events add up to it."""
    chunks = chunking(text, random)
    events, reply = args.stream(chunks)
    cut = "single characters" if chunks is text else repr(list(chunks))
    require(reply == whole, "chunks", f"in {cut}: {said(reply)}, but whole: {said(whole)}")
    check_events(events)


# damage


def calls(reply: Reply) -> list[tuple[str, Any]]:
    """The finished calls: names and arguments."""
    return [(call.name, call.arguments) for call in reply.tool_calls]


def check_replay(text: str, args: ParseArguments, reply: Reply) -> None:
    """The raw text with its repairs applied is sound: without repair, it gives the same calls.

    Replies whose text holds markers are skipped: between sound calls, these may be markup.
    """
    foreign = any(repair.code == "foreign-notation" for repair in reply.repairs)
    if reply.status != "repaired" or foreign or any(_has_markup(s.text) for s in reply.segments if isinstance(s, Text)):
        return
    repaired = with_repairs(text, reply.repairs)
    again = args.parse(repaired, repair="none")
    require(calls(again) == calls(reply), "replay", f"{repaired!r} has the calls {calls(again)}, not {calls(reply)}")


# sound text: recovery has no reason to see damage in it


def check_sound(text: str, format: str) -> None:
    """Repair changes nothing in a text that the strict grammar accepts, and no prefix of it has other calls."""
    args = ParseArguments(format)
    reply = args.parse(text)
    if reply.status == "ok" and not reply.diagnostics:
        strict = args.parse(text, repair="none")
        require(reply == strict, "strict", f"without repair: {said(strict)}, with it: {said(reply)}")
        check_beginnings(text, args, reply, Random(text))


def check_beginnings(text: str, args: ParseArguments, whole: Reply, random: Random, most: int = 8) -> None:
    """No prefix of a sound text has a call, not even a repaired one, that the whole text does not have.

    Texts with backticks are skipped: what follows one is a code sample only if there is another one.
    """
    if "`" in text or "~" in text:
        return
    for at in sorted(random.sample(range(len(text) + 1), min(most, len(text) + 1))):
        begun = ParseArguments(args.format, args.options).parse(text[:at])
        check_reply(begun)
        found, meant = calls(begun), calls(whole)
        require(found == meant[: len(found)], "beginning", f"up to offset {at}: {found}, in all: {meant}")


# all of them


def check(text: str, args: ParseArguments) -> None:
    """Check everything that holds for any text. The pieces are drawn for the text and the seed of this run."""
    reply = args.parse(text)
    check_reply(reply)
    check_written(reply)
    check_nothing_lost(reply)
    check_chunks(text, args, reply, Random(f"{SEED} {text!r}"))
    if args.format != "auto":
        check_markers(reply)
        check_replay(text, args, reply)
        check_rendered(reply, args.format)
