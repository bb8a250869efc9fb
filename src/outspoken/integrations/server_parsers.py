"""What the plug-ins of inference servers share: names of parsers, readers that lose nothing, and constraints.

A server has two fields for a message, content and calls, and cannot take a call back. So a call is passed on when it is
complete. A call that is truncated or invalid stays in the content as the model wrote it, and so do GUI actions.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from outspoken.constraints.deriving import constraint
from outspoken.grammar import registry
from outspoken.parsing.inspection import formats
from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.providers.events import StreamEvent
from outspoken.providers.requested import choice_of, readable_tools
from outspoken.providers.wire.replay import replay
from outspoken.rendering.reasoning_tags import ReasoningTags, reasoning_tags
from outspoken.results import events as results
from outspoken.results.errors import ConstraintError
from outspoken.results.packages import Package
from outspoken.results.replies import Reasoning, Reply, Segment, ToolCall

#: Parsers are registered under this prefix and the name of the format, so that none of the server's own is replaced.
PREFIX = "outspoken_"

#: Around reasoning in the content, if the server has no parser for reasoning.
OPEN, CLOSE = "<think>\n", "\n</think>\n\n"

_logger = logging.getLogger("outspoken.integrations")


@cache
def parser_names(*, of_reasoning: bool = False) -> dict[str, str]:
    """The name of each parser and its format: those of all formats, of their aliases, and `outspoken_auto`.

    Parsers `of_reasoning` are not there for formats of GUI actions.
    """
    known = [one for one in formats() if not (of_reasoning and registry.header(one.name).actions)]
    found = {f"{PREFIX}{name}": one.name for one in known for name in (one.name, *one.aliases)}
    return {**found, f"{PREFIX}auto": "auto"}


def needed_tags(format: str) -> ReasoningTags:
    """The tags around the reasoning of a format. Raises ValueError if there are none."""
    if (tags := reasoning_tags(format)) is None:
        raise ValueError(f"`{format}` has no reasoning between tags; run the server without a parser for its reasoning")
    return tags


@dataclass
class Pieces:
    """What a part of a response adds to the fields of a message: each of the calls has its index in the response."""

    content: str = ""
    reasoning: str = ""
    calls: list[tuple[int, ToolCall]] = field(default_factory=list[tuple[int, ToolCall]])


class CallReader:
    """Reads one response, whole or in chunks. With `behind_reasoning`, it begins behind the first reasoning.

    Reasoning goes to a field of its own if `has_reasoning` is true, else into the content, between tags. With
    `keeps_calls`, calls stay in the content, too.
    """

    def __init__(
        self, format: str, tools: Iterable[Any] | None = None, *, behind_reasoning: bool = False,
        has_reasoning: bool = False, keeps_calls: bool = False,
    ) -> None:  # fmt: skip
        self._tags = tags = reasoning_tags(format) if behind_reasoning else None
        self._parser = Parser(format, tools=readable_tools(tools), calls=not keeps_calls)
        self._prefix, self._at_start, self._has_reasoning = tags and tags.closed, behind_reasoning, has_reasoning
        self._raw: list[str] = []
        self._new, self._count = Pieces(), 0  # what was read since the last time, and the number of all calls
        self._last, self._is_open, self._blocks = "", False, int(behind_reasoning)

    @cached_property
    def _session(self) -> Session:
        return self._parser.session(prefix=self._prefix)

    def read(self, text: str) -> Pieces:
        text = self._arrived(text)
        reply = self._read_plain(text) or self._parser.parse(text, prefix=self._prefix)
        return self._added(replay(reply, unfinished=True))

    def _read_plain(self, text: str) -> Reply | None:
        """Read a sound response without reasoning as if nothing stood before it, in a tenth of the time; or None."""
        tags = self._tags
        if tags is None or tags.close in text or tags.open.strip() in text or "think" in text.lower():
            return None
        reply = self._parser.parse(text, prefix="")
        first = reply.segments[0] if reply.segments else None
        is_all = first is not None and not text[: first.span[0]].strip() and not isinstance(first, Reasoning)
        return reply if is_all and reply.status == "ok" and not reply.diagnostics else None

    def feed(self, text: str) -> Pieces:
        return self._added(self._session.feed(self._arrived(text)))

    def close(self) -> Pieces:
        return self._added(self._session.close())

    def _arrived(self, text: str) -> str:
        """A text of the response, without the line breaks between the reasoning and what stands behind it."""
        text = text.lstrip("\r\n") if self._at_start else text
        self._at_start = self._at_start and not text
        self._raw.append(text)
        return text

    def _added(self, events: Iterable[StreamEvent]) -> Pieces:
        """What some events add."""
        for event in events:
            match event:
                case results.TextDelta(text=text):
                    self._write(text)
                case results.ReasoningDelta(text=text):
                    self._think(text)
                case results.ReasoningEnd():
                    self._end_reasoning()
                case (
                    results.ToolCallEnd(call=segment) | results.ToolCallUnfinished(call=segment)
                    | results.ActionParsed(action=segment) | results.ActionUnfinished(action=segment)
                    | results.PayloadParsed(payload=segment) | results.PayloadUnfinished(payload=segment)
                ):  # fmt: skip
                    self._take(segment)
                case results.Done(reply=reply):
                    self._end_reasoning()
                    _log(reply)
                case _:
                    pass
        added, self._new = self._new, Pieces()
        return added

    def _take(self, segment: Segment) -> None:
        """Take a sound call, or what the model wrote of all else, on a line of its own."""
        if segment.kind == "tool_call" and segment.status in ("ok", "repaired"):
            self._new.calls.append((self._count, segment))
            self._count += 1
        else:
            start, end = segment.span  # it may begin with the line break of the prefix
            self._write("".join(self._raw)[max(start, 0) : end], on_new_line=True)

    def _write(self, text: str, *, on_new_line: bool = False) -> None:
        self._new.content += "\n" + text if on_new_line and self._last not in ("", "\n") else text
        self._last = text[-1:] or self._last

    def _think(self, text: str) -> None:
        is_new, self._is_open = not self._is_open, True
        if self._has_reasoning:
            self._new.reasoning += "\n\n" + text if is_new and self._blocks else text
        else:
            self._write(OPEN + text if is_new else text, on_new_line=is_new)
        self._blocks += is_new

    def _end_reasoning(self) -> None:
        self._write(CLOSE if self._is_open and not self._has_reasoning else "")
        self._is_open = False


def _log(reply: Reply) -> None:
    """Tell the log of the server of repairs and damage."""
    if reply.status != "ok":
        level = logging.INFO if reply.status == "repaired" else logging.WARNING
        told = [d.message for d in reply.diagnostics if d.severity != "note"] or [r.code for r in reply.repairs]
        _logger.log(level, "outspoken: a response in %s is %s: %s", reply.format, reply.status, "; ".join(told))


class ReasoningSplitter:
    """Splits one response into its first reasoning and the raw text behind it, which another parser reads.

    `prefix` is the end of the prompt, as `Parser.parse` takes it. Raises ValueError for a format without tags.
    """

    def __init__(self, format: str, prefix: str | None = None) -> None:
        self._parser, self._prefix, self._tags = Parser(format), prefix, needed_tags(format)
        self._is_opened = bool(prefix if prefix is not None or format == "auto" else registry.header(format).opened)
        self._raw = ""
        #: the reasoning has ended, or there is none: all that follows belongs to the other parser
        self.has_ended = False

    @cached_property
    def _session(self) -> Session:
        return self._parser.session(prefix=self._prefix)

    def split(self, text: str, most: int | None = None) -> Pieces:
        """The reasoning of a whole response, all blocks of it or so many, and the raw text without it."""
        reply = self._parser.parse(text, prefix=self._prefix)
        blocks = [segment for segment in reply.segments if isinstance(segment, Reasoning)][:most]
        rest, last = "", 0
        for block in blocks:
            start, end = self._with_tags(text, block)
            rest, last = rest + text[last:start], end
        rest += text[last:]
        return Pieces(rest.lstrip("\r\n") if blocks else rest, "\n\n".join([block.text for block in blocks]))

    def feed(self, text: str) -> Pieces:
        """What a chunk adds to the reasoning, and, when it has ended, the raw text behind it so far."""
        if self.has_ended:
            return Pieces(text)
        self._raw += text
        begun, opener = self._raw.lstrip(), self._tags.open.strip()
        if self._is_opened or begun.startswith(("<", opener)) or opener.startswith(begun):
            return self._add(self._session.feed(text))
        self.has_ended = True
        return Pieces(self._raw)

    def close(self) -> Pieces:
        """End the response: the rest of the reasoning, or the text that was held back."""
        return Pieces() if self.has_ended else self._add(self._session.close())

    def _add(self, events: Iterable[results.Event]) -> Pieces:
        reasoning = ""
        for event in events:
            if isinstance(event, results.ReasoningDelta):
                reasoning += event.text
                continue
            self.has_ended = True
            if isinstance(event, results.ReasoningEnd):
                return Pieces(self.split(self._raw, 1).content, reasoning)
            is_thought = isinstance(event, results.Done) and event.reply.reasoning is not None
            return Pieces("" if is_thought else self._raw, reasoning)
        return Pieces("", reasoning)

    def _with_tags(self, text: str, block: Reasoning) -> tuple[int, int]:
        """The span of a block with its tags. It is empty if there are none: the reasoning is part of something else."""
        before, (start, end) = text[: block.span[0]].rstrip(), block.span
        opening = re.search(rf"(?:{re.escape(self._tags.open.strip())}|<[^<>/\s]{{1,80}}>)\Z", before)
        closing = re.compile(rf"\s*(?:{re.escape(self._tags.close)}|</[^<>\s]{{1,80}}>)").match(text, end)
        if before and opening is None:
            return end, end
        return opening.start() if opening else start, closing.end() if closing else end


def structural_tag(
    server: Package, format: str, tools: Iterable[Any] | None, tool_choice: Any, *, tokenizer: Any, parallel: bool,
    thinks: bool,
) -> Any:  # fmt: skip
    """The structural tag that holds a response to the format and the schemas of the tools; None if there is none.

    What it does not enforce goes to the log of the server. Raises ConstraintError if calls are required that the format
    cannot write.
    """
    readable = readable_tools(tools)
    choice = choice_of(tool_choice, readable is not None)
    if choice == "none" or format == "auto":
        return None
    asked: Any = {"tools": readable, "tool_choice": choice, "parallel": parallel}
    added = tokenizer if hasattr(tokenizer, "get_added_vocab") else None
    try:
        derived = constraint(format, **asked, reasoning="free" if thinks else "none", tokenizer=added)
    except ConstraintError as error:
        if choice != "auto":
            raise
        _logger.warning("outspoken: the calls of a response are not constrained: %s", error)
        return None
    for warning in derived.warnings:
        _logger.warning("outspoken: the constraint of %s: %s", derived.format, warning)
    return server.load("xgrammar").StructuralTag.model_validate(derived.to_xgrammar())
