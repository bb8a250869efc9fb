"""What the plug-ins of inference servers share: names of parsers, readers that lose nothing, and constraints.

A server has two fields for a message, content and calls, and cannot take a call back. So a call is passed on when it is
complete. A call that is truncated or invalid stays in the content as the model wrote it, and so do GUI actions.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, NamedTuple

from outspoken.constraints.deriving import ReasoningMode, constraint
from outspoken.constraints.heads import common_beginning
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing.inspection import formats
from outspoken.parsing.parser import Parser
from outspoken.parsing.session import Session
from outspoken.providers.events import StreamEvent
from outspoken.providers.wire.replay import replay
from outspoken.rendering.render import render
from outspoken.results import events as results
from outspoken.results.errors import RenderError
from outspoken.results.replies import Reasoning, Reply, Segment, Text, ToolCall

from .framework import choice_of

#: Parsers are registered under this prefix and the name of the format, so that none of the server's own is replaced.
PREFIX = "outspoken_"

#: Around reasoning in the content, if the server has no parser for reasoning.
OPEN, CLOSE = "<think>\n", "\n</think>\n\n"

_logger = logging.getLogger("outspoken.integrations")
_OPENING_TAG, _CLOSING_TAG = re.compile(r"<[^<>/\s]{1,80}>\Z"), re.compile(r"</[^<>\s]{1,80}>")
_REASONING, _ANSWER = "Outspoken weighs the words", "Outspoken answers"


def parser_names() -> dict[str, str]:
    """The name of each parser and its format: those of all formats, of their aliases, and `outspoken_auto`."""
    found = {f"{PREFIX}{name}": one.name for one in formats() for name in (one.name, *one.aliases)}
    return {**found, f"{PREFIX}auto": "auto"}


def reasoning_parser_names() -> dict[str, str]:
    """The same for parsers of reasoning: no formats of GUI actions."""
    return {
        name: format
        for name, format in parser_names().items()
        if format == "auto" or not registry.header(format).actions
    }


class ReasoningTags(NamedTuple):
    """What stands around the reasoning of a format. `open` is what a prompt ends with that opens the reasoning."""

    open: str
    close: str

    def stand_in(self, text: str) -> bool:
        """May one of the tags, or another one of reasoning, stand in a text?"""
        return self.close in text or self.open.strip() in text or "think" in text.lower()

    @property
    def closed(self) -> str:
        """A prefix for what stands behind the reasoning, on a line of its own."""
        return f"{self.open.strip()}{_REASONING}{self.close}\n"

    def prefix(self, prompt: str) -> str | None:
        """The `prefix` of a response behind a prompt; None if the prompt says nothing about reasoning."""
        tail = prompt.rstrip()
        if self.open and tail.endswith(self.open.strip()):
            return self.open
        return "" if self.close and tail.endswith(self.close) else None


@cache
def reasoning_tags(format: str) -> ReasoningTags | None:
    """The tags around the reasoning of a format.

    None if there are none, as in a format whose reasoning is a line or a field of its actions: it cannot be split off.
    """
    if format == "auto":
        return ReasoningTags("<think>\n", "</think>")
    header = registry.header(format)
    if header.actions:
        return None
    behind: list[str] = []
    opener = ""
    for segment in (_ANSWER, ToolCall(name="tool", arguments={})):
        after = Text(text=segment, span=(0, 0)) if isinstance(segment, str) else segment
        parts: list[Segment] = [Reasoning(text=_REASONING, span=(0, 0)), after]
        try:
            text = render(Reply(raw="", format=format, segments=parts), format=format)
        except RenderError:
            continue
        before, _, rest = text.partition(_REASONING)
        opener, behind = before, [*behind, rest.partition(_ANSWER)[0].strip()]
    if not behind:
        return None
    opener = opener or header.opened
    closer = common_beginning(behind)
    closer = common_beginning([closer, _closer(format, opener + _REASONING, closer)])
    closer = closer[: max(closer.rfind(">"), closer.rfind("]")) + 1]
    is_marked = opener.strip()[:1] in ("<", "[") and closer[:1] in ("<", "[")
    return ReasoningTags(opener, closer) if is_marked else None


def _closer(format: str, reasoning: str, behind: str) -> str:
    """The text at whose end the parser knows that the reasoning has ended."""
    session = Parser(format).session(prefix="")
    session.feed(reasoning)
    for end, character in enumerate(behind, 1):
        if any(isinstance(event, results.ReasoningEnd) for event in session.feed(character)):
            return behind[:end]
    return behind


def needed_tags(format: str) -> ReasoningTags:
    """The tags around the reasoning of a format. Raises ValueError if there are none."""
    if (tags := reasoning_tags(format)) is None:
        raise ValueError(f"`{format}` has no reasoning between tags; run the server without a parser for its reasoning")
    return tags


class Pieces(NamedTuple):
    """What a part of a response adds to the fields of a message."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call as JSON text, as the model wrote them if they are sound."""
    return call.arguments_text if call.status == "ok" else json.dumps(call.arguments, ensure_ascii=False)


