"""What the operations of the automaton do: each calls what knows a rule's meaning, the builder or a function here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from outspoken.grammar.vocabulary import FIELDS, NODES
from outspoken.results.replies import Reasoning

from . import segments, unknown_keys
from .action_verdict import refusal_of_payload
from .builder import Builder
from .open_node import OpenNode
from .segments import NO_CALLS

if TYPE_CHECKING:
    from .builder import Builder


def drop(b: Builder) -> None:
    """What began was only structure."""
    b.nodes.pop()
    b.output.after_markup()


def end_think(b: Builder, end: int) -> None:
    """Reasoning is complete: free text, or the text of a JSON string."""
    node, output = b.nodes[-1], b.output
    if node.text_start is not None and node.content is None:
        has_begun = output.run_model is Reasoning
        start = node.text_start
        tags = b.source.slice(start, node.text_end).rstrip() if start < node.text_end else ""
        if tags:  # those of reasoning within it that nothing follows
            lead = 0 if has_begun else len(tags) - len(tags.lstrip())
            output.reasoning(tags[lead:], start + lead, start + len(tags))
    b.nodes.pop()
    segments.end_think(b.output, node.start, end, node.content, node.content_span)


def _end_misspelt_call(b: Builder, end: int) -> bool:
    """An object is complete that is a call, but for a misspelt key. Returns whether it is one."""
    if not unknown_keys.is_call(b.state, b.nodes[-1]):
        return False
    b.calls.end_tool_call(end)
    return True


def end_code(b: Builder, end: int) -> None:
    """A code sample is complete, or an object that is no call."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    segments.end_code(b.output, b.nodes.pop().start, end)


