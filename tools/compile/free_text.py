"""Writes the code for free text whose end is known: its pieces, and what leaves a value to the parser."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.matchers import named_operations
from outspoken.grammar.value_markup import loose_markup, value_markup
from outspoken.patterns.loose_markup import ValueCheck
from outspoken.patterns.markup_search import MarkupSearch
from outspoken.semantics import unread_markup

from .operations import OperationWriter


@cache
def written_markers(automaton: Automaton) -> tuple[list[str], list[str]]:
    """The markers of a format that text is searched for, as they are written, and the weak ones among them."""
    tables = automaton.tables
    return MarkupSearch(unread_markup.written_markers(tables)).markers, unread_markup.weak_markers(tables)


class FreeTextWriter(OperationWriter):
    """Writes lines of code, among them those for free text. `globals` is the code of what they need."""

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(automaton)
        self.globals: list[str] = []
        self._names: dict[tuple[str, ...], str] = {}
        self._counters: dict[str, int] = {}

    def _global(self, prefix: str, function: str, *texts: Any, own: Sequence[str] = ()) -> str:
        """The name of a global that a function makes of some texts, or tuples of them, behind its `own` arguments.

        A function that is lazy compiles the first text, a pattern, when it is first called, and then replaces itself.
        """
        key = (function, *texts)
        name = self._names.get(key)
        if name is None:
            number = self._counters[prefix] = self._counters.get(prefix, 0) + 1
            name = self._names[key] = f"{prefix}_{number}"
            own = ["globals()", repr(name)] if function.startswith("lazy") else own
            self.globals.append(f"{name} = {function}({', '.join([*own, *map(repr, texts)])})")
        return name

    def _free_end(self, free: Transition, after_marker: bool, lacks: str) -> None:
        """The code for the end of free text at `e`; `lacks` searches for what shows that it ended before."""
        if lacks:
            self._put(f"k = {lacks}", "if k and k.start() < e:", "    return None")
        self._piece(free.terminal.short, after_marker, "e", ends=False)
        self._check_value(free)
        self._operate(named_operations(free), "e", "e")

    def _may_lack_closer(self, config: Config) -> str:
        """The name of a function that searches for what shows that a value lacks its closing marker."""
        prefilters = dict.fromkeys([closer.prefilter for closer in config.missing_closers])
        return self._global("may_lack_closer", "lazy", "|".join(prefilters), "search")

    def _check_value(self, free: Transition) -> None:
        """The code that leaves a bare value that may hold markup to the parser."""
        if free.terminal.short != "ARG_VALUE":
            return
        loose, ending = loose_markup(free.target).data, value_markup(free.target).data
        signs = ValueCheck(*written_markers(self._automaton), loose, ending).signs
        if signs:
            check = self._global("holds_markup", "ValueCheck", loose, ending, signs, own=("MARKERS", "WEAK_MARKERS"))
            bare = f"bare{self._top()}"
            has_case = any(sign.upper() != sign for sign in signs)  # it looks for these in lower case
            holds = "" if has_case else f"({' or '.join([f'{sign!r} in {bare}' for sign in signs])}) and "
            self._put(f"if {holds}{check}({bare}):", "    return None")

    def _piece(self, role: str, after_marker: bool, end: str, *, ends: bool) -> None:
        """The code for free text from `pos` to `end`, without the white space that belongs to markers."""
        if role == "CODE":
            self._put("if once == SEGMENT and not out.segments:", "    return None", f"if pos < {end}:")
            self._put(f"    out.show({end}{self._shift})")
            return
        if role == "TEXT":
            self._put(f"out.consumed = pos{self._shift}")
        trims = role in self._automaton.trims
        if role == "ARG_VALUE":
            self._value(end, leads=trims and after_marker, ends=trims)
            return
        self._put(f"if pos < {end}:")
        add = "text" if role == "TEXT" else "reasoning"
        leads, ends = trims and after_marker, trims and not ends
        if leads or ends:
            self._indent += 1
            self._trim(end, leads=leads, ends=ends, unless="out.after_text" if role == "TEXT" else "")
            self._put("if piece:", f"    out.{add}(piece, {self._offsets('a', 'a + len(piece)')})")
            self._indent -= 1
        else:
            self._put(f"    out.{add}(text[pos:{end}], {self._offsets('pos', end)})")

    def _trim(self, end: str, *, leads: bool, ends: bool, unless: str = "") -> None:
        """The code for the `piece` up to an end without white space round it, and for its start `a`, as of `trimmed`.

        The white space before it is kept if what is said by `unless` is true.
        """
        self._put("a = pos", f"piece = text[pos:{end}]")
        strip = [f"piece = piece.lstrip({BLANK!r})", f"a = {end} - len(piece)"]
        if leads:
            self._put(*([f"if not {unless}:", *[f"    {line}" for line in strip]] if unless else strip))
        if ends:
            self._put(f"piece = piece.rstrip({BLANK!r})")

    def _value(self, end: str, *, leads: bool, ends: bool) -> None:
        """The code for the bare text of an argument."""
        d = self._top()
        if leads or ends or self._answers:
            self._trim(end, leads=leads, ends=ends)
        else:
            self._put(f"piece = text[pos:{end}]")
        if self._answers:
            self._put(f"if bare{d} is not None or name{d} is None:", "    return None")
            self._put(f"span{d} = ({self._offsets('a', 'a + len(piece)')}) if piece else (0, 0)")
        self._put(f"bare{d} = piece if bare{d} is None else bare{d} + piece")
        self._is_bare = True