class CallReader:
    """Reads one response, whole or in chunks. With `behind_reasoning`, it begins behind the first reasoning.

    Reasoning goes to a field of its own if `has_reasoning` is true, else into the content, between tags. With
    `keeps_calls`, calls stay in the content, too.
    """

    def __init__(
        self, format: str, tools: Tools | None = None, *, behind_reasoning: bool = False, has_reasoning: bool = False,
        keeps_calls: bool = False,
    ) -> None:  # fmt: skip
        self._tags = tags = reasoning_tags(format) if behind_reasoning else None
        self._parser, self._prefix = Parser(format, tools=tools), tags.closed if tags else None
        self._at_start = behind_reasoning
        self._has_reasoning, self._keeps_calls = has_reasoning, keeps_calls
        self._raw: list[str] = []
        self._content, self._reasoning = "", ""
        self._calls: list[ToolCall] = []
        self._last, self._is_open, self._blocks = "", False, int(behind_reasoning)

    @cached_property
    def _session(self) -> Session:
        return self._parser.session(prefix=self._prefix)

    def read(self, text: str) -> Pieces:
        """Read a whole response."""
        text = text.lstrip("\r\n") if self._at_start else text
        self._raw.append(text)
        reply = self._read_plain(text) or self._parser.parse(text, prefix=self._prefix)
        self._add(replay(reply, unfinished=True))
        return self._ended(reply)

    def _read_plain(self, text: str) -> Reply | None:
        """Read a sound response without reasoning as if nothing stood before it, in a tenth of the time; or None."""
        if self._tags is None or self._tags.stand_in(text):
            return None
        reply = self._parser.parse(text, prefix="")
        first = reply.segments[0] if reply.segments else None
        is_all = first is not None and not text[: first.span[0]].strip() and not isinstance(first, Reasoning)
        return reply if is_all and reply.status == "ok" and not reply.diagnostics else None

    def feed(self, text: str) -> Pieces:
        """Read a chunk."""
        if self._at_start:
            text = text.lstrip("\r\n")
            self._at_start = not text
        self._raw.append(text)
        self._add(self._session.feed(text))
        return self._pieces()

    def close(self) -> Pieces:
        """End the response."""
        self._add(self._session.close())
        self._end_reasoning()
        return self._pieces() if self._session.reply is None else self._ended(self._session.reply)

    def _ended(self, reply: Reply) -> Pieces:
        """The last pieces. Repairs and damage go to the log of the server."""
        if reply.status != "ok":
            level = logging.INFO if reply.status == "repaired" else logging.WARNING
            told = [d.message for d in reply.diagnostics if d.severity != "note"] or [r.code for r in reply.repairs]
            _logger.log(level, "outspoken: a response in %s is %s: %s", reply.format, reply.status, "; ".join(told))
        return self._pieces()

    def _add(self, events: Iterable[StreamEvent]) -> None:
        for event in events:
            match event:
                case results.TextDelta(text=text):
                    self._write(text)
                case results.ReasoningDelta(text=text):
                    self._think(text)
                case results.ReasoningEnd():
                    self._end_reasoning()
                case results.ToolCallEnd(call=segment) | results.ToolCallUnfinished(call=segment):
                    self._take(segment)
                case results.ActionParsed(action=segment) | results.ActionUnfinished(action=segment):
                    self._take(segment)
                case results.PayloadParsed(payload=segment) | results.PayloadUnfinished(payload=segment):
                    self._take(segment)
                case _:
                    pass

    def _pieces(self) -> Pieces:
        """What was added since the last time."""
        pieces = Pieces(self._content, self._reasoning, tuple(self._calls))
        self._content, self._reasoning = "", ""
        self._calls.clear()
        return pieces

    def _take(self, segment: Segment) -> None:
        """Take a sound call, or what the model wrote of all else, on a line of its own."""
        if segment.kind == "tool_call" and segment.status in ("ok", "repaired") and not self._keeps_calls:
            self._calls.append(segment)
        else:
            start, end = segment.span  # it may begin with the line break of the prefix
            text = "".join(self._raw)[max(start, 0) : end]
            self._write("\n" + text if self._last not in ("", "\n") else text)

    def _write(self, text: str) -> None:
        self._content += text
        self._last = text[-1:] or self._last

    def _think(self, text: str) -> None:
        if not self._is_open:
            self._is_open = True
            if not self._has_reasoning:
                self._write(OPEN if self._last in ("", "\n") else "\n" + OPEN)
            elif self._blocks:
                self._reasoning += "\n\n"
            self._blocks += 1
        if self._has_reasoning:
            self._reasoning += text
        else:
            self._write(text)

    def _end_reasoning(self) -> None:
        if self._is_open and not self._has_reasoning:
            self._write(CLOSE)
        self._is_open = False