def end_json(b: Builder, end: int) -> None:
    """A JSON value is complete that is no call."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    start = b.nodes.pop().start
    segments.end_json(b.output, b.source.slice(start, end), start, end, b.context.settings.max_depth)


def end_envelope(b: Builder, end: int) -> None:
    """An object that holds the whole answer is complete."""
    node = b.nodes.pop()
    outcome = b.output.outcome
    if node.no_calls:
        outcome.add_unread(NO_CALLS, [])
    for entry in node.unknown:
        outcome.add_unread(entry.key, entry.value)
    if node.unknown:
        unknown_keys.report(b.state, node)
    segments.end_envelope(b.output, node.content, node.content_span, node.needs_more_work, node.start, end)


def end_unread(b: Builder, end: int) -> None:
    """Something is complete that the format has a place for, but that says nothing. It is left out."""
    if b.nodes[-1].unknown and _end_misspelt_call(b, end):
        return
    node = b.nodes.pop()
    message = "this has no place in a call, or repeats an earlier entry; it is left out"
    b.recorder.report("unread-entry", message, (node.start, end), "warning")
    b.output.node_start = node.start
    call = b.nodes[-1] if b.nodes else None
    if call is not None and "tool_call" in call.kinds and _is_rebuilt(b, call.start):
        call.problem = call.problem or f"what is left out of `{call.name or ''}` may be another call"
    if call is not None:
        call.left_out += b.source.slice(node.start, end)
    if not b.nodes:
        b.output.end_node(node.start, end)


def _is_rebuilt(b: Builder, start: int) -> bool:
    """Was markup added or dropped behind an offset?"""
    return any(edit.start > start and edit.level in ("markup", "structure") for edit in b.recorder.edits)


def end_mention(b: Builder, end: int) -> None:
    """The marker of a payload is text if no payload follows it."""
    node = b.nodes.pop()
    b.output.show(end)
    message, label = "no payload follows this marker", "a bracket should follow"
    b.recorder.report("missing-payload", message, (node.start, end), "warning", label=label)
    b.output.node_start = node.start


def end_payload(b: Builder, end: int) -> None:
    """A payload is complete."""
    node = b.nodes.pop()
    data = b.state.last_value if node.bare is None else "".join(node.bare)
    name, refusal = b.header.payload(node.name or ""), refusal_of_payload(b.state, node)
    repairs = b.recorder.take_repairs()
    if refusal is None:
        segments.end_payload(b.output, name, data, node.start, end, repairs)
        return
    b.recorder.lower_status("invalid")
    b.recorder.report("broken-payload", f"the payload of `{name}`: {refusal.message}", (max(node.start, 0), end))
    segments.end_payload(b.output, name, None, node.start, end, status="invalid")


def end_call_id(b: Builder, end: int) -> None:
    """The id of a call is the text of its rule; a name that was read inside it belongs to the call."""
    node = b.nodes.pop()
    call = b.nodes[-1]
    call.id = b.source.slice(node.start, end)
    call.name = node.name or call.name


def markup(b: Builder) -> None:
    """A marker was read in text that belongs to no node, such as one that ends a turn."""
    b.output.after_markup()


def field_is_text(b: Builder) -> None:
    """The markup says that the bare value that follows is a string."""
    b.nodes[-1].is_text = True


def field_is_true(b: Builder) -> None:
    """The markup says that the argument whose name was read is true."""
    b.state.last_value, b.state.last_text = True, "true"


def field_odd(b: Builder, start: int, end: int) -> None:
    """Markup was read that differs from how the format writes it."""
    span = (b.nodes[-1].start if b.nodes else start, end)
    message = "this marker is not written as the format writes it"
    b.recorder.report("odd-marker", message, span, "warning")


def field_content(b: Builder, start: int, end: int) -> None:
    """The text of an envelope, or of reasoning."""
    if isinstance(b.state.last_value, str):
        node = b.nodes[-1]
        node.content = b.state.last_value
        node.content_span = (start, end)


def field_unknown(b: Builder, start: int, end: int) -> None:
    """An entry of an object whose key the grammar does not know. Its value stands between two offsets."""
    unknown_keys.add_unknown(b.state, start, end)


def field_needs_more_work(b: Builder, start: int, end: int) -> None:
    """Does the model want another turn? A value that says neither is reported."""
    if isinstance(b.state.last_value, bool):
        b.nodes[-1].needs_more_work = b.state.last_value
    elif b.state.last_value is not None:
        unknown_keys.add_unknown(b.state, start, end)


def field_no_calls(b: Builder) -> None:
    """The list of calls of an envelope is empty."""
    b.nodes[-1].no_calls = True


class TokenMatch(Protocol):
    """The match of a step of the automaton: a `re.Match`, or a `Place`."""

    def __getitem__(self, group: int, /) -> str: ...

    def start(self, group: int = ..., /) -> int: ...

    def end(self, group: int = ..., /) -> int: ...


#: Called as `operation(builder, argument, match, group, base)`: the group of the match is the token of the operation,
#: `base` the offset of the matched text in the raw text.
Operation = Callable[[Builder, str, TokenMatch, int, int], None]


class Place:
    """Stands in for a match where a step was not found by a regular expression."""

    __slots__ = ("_end", "_start", "_text")

    def __init__(self, start: int, end: int, text: str = "") -> None:
        self._start, self._end, self._text = start, end, text

    def __getitem__(self, group: int) -> str:
        return self._text

    def start(self, group: int = 0) -> int:
        """Where it begins."""
        return self._start

    def end(self, group: int = 0) -> int:
        """Where it ends."""
        return self._end


def _begin(b: Builder, kinds: str, m: TokenMatch, g: int, base: int) -> None:
    b.begin(kinds, base + m.start(g))


def _reopen(b: Builder, kinds: str, m: TokenMatch, g: int, base: int) -> None:
    """What just ended is the first part of a larger node, which began at the same place."""
    b.nodes.append(OpenNode(kinds, b.output.node_start))


def _insert(b: Builder, marker: str, m: TokenMatch, g: int, base: int) -> None:
    at = base + m.start(g)
    b.recorder.add_marker("missing-marker", marker, at, at)


def _replace(b: Builder, marker: str, m: TokenMatch, g: int, base: int) -> None:
    """A marker is written with a mistake, or stands for none: then it is ""."""
    code = "damaged-marker" if marker else "extra-closer"
    b.recorder.add_marker(code, marker, base + m.start(g), base + m.end(g))


def _name(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    b.nodes[-1].name = b.header.read_name(m[g])


def _tool_name(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    """The name of a tool, which some formats write twice."""
    node, name = b.nodes[-1], b.header.read_name(m[g])
    if node.name is not None and node.name != name:
        node.problem = f"the call has two names, `{node.name}` and `{name}`"
    node.name = node.name or name


def _named(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    """The name is known, and written with a mistake."""
    b.nodes[-1].name = arg


def _call_id(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    b.nodes[-1].id = m[g]


def _call_index(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
    """The number of a call is a part of its id, and means nothing by itself."""


def _before(operation: Operation) -> Operation:
    """The operation for a node that ended before the token of the match."""

    def run(b: Builder, arg: str, m: TokenMatch, g: int, base: int) -> None:
        at = m.start(g)
        operation(b, arg, Place(at, at), 0, base)

    return run


#: By the kind of node, what its end does.
_ENDS: dict[str, Operation] = {
    "think": lambda b, _, m, g, base: end_think(b, base + m.end(g)),
    "code": lambda b, _, m, g, base: end_code(b, base + m.end(g)),
    "json": lambda b, _, m, g, base: end_json(b, base + m.end(g)),
    "envelope": lambda b, _, m, g, base: end_envelope(b, base + m.end(g)),
    "unread": lambda b, _, m, g, base: end_unread(b, base + m.end(g)),
    "mention": lambda b, _, m, g, base: end_mention(b, base + m.end(g)),
    "payload": lambda b, _, m, g, base: end_payload(b, base + m.end(g)),
    "call_id": lambda b, _, m, g, base: end_call_id(b, base + m.end(g)),
    "tool_call": lambda b, _, m, g, base: b.calls.end_tool_call(base + m.end(g)),
    "answer": lambda b, _, m, g, base: b.answers.end_answer(base + m.end(g)),
    "invented": lambda b, _, m, g, base: b.answers.end_invented(base + m.end(g)),
    "action": lambda b, _, m, g, base: b.actions.end_action(base + m.end(g)),
    "quoted": lambda b, _, m, g, base: b.actions.end_quoted(base + m.end(g)),
}

#: By the name of a field rule, what its end does with the value that was read.
_FIELDS: dict[str, Operation] = {
    "tool_name": lambda b, _, m, g, base: b.calls.field_tool_name(),
    "arguments": lambda b, _, m, g, base: b.calls.field_arguments(base + m.start(g), base + m.end(g)),
    "argument": lambda b, _, m, g, base: b.calls.field_argument(base + m.start(g), base + m.end(g)),
    "id": lambda b, _, m, g, base: b.calls.field_id(),
    "content": lambda b, _, m, g, base: field_content(b, base + m.start(g), base + m.end(g)),
    "needs_more_work": lambda b, _, m, g, base: field_needs_more_work(b, base + m.start(g), base + m.end(g)),
    "no_calls": lambda b, _, m, g, base: field_no_calls(b),
    "unknown": lambda b, _, m, g, base: field_unknown(b, base + m.start(g), base + m.end(g)),
    "is_text": lambda b, _, m, g, base: field_is_text(b),
    "is_true": lambda b, _, m, g, base: field_is_true(b),
    "odd": lambda b, _, m, g, base: field_odd(b, base + m.start(g), base + m.end(g)),
}

#: The operations, by name.
HANDLERS: dict[str, Operation] = {
    "begin": _begin,
    "drop": lambda b, _, m, g, base: drop(b),
    "insert": _insert,
    "replace": _replace,
    "stray": lambda b, _, m, g, base: b.recorder.add_marker("stray-marker", "", base + m.start(g), base + m.end(g)),
    "odd": lambda b, _, m, g, base: b.recorder.add_marker("odd-marker", "", base + m.start(g), base + m.end(g)),
    "markup": lambda b, _, m, g, base: markup(b),
    "reopen": _reopen,
    "before_reopen": _reopen,
    "named": _named,
    "token_TOOL_NAME": _tool_name,
    "token_ACTION_NAME": _name,
    "token_PAYLOAD_NAME": _name,
    "token_ARG_NAME": lambda b, _, m, g, base: b.calls.argument_name(b.header.read_name(m[g]), base + m.start(g)),
    "token_CALL_ID": _call_id,
    "token_CALL_INDEX": _call_index,
    **{f"field_{name}": _FIELDS[name] for name in FIELDS},
    **{f"end_{name}": _ENDS[name] for name in NODES},
    **{f"before_end_{name}": _before(_ENDS[name]) for name in NODES},
}

#: What receives the pieces of a free text: called as `function(builder, piece, start, end)`.
FREE: dict[str, Callable[[Builder, str, int, int], None]] = {
    "TEXT": lambda b, piece, start, end: b.output.text(piece, start, end),
    "CODE": lambda b, _piece, _start, end: b.output.show(end),  # it is text, together with its fence
    "REASONING": Builder.reasoning,
    "ARG_VALUE": lambda b, piece, start, end: b.calls.value(piece, start, end),
}
