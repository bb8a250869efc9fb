"""The invariants of every text. Each function checks one and raises `ViolationError`.

`check` covers what holds for any text, `check_sound` and `check_detected` what holds for a sound one; `cost.py` has the
invariant of time. The tests use them on the corpus and on texts made of its pieces, `tools.fuzz` on generated texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from outspoken import Event, JsonValue, Parser, RenderError, Reply, Text, ToolCall, parse, render
from outspoken.grammar import registry
from outspoken.grammar.value_markup import all_value_markup
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.results.replies import STATUSES

from .advice import check_advice, check_markers
from .content import Content, content_of
from .events import FINISHED, check_events
from .reference import opened_before, read
from .segments import check_segment, with_repairs
from .violation import ViolationError, require


@dataclass(frozen=True)
class ParseArguments:
    """The arguments of `parse` besides the text: the format, the finish reason, and all others as `options`."""

    format: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str | None = None

    def parse(self, text: str, **more: Any) -> Reply:
        """Read a whole text."""
        return parse(text, self.format, finish_reason=self.reason, **{**self.options, **more})

    def unopened(self) -> ParseArguments:
        """The same without the prompt prefix of the format."""
        return ParseArguments(self.format, {**self.options, "prefix": ""}, self.reason)

    def stream(self, chunks: Iterable[str | bytes]) -> tuple[list[Event], Reply]:
        """Read a text in pieces: the events, and the reply."""
        options = dict(self.options)
        prefix = options.pop("prefix", None)
        session = Parser(self.format, **options).session(prefix=prefix)
        events = [event for chunk in chunks for event in session.feed(chunk)]
        events += session.close(self.reason)
        require(session.reply is not None, "events", "a session that was closed has no reply")
        assert session.reply is not None
        return events, session.reply


# the reply


def check_reply(reply: Reply) -> None:
    """The reply is consistent with itself and with the raw text."""
    end = 0
    for segment in reply.segments:
        start, stop = segment.span
        require(end <= start < stop <= len(reply.raw), "spans", f"{segment.span} behind offset {end}")
        end = stop
        check_segment(segment, reply, reply.raw[start:stop])
    require(all(call.status in FINISHED for call in reply.tool_calls), "status", "a call to run is not finished")
    finished = [call for call in reply.unfinished_tool_calls if call.status in FINISHED]
    require(not finished, "status", "an unfinished call is finished")
    for diagnostic in reply.diagnostics:
        require(0 <= diagnostic.span[0] <= diagnostic.span[1] <= len(reply.raw), "spans", diagnostic)
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
        render(reply, format)


#: What is a name, a key of JSON or the rest of a tag; what matches it tells nothing.
_ANY_WORDS = ("quince", '"quince":', '"quince>')
#: A word that is so near to a repair or to the place of a diagnostic is spoken of by that.
_BESIDE = 1
_WORD = re.compile(r"\w{3,}")


def check_nothing_lost(reply: Reply) -> None:
    """Text that is in no segment is markup of some format, or was reported."""
    if reply.envelope:
        return
    reported = [d.span for d in reply.diagnostics] + [r.span for r in reply.repairs] + [*_answers(reply)]
    edges = [0, *[edge for segment in reply.segments for edge in segment.span], len(reply.raw)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        for match in _WORD.finditer(reply.raw, start, end) if start < end else ():
            held = any(a - _BESIDE <= match.end() and match.start() <= b + _BESIDE for a, b in reported)
            require(held or _is_markup(reply.raw, *match.span()), "lost", f"{match[0]!r} at offset {match.start()}")


def _answers(reply: Reply) -> Iterator[tuple[int, int]]:
    """The spans of answer objects: like calls, they may have keys that are not shown to the user."""
    decoder = json.JSONDecoder(strict=False)
    for segment in reply.segments if reply.final_answer_streamed else ():
        for brace in re.finditer(r"\{", reply.raw[: segment.span[0]]) if segment.kind in ("text", "json") else ():
            with suppress(ValueError, RecursionError):
                _, end = decoder.raw_decode(reply.raw, brace.start())
                if end > segment.span[1]:
                    yield brace.start(), end


def _is_markup(raw: str, start: int, end: int) -> bool:
    """Whether a part of a text lies in a marker of some format."""
    offset = max(start - 200, 0)
    near = raw[offset : end + 200]
    for opened in ["", *_opened()] if offset == 0 else [""]:  # a marker may begin in what the prompt had opened
        before, after = start - offset + len(opened), end - offset + len(opened)
        if any(m.start() <= before and after <= m.end() for finder in _markers() for m in finder(opened + near)):
            return True
    return False


def _has_markup(text: str) -> bool:
    """Whether a text holds a marker of some format, or a backtick."""
    return "`" in text or any(len(match[0].strip()) > 2 for finder in _markers() for match in finder(text))


@registry.cached
def _opened() -> list[str]:
    """What the prompts of formats end with."""
    return sorted({opened for name in registry.names() if (opened := registry.header(name).opened)})


@registry.cached
def _markers() -> list[Any]:
    """Searches for all markers of all formats, as they are read and as they are written; not for what any word is."""
    terminals = [t for name in registry.names() for t in registry.automaton(name).tables.terminals.values()]
    markers = [t for t in terminals if t.short not in FREE_TEXT | EMBEDDED_VALUES]
    regexes = [t.regex for t in markers] + [re.escape(t.canonical.strip()) for t in markers if t.canonical.strip()]
    names = sorted({name for format in registry.names() for name in registry.header(format).answer})
    regexes += [rf'(?i:"\s{{0,9}}{re.escape(name)}\s{{0,9}}")' for name in names]  # an answer is not called anything
    compiled = [re.compile(regex) for regex in dict.fromkeys(regexes)]
    words = [f"{word}{behind}" for word in _ANY_WORDS for behind in ("", '"', "=", "(")]
    return [regex.finditer for regex in compiled if not any(regex.match(word) for word in words)]


# pieces


def pieces(text: str, size: int) -> list[str]:
    """A text in pieces of a size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def at_random(text: str, random: Random, most: int = 8) -> list[str]:
    """A text in pieces, cut at random places."""
    cuts = sorted([random.randrange(len(text) + 1) for _ in range(random.randint(1, most))])
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def chunkings(text: str, random: Random) -> Iterator[Iterable[str | bytes]]:
    """Ways to cut a text: single characters, a few, at random, and bytes cut inside characters."""
    yield text
    yield pieces(text, random.choice((2, 3, 7)))
    for _ in range(3):
        yield at_random(text, random)
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return
    size = random.choice((1, 2, 3, 5))
    yield [raw[at : at + size] for at in range(0, len(raw), size)]


