"""A simple reference implementation of the vocabulary, independent of the engine.

It executes the operations of the tokens that `lexer.py` finds. If the strict grammar accepts a text, `read` and `parse`
must return the same content.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from outspoken.actions.mapping import PARTS
from outspoken.actions.page_rules import read_action
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.vocabulary import EMBEDDED_VALUES
from outspoken.json.scanner import NotJsonError, decode
from outspoken.notations.coerce import read_bare
from outspoken.results.settings import DEFAULT
from outspoken.semantics.keys import ARGUMENTS_KEYS, meant

from .content import Content, action_content
from .lexer import Token, tokens

#: A key of a JSON object at the end of a text.
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*\Z', re.DOTALL)


class InvalidContentError(Exception):
    """The grammar accepts the text, but a call or an action in it is invalid."""


@dataclass
class _OpenNode:
    """An open node: a rule that has begun and not ended."""

    kinds: str
    start: int
    name: str = ""
    id: str | None = None
    key: str = ""
    value: Any = None
    #: the text of the last value if that is embedded
    written: str = ""
    bare: str | None = None
    arguments: dict[str, Any] | None = None
    again: set[str] = field(default_factory=set[str])
    content: int = -1
    more: bool | None = None
    #: the text of the last argument if that was an embedded value
    argument_text: str = ""
    #: the JSON text of all arguments
    object_text: str = ""
    #: does the markup say that the next bare value is a string?
    is_text: bool = False
    #: the keys and values of entries that have no meaning
    unknown: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    #: where its reasoning begins
    reasoning_start: int | None = None


class _Reader:
    """Executes the operations of the automaton."""

    def __init__(self, automaton: Automaton, text: str, begins: int) -> None:
        self.automaton = automaton
        self.header = automaton.tables.header
        self.trims = automaton.trims
        self.text = text
        #: the offset of the response behind the prompt prefix
        self.begins = begins
        self.nodes: list[_OpenNode] = []
        self.segments: list[list[Any]] = []
        self.codes: list[str] = []
        self.envelope = False
        self.more: bool | None = None
        self.ended_at = 0
        #: the end of the text that is in a segment or is markup
        self.shown = 0
        self.embedded: Any = None

    def take(self, token: Token) -> None:
        """Execute the operations of a token."""
        piece, short = self.text[token.start : token.end], token.step.terminal.short
        self.operate(token.step.before, token.start, token.start, "")
        self.embedded = token.value
        if short == "TEXT":
            self.show(token.start, token.end)
        elif short == "REASONING":
            self.reasoning(token)
        elif short == "ARG_VALUE":
            bare = piece.strip(BLANK) if "ARG_VALUE" in self.trims else piece
            self.nodes[-1].bare = bare
            self.nodes[-1].value = bare if self.nodes[-1].is_text else read_bare(bare, None, self.header.values)
        elif short in EMBEDDED_VALUES and self.nodes:
            self.nodes[-1].value = token.value  # the argument may end only behind its closing marker
            self.nodes[-1].written = piece
        self.operate(token.step.after, token.start, token.end, piece)

    def reasoning(self, token: Token) -> None:
        """Add reasoning. Reasoning within it belongs to it, together with its tags."""
        start, node = token.start, self.nodes[-1] if self.nodes else _OpenNode("", token.start)
        if node.reasoning_start is not None:
            start = node.reasoning_start
            self.segments.pop()
        node.reasoning_start = start
        piece = self.text[max(start, self.begins) : token.end]
        self.segments.append(
            ["think", _trimmed(piece, True, token.end < len(self.text)) if "REASONING" in self.trims else piece]
        )

    def show(self, start: int, end: int) -> None:
        """Add text, merged with text directly before it."""
        last = self.segments[-1:]
        if last and last[0][0] == "text" and last[0][2] == start:
            start = self.segments.pop()[1]
        self.segments.append(["text", start, end])
        self.shown = end

    def operate(self, ops: tuple[tuple[str, str], ...], start: int, end: int, piece: str) -> None:
        """Execute operations; `piece` is the text of the token."""
        for name, arg in ops:
            if name == "begin":
                self.nodes.append(_OpenNode(arg, start))
            elif name == "reopen":
                self.nodes.append(_OpenNode(arg, self.ended_at))
            elif name == "drop":
                self.nodes.pop()
            elif name == "token":
                self.token(arg, piece)
            elif name == "field" and arg == "odd":
                self.codes.append("odd-marker")
            elif name == "field":
                self.field(arg, start, end)
            elif name == "end":
                self.end(arg, self.nodes.pop(), end)

    def token(self, short: str, piece: str) -> None:
        """Set a name, or a call's id."""
        node = self.nodes[-1]
        if short == "ARG_NAME":
            node.key, node.value = piece, None
        elif short == "CALL_ID":
            node.id = piece
        elif short != "CALL_INDEX":
            node.name = piece

    def field(self, name: str, start: int, end: int) -> None:
        """Set a field of the open node to the last value, which stands between two offsets."""
        node, value = self.nodes[-1], self.embedded
        if name == "argument":
            self._argument(node, value)
        elif name == "is_text":
            node.is_text = True
        elif name == "is_true":
            node.value = True
        elif name == "arguments":
            node.arguments = _arguments(value)
            node.object_text = value if isinstance(value, str) else self.text[start:end]
        elif name == "tool_name":
            node.name = value
        elif name == "id":
            node.id = value
        elif name == "content":
            if node.content < 0:
                node.content = len(self.segments)
                self.segments.append(["content", ""])
            self.segments[node.content][1] = value
        elif isinstance(value, bool) and name == "needs_more_work":
            node.more = value
        elif name == "unknown" or (name == "needs_more_work" and value is not None):
            key = _KEY.search(self.text[:start])
            node.unknown.append((key[1] if key else "", value))

    def _argument(self, node: _OpenNode, value: Any) -> None:
        """Add the argument that was read to a call; `value` is its embedded value, if it has one."""
        node.arguments = node.arguments or {}
        key = node.key or f"${len(node.arguments) + 1}"
        given = node.value if value is None and node.value is not None else value
        if key in node.arguments and self.header.repeated:
            before = node.arguments[key]
            given = [*before, given] if key in node.again else [before, given]
            node.again.add(key)
        elif key in node.arguments:
            self.codes.append("repeated-argument")
        node.arguments[key] = given
        node.argument_text = node.written if node.bare is None else ""
        node.key, node.value, node.is_text = "", None, False

    def end(self, kind: str, node: _OpenNode, end: int) -> None:
        """Complete a node."""
        raw = self.text[node.start : end]
        if kind == "call_id":
            self.nodes[-1].id, self.nodes[-1].name = raw, node.name or self.nodes[-1].name
            return
        self.ended_at = node.start
        self._report_unknown(kind, node)
        if kind == "code":
            self.show(self.shown, end)
        elif kind in ("tool_call", "action"):
            self._call_or_action(kind, node, end)
        elif kind == "invented":
            self.codes += ["invented-result"] if self.segments[-1][1] else []
        elif kind == "think" and node.content >= 0:
            self.segments[node.content][0] = "think"
        elif kind == "unread":
            self.codes.append("unread-entry")
        elif kind == "quoted":
            self._quoted(self.embedded)
        elif kind == "payload":
            data = node.value if node.bare is None else node.bare
            self.segments.append(["payload", self.header.payload(node.name), data])
        elif kind == "json":
            self._json(node, raw)
        elif kind == "envelope":
            self.envelope, self.more = True, self.more if node.more is None else node.more
            if node.content >= 0:
                self.segments[node.content][0] = "answer"
        # the node around an unread entry may still become text, which then includes the entry
        self.shown = self.shown if kind == "unread" and self.nodes else end

    def _report_unknown(self, kind: str, node: _OpenNode) -> None:
        """Report the entries without a meaning. A call is invalid if one of them may hold its arguments."""
        if kind not in ("tool_call", "action", "envelope"):
            return
        doubtful = [key for key, value in node.unknown if isinstance(value, (dict, list)) or meant(key, ARGUMENTS_KEYS)]
        if kind == "tool_call" and node.arguments is None and doubtful:
            raise InvalidContentError
        self.codes += ["unknown-key"] * len(node.unknown)

    def _answer(self, node: _OpenNode) -> None:
        """Add the input of an answer: a string as text, anything else as a JSON value."""
        arguments = node.arguments or {}
        value = node.bare if node.bare is not None else arguments.get("$1", arguments)
        if isinstance(value, str):
            self.segments.append(["answer", value])
            halves = re.search("[\ud800-\udfff]", json.loads(node.argument_text) if node.argument_text else "")
            self.codes += ["lone-surrogate"] if halves else []
        elif value not in (None, {}):
            self.segments.append(["json", value])

    def _call_or_action(self, kind: str, node: _OpenNode, end: int) -> None:
        """Add a call, or the action that it means. An action inside another action becomes a part of that."""
        if kind == "tool_call" and node.name.strip().lower() in [name.lower() for name in self.header.answer]:
            self._answer(node)
            return
        outer = self.nodes[-1] if self.nodes and "action" in self.nodes[-1].kinds else None
        place: dict[str, Any] = {}
        if outer is not None:
            order = sum([segment[0] == "action" for segment in self.segments])
            place = {"raw": self.text[node.start : end], "span": (node.start, end), "order": order}
        made = read_action(self.header, node.name or "", node.arguments or {}, place) if self.header.actions else None
        if made is not None and not made.problem:
            self.codes += [found.code for found in made.findings]
            if outer is None:
                self.segments.append(["action", action_content(made.action)])
                return
            outer.arguments = outer.arguments or {}
            outer.arguments.setdefault(PARTS, []).append(made.action)
        elif made is not None or kind == "action" or not node.name:
            raise InvalidContentError
        else:
            self.segments.append(["tool_call", node.name, node.arguments or {}, node.id])
            self.codes += ["repeated-argument"] if _has_repeated_key(node.object_text) else []

    def _quoted(self, value: Any) -> None:
        """Add the actions in a string, which is read as a response of the same format."""
        found = read(self.automaton, value if isinstance(value, str) else "")
        if found is None:
            raise InvalidContentError
        actions = [list(segment) for segment in found.segments if segment[0] == "action"]
        self.segments += actions
        self.codes += found.codes if actions else ["unread-entry"]

    def _json(self, node: _OpenNode, raw: str) -> None:
        if node.content >= 0:
            del self.segments[node.content]
        self.show(self.shown, node.start)
        try:
            self.segments.append(["json", decode(raw, DEFAULT.max_depth)])
        except NotJsonError:
            self.show(node.start, node.start + len(raw))

    def content(self) -> Content:
        """The content so far."""
        segments = [self._comparable(*segment) for segment in self.segments]
        kept = [s for s in segments if s[0] not in ("text", "think") or s[1]]
        return Content(tuple(kept), tuple(self.codes), self.envelope, self.more)

    def _comparable(self, kind: str, *rest: Any) -> tuple[Any, ...]:
        """A segment as it is compared: text in place of its span, without the white space beside markup."""
        if kind == "text":
            start, end = rest
            piece = self.text[max(start, self.begins) : end]
            marked = start > 0 and start >= self.begins
            return "text", _trimmed(piece, marked, end < len(self.text)) if "TEXT" in self.trims else piece
        return ("text", *rest) if kind == "answer" else (kind, *rest)


