"""A plain reference reader, independent of the engine: the content of a sound text by `grammars/notation`.

It takes the terminals of `terminals.py` and carries out what the vocabulary says that they mean. Where the
strict grammar accepts a text, `read` and `parse` have to say the same of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from outspoken import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
from outspoken.actions.codec import decode_action, effect_of
from outspoken.actions.mapping import PARTS
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.vocabulary import EMBEDDED_VALUES
from outspoken.json.scanner import NotJsonError, decode
from outspoken.notations.coerce import read_bare
from outspoken.results.settings import DEFAULT

from .lexer import Token, tokens


class Meaning(NamedTuple):
    """What a text says: its segments as tuples, the codes of its diagnostics, and what an envelope adds."""

    segments: tuple[tuple[Any, ...], ...]
    codes: tuple[str, ...] = ()
    envelope: bool = False
    needs_more_work: bool | None = None

    @property
    def but_for_text(self) -> list[tuple[Any, ...]]:
        """The segments that are no text, without white space round reasoning."""
        told = [s for s in self.segments if s[0] not in ("text", "json") and (s[0] != "think" or s[1].strip())]
        return [(s[0], s[1].strip()) if s[0] == "think" else s for s in told]

    def __str__(self) -> str:
        noted = f", with {', '.join(self.codes)}" if self.codes else ""
        return f"{list(self.segments)!r}{noted}"


class MeaninglessError(Exception):
    """The grammar accepts the text, but what it says is nothing that can be carried out."""


@dataclass
class _Frame:
    """What is being read."""

    kinds: str
    start: int
    name: str = ""
    id: str | None = None
    key: str = ""
    value: Any = None
    #: the text of the last value, where it is an island
    written: str = ""
    bare: str | None = None
    arguments: dict[str, Any] | None = None
    again: set[str] = field(default_factory=set[str])
    content: int = -1
    more: bool | None = None
    #: the text of the last argument, where it was an island
    content_of: str = ""


class _Reader:
    """Carries out the operations of the automaton, as `outspoken.vocabulary` says what they mean."""

    def __init__(self, automaton: Automaton, text: str, begins: int) -> None:
        self.automaton = automaton
        self.header = automaton.tables.header
        self.trims = automaton.trims
        self.text = text
        #: where the response begins; what stands before it is the prompt's
        self.begins = begins
        self.frames: list[_Frame] = []
        self.segments: list[list[Any]] = []
        self.codes: list[str] = []
        self.envelope = False
        self.more: bool | None = None
        self.ended_at = 0
        #: up to where everything is in a segment, or is markup
        self.shown = 0
        self.island: Any = None

    def take(self, token: Token) -> None:
        """Carry out what a terminal does."""
        piece, short = self.text[token.start : token.end], token.step.terminal.short
        self.operate(token.step.before, token.start, token.start, "")
        self.island = token.value
        if short == "TEXT":
            self.show(token.start, token.end)
        elif short == "REASONING":
            piece = self.text[max(token.start, self.begins) : token.end]
            self.segments.append(
                ["think", _trimmed(piece, True, token.end < len(self.text)) if "REASONING" in self.trims else piece]
            )
        elif short == "ARG_VALUE":
            bare = piece.strip(BLANK) if "ARG_VALUE" in self.trims else piece
            self.frames[-1].bare = bare
            self.frames[-1].value = read_bare(bare, None, self.header.values)
        elif short in EMBEDDED_VALUES and self.frames:
            self.frames[-1].value = token.value  # the argument may end only behind its closing marker
            self.frames[-1].written = piece
        self.operate(token.step.after, token.start, token.end, piece)

    def show(self, start: int, end: int) -> None:
        """Text to show to the user; what it touches is one with it."""
        last = self.segments[-1:]
        if last and last[0][0] == "text" and last[0][2] == start:
            start = self.segments.pop()[1]
        self.segments.append(["text", start, end])
        self.shown = end

    def operate(self, ops: tuple[tuple[str, str], ...], start: int, end: int, piece: str) -> None:
        """Carry out operations; `piece` is the terminal that they speak of."""
        for name, arg in ops:
            if name == "begin":
                self.frames.append(_Frame(arg, start))
            elif name == "reopen":
                self.frames.append(_Frame(arg, self.ended_at))
            elif name == "drop":
                self.frames.pop()
            elif name == "token":
                self.token(arg, piece)
            elif name == "field":
                self.field(arg)
            elif name == "end":
                self.end(arg, self.frames.pop(), end)

    def token(self, short: str, piece: str) -> None:
        """A name, or a call's id."""
        frame = self.frames[-1]
        if short == "ARG_NAME":
            frame.key, frame.value = piece, None
        elif short == "CALL_ID":
            frame.id = piece
        elif short != "CALL_INDEX":
            frame.name = piece

    def field(self, name: str) -> None:
        """A value for what is being read."""
        frame, value = self.frames[-1], self.island
        if name == "argument":
            frame.arguments = frame.arguments or {}
            key = frame.key or f"${len(frame.arguments) + 1}"
            given = frame.value if value is None and frame.value is not None else value
            if key in frame.arguments and self.header.repeated:
                before = frame.arguments[key]
                given = [*before, given] if key in frame.again else [before, given]
                frame.again.add(key)
            elif key in frame.arguments:
                self.codes.append("repeated-argument")
            frame.arguments[key] = given
            frame.content_of = frame.written if frame.bare is None else ""
            frame.key, frame.value = "", None
        elif name == "arguments":
            frame.arguments = _arguments(value)
        elif name == "tool_name":
            frame.name = value
        elif name == "id":
            frame.id = value
        elif name == "content":
            if frame.content < 0:
                frame.content = len(self.segments)
                self.segments.append(["content", ""])
            self.segments[frame.content][1] = value
        elif isinstance(value, bool):
            frame.more = value

    def end(self, kind: str, frame: _Frame, end: int) -> None:
        """Something is complete."""
        raw = self.text[frame.start : end]
        if kind == "call_id":
            self.frames[-1].id, self.frames[-1].name = raw, frame.name or self.frames[-1].name
            return
        self.ended_at = frame.start
        if kind == "code":
            self.show(self.shown, end)
        elif kind in ("tool_call", "action"):
            self._call_or_action(kind, frame, end)
        elif kind == "invented":
            self.codes += ["invented-result"] if self.segments[-1][1] else []
        elif kind == "think" and frame.content >= 0:
            self.segments[frame.content][0] = "think"
        elif kind == "unread":
            self.codes.append("unread-entry")
        elif kind == "quoted":
            self._quoted(self.island)
        elif kind == "payload":
            data = frame.value if frame.bare is None else frame.bare
            self.segments.append(["payload", self.header.payload(frame.name), data])
        elif kind == "json":
            self._json(frame, raw)
        elif kind == "envelope":
            self.envelope, self.more = True, self.more if frame.more is None else frame.more
            if frame.content >= 0:
                self.segments[frame.content][0] = "said"
        # what something unread stands in may still be text, of which it is a part then
        self.shown = self.shown if kind == "unread" and self.frames else end

    def _answer(self, frame: _Frame) -> None:
        """The input of a call that answers the user: a string is text, anything else a JSON value."""
        arguments = frame.arguments or {}
        value = frame.bare if frame.bare is not None else arguments.get("$1", arguments)
        if isinstance(value, str):
            self.segments.append(["said", value])
            halves = re.search("[\ud800-\udfff]", json.loads(frame.content_of) if frame.content_of else "")
            self.codes += ["lone-surrogate"] if halves else []
        elif value not in (None, {}):
            self.segments.append(["json", value])

    def _call_or_action(self, kind: str, frame: _Frame, end: int) -> None:
        """A call, or the action that a call or an action means; one within another action is a part of it."""
        if kind == "tool_call" and frame.name.strip().lower() in [name.lower() for name in self.header.answer]:
            self._answer(frame)
            return
        outer = self.frames[-1] if self.frames and "action" in self.frames[-1].kinds else None
        place: dict[str, Any] = {}
        if outer is not None:
            order = sum([segment[0] == "action" for segment in self.segments])
            place = {"raw": self.text[frame.start : end], "span": (frame.start, end), "order": order}
        made = (
            decode_action(self.header, frame.name or "", frame.arguments or {}, place) if self.header.actions else None
        )
        if made is not None and not made.problem:
            if outer is None:
                self.segments.append(["action", _action(made.action)])
                return
            outer.arguments = outer.arguments or {}
            outer.arguments.setdefault(PARTS, []).append(made.action)
        elif made is not None or kind == "action" or not frame.name:
            raise MeaninglessError
        else:
            self.segments.append(["tool_call", frame.name, frame.arguments or {}, frame.id])

    def _quoted(self, value: Any) -> None:
        """The actions that a string holds, which is read as a response of the same format."""
        found = read(self.automaton, value if isinstance(value, str) else "")
        if found is None:
            raise MeaninglessError
        actions = [list(segment) for segment in found.segments if segment[0] == "action"]
        self.segments += actions
        self.codes += found.codes if actions else ["unread-entry"]

    def _json(self, frame: _Frame, raw: str) -> None:
        if frame.content >= 0:
            del self.segments[frame.content]
        self.show(self.shown, frame.start)
        try:
            self.segments.append(["json", decode(raw, DEFAULT.max_depth)])
        except NotJsonError:
            self.show(frame.start, frame.start + len(raw))

    def meaning(self) -> Meaning:
        """What was read."""
        segments = [self._said(*segment) for segment in self.segments]
        kept = [s for s in segments if s[0] not in ("text", "think") or s[1]]
        return Meaning(tuple(kept), tuple(self.codes), self.envelope, self.more)

    def _said(self, kind: str, *rest: Any) -> tuple[Any, ...]:
        """A segment as it is compared: text in place of its span; white space beside markup is the markup's."""
        if kind == "text":
            start, end = rest
            piece = self.text[max(start, self.begins) : end]
            marked = start > 0 and start >= self.begins
            return "text", _trimmed(piece, marked, end < len(self.text)) if "TEXT" in self.trims else piece
        return ("text", *rest) if kind == "said" else (kind, *rest)