def check_chunks(text: str, args: ParseArguments, whole: Reply, random: Random) -> None:
    """A text gives the same reply in any pieces, and the events add up to it."""
    for chunks in chunkings(text, random):
        events, reply = args.stream(chunks)
        cut = "single characters" if chunks is text else repr(list(chunks))
        require(reply == whole, "chunks", f"in {cut}: {content_of(reply)}, but whole: {content_of(whole)}")
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


def check_content(text: str, args: ParseArguments, reply: Reply) -> None:
    """A text that the strict grammar accepts has the content that the reference reader finds.

    Checked with and without the prompt prefix of the format. Texts with tools or a prefix of their own are skipped: the
    reference reader does not know these.
    """
    if not args.options.keys().isdisjoint(("tools", "prefix")):
        return
    automaton = registry.automaton(args.format)
    require_expected(text, args, reply, read(automaton, text, opened := opened_before(automaton, text)))
    if opened:
        args = args.unopened()
        require_expected(text, args, args.parse(text), read(automaton, text))


def require_expected(text: str, args: ParseArguments, reply: Reply, content: Content | None) -> None:
    """The strict reply has the expected content, if any, and equals the one with repair if nothing is damaged."""
    if content is None:
        return
    strict = args.parse(text, repair="none")
    require_content(strict, content)
    if reply.status == "ok" and not content_of(reply).codes:
        require(reply == strict, "strict", f"without repair: {content_of(strict)}, with it: {content_of(reply)}")