def _has_repeated_key(text: str) -> bool:
    """Does a JSON object have a key twice, itself and not within a value?"""
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs[:] = found  # the outermost object comes last
        return dict(found)

    try:
        json.loads(text, object_pairs_hook=keep)
    except ValueError:
        return False
    return len(pairs) > len({key for key, _ in pairs})


def _trimmed(piece: str, left: bool, right: bool) -> str:
    """Text stripped on the left, the right or both."""
    piece = piece.lstrip(BLANK) if left else piece
    return piece.rstrip(BLANK) if right else piece


def _arguments(value: Any) -> dict[str, Any]:
    """The arguments in an object, its text, or null. Raises InvalidContentError for anything else."""
    if isinstance(value, str):
        try:
            value = decode(value, DEFAULT.max_depth) if value.strip() else None
        except NotJsonError:
            raise InvalidContentError from None
    if value is not None and not isinstance(value, dict):
        raise InvalidContentError
    return cast("dict[str, Any]", value or {})


def opened_before(automaton: Automaton, text: str) -> str:
    """The prompt prefix of the header, unless the response repeats it."""
    usual, found = automaton.tables.header.opened, text.lstrip()
    return usual if found and not found.startswith(usual.strip()) else ""


def read(automaton: Automaton, text: str, opened: str = "") -> Content | None:
    """The content of a text after a prompt prefix.

    None if the grammar does not accept both completely, or a call in them is invalid.
    """
    found, sound = tokens(automaton, opened + text)
    return content_of_tokens(automaton, opened + text, found, len(opened)) if sound else None


def content_of_tokens(automaton: Automaton, text: str, found: list[Token], begins: int = 0) -> Content | None:
    """The content of the tokens of a text whose response begins at `begins`; None if a call in it is invalid."""
    reader = _Reader(automaton, text, begins)
    try:
        for token in found:
            reader.take(token)
        config = found[-1].step.target if found else automaton.start
        reader.operate(config.end_operations() or (), len(text), len(text), "")
    except InvalidContentError:
        return None
    return reader.content()
