"""Writes a fast path: a function that reads sound text of one format, from the format's automaton.

The function does what the parser and the builder do with a complete text, without damage. The writer knows which nodes
are open in each state, so their data are local variables. The function returns None for anything uncertain, and for
what it has no code for; then the parser reads the text from its start. It returns True or False if the grammar refuses
the text: a stream has passed on some of it by then, or not. Otherwise it returns the place up to which it has read.

Local variables of the function: `s` is the state, `pos` the position, `n` the end and `o` the length of the prompt in
the text; `once` tells what is read, and `out` is the output. `m` is the match, `g` its branch, `e` its start; `last` is
the value that was read last and `said` its text. `rare` counts places without a usual way: behind two, none is tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import CLOSER_OVERLAP, Config, MissingCloser, Transition
from outspoken.grammar.matchers import named_operation, named_operations
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.notations.interface import notation_of
from outspoken.patterns.analysis import required_chars

from .free_text import FreeTextWriter
from .markers import Branch, Expression, Markers, Path
from .operations import UnsupportedError
from .parts import Part, Shared, State, StateBranch, literal, spelling
from .usual import Way, Ways

#: How deep code is nested at most, in steps of the indentation.
_MAX_INDENT = 9


class _Branches(NamedTuple):
    """The markers that are looked for in a state: their expression, and the branches that have code."""

    markers: Markers
    expression: Expression
    generated: dict[Path, Branch]
    missing: dict[int, StateBranch]


class StateWriter(FreeTextWriter):
    """Writes the function with some `parts`.

    `lines` is the code of the function, `globals` that of what it needs. `states` are the numbers of the
    states. `counts` says how many branches lead to each state; a state with one is written in place.

    With `learning`, the function returns a tuple for what it lacks: the index in `missing`.
    """

    def __init__(
        self,
        shared: Shared,
        parts: set[Part],
        counts: Counter[State] | None = None,
        *,
        learning: bool = False,
        ways: Ways | None = None,
        usual: Sequence[State] = (),
    ) -> None:
        super().__init__(shared.automaton)
        self._shared, self._parts, self._learning, self._ways = shared, parts, learning, ways
        self._expressions = {} if learning else shared.expressions(parts)
        self._counts, self._inline = counts or Counter(), set[State]()
        self.states: dict[State, int] = {}
        self.counts = Counter(shared.entries)
        self.missing: list[Part] = []
        self._behind: dict[State, str] = {}
        for state in [*shared.entries, *usual]:
            self._number(state)
        #: the states in which usual ways end, behind those where the function starts
        self.usual = dict.fromkeys(self.states)
        bodies: list[list[str]] = []
        while len(bodies) < len(self.states):
            self._lines = []
            bodies.append(self._lines)
            self._body(list(self.states)[len(bodies) - 1])
        self._lines = []
        self._write_all(list(enumerate(bodies)))
        self.lines = self._lines

    def _write_all(self, bodies: list[tuple[int, list[str]]]) -> None:
        self._put("def read_sound(text, pos, s, out, tools, settings, once, o):")
        self._indent = 1
        self._put("n = len(text)", "known = None if tools is None else tools.names", "depth = settings.max_depth")
        self._put("last = said = None", *["rare = 2 if once else 0"] * (self._ways is not None), "while True:")
        self._block(lambda: self._dispatch(bodies))
        self._put("out.flush()", "return n")

    def _dispatch(self, bodies: list[tuple[int, list[str]]]) -> None:
        """Dispatch to the code of the state `s`, by binary search; first, to the usual states."""
        if len(bodies) > 1:
            half = len(self.usual) if len(bodies) == len(self.states) > len(self.usual) > 0 else len(bodies) // 2
            for line, part in ((f"if s < {bodies[half][0]}:", bodies[:half]), ("else:", bodies[half:])):
                self._put(line)
                self._block(partial(self._dispatch, part))
        else:
            self._put(*bodies[0][1])

    def global_of_leading(self, config: Config) -> str:
        """The name of a function that matches the markers that may precede all text."""
        return self._global("leading", "lazy", self._shared.markers(config, "leading").cut(frozenset()).source)

    def _number(self, state: State) -> int:
        return self.states.setdefault(state, len(self.states))

    def _lacks(self, part: Part) -> str:
        """What the function returns if it lacks a part."""
        if not self._learning:
            return "None"
        self.missing.append(part)
        return f"({len(self.missing) - 1},)"

    # states

    def _body(self, state: State) -> None:
        """The code of a state; it returns None if the state is not supported."""
        self._facts = {}
        try:
            self._state(state)
        except UnsupportedError:
            self._lines[:], self._indent = ["return None"], 0

    def _state(self, state: State) -> None:
        """The code of a state."""
        if state not in self._parts:
            self._put(f"return {self._lacks(state)}")
            return
        config = state.config
        self._nodes = list(state.nodes)
        self._is_bare = False
        self._put(*self._comment(state))
        if state.at_marker:
            branches = self._branches_of(config, state, "find")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is None:", "    return None")
            self._take_branch(branches)
            return
        if config.free is None:
            self._put("if pos == n:")
            self._block(lambda: self._end(config))
            self._marker(state)
            return
        if not state.nodes and config is self._automaton.start:
            self._usual(config, "pos")
        if any(not step.inserted for step in config.leading_markers):
            branches = self._branches_of(config, state, "leading")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is not None:")
            self._block(lambda: self._take_branch(branches))
        is_top_level = config.free.target is self._automaton.top_level
        if config.free.terminal.short == "TEXT" and is_top_level and not state.nodes:
            self._put("if once:")
            self._put("    out.flush()", "    return pos")
        self._free(state, config.free)

    def _comment(self, state: State) -> list[str]:
        """What a state is, and what is expected there."""
        config = state.config
        place = self._behind.get(state, "")
        if state in self.states:
            start = ("at the start", "at an opening marker")
            number = self.states[state]
            place = f"state {number}: {place or (start[number] if number < len(start) else '')}".rstrip(": ")
        within = f" in {' in '.join([kinds.replace(' ', '|') for kinds in reversed(state.nodes)])}" * bool(state.nodes)
        free = [config.free.terminal.short] if config.free and not state.at_marker else []
        steps = config.leading_markers if free else [*config.markers, *config.embedded]
        expected = [*free, *[spelling(step.terminal) for step in steps if not step.inserted]]
        shown = ", ".join(expected[:4]) + ", …" * (len(expected) > 4)
        return [f"# {place}{within}; expected: {shown}"]

    def _end(self, config: Config) -> None:
        """The code at the end of the text."""
        ops = config.end_operations()
        if ops is None:
            raise UnsupportedError
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    def _goto(self, config: Config, behind: str) -> None:
        """Continue in a configuration: with its code in place, or by a jump."""
        state = State(config, tuple(self._nodes), True)
        self.counts[state] += 1
        self._behind.setdefault(state, f"after {behind}")
        if self._counts[state] == 1 and state not in self._inline and self._indent < _MAX_INDENT:
            self._inline.add(state)
            self._state(state)
            self._inline.discard(state)
            return
        self._put(f"s = {self._number(state)}", "continue")

    def _usual(
        self, config: Config, at: str, *, unless: str = "rare > 1", write_before: Callable[[], None] | None = None
    ) -> None:
        """The code for the usual ways from a configuration on, each of which does what the states on it do in a row.

        `write_before` writes what they have in common.
        """
        ways = self._ways.of(config) if self._ways is not None else []
        if not ways:
            return
        match = self._global("usual", "lazy", "|".join([way.source for way in ways]))
        self._put(f"m = None if {unless} else {match}(text, {at})", "if m is not None:")
        self._indent += 1
        if write_before is not None:
            write_before()
        self._put("g = m.lastindex")
        last = 0
        for way in ways:
            self._put(f"if g == {last + way.groups}:")
            self._block(partial(self._way, way, last))
            last += way.groups
        self._indent -= 1
        self._put("rare += 1")

    def _way(self, way: Way, last: int) -> None:
        """The code for a way, whose groups follow the `last` one of others."""
        for number, leg in enumerate(way.legs):
            self._matches += 1
            if leg.free is not None:
                if number:
                    self._put(f"pos = m.end({last + 1 - len(way.legs[number - 1].tokens)})")
                self._put(f"e = m.start({last + 1})")
                if leg.holds_text:
                    self._piece(leg.free.terminal.short, number > 0, "e", ends=False)
                elif leg.free.terminal.short == "TEXT":
                    self._put(f"out.consumed = pos{self._shift}")
                self._operate(named_operations(leg.free), "e", "e")
            self._operate([(name, arg, last + leg.tokens[group]) for name, arg, group in leg.branch.named_operations])
            last += len(leg.tokens)
        self._put("pos = m.end()")
        if not way.ends_text:
            self.usual[State(way.end, tuple(self._nodes), True)] = None
            self._goto(way.end, "a usual way")
        elif way.end.free is None:
            self._end(way.end)
        else:
            self._put(f"out.consumed = pos{self._shift}")
            self._operate(named_operations(way.end.free), "n", "n")
            self._end(way.end.free.target)

    def _marker(self, state: State) -> None:
        """The code for a marker or an embedded value."""
        config = state.config
        if any(not step.inserted for step in config.markers):
            branches = self._branches_of(config, state, "match")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is not None:")
            self._block(lambda: self._take_branch(branches))
        if config.embedded:
            self._embedded(config)
        self._refuse()

    def _refuse(self) -> None:
        """The grammar refuses the text: return whether a stream has passed on anything by then."""
        for d, kinds in enumerate(self._nodes):
            if "tool_call" in kinds.split():
                self._put(f"if args{d} is not None or key{d} is not None:", "    return True")
        self._put("return bool(out.segments or out.run_model)")

    def _branches_of(self, config: Config, state: State, kind: str) -> _Branches:
        """The branches of markers; the expression has no others."""
        markers = self._shared.markers(config, kind)
        generated, missing = dict[Path, Branch](), dict[int, StateBranch]()
        for group, path in markers.paths.items():
            part = StateBranch(state, kind, path)
            if part in self._parts:
                generated[path] = markers.branches[path]
            else:
                missing[group] = part
        if self._learning:
            expression = markers.whole()
        else:
            expression = self._expressions.get(markers.source) or markers.cut(frozenset())
        return _Branches(markers, expression, generated, missing)

    def _match(self, branches: _Branches) -> str:
        """The name of the function that matches the branches."""
        return self._global("match", "lazy", branches.expression.source)

    def _take_branch(self, branches: _Branches) -> None:
        """The code behind a match, by its branch."""
        self._matches += 1
        expression = branches.expression
        if branches.generated:
            self._put("g = m.lastindex")
        for path, branch in branches.generated.items():
            self._put(f"if g == {expression.groups[path]}:")
            self._block(partial(self._branch, branch, expression.tokens, spelling(branches.markers.terminals[path])))
        if self._learning:
            numbers = {group: self._lacks(part) for group, part in branches.missing.items()}
            missing = ", ".join([f"{group}: {number}" for group, number in numbers.items()])
            self._put(f"return {{{missing}}}[m.lastindex]")
        else:
            self._put("return None")

    def _branch(self, branch: Branch, tokens: dict[int, int], behind: str) -> None:
        self._operate([(name, arg, tokens[group]) for name, arg, group in branch.named_operations])
        self._put("pos = m.end()")
        self._goto(branch.target, behind)

    # free text

    def _free(self, state: State, free: Transition) -> None:
        """The code for free text up to the marker that ends it, or to the end."""
        target, role = free.target, free.terminal.short
        branches = self._branches_of(target, state, "find")
        if not branches.markers.trees:
            self._free_to_end(free, role, state.after_marker)
            return
        chars = branches.markers.chars
        searched = set(chars[1]) if chars is not None else set[str]()
        # If the search stops at a character of every missing closer, only text with other stops may lack one.
        closers = _missing_closers(free)
        implied = all(searched & required_chars(closer.prefilter) for closer in closers)
        lacks = f"{self._may_lack_closer(target)}(text, pos, e + {CLOSER_OVERLAP})" if closers else ""
        if chars is not None and len(searched) == 1 and role == "ARG_VALUE":
            self._put(f"e = text.find({literal(chars[1])}, pos)")
            if chars[0]:
                self._put(f"while e > pos and text[e - 1] in {literal(chars[0])}:", "    e -= 1")
            write_end = partial(self._free_end, free, state.after_marker, "" if implied else lacks)
            self._usual(state.config, "e", unless="rare > 1 or e < 0", write_before=write_end)
        self._find(branches, notes_stops=implied and bool(closers))
        self._put("if m is None:")
        self._block(lambda: self._free_to_end(free, role, state.after_marker))
        self._free_end(free, state.after_marker, f"stopped and {lacks}" if implied and closers else lacks)
        self._take_branch(branches)

    def _find(self, branches: _Branches, *, notes_stops: bool) -> None:
        """The search for the marker `m` that ends free text, at `e`.

        With `notes_stops`, `stopped` tells whether the search stopped at a character without a marker.
        """
        markers, pattern = branches.markers, branches.expression.source
        if markers.chars is None:
            source = f"{markers.lookahead}(?:{pattern})"
            self._put(f"m = {self._global('find', 'lazy', source, 'search')}(text, pos)")
            self._put("if m is not None:", "    e = m.start()")
            return
        spaces, chars = markers.chars  # what follows does inline what `search_by_chars` does
        match, stopped = self._match(branches), ["stopped = True"] * notes_stops
        self._put("e = pos", *["stopped = False"] * notes_stops, "while True:")
        self._indent += 1
        if len(chars) == 1:
            self._put(f"e = text.find({literal(chars)}, e)", "if e < 0:", "    m = None", "    break")
        else:
            first = self._global("first", "lazy", f"[{re.escape(chars)}]", "search")
            held = " or ".join([f"text.find({literal(char)}, e) >= 0" for char in chars])  # much text holds none
            self._put(f"if e >= n or text[e] not in {literal(chars)}:")  # a marker often stands right here
            self._put(f"    m = {first}(text, e) if {held} else None")
            self._put("    if m is None:", "        break", "    e = m.start()")
        if spaces:
            before = self._global("spaces", "", spaces)
            self._put(f"if e > pos and text[e - 1] in {before}:", "    k = e - 1")
            self._put(f"    while k > pos and text[k - 1] in {before}:", "        k -= 1")
            self._put(f"    while k < e and (m := {match}(text, k)) is None:", "        k += 1")
            self._put("    if k < e:", "        e = k", "        break")
        self._put(f"m = {match}(text, e)", "if m is not None:", "    break", "e += 1", *stopped)
        self._indent -= 1

    def _free_to_end(self, free: Transition, role: str, after_marker: bool) -> None:
        """The code for free text that runs to the end of the text."""
        ops = free.target.end_operations()
        if ops is None:
            raise UnsupportedError
        if _missing_closers(free):
            self._put(f"if {self._may_lack_closer(free.target)}(text, pos) is not None:", "    return None")
        self._piece(role, after_marker, "n", ends=True)
        self._check_value(free)
        self._operate(named_operations(free), "n", "n")
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    # embedded values

    def _embedded(self, config: Config) -> None:
        """The code for an embedded value."""
        self._put("c = text[pos]")
        if self._automaton.tables.ignore:
            self._put(f"if c in {literal(BLANK)}:", "    pos = blanks(text, pos).end()", "    if pos == n:")
            self._put("        return None", "    c = text[pos]")
        firsts = {char: step for step in config.embedded[::-1] for char in JSON_FIRST.get(step.terminal.short, ())}
        for step in config.embedded:
            chars = "".join(sorted([char for char, found in firsts.items() if found is step]))
            if not chars:
                known = self._global("notation", "notation", step.terminal.short, step.terminal.canonical)
                view = self._schema_view(step) if notation_of(step.terminal).typed_by_schema else "ANY"
                read = f"{known}.read_at(text, pos, depth, True, {view})"
                self._put(f"if {known}.may_begin(c):")
                self._block(lambda step=step, read=read: self._scan(step, read))
                continue
            if step.role == "arguments" and "{" in chars:
                self._put('if c == "{":')
                self._block(lambda step=step: self._json(step, "{"))
                chars = chars.replace("{", "")
            if chars:
                self._put(f"if c {'==' if len(chars) == 1 else 'in'} {literal(chars)}:")
                self._block(lambda step=step, chars=chars: self._json(step, chars))

    def _schema_view(self, step: Transition) -> str:
        if not self._nodes:
            return "ANY"
        key = "None" if step.role == "arguments" else f"key{self._top()}"
        return f'schema_view_of(tools, name{self._top()}, {key}, "{self._values}")'

    def _scan(self, step: Transition, read: str, *, is_usual: bool = True) -> None:
        self._put(f"found = {read}", "if found is None:", "    return None", "last, e, said = found")
        self._shift_value(step, is_usual=is_usual)

    def _json(self, step: Transition, chars: str) -> None:
        """A JSON value that cannot continue behind its end; does inline what `read_at` does."""
        if not set(chars) <= set('{["'):
            self._scan(step, "read_at(text, pos, depth)", is_usual=step.role != "arguments")
            return
        self._put("try:", "    last, e = scan(text, pos)", "    said = text[pos:e]")
        self._put(r'    if e - pos > depth or "\\" in said:', "        last = checked(last, said, depth)")
        self._put("except UNSOUND:", "    return None")
        self._shift_value(step)

    def _shift_value(self, step: Transition, *, is_usual: bool = True) -> None:
        self._operate(named_operations(step), "pos", "e")
        self._put("pos = e")
        if is_usual:
            self._usual(step.target, "pos")
        self._goto(step.target, spelling(step.terminal))


def _missing_closers(free: Transition) -> tuple[MissingCloser, ...]:
    """The patterns that show that free text lacks its closing marker. The parser looks for them in values only."""
    return free.target.missing_closers if free.terminal.short == "ARG_VALUE" else ()
