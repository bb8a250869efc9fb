"""The invariants of every text. Each function checks one and raises `Violation`.

`check` asks all that holds for any text, `check_sound` and `check_detected` what holds for a sound one. The tests ask
it of the corpus and of texts made of its pieces, and `tools/fuzz` of texts that nobody wrote.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from outspoken import Event, JsonValue, RenderError, Reply, StreamParser, Text, parse, render
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.results.replies import STATUSES

from .events import FINISHED, check_events
from .reference import Meaning, content_of, opened_before, read
from .segments import check_segment, with_repairs
from .violation import Violation, require


@dataclass(frozen=True)
class How:
    """How a text is read: the format, what else `parse` takes, and why the response ended."""

    format: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str | None = None

    def parse(self, text: str, **more: Any) -> Reply:
        """Read a whole text."""
        return parse(text, self.format, finish_reason=self.reason, **{**self.options, **more})

    def unopened(self) -> How:
        """The same, where the prompt has opened nothing: so a grammar is read."""
        return How(self.format, {**self.options, "prefix": ""}, self.reason)

    def stream(self, chunks: Iterable[str | bytes]) -> tuple[list[Event], Reply]:
        """Read a text in pieces: the events, and the reply."""
        parser = StreamParser(self.format, **self.options)
        events = [event for chunk in chunks for event in parser.feed(chunk)]
        events += parser.finish(self.reason)
        require(parser.reply is not None, "events", "a stream that was closed has no reply")
        assert parser.reply is not None
        return events, parser.reply


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
    require(not any(c.status in FINISHED for c in reply.unfinished), "status", "an unfinished call is finished")
    for diagnostic in reply.diagnostics:
        require(0 <= diagnostic.span[0] <= diagnostic.span[1] <= len(reply.raw), "spans", diagnostic)
        line = reply.raw.count("\n", 0, diagnostic.span[0]) + 1
        require(line == diagnostic.line, "spans", f"{diagnostic} is in line {line}")
        diagnostic.frame().encode()
    check_repairs(reply)
    check_status(reply)


def check_status(reply: Reply) -> None:
    """The status of a reply is the worst of what is in it."""
    found = [segment.status for segment in reply.segments if not isinstance(segment, (Text, JsonValue))]
    if any(d.code in ("unclosed-markup", "unclosed-reasoning", "unclosed-answer") for d in reply.diagnostics):
        found.append("truncated")
    if any(d.code == "invalid-answer" for d in reply.diagnostics):
        found.append("invalid")
    if reply.repairs:
        found.append("repaired")
    worst = max(found, key=STATUSES.index, default="ok")
    require(reply.status == worst, "status", f"{reply.status}, but the worst segment is {worst}")


def check_repairs(reply: Reply) -> None:
    """Each repair says what stood where, and those of a segment are among all."""
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
    """What a format can write of a reply, it reads as the same: `render` itself compares, and raises nothing else."""
    with suppress(RenderError):
        render(reply, format)


#: What is a name, a key of JSON or the rest of a tag; what matches it tells nothing.
_ANY_WORDS = ("quince", '"quince":', '"quince>')
#: A word that is so near to a repair or to the place of a diagnostic is spoken of by that.
_BESIDE = 1
_WORD = re.compile(r"\w{3,}")


def check_nothing_lost(reply: Reply) -> None:
    """What is in no segment is markup of some format, or was noticed."""
    if reply.envelope:
        return
    noticed = [d.span for d in reply.diagnostics] + [r.span for r in reply.repairs] + [*_answers(reply)]
    edges = [0, *[edge for segment in reply.segments for edge in segment.span], len(reply.raw)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        for match in _WORD.finditer(reply.raw, start, end) if start < end else ():
            held = any(a - _BESIDE <= match.end() and match.start() <= b + _BESIDE for a, b in noticed)
            require(held or _is_markup(reply.raw, *match.span()), "lost", f"{match[0]!r} at offset {match.start()}")


def _answers(reply: Reply) -> Iterator[tuple[int, int]]:
    """The places of objects that are answers: like those of calls, they may have keys that say nothing to the user."""
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


def check_chunks(text: str, how: How, whole: Reply, random: Random) -> None:
    """However a text is cut, it gives the same reply, and its events add up to that."""
    for chunks in chunkings(text, random):
        events, reply = how.stream(chunks)
        cut = "single characters" if chunks is text else repr(list(chunks))
        require(reply == whole, "chunks", f"in {cut}: {content_of(reply)}, but whole: {content_of(whole)}")
        check_events(events)


# damage


def calls(reply: Reply) -> list[tuple[str, Any]]:
    """The finished calls: names and arguments."""
    return [(call.name, call.arguments) for call in reply.tool_calls]


def check_replay(text: str, how: How, reply: Reply) -> None:
    """The repairs, made in the raw text, make it sound: read without repair, it gives the same calls.

    But for text that was left over and holds markers: between sound calls, they may mean something.
    """
    foreign = any(repair.code == "foreign-notation" for repair in reply.repairs)
    if reply.status != "repaired" or foreign or any(_has_markup(s.text) for s in reply.segments if isinstance(s, Text)):
        return
    mended = with_repairs(text, reply.repairs)
    again = how.parse(mended, repair="none")
    require(calls(again) == calls(reply), "replay", f"{mended!r} has the calls {calls(again)}, not {calls(reply)}")


def check_meaning(text: str, how: How, reply: Reply) -> None:
    """What the strict grammar accepts says what the rules of grammars say, whether repair is allowed or not.

    Both behind what every prompt ends with, and where the prompt has opened nothing. What is meant is not known where
    tools or a prefix give a text another meaning.
    """
    if not how.options.keys().isdisjoint(("tools", "prefix")):
        return
    automaton = registry.automaton(how.format)
    require_meant(text, how, reply, read(automaton, text, opened := opened_before(automaton, text)))
    if opened:
        how = how.unopened()
        require_meant(text, how, how.parse(text), read(automaton, text))


def require_meant(text: str, how: How, reply: Reply, meaning: Meaning | None) -> None:
    """The text says what it means, if it means something: without repair, and with it where nothing was damaged."""
    if meaning is None:
        return
    strict = how.parse(text, repair="none")
    require_meaning(strict, meaning)
    if reply.status == "ok" and not reply.diagnostics:
        require(reply == strict, "strict", f"without repair: {content_of(strict)}, with it: {content_of(reply)}")


def require_meaning(reply: Reply, meaning: Meaning) -> None:
    """The reply says what the text means, and that nothing is wrong with it."""
    require(reply.status == "ok", "meaning", f"the grammar accepts it, but it is {reply.status}")
    require(not reply.repairs, "meaning", f"the grammar accepts it, but it has {len(reply.repairs)} repairs")
    require(repr(content_of(reply)) == repr(meaning), "meaning", f"read: {content_of(reply)}, meant: {meaning}")


# sound text without markers that mean nothing where they stand: recovery has no reason to see damage in it


def check_sound(text: str, how: How) -> None:
    """What the strict grammar accepts is read so with repair, too, and no beginning of it holds other calls."""
    meaning = read(registry.automaton(how.format), text)
    if meaning is not None:
        how = how.unopened()
        reply = how.parse(text)
        require_meaning(reply, meaning)
        check_beginnings(text, how, reply, Random(text))


def check_beginnings(text: str, how: How, whole: Reply, random: Random, most: int = 8) -> None:
    """No beginning of a sound text has a call, not even a repaired one, that the whole has not.

    But for text with backticks: what stands behind one is a code sample only if there is another one.
    """
    if "`" in text or "~" in text:
        return
    for at in sorted(random.sample(range(len(text) + 1), min(most, len(text) + 1))):
        begun = How(how.format, how.options).parse(text[:at])
        check_reply(begun)
        found, meant = calls(begun), calls(whole)
        require(found == meant[: len(found)], "beginning", f"up to offset {at}: {found}, in all: {meant}")


def check_detected(text: str, how: How) -> None:
    """What the strict grammar accepts says the same where its format is detected, except text and JSON in it.

    Detection does not know the markers that only a whole response may begin with: such a text is not asked.
    """
    automaton = registry.automaton(how.format)
    if any(re.match(step.terminal.regex, text.lstrip()) for step in automaton.start.leading_markers):
        return
    meaning = read(automaton, text)
    found = How("auto", how.options, how.reason).parse(text)
    if meaning is None or found.format != how.format or any(isinstance(s, JsonValue) for s in found.segments):
        return
    if repr(content_of(how.unopened().parse(text))) == repr(meaning):
        same = repr(content_of(found).but_for_text) == repr(meaning.but_for_text)
        require(same, "detected", f"detected: {content_of(found)}, named: {meaning}")


# cost


def cost(text: str, how: How) -> int:
    """How many functions are called to read a text."""
    return calls_in(lambda: how.parse(text))


def calls_in(run: Callable[[], object]) -> int:
    """The number of function calls in a run, which does not depend on the machine."""
    count = 0

    def tick(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


@contextmanager
def without_fast_paths() -> Generator[None]:
    """Within, the fast path is off."""
    before, reader.ENABLED = reader.ENABLED, False
    try:
        yield
    finally:
        reader.ENABLED = before


def check_growth(unit: str, how: How, size: int = 8_000) -> None:
    """A text of twice as many units takes about twice as much work, without the fast path."""
    times = size // max(len(unit), 1) + 1
    with without_fast_paths():
        for text in (unit * times, unit * 2 * times):
            how.parse(text)  # what is made once is not counted; for long texts that is something else
        less, more = cost(unit * times, how), cost(unit * 2 * times, how)
    require(more <= 3 * less, "growth", f"{more} calls of functions for twice the text that takes {less}")


def check(text: str, how: How) -> None:
    """Everything that holds for any text; which pieces it is cut into depends on the text alone."""
    reply = how.parse(text)
    check_reply(reply)
    check_written(reply)
    check_nothing_lost(reply)
    check_chunks(text, how, reply, Random(text))
    if how.format != "auto":
        check_replay(text, how, reply)
        check_meaning(text, how, reply)
        check_rendered(reply, how.format)


def violation_of(text: str, how: How, ask: Callable[[str, How], None]) -> Violation | None:
    """What a text breaks of that which is asked of it; an exception of any other kind is broken, too."""
    try:
        ask(text, how)
    except Violation as broken:
        return broken
    except Exception as error:
        return Violation("raises", f"{type(error).__name__}: {error}")
    return None