def _trimmed(piece: str, left: bool, right: bool) -> str:
    """Text without the white space at the ends that are named."""
    piece = piece.lstrip(BLANK) if left else piece
    return piece.rstrip(BLANK) if right else piece


def _arguments(value: Any) -> dict[str, Any]:
    """The arguments that an object, its text, or null stands for. Raises MeaninglessError for anything else."""
    if isinstance(value, str):
        try:
            value = decode(value, DEFAULT.max_depth) if value.strip() else None
        except NotJsonError:
            raise MeaninglessError from None
    if value is not None and not isinstance(value, dict):
        raise MeaninglessError
    return cast("dict[str, Any]", value or {})


def _action(action: Any) -> dict[str, Any]:
    return {"name": action.name, "status": action.status, "extra": action.extra, **effect_of(action)}


def opened_before(automaton: Automaton, text: str) -> str:
    """What a prompt ends with before a response: what the header says, unless the response repeats it."""
    usual, found = automaton.tables.header.opened, text.lstrip()
    return usual if found and not found.startswith(usual.strip()) else ""


def read(automaton: Automaton, text: str, opened: str = "") -> Meaning | None:
    """What a text means behind what the prompt has opened.

    None if the grammar does not accept all of both, or what they say makes no sense.
    """
    found, sound = tokens(automaton, opened + text)
    return meaning_of(automaton, opened + text, found, len(opened)) if sound else None


def meaning_of(automaton: Automaton, text: str, found: list[Token], begins: int = 0) -> Meaning | None:
    """What the terminals of a text mean, in which a response begins somewhere; None if that makes no sense."""
    reader = _Reader(automaton, text, begins)
    try:
        for token in found:
            reader.take(token)
        config = found[-1].step.target if found else automaton.start
        reader.operate(config.end_operations() or (), len(text), len(text), "")
    except MeaninglessError:
        return None
    return reader.meaning()


def content_of(reply: Reply) -> Meaning:
    """What a reply says, in the form in which `read` gives it."""
    codes = tuple([diagnostic.code for diagnostic in reply.diagnostics])
    return Meaning(tuple([_segment_content(s) for s in reply.segments]), codes, reply.envelope, reply.needs_more_work)


def _segment_content(segment: Segment) -> tuple[Any, ...]:
    """What a segment says, without its place."""
    match segment:
        case Text():
            return "text", segment.text
        case Reasoning():
            return "think", segment.text
        case ToolCall():
            return "tool_call", segment.name, segment.arguments, segment.id
        case Payload():
            return "payload", segment.type, segment.data
        case JsonValue():
            return "json", segment.value
        case _:
            return "action", _action(segment)