def require_content(reply: Reply, content: Content) -> None:
    """The reply is ok and has the expected content.

    A call is invalid although the grammar accepts it if a value of it holds markup.
    """
    if any("holds markup" in found.message for found in reply.diagnostics if found.severity == "error"):
        markup = all_value_markup(registry.automaton(str(reply.format)))
        values = [v for call in reply.segments if isinstance(call, ToolCall) for v in call.arguments.values()]
        texts = [v for v in values if isinstance(v, str)] + [getattr(s, "raw", "") for s in reply.segments]
        require(any(markup.is_in(text) for text in texts), "meaning", "it is invalid, but no value holds markup")
        return
    require(reply.status == "ok", "meaning", f"the grammar accepts it, but it is {reply.status}")
    require(not reply.repairs, "meaning", f"the grammar accepts it, but it has {len(reply.repairs)} repairs")
    require(repr(content_of(reply)) == repr(content), "meaning", f"read: {content_of(reply)}, meant: {content}")


# sound text without markers that mean nothing where they stand: recovery has no reason to see damage in it


def check_sound(text: str, args: ParseArguments) -> None:
    """Repair changes nothing in a text that the strict grammar accepts, and no prefix of it has other calls."""
    content = read(registry.automaton(args.format), text)
    if content is not None:
        args = args.unopened()
        reply = args.parse(text)
        require_content(reply, content)
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


#: A tag of reasoning within a line, which plain text may read as one that it mentions.
_TAG_IN_LINE = re.compile(r"[^\n]<think", re.IGNORECASE)


def check_detected(text: str, args: ParseArguments) -> None:
    """A text that the strict grammar accepts has the same content if its format is detected, except text and JSON.

    Texts that begin with a marker which is acceptable only there are skipped: detection does not know these. If markers
    of the format ask for evidence, some segments may be missing. So may reasoning that plain text reads as text: its
    tags are mentioned there.
    """
    automaton = registry.automaton(args.format)
    if any(re.match(step.terminal.regex, text.lstrip()) for step in automaton.start.leading_markers):
        return
    content = read(automaton, text)
    found = ParseArguments("auto", args.options, args.reason).parse(text)
    if content is None or found.format != args.format or any(isinstance(s, JsonValue) for s in found.segments):
        return
    if repr(content_of(args.unopened().parse(text))) == repr(content):
        detected, named = [[repr(s) for s in c.but_for_text] for c in (content_of(found), content)]
        if _TAG_IN_LINE.search(text):
            mentioned = {repr(s) for s in content.but_for_text if s[0] == "think"}
            mentioned -= {repr(s) for s in content_of(parse(text, registry.PLAIN)).but_for_text}
            named = [segment for segment in named if segment in detected or segment not in mentioned]
        if automaton.tables.header.evidence:
            named = [segment for segment in named if segment in detected]
        require(detected == named, "detected", f"detected: {content_of(found)}, named: {content}")


# all of them


def check(text: str, args: ParseArguments) -> None:
    """Check everything that holds for any text. The pieces depend on the text alone."""
    reply = args.parse(text)
    check_reply(reply)
    check_written(reply)
    check_nothing_lost(reply)
    check_chunks(text, args, reply, Random(text))
    if args.format != "auto":
        check_markers(reply)
        check_replay(text, args, reply)
        check_content(text, args, reply)
        check_rendered(reply, args.format)


def violation_of(
    text: str, args: ParseArguments, check: Callable[[str, ParseArguments], None]
) -> ViolationError | None:
    """The violation that a check raises for a text, None if it passes. Any other exception is a violation, too."""
    try:
        check(text, args)
    except ViolationError as violation:
        return violation
    except Exception as error:
        return ViolationError("raises", f"{type(error).__name__}: {error}")
    return None
