"""What the operations of a step are in the source of a lane: lines of Python over local variables."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.grammar.header import Header
from outspoken.grammar.operations import NamedOperation

#: What one call, block of reasoning or code sample holds is named for its depth: `start0`, `name0`, and so on.
_HELD = ("name", "id", "args", "parts", "key", "bare")


class Unreadable(Exception):
    """A lane cannot read this; the machine can."""


class _Sure(NamedTuple):
    """What is certain of a frame: it has its arguments, it has no name; the match and the place where it began."""

    complete: bool = False
    unnamed: bool = False
    begun: tuple[int, str] | None = None


class LaneOperations:
    """Writes lines, and the operations among them; see `builder` for what each means.

    An operation is written from its argument, the expressions for where its token begins and ends, and the one for the
    token itself, "" where no expression has matched it.
    """

    def __init__(self, header: Header) -> None:
        self._values, self._trims_text = header.values, "text" in header.trim
        self._acts = bool(header.actions)
        self._answers = tuple([name.lower() for name in header.answer])
        #: what the offset of the response in the text is taken off with, which is 0 where its prompt opens nothing
        self._shift = " - o" if header.opened else ""
        self._segment = f"append(segment(kind, run, run_start{self._shift}, run_end{self._shift}))"
        self._flush = ("if run is not None:", f"    {self._segment}", "    run = None")
        self._lines: list[str] = []
        self._indent = 0
        #: the last value is known to be a string
        self._quoted = False
        #: bare text of an argument was read just now
        self._is_bare = False
        #: the frames that are open: what each may become
        self._frames: list[str] = []
        #: what is certain of a frame where the source stands
        self._sure: dict[int, _Sure] = {}
        #: how many matches the source has so far
        self._matches = 0

    def _put(self, *lines: str) -> None:
        self._lines += [f"{'    ' * self._indent}{line}" for line in lines]

    def _block(self, write: Any) -> None:
        """Lines that belong to the last one. What cannot be read returns None."""
        self._indent += 1
        at, frames, is_bare, sure = len(self._lines), self._frames[:], self._is_bare, self._sure.copy()
        try:
            write()
        except Unreadable:
            del self._lines[at:]
            self._put("return None")
        self._frames, self._is_bare, self._sure = frames, is_bare, sure
        self._indent -= 1

    def _top(self) -> int:
        if not self._frames:
            raise Unreadable
        return len(self._frames) - 1

    def _tell(self, **known: bool) -> None:
        """Something is certain of the frame, or no longer."""
        d = self._top()
        self._sure[d] = self._sure.get(d, _Sure())._replace(**known)

    def _operate(self, ops: list[NamedOperation] | tuple[NamedOperation, ...], start: str = "", end: str = "") -> None:
        """Carry out operations on groups of the match `m`, or on the place between `start` and `end`."""
        self._quoted = False
        for name, arg, group in ops:
            at = f"({group})" if group else "()"
            first, last = (start, end) if start else (f"m.start{at}", f"m.end{at}")
            if name.startswith("before_"):
                name, last = name.removeprefix("before_"), first
            write = getattr(self, f"_do_{name.lower()}", None)
            if write is None:
                raise Unreadable
            write(arg, first, last, "" if start else f"m[{group}]")

    # text

    def _say(self, kind: int) -> None:
        """The text `piece`, which stands at `a`, is said (1) or thought (2)."""
        near = " and a == run_end" if kind == 1 else ""
        self._put("if run is None:", f"    run, kind, run_start = piece, {kind}, a")
        self._put(f"elif kind == {kind}{near}:", "    run += piece")
        self._put("else:", f"    {self._segment}")
        self._put(f"    run, kind, run_start = piece, {kind}, a")
        self._put("run_end = safe = a + len(piece)")
        if kind == 1:
            self._put("after = True")

    def _show(self, end: str) -> None:
        """Everything from `safe` to `end` is text."""
        self._put(f"if safe < {end}:")
        self._indent += 1
        self._put(f"piece = text[safe:{end}]", "a = safe")
        if self._trims_text:
            self._put("if not after:", "    b = piece.lstrip()", "    a += len(piece) - len(b)", "    piece = b")
        self._put("if piece:")
        self._block(lambda: self._say(1))
        self._indent -= 1

    # frames

    def _do_begin(self, arg: str, start: str, end: str, token: str) -> None:
        d = len(self._frames)
        self._frames.append(arg)
        self._sure[d] = _Sure(False, True, (self._matches, start))
        self._put(f"start{d} = {start}")
        kinds = set(arg.split())
        held = ("name",) if kinds == {"call_id"} else () if kinds <= {"think", "code"} else _HELD
        if held:
            self._put(f"{' = '.join([f'{name}{d}' for name in held])} = None")

    def _do_reopen(self, arg: str, start: str, end: str, token: str) -> None:
        self._do_begin(arg, "ended", end, token)

    def _do_drop(self, arg: str, start: str, end: str, token: str) -> None:
        self._top()
        self._frames.pop()
        self._put("after = False")

    def _do_markup(self, arg: str, start: str, end: str, token: str) -> None:
        self._put("after = False")

    def _do_end_code(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"e = {end}")
        self._show("e")
        self._frames.pop()
        self._put(f"ended = start{d}")

    def _do_end_think(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._frames.pop()
        self._put(*self._flush, f"safe, after, ended = {end}, False, start{d}")

    def _do_end_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._frames.pop()
        c, sure = self._top(), self._sure.pop(d, _Sure())
        same = bool(token) and sure.begun == (self._matches, start) and start != end
        self._put(f"id{c} = {token if same else f'text[start{d}:{end}]'}")
        if not sure.unnamed:
            self._put(f"if name{d}:", f"    name{c} = name{d}")

    def _do_end_tool_call(self, arg: str, start: str, end: str, token: str) -> None:
        if self._acts:
            raise Unreadable  # the call may be an action
        d = self._top()
        self._frames.pop()
        self._put(f"if not name{d} or (known is not None and name{d} not in known):", "    return None")
        if self._answers:
            self._put(f"if name{d}.strip().lower() in {self._answers!r}:", "    return None")
        if not self._sure.pop(d, _Sure()).complete:
            self._put(f"if parts{d}.__class__ is list:", f"    parts{d} = ''.join(parts{d}) + '}}'")
            self._put(f"elif args{d} is None:", f"    args{d}, parts{d} = {{}}, '{{}}'")
        self._put(*self._flush, f"safe = {end}")
        held = f"'name': name{d}, 'arguments': args{d}, 'arguments_text': parts{d}, 'id': id{d}"
        span = f"(start{d}{self._shift}, safe{self._shift})"
        self._put("made = make(ToolCall)")
        self._put(f"set_values(made, {{'kind': 'tool_call', {held}, 'status': 'ok', 'span': {span}, 'repairs': ()}})")
        self._put("set_given(made, given)", "set_extra(made, None)", "set_private(made, None)", "append(made)")
        self._put(f"after, ended = False, start{d}")

    # tokens and fields

    def _do_embedded_string(self, arg: str, start: str, end: str, token: str) -> None:
        if token:
            self._put(f"said = {token}", "last = said[1:-1]")
            self._quoted = True

    def _do_token_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"name{self._top()} = {token or repr('')}")
        self._tell(unnamed=False)

    def _do_token_call_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {token or repr('')}")

    def _do_token_call_index(self, arg: str, start: str, end: str, token: str) -> None:
        """The number of a call is part of its id."""

    def _do_token_arg_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"key{self._top()} = {token or repr('')}")

    def _do_field_tool_name(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"name{self._top()} = {self._last_string()}")
        self._tell(unnamed=False)

    def _do_field_id(self, arg: str, start: str, end: str, token: str) -> None:
        self._put(f"id{self._top()} = {self._last_string()}")

    def _last_string(self) -> str:
        """The value that was read last, if it is a string."""
        return "last" if self._quoted else "last if last.__class__ is str else None"

    def _do_field_arguments(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put("if last.__class__ is not dict:", "    return None", f"args{d}, parts{d} = last, said")
        self._tell(complete=True)

    def _do_field_argument(self, arg: str, start: str, end: str, token: str) -> None:
        d = self._top()
        self._put(f"k = key{d}", "if k is None:", "    return None")
        self._tell(complete=False)
        if not self._is_bare:
            self._put(f"if bare{d} is None:", "    value, t = last, said or to_json(last)", "else:")
        self._indent += not self._is_bare
        self._put(f"value = bare{d}", f"types = None if tools is None or name{d} is None else tools.types(name{d}, k)")
        self._put("if types == TEXT_ONLY:", "    t = quoted(value)", "else:")
        self._put(f"    value = read_bare(value, types, {self._values!r})")
        self._put("    if types is not None and not fits(value, types):", "        return None")
        self._put("    t = quoted(value) if value.__class__ is str else to_json(value)")
        self._indent -= not self._is_bare
        self._is_bare = False
        self._put(
            f"if args{d} is None:", f"    args{d} = {{k: value}}", f"    parts{d} = [f'{{{{{{quoted(k)}}: {{t}}']"
        )
        self._put(f"elif k in args{d}:", "    return None", "else:", f"    args{d}[k] = value")
        self._put(f"    parts{d}.append(f', {{quoted(k)}}: {{t}}')", f"key{d} = bare{d} = None")
