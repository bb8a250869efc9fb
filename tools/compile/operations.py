"""Writes the code of operations: lines of Python over the local variables of a fast path.

See `states` for these variables, and the builder in `semantics` for what each operation does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.matchers import NamedOperation

from .source import literal, written

#: The variables of an open node; each gets the depth of the node as a suffix: `start0`, `name0`, and so on.
_VARIABLES = ("name", "id", "args", "parts", "key", "bare")

EMPTY = '""'


class UnsupportedError(Exception):
    """The fast path does not support this; the parser does."""


class _Facts(NamedTuple):
    """What is certain about an open node at this place in the code.

    `complete`: its arguments are set. `unnamed`: it has no name. `begun`: in which match and where it began.
    """

    complete: bool = False
    unnamed: bool = False
    begun: tuple[int, str] | None = None


class OperationWriter:
    """Writes lines of code, among them those of operations.

    `_do_NAME` writes an operation. Its parameters are the argument of the operation, and expressions for the start, the
    end and the text of its token; the text is "" if the token was not matched by an expression.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton, header = automaton, automaton.tables.header
        self._values, self._trims_text = header.values, "text" in header.trim
        self._acts = bool(header.actions)
        self._answers = tuple([name.lower() for name in header.answer])
        #: subtracts the length of the prompt in the text
        self._shift = " - o" if header.opened else ""
        self._segment = f"append(segment(kind, run, run_start{self._shift}, run_end{self._shift}))"
        self._flush = ("if run is not None:", f"    {self._segment}", "    run = None")
        self._lines: list[str] = []
        self._indent = 0
        #: the last value is certainly a string
        self._is_string = False
        #: the last value is bare text
        self._is_bare = False
        #: the kinds that each open node may become
        self._nodes: list[str] = []
        #: by depth, what is certain about open nodes
        self._facts: dict[int, _Facts] = {}
        #: the number of the match in the code
        self._matches = 0

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

    def _note(self, **known: bool) -> None:
        """Note what is certain about the innermost node from here on."""
        d = self._top()
        self._facts[d] = self._facts.get(d, _Facts())._replace(**known)

    def _operate(self, ops: list[NamedOperation] | tuple[NamedOperation, ...], start: str = "", end: str = "") -> None:
        """Write operations on groups of the match `m`, or on the token between `start` and `end`."""
        self._is_string = False
        for name, arg, group in ops:
            at = f"({group})" if group else "()"
            first, last = (start, end) if start else (f"m.start{at}", f"m.end{at}")
            if name.startswith("before_"):
                name, last = name.removeprefix("before_"), first
            write = getattr(self, f"_do_{name.lower()}", None)
            if write is None:
                raise UnsupportedError
            write(arg, first, last, "" if start else f"m[{group}]")

    # text

    def _append_text(self, kind: int) -> None:
        """Append `piece`, which begins at `a`, to the text (1) or reasoning (2)."""
        adjacent = " and a == run_end" if kind == 1 else ""
        self._put("if run is None:", f"    run, kind, run_start = piece, {kind}, a")
        self._put(f"elif kind == {kind}{adjacent}:", "    run += piece")
        self._put("else:", f"    {self._segment}")
        self._put(f"    run, kind, run_start = piece, {kind}, a")
        self._put("run_end = safe = a + len(piece)")
        if kind == 1:
            self._put("after = True")

    def _append_shown(self, end: str) -> None:
        """Append everything from `safe` to `end` to the text."""
        self._put(f"if safe < {end}:")
        self._indent += 1
        self._put(f"piece = text[safe:{end}]", "a = safe")
        if self._trims_text:
            self._put("if not after:", "    b = piece.lstrip()", "    a += len(piece) - len(b)", "    piece = b")
        self._put("if piece:")
        self._block(lambda: self._append_text(1))
        self._indent -= 1

    def _piece(self, role: str, after_marker: bool, end: str, *, ends: bool) -> None:
        """The code for free text from `pos` to `end`, without the white space that belongs to markers."""
        if role == "CODE":
            self._put("if once == SEGMENT and not segments:", "    return None", f"if pos < {end}:")
            self._block(lambda: self._append_shown(end))
            return
        if role == "TEXT":
            self._put("safe = pos")
        trims = role in self._automaton.trims
        if role == "ARG_VALUE":
            d = self._top()
            self._put(f"piece = text[pos:{end}]", *["a = pos"] * (trims and after_marker))
            self._trim(role, leads=trims and after_marker, ends=trims)
            self._put(f"bare{d} = piece if bare{d} is None else bare{d} + piece")
            self._is_bare = True
            return
        self._put(f"if pos < {end}:")
        self._block(lambda: self._text(role, end, leads=trims and after_marker, ends=trims and not ends))

    def _text(self, role: str, end: str, *, leads: bool, ends: bool) -> None:
        """The code for text or reasoning from `pos` to `end`, which is not empty."""
        self._put(f"piece = text[pos:{end}]", "a = pos")
        self._trim(role, leads=leads, ends=ends)
        kind = 1 if role == "TEXT" else 2
        if leads or ends:
            self._put("if piece:")
            self._block(lambda: self._append_text(kind))
        else:
            self._append_text(kind)

    def _trim(self, role: str, *, leads: bool, ends: bool) -> None:
        """Strip the white space that belongs to markers from `piece`."""
        if leads:
            lead = [f"b = piece.lstrip({literal(BLANK)})", "a += len(piece) - len(b)", "piece = b"]
            self._put(*(["if not after:", *[f"    {line}" for line in lead]] if role == "TEXT" else lead))
        if ends:
            self._put(f"piece = piece.rstrip({literal(BLANK)})")

    # nodes

    def _do_begin(self, arg: str, start: str, end: str, token: str) -> None:
        d = len(self._nodes)
        self._nodes.append(arg)
        self._facts[d] = _Facts(False, True, (self._matches, start))
        self._put(f"start{d} = {start}")
        kinds = set(arg.split())
        variables = ("name",) if kinds == {"call_id"} else () if kinds <= {"think", "code"} else _VARIABLES
        if variables:
            self._put(f"{' = '.join([f'{name}{d}' for name in variables])} = None")

    def _do_reopen(self, arg: str, start: str, end: str, token: str) -> None:
        self._do_begin(arg, "ended", end, token)

    def _do_drop(self, arg: str, start: str, end: str, token: str) -> None:
        self._top()
        self._nodes.pop()
        self._put("after = False")

    def _do_markup(self, arg: str, start: str, end: str, token: str) -> None:
        self._put("after = False")

    def _do_end_code(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"e = {end}")
        self._append_shown("e")
        self._nodes.pop()
        self._put(f"ended = start{d}")

    def _do_end_think(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._nodes.pop()
        self._put(*self._flush, f"safe, after, ended = {end}, False, start{d}")

    def _do_end_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._nodes.pop()
        c, facts = self._top(), self._facts.pop(d, _Facts())
        same = bool(token) and facts.begun == (self._matches, start) and start != end
        self._put(f"id{c} = {token if same else f'text[start{d}:{end}]'}")
        if not facts.unnamed:
            self._put(f"if name{d}:", f"    name{c} = name{d}")

    def _do_end_tool_call(self, arg: str, start: str, end: str, token: str) -> None:
        if self._acts:
            raise UnsupportedError  # the call may be an action
        d = self._top()
        self._nodes.pop()
        self._put(f"if not name{d} or (known is not None and name{d} not in known):", "    return None")
        if self._answers:
            self._put(f"if name{d}.strip().lower() in {written(self._answers)}:", "    return None")
        if not self._facts.pop(d, _Facts()).complete:
            self._put(f"if parts{d}.__class__ is list:", f"    parts{d} = ''.join(parts{d}) + '}}'")
            self._put(f"elif args{d} is None:", f"    args{d}, parts{d} = {{}}, '{{}}'")
        self._put(*self._flush, f"safe = {end}")
        variables = f"'name': name{d}, 'arguments': args{d}, 'arguments_text': parts{d}, 'id': id{d}"
        span = f"(start{d}{self._shift}, safe{self._shift})"
        self._put("made = make(ToolCall)")
        self._put(
            f"set_values(made, {{'kind': 'tool_call', {variables}, 'status': 'ok', 'span': {span}, 'repairs': ()}})"
        )
        self._put("set_given(made, given_call)", "set_extra(made, None)", "set_private(made, None)", "append(made)")
        self._put(f"after, ended = False, start{d}")

    # tokens and fields

    def _do_embedded_string(self, arg: str, start: str, end: str, token: str) -> None:
        if token:
            self._put(f"said = {token}", "last = said[1:-1]")
            self._is_string = True

    def _do_token_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"name{self._top()} = {token or EMPTY}")
        self._note(unnamed=False)

    def _do_token_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {token or EMPTY}")

    def _do_token_call_index(self, arg: str, start: str, end: str, token: str) -> None:
        """The number of a call is a part of its id."""

    def _do_token_arg_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"key{self._top()} = {token or EMPTY}")

    def _do_field_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"name{self._top()} = {self._last_string()}")
        self._note(unnamed=False)

    def _do_field_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {self._last_string()}")

    def _last_string(self) -> str:
        """The value that was read last if it is a string, otherwise None."""
        return "last" if self._is_string else "last if last.__class__ is str else None"

    def _do_field_arguments(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put("if last.__class__ is not dict:", "    return None", f"args{d}, parts{d} = last, said")
        self._note(complete=True)

    def _do_field_argument(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"k = key{d}", "if k is None:", "    return None")
        self._note(complete=False)
        if not self._is_bare:
            self._put(f"if bare{d} is None:", "    value, t = last, said or to_json(last)", "else:")
        self._indent += not self._is_bare
        self._put(f"value = bare{d}", f"types = None if tools is None or name{d} is None else tools.types(name{d}, k)")
        self._put("if types == TEXT_ONLY:", "    t = quoted(value)", "else:")
        self._put(f"    value = read_bare(value, types, {literal(self._values)})")
        self._put("    if types is not None and not fits(value, types):", "        return None")
        self._put("    t = quoted(value) if value.__class__ is str else to_json(value)")
        self._indent -= not self._is_bare
        self._is_bare = False
        self._put(
            f"if args{d} is None:", f"    args{d} = {{k: value}}", f"    parts{d} = [f'{{{{{{quoted(k)}}: {{t}}']"
        )
        self._put(f"elif k in args{d}:", "    return None", "else:", f"    args{d}[k] = value")
        self._put(f"    parts{d}.append(f', {{quoted(k)}}: {{t}}')", f"key{d} = bare{d} = None")
