"""`parse_actions` and `parse_action`: the actions of a response, checked against a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, TypeAlias, cast

from outspoken.actions.decoding import unknown_action
from outspoken.actions.mapping import mapping_of
from outspoken.actions.page import PageContext
from outspoken.grammar import registry
from outspoken.json.decoder import NotJsonError, decode
from outspoken.parsing.options import page_changes
from outspoken.parsing.parser import Parser
from outspoken.results.actions.union import Action
from outspoken.results.arguments import check_type, kind_of, text_of
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, place_diagnostics
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Reply, Segment
from outspoken.results.settings import DEFAULT

from .responses import changed

#: A response with actions: its text, or the values decoded from it.
ActionsLike: TypeAlias = "str | bytes | Mapping[str, Any] | Sequence[Any] | None"

#: The levels of nested JSON that are searched if the response has no actions in the expected place.
_SEARCH_DEPTH = 3


@by_keyword
def parse_actions(
    response: ActionsLike,
    parser: Parser | str,
    *,
    page: PageContext | None = None,
    given: Mapping[str, Any] | None = None,
    prefix: str | None = None,
    finish_reason: str | None = None,
) -> Reply:
    """Read the actions of a response and check them against a page.

    `response` is the text, or the dict or list decoded from it. `parser` is a parser of a format with actions, or the
    name of the format. Returns the reply of the parser: `actions` are safe to carry out, `unfinished_actions` are
    truncated or invalid. An invalid action does not affect the others, and `order` counts all of them. Spans refer to
    `raw`, the JSON text of a decoded response. `prefix` and `finish_reason` are as in `Parser.parse`.

    Text is read as `parser` reads it, and actions are checked as `Parser` explains for `page` and
    `given`. In a dict, actions may also stand deeper than the format has them; the diagnostic is then `moved-actions`.

    Raises UnknownFormatError, also for a parser that detects the format, LimitError for text over the limit, and
    TypeError for an argument of a wrong type and for a `response` that cannot be written as JSON.
    """
    return _ActionReader(parser, page, given).read(response, prefix, finish_reason)


@by_keyword
def parse_action(
    response: ActionsLike,
    parser: Parser | str,
    *,
    page: PageContext | None = None,
    given: Mapping[str, Any] | None = None,
    prefix: str | None = None,
    finish_reason: str | None = None,
) -> Action:
    """Read one action and check it against a page: the first of `parse_actions`, with the same arguments.

    Returns an `unknown` action with the status "invalid" if there is none. Use `parse_actions` for the diagnostics.
    """
    reply = parse_actions(response, parser=parser, page=page, given=given, prefix=prefix, finish_reason=finish_reason)
    found = [segment for segment in reply.segments if segment.kind == "action"]
    if found:
        return found[0]
    extra: dict[str, Any] = dict(response) if isinstance(response, Mapping) else {}
    return unknown_action("", extra, {"raw": reply.raw, "span": (0, len(reply.raw))})


class _ActionReader:
    """Reads responses in a format with actions, as text or as decoded values."""

    def __init__(self, parser: Parser | str, page: PageContext | None, given: Mapping[str, Any] | None) -> None:
        parser = parser if isinstance(parser, Parser) else Parser(check_type(parser, str, "parser"))
        self.name = registry.resolve(parser.format)
        self.parser = parser.replace(**page_changes(page, given))
        #: decoded values need no repairs
        self._values_parser = self.parser.replace(tools=None, repair=None, on_error="keep", context=None, proof=None)
        mapping = mapping_of(registry.header(self.name))
        #: the keys that may name an action
        self._naming: tuple[str, ...] = mapping.naming if mapping is not None else ()

    def read(self, response: ActionsLike, prefix: str | None, finish_reason: str | None) -> Reply:
        """The reply for a response."""
        if isinstance(response, (list, tuple)):
            return self._read_list(cast("Sequence[Any]", response))
        decoded = response if isinstance(response, Mapping) else None
        if decoded is None and not isinstance(response, (str, bytes, bytearray, NoneType)):
            raise TypeError(f"`response` is {kind_of(response)}; expected text, a dict or a list")
        text = text_of(response, "response") if decoded is None else _written(self._ordered(decoded))
        reply = self.parser.parse(text, prefix=prefix, finish_reason=finish_reason)
        if decoded is None or any(_is_action(segment) for segment in reply.segments):
            return reply
        return self._nested_actions([decoded]) or reply

    def _ordered(self, value: Any) -> Any:
        """A value in whose objects the key that names the action comes first."""
        if isinstance(value, list):
            return [self._ordered(item) for item in cast("list[Any]", value)]
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value)
            return {**{key: items[key] for key in self._naming if key in items}, **items}
        return value

    def _read_list(self, items: Sequence[Any]) -> Reply:
        """The reply for a decoded list; each item becomes an action, if only an invalid one."""
        texts = [_written(self._ordered(item)) for item in items]
        raw = f"[{', '.join(texts)}]"
        actions: list[Action] = []
        findings: list[PendingDiagnostic] = []
        start = 1
        for order, text in enumerate(texts):
            end = start + len(text)
            item_action, pending = self._read_item(text, start)
            if item_action is None:
                item: Any = items[order]
                extra = dict(cast("dict[str, Any]", item)) if isinstance(item, dict) else {"$1": item}
                item_action = unknown_action("", extra, {})
                message = "this does not say which action it is"
                pending = [PendingDiagnostic("invalid-action", message, (start, end), "error", self.name)]
            actions.append(item_action.model_copy(update={"order": order, "raw": text, "span": (start, end)}))
            findings += pending
            start = end + 2
        status = "invalid" if any(action.status == "invalid" for action in actions) else "ok"
        notes = sorted(place_diagnostics(findings, raw), key=_start)
        return changed(self._values_parser.parse(""), raw=raw, segments=actions, diagnostics=notes, status=status)

    def _read_item(self, text: str, start: int) -> tuple[Action | None, list[PendingDiagnostic]]:
        """The action of a list item, and its diagnostics."""
        for before, after in (("[", "]"), ("", "")):
            reply = self._values_parser.parse(f"{before}{text}{after}")
            action = next((segment for segment in reply.segments if segment.kind == "action"), None)
            if action is not None:
                offset, end = start - len(before), start + len(text)
                pending: list[PendingDiagnostic] = []
                for diagnostic in reply.diagnostics:
                    first, last = [min(max(place + offset, start), end) for place in diagnostic.span]
                    pending.append(PendingDiagnostic.moved(diagnostic, (first, last)))
                return action, pending
        return None, []

    def _nested_actions(self, values: Any) -> Reply | None:
        """The reply for the first nested value with actions, also inside JSON strings; None if there is none."""
        for value in _nested_values(values, _SEARCH_DEPTH):
            if isinstance(value, list):
                nested = self._read_list(cast("list[Any]", value))
            else:
                nested = self._values_parser.parse(_written(self._ordered(value)))
            text = nested.raw
            if any(segment.kind == "action" and segment.status == "ok" for segment in nested.segments):
                message = f"the actions are not where `{self.name}` has them; spans refer to their JSON text"
                note = PendingDiagnostic("moved-actions", message, (0, len(text)), "warning", self.name)
                notes = [*nested.diagnostics, *place_diagnostics([note], text)]
                return changed(nested, diagnostics=sorted(notes, key=_start))
        return None


def _start(note: Diagnostic) -> int:
    return note.span[0]


def _written(value: Any) -> str:
    """A decoded value as JSON text. Raises TypeError if that is impossible."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"`response` cannot be written as JSON: {error}") from None


def _is_action(segment: Segment) -> bool:
    """True for an action whose name is known, if nothing else."""
    return segment.kind == "action" and (segment.type != "unknown" or bool(segment.name))


def _nested_values(value: Any, depth: int) -> Iterator[Any]:
    """The lists and objects in a value and in its JSON strings, the outer ones first."""
    level: list[Any] = [value]
    for _ in range(depth):
        inner: list[Any] = []
        for item in level:
            parts = list(cast("Any", item).values()) if isinstance(item, Mapping) else item
            inner += [found for found in map(_decoded, parts) if isinstance(found, (dict, list))]
        yield from inner
        level = inner


def _decoded(value: Any) -> Any:
    """The JSON value of a string, or None; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value, DEFAULT.max_depth)
    except NotJsonError:
        return None
