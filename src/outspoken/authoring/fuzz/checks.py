"""What holds of every text. Each function checks one thing and raises `ViolationError`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from outspoken import Event, Parser, Reply, parse
from outspoken.grammar import registry
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.parsing.tree_parser import parse_tree
from outspoken.results.errors import ResponseError
from outspoken.trees.transformer import SegmentTransformer


class ViolationError(AssertionError):
    """`kind` names what is violated; the message says what was found."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}")
        self.message = message

    @property
    def exception(self) -> str:
        """The name of the exception that reading has raised; "" for another kind."""
        return self.message.partition(":")[0] if self.kind == "raises" else ""


def require(holds: object, kind: str, message: object = "") -> None:
    """Raise ViolationError unless something holds."""
    if not holds:
        raise ViolationError(kind, str(message))


@dataclass(frozen=True)
class ParseArguments:
    """The arguments of `parse` besides the text: the format, the finish reason, and all others as `options`."""

    format: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str | None = None

    def parse(self, text: str, **more: Any) -> Reply:
        """Read a whole text."""
        return parse(text, format=self.format, finish_reason=self.reason, **{**self.options, **more})

    def stream(self, chunks: Iterable[str | bytes]) -> tuple[list[Event], Reply]:
        """Read a text in pieces: the events, and the reply."""
        options = dict(self.options)
        prefix = options.pop("prefix", None)
        session = Parser(self.format, **options).session(prefix=prefix)
        events = [event for chunk in chunks for event in session.feed(chunk)]
        events += session.close(self.reason)
        assert session.reply is not None
        return events, session.reply

    def __str__(self) -> str:
        given = {"format": self.format, **self.options, "finish_reason": self.reason}
        return ", ".join([f"{key}={value!r}" for key, value in given.items() if value is not None])


def check_text(text: str, args: ParseArguments, cuts: Iterable[int] = ()) -> Reply:
    """A text is read without an exception, nothing of it is lost, and pieces give the same reply."""
    reply = args.parse(text)
    check_spans(reply)
    check_nothing_lost(reply)
    parts = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    for chunks in (text, parts):
        streamed = args.stream(chunks)[1]
        require(streamed == reply, "chunks", f"in pieces {list(chunks)}: {said(streamed)}, whole: {said(reply)}")
    return reply


def check_tree(text: str, name: str) -> set[str]:
    """The tree of a sound text says what `parse` reads. Returns the terminals of the tree; none if it is not sound."""
    try:
        tree = parse_tree(text, format=name)
    except ResponseError:
        return set()
    meant = SegmentTransformer().transform(tree)
    reply = parse(text, format=name, repair="none")
    require(reply.segments == meant, "meaning", f"read: {said(reply)}, the tree says: {meant}")
    return {token.type for token in tree.scan_values(lambda _: True)}


def said(reply: Reply) -> str:
    """The segments and diagnostics of a reply, in one line."""
    return f"{reply.segments}{''.join([f'; {found}' for found in reply.diagnostics])}"


def check_spans(reply: Reply) -> None:
    """The segments follow each other in the raw text, and text is not empty."""
    end = 0
    for segment in reply.segments:
        start, stop = segment.span
        require(end <= start < stop <= len(reply.raw), "spans", f"{segment.span} behind offset {end}")
        end = stop
    for found in (*reply.diagnostics, *reply.repairs):
        require(0 <= found.span[0] <= found.span[1] <= len(reply.raw), "spans", found)


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
        if any(m.start() <= before and after <= m.end() for finder in markers() for m in finder(opened + near)):
            return True
    return False


@registry.cached
def _opened() -> list[str]:
    """What the prompts of formats end with."""
    return sorted({opened for name in registry.names() if (opened := registry.header(name).opened)})


@registry.cached
def markers() -> list[Any]:
    """Searches for all markers of all formats, as they are read and as they are written; not for what any word is."""
    terminals = [t for name in registry.names() for t in registry.automaton(name).tables.terminals.values()]
    known = [t for t in terminals if t.short not in FREE_TEXT | EMBEDDED_VALUES]
    regexes = [t.regex for t in known] + [re.escape(t.canonical.strip()) for t in known if t.canonical.strip()]
    names = sorted({name for format in registry.names() for name in registry.header(format).answer})
    regexes += [rf'(?i:"\s{{0,9}}{re.escape(name)}\s{{0,9}}")' for name in names]  # an answer is not called anything
    compiled = [re.compile(regex) for regex in dict.fromkeys(regexes)]
    words = [f"{word}{behind}" for word in _ANY_WORDS for behind in ("", '"', "=", "(")]
    return [regex.finditer for regex in compiled if not any(regex.match(word) for word in words)]


def violation_of(check: Callable[[], object]) -> ViolationError | None:
    """What a check raises, None if it passes. Any other exception than ViolationError is a violation, too."""
    try:
        check()
    except ViolationError as violation:
        return violation
    except Exception as error:
        return ViolationError("raises", f"{type(error).__name__}: {error}")
    return None
