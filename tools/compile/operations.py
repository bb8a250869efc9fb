"""Writes the code of operations: lines of Python over the local variables of a fast path.

See `states` for these variables. What a complete node adds to the output is in `outspoken.semantics.segments`, which
the builder calls, too: the code here only keeps what is known of the open nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.matchers import NamedOperation

EMPTY = '""'
#: The nodes whose objects may have keys that the grammar does not know.
_OBJECTS = frozenset({"tool_call", "action", "envelope"})

#: The variables of an open node by its kinds. Each gets the depth of the node as a suffix: `start0`, `name0`, …
_CALL = ("name", "id", "args", "parts", "key", "bare")
_VARIABLES = {
    "tool_call": _CALL,
    "action": _CALL,
    "call_id": ("name",),
    "payload": ("name", "bare"),
    "think": ("content",),
    "envelope": ("content", "more", "none"),
}


class UnsupportedError(Exception):
    """The fast path does not support this; the parser does."""


class _Facts(NamedTuple):
    """What is certain about an open node at this place in the code: its arguments are set, it has no name."""

    complete: bool = False
    unnamed: bool = False


class OperationWriter:
    """Writes lines of code, among them those of operations.

    `_do_NAME` writes an operation. Its parameters are the argument of the operation, and expressions for the start, the
    end and the text of its token; the text is "" if the token was not matched by an expression.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton, header = automaton, automaton.tables.header
        self._values, self._escapes_names = header.values, header.names == "xml"
        self._unnamed = f", {header.unnamed!r}" if header.unnamed else ""
        self._acts, self._answers = bool(header.actions), bool(header.answer)
        #: subtracts the length of the prompt in the text
        self._shift = " - o" if header.opened else ""
        self._unshift = " + o" if header.opened else ""
        #: JSON strings may be the text of reasoning or of an envelope
        self._has_content = any(rule.short == "content" for rule in automaton.tables.rules)
        #: markers say that a value is a string
        self._has_told = any(rule.short == "is_text" for rule in automaton.tables.rules)
        #: objects may have keys that the grammar does not know
        self._has_unknown = any(rule.short == "unknown" for rule in automaton.tables.rules)
        self._lines: list[str] = []
        self._indent = 0
        #: what the last value is, if it is a string that was matched
        self._string = ""
        #: the last value is bare text
        self._is_bare = False
        #: the kinds that each open node may become
        self._nodes: list[str] = []
        #: by depth, what is certain about open nodes
        self._facts: dict[int, _Facts] = {}

    def _put(self, *lines: str) -> None:
        self._lines += [f"{'    ' * self._indent}{line}" for line in lines]

    def _block(self, write: Callable[[], None]) -> None:
        """Write the block of the last line. It returns None if `write` raises UnsupportedError."""
        self._indent += 1
        at, nodes, is_bare, facts = len(self._lines), self._nodes[:], self._is_bare, self._facts.copy()
        try:
            write()
        except UnsupportedError:
            del self._lines[at:]
            self._put("return None")
        self._nodes, self._is_bare, self._facts = nodes, is_bare, facts
        self._indent -= 1

    def _top(self) -> int:
        if not self._nodes:
            raise UnsupportedError
        return len(self._nodes) - 1

    def _kinds(self) -> set[str]:
        """The kinds that the innermost node may become."""
        return set(self._nodes[self._top()].split())

    def _pop(self) -> tuple[int, str, _Facts]:
        """The innermost node ends: its depth, its kinds, and what is certain about it."""
        d = self._top()
        return d, self._nodes.pop(), self._facts.pop(d, _Facts())

    def _note(self, **known: bool) -> None:
        """Note what is certain about the innermost node from here on."""
        d = self._top()
        self._facts[d] = self._facts.get(d, _Facts())._replace(**known)

    def _offsets(self, start: str, end: str) -> str:
        """Two places in the text as offsets in the raw text."""
        return f"{start}{self._shift}, {end}{self._shift}"

    def _operate(self, ops: list[NamedOperation] | tuple[NamedOperation, ...], start: str = "", end: str = "") -> None:
        """Write operations on groups of the match `m`, or on the token between `start` and `end`."""
        self._string = ""
        for name, arg, group in ops:
            at = f"({group})" if group else "()"
            first, last = (start, end) if start else (f"m.start{at}", f"m.end{at}")
            if name.startswith("before_"):
                name, last = name.removeprefix("before_"), first
            write = getattr(self, f"_do_{name.lower()}", None)
            if write is None:
                raise UnsupportedError
            write(arg, first, last, "" if start else f"m[{group}]")

    # nodes

    def _do_begin(self, arg: str, start: str, end: str, token: str) -> None:
        d = len(self._nodes)
        self._nodes.append(arg)
        self._facts[d] = _Facts(unnamed=True)
        self._put(f"start{d} = {start}")
        kinds = arg.split()
        names = dict.fromkeys([name for kind in kinds for name in _VARIABLES.get(kind, ())])
        if not self._has_content:
            names.pop("content", None)
        if "tool_call" in kinds and self._answers:
            self._put(f"span{d} = (0, 0)")
        if names:
            self._put(f"{' = '.join([f'{name}{d}' for name in names])} = None")
        if self._has_unknown and not _OBJECTS.isdisjoint(kinds):
            self._put(f"unknown{d} = 0")
        if self._has_told and "tool_call" in kinds:
            self._put(f"told{d} = False")
        if arg == "answer":
            self._put("out.after_markup()")

    def _do_reopen(self, arg: str, start: str, end: str, token: str) -> None:
        self._do_begin(arg, f"out.node_start{self._unshift}", end, token)

    def _do_drop(self, arg: str, start: str, end: str, token: str) -> None:
        self._pop()
        self._put("out.after_markup()")

    def _do_markup(self, arg: str, start: str, end: str, token: str) -> None:
        self._put("out.after_markup()")

    def _refuse_unknown(self, kinds: str, d: int) -> None:
        """The parser reports unknown keys, but those of values that are shown as they are."""
        if self._has_unknown and not _OBJECTS.isdisjoint(kinds.split()):
            self._put(f"if unknown{d}:", "    return None")

    def _refuse_misspelt(self, kinds: str, d: int) -> None:
        """The parser decides whether an object with a name or arguments is a call with a misspelt key."""
        if self._has_unknown and "tool_call" in kinds.split():
            self._put(f"if unknown{d} == 2 and (name{d} or args{d}.__class__ is dict):", "    return None")

    def _ends(self, function: str, end: str, *between: str, d: int) -> None:
        """The call of a function that adds what ended to the output."""
        self._put(f"{function}({', '.join(['out', *between, self._offsets(f'start{d}', end)])})")

    def _do_end_code(self, arg: str, start: str, end: str, token: str) -> None:
        d, kinds, _ = self._pop()
        self._refuse_misspelt(kinds, d)
        self._ends("end_code", end, d=d)

    def _do_end_answer(self, arg: str, start: str, end: str, token: str) -> None:
        self._ends("end_answer", end, d=self._pop()[0])

    def _do_end_think(self, arg: str, start: str, end: str, token: str) -> None:
        d, _, _ = self._pop()
        content = f", *(content{d} or ())" if self._has_content else ""
        self._put(f"end_think(out, {self._offsets(f'start{d}', end)}{content})")

    def _do_end_json(self, arg: str, start: str, end: str, token: str) -> None:
        d, kinds, _ = self._pop()
        self._refuse_misspelt(kinds, d)
        self._put(f"e = {end}")
        self._put(f"end_json(out, text[start{d}:e], {self._offsets(f'start{d}', 'e')}, settings.max_depth)")

    def _do_end_envelope(self, arg: str, start: str, end: str, token: str) -> None:
        d, kinds, _ = self._pop()
        self._refuse_unknown(kinds, d)
        self._put(f"if none{d}:", "    out.outcome.add_unread(NO_CALLS, [])")
        self._ends("end_envelope", end, f"*(content{d} or NO_CONTENT)", f"more{d}", d=d)

    def _do_end_payload(self, arg: str, start: str, end: str, token: str) -> None:
        d, _, _ = self._pop()
        self._ends("end_payload", end, f'header.payload(name{d} or "")', f"last if bare{d} is None else bare{d}", d=d)

    def _do_end_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        d, _, facts = self._pop()
        c = self._top()
        self._put(f"id{c} = text[start{d}:{end}]")
        if not facts.unnamed:
            self._put(f"if name{d}:", f"    name{c} = name{d}")

    def _do_end_tool_call(self, arg: str, start: str, end: str, token: str) -> None:
        d, kinds, facts = self._pop()
        self._refuse_unknown(kinds, d)
        depth = self._indent
        if self._answers:
            raw = f"text[span{d}[0]{self._unshift} : span{d}[1]{self._unshift}]"
            self._put(f"if is_answer(name{d}, ANSWERS):")
            self._put(f"    if parts{d}.__class__ is list and len(args{d}) > 1:", "        return None")
            self._put(f"    if not end_answer_call(out, args{d}, {raw}, span{d}, {self._offsets(f'start{d}', end)}):")
            self._put("        return None", "else:")
            self._indent += 1
        if self._acts:
            self._put(f'if mapping.is_name(name{d} or ""):')
            self._indent += 1
            self._put(f"if mapping.is_taken(name{d}, tools):", "    return None")
            self._action(d, end)
            self._indent -= 1
            self._put("else:")
            self._indent += 1
        self._put(f"if not name{d} or (known is not None and name{d} not in known):", "    return None")
        if self._acts:
            self._put(f"if known is None and mapping.mistake_in(name{d}, args{d} or {{}}):", "    return None")
        if not facts.complete:
            self._put(f"if parts{d}.__class__ is not str:")
            self._put(f'    parts{d} = "".join(parts{d} or ()) + closing_text(args{d}, keyed=True)')
        args = f"args{d}" if facts.complete else f"args{d} or {{}}"
        self._put(f"end_call(out, name{d}, {args}, parts{d}, id{d}, {self._offsets(f'start{d}', end)})")
        self._indent = depth

    def _do_end_action(self, arg: str, start: str, end: str, token: str) -> None:
        d, kinds, _ = self._pop()
        self._refuse_unknown(kinds, d)
        self._action(d, end)
        if self._nodes and "action" in self._nodes[-1].split():
            self._put(f"args{d - 1} = nest_action(out, args{d - 1})")

    def _action(self, d: int, end: str) -> None:
        """The end of an action; the parser reads one with which something is wrong."""
        offsets = self._offsets(f"start{d}", "e")
        self._put(f"e = {end}", f"raw = text[start{d}:e]")
        self._put(f"if not end_action(out, header, settings, name{d}, args{d}, id{d}, raw, {offsets}):")
        self._put("    return None")

    # tokens and fields

    def _do_embedded_string(self, arg: str, start: str, end: str, token: str) -> None:
        self._string = token

    def _do_token_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        if not self._facts.get(d, _Facts()).unnamed:
            self._put(f"if name{d} is not None and name{d} != {token or EMPTY}:", "    return None")
        self._do_token_action_name(arg, start, end, token)

    def _do_token_action_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._name(f"name{self._top()}", token)
        self._note(unnamed=False)

    _do_token_payload_name = _do_token_action_name

    def _do_token_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {token or EMPTY}")

    def _do_token_call_index(self, arg: str, start: str, end: str, token: str) -> None:
        """The number of a call is a part of its id."""

    def _do_token_arg_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._name(f"key{self._top()}", token)

    def _name(self, variable: str, token: str) -> None:
        """A name, as it is meant."""
        read = token or EMPTY
        self._put(f"{variable} = header.read_name({read})" if self._escapes_names else f"{variable} = {read}")

    def _do_field_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"name{self._top()} = {self._last_string()}")
        self._note(unnamed=False)

    def _do_field_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {self._last_string()}")

    def _last_string(self) -> str:
        """The value that was read last if it is a string, otherwise None."""
        return self._string or "last if last.__class__ is str else None"

    def _do_field_content(self, arg: str, start: str, end: str, token: str) -> None:
        string = "if last.__class__ is str:"
        self._put(string, f"    content{self._top()} = last, ({self._offsets(start, end)})")

    def _do_field_needs_more_work(self, arg: str, start: str, end: str, token: str) -> None:
        self._put("if last.__class__ is bool:", f"    more{self._top()} = last")
        self._put("elif last is not None:", "    return None")

    def _do_field_no_calls(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"none{self._top()} = True")

    def _do_field_is_text(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"told{self._top()} = True")

    def _do_field_is_true(self, arg: str, start: str, end: str, token: str) -> None:
        self._put("last, said = True, 'true'")

    def _do_field_unknown(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"unknown{d} = max(unknown{d}, doubt(text, {start}))")

    def _do_field_arguments(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put("if last.__class__ is not dict:", "    last, said = object_of(last, said, settings.max_depth)")
        self._put("    if last.__class__ is not dict:", "        return None", f"args{d}, parts{d} = last, said")
        if self._answers:
            self._put(f"span{d} = ({self._offsets(start, end)})")
        self._note(complete=True)

    def _do_field_argument(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"if key{d} is None and name{d} is None and tools is not None:", "    return None")
        self._put(f"k = key{d} or place_name(args{d}, tools, name{d}{self._unnamed})")
        self._put(f"if args{d} is None:", f"    args{d}, parts{d} = {{}}, []")
        self._put(f"elif k in args{d}:", "    return None")
        self._note(complete=False)
        if not self._is_bare:
            self._put(f"if bare{d} is None:", f"    add_value(args{d}, parts{d}, k, last, said or to_json(last))")
            if self._answers:
                self._put(f"    span{d} = ({self._offsets(start, end)})")
            self._put("else:")
            self._indent += 1
        if self._unnamed:
            self._put(f"if not args{d} and lacks_bracket(bare{d}):", "    return None")
        self._bare_value(d)
        self._indent -= not self._is_bare
        self._is_bare = False
        self._put(f"key{d} = bare{d} = None")

    def _bare_value(self, d: int) -> None:
        """The value of an argument that is written as bare text."""
        has_told = self._has_told and "tool_call" in self._kinds()
        self._put(f"types = None if tools is None or name{d} is None else tools.types(name{d}, k)")
        if self._acts:
            is_action = "True" if "action" in self._kinds() else f'mapping.is_name(name{d} or "")'
            self._put(f"if {is_action}:", "    if types is not None:", "        return None")
            self._put(f"    add_value(args{d}, parts{d}, k, bare{d}, to_json(bare{d}))", "else:")
            self._indent += 1
        if has_told:
            self._put(f"if told{d}:", "    types = as_text(types)")
        self._put(f"if not add_bare(args{d}, parts{d}, k, bare{d}, types, {self._values!r}):", "    return None")
        self._indent -= self._acts
        if has_told:
            self._put(f"told{d} = False")