class ReasoningSplitter:
    """Splits one response into its first reasoning and the raw text behind it, which another parser reads.

    `prefix` is the end of the prompt, as `Parser.parse` takes it.
    """

    def __init__(self, format: str, prefix: str | None = None) -> None:
        self._parser, self._prefix = Parser(format), prefix
        self._session = self._parser.session(prefix=prefix)
        self._tags = needed_tags(format)
        self._raw = ""
        self._is_opened = bool(prefix if prefix is not None or format == "auto" else registry.header(format).opened)
        self._begun = False
        #: the reasoning has ended, or there is none: all that follows belongs to the other parser
        self.has_ended = False

    def split(self, text: str, most: int | None = None) -> tuple[str, str]:
        """The reasoning of a whole response, all blocks of it or so many, and the raw text without it."""
        reply = self._parser.parse(text, prefix=self._prefix)
        blocks = [segment for segment in reply.segments if isinstance(segment, Reasoning)][:most]
        rest, last = "", 0
        for block in blocks:
            start, end = self._outside(text, block)
            rest, last = rest + text[last:start], end
        rest += text[last:]
        return "\n\n".join([block.text for block in blocks]), rest.lstrip("\r\n") if blocks else rest

    def feed(self, text: str) -> tuple[str, str]:
        """What a chunk adds to the reasoning, and, when it has ended, the raw text behind it so far."""
        if self.has_ended:
            return "", text
        self._raw += text
        reasoning, rest = self._add(self._session.feed(text))
        if not (reasoning or self.has_ended or self._begun or self._may_begin()):
            self.has_ended = True
            return "", self._raw
        self._begun = self._begun or bool(reasoning)
        return reasoning, rest

    def _may_begin(self) -> bool:
        """Whether the response may still turn out to begin with reasoning."""
        found, opener = self._raw.lstrip(), self._tags.open.strip()
        return self._is_opened or found.startswith("<") or opener.startswith(found) or found.startswith(opener)

    def close(self) -> tuple[str, str]:
        """End the response: the rest of the reasoning, or the text that was held back."""
        if self.has_ended:
            return "", ""
        return self._add(self._session.close())

    def _add(self, events: Iterable[results.Event]) -> tuple[str, str]:
        reasoning = ""
        for event in events:
            match event:
                case results.ReasoningDelta(text=text):
                    reasoning += text
                case results.ReasoningEnd():
                    self.has_ended = True
                    return reasoning, self.split(self._raw, 1)[1]
                case results.Done(reply=reply):
                    self.has_ended = True
                    has_reasoning = any(isinstance(segment, Reasoning) for segment in reply.segments)
                    return reasoning, "" if has_reasoning else self._raw
                case _:
                    self.has_ended = True
                    return reasoning, self._raw
        return reasoning, ""

    def _outside(self, text: str, block: Reasoning) -> tuple[int, int]:
        """The span of a block with its tags. It is empty if there are none: the reasoning is part of something else."""
        start, end = block.span
        before, behind = text[:start].rstrip(), text[end:].lstrip()
        opener, closer = self._tags.open.strip(), self._tags.close
        tag = _OPENING_TAG.search(before)
        if before and before.endswith(opener):
            start = len(before) - len(opener)
        elif tag is not None:
            start = tag.start()
        elif before:
            return end, end
        if closer and behind.startswith(closer):
            return start, len(text) - len(behind) + len(closer)
        tag = _CLOSING_TAG.match(behind)
        return start, end if tag is None else len(text) - len(behind) + tag.end()


def structural_tag(
    format: str, tools: Tools | None, tool_choice: Any, *, parallel: bool = True, reasoning: ReasoningMode = "none",
    tokenizer: Any = None,
) -> dict[str, Any] | None:  # fmt: skip
    """The structural tag that holds a response to the format and the schemas of the tools; None if there are no tools.

    What it does not enforce goes to the log of the server. Raises ConstraintError if the format cannot write what is
    asked for.
    """
    choice = choice_of(tool_choice)
    if tools is None or choice == "none":
        return None
    added = tokenizer if hasattr(tokenizer, "get_added_vocab") else None
    made = constraint(format, tools=tools, tool_choice=choice, parallel=parallel, reasoning=reasoning, tokenizer=added)
    for warning in made.warnings:
        _logger.warning("outspoken: the constraint of %s: %s", made.format, warning)
    return made.to_xgrammar()
