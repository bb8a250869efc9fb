"""Writes a fast path: a function that reads sound text of one format, from the format's automaton.

The function does what the parser and the builder do with a complete text, without damage. The writer knows which nodes
are open in each state, so their data are local variables. The function returns None for anything uncertain, and for
what it has no code for; then the parser reads the text from its start. It returns DAMAGED if the text ends too
early, and True or False if the grammar refuses it: a stream has passed on some of it by then, or not. Otherwise it
returns the place up to which it has read.

Local variables of the function: `s` is the state, `pos` the position, `n` the end and `o` the length of the prompt in
the text; `once` tells what is read, and `out` is the output. `m` is the match, `g` its branch, `e` its start; `last` is
the value that was read last and `said` its text.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import CLOSER_OVERLAP, Config, MissingCloser, Transition
from outspoken.grammar.matchers import branch_operations, named_operation, named_operations
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.notations.interface import notation_of
from outspoken.patterns.analysis import required_chars

from .free_text import FreeTextWriter
from .markers import Markers, Part, Shared, State, StateBranch
from .operations import UnsupportedError
from .usual import Way, Ways

#: So many states are the first ones, which are found soonest.
_FIRST = 8


class StateWriter(FreeTextWriter):
    """Writes the function with some `parts`, and with usual ways.

    `lines` is the code of the function, `globals` that of what it needs. `states` are the numbers of the states, in the
    order in which they were found: usual ways are written first, so that their ends have low numbers.

    With `learning`, the function has all states. It calls `learned` with the number of one that is not among the parts,
    and returns a tuple for a branch that it lacks: the index in `missing`.
    """

    def __init__(self, shared: Shared, parts: set[Part], ways: Ways | None = None, *, learning: bool = False) -> None:
        super().__init__(shared.automaton)
        self._shared, self._parts, self._learning, self._ways = shared, parts, learning, ways
        self.states = {state: number for number, state in enumerate(shared.entries)}
        self.missing: list[StateBranch] = []
        bodies: list[list[str]] = []
        while len(bodies) < len(self.states):
            self._lines = []
            bodies.append(self._lines)
            self._body(list(self.states)[len(bodies) - 1])
        self._lines = []
        leading = shared.markers(shared.automaton.start, "leading")
        #: the name of a function that matches the markers that may precede all text
        self.leading = self._match(leading) if leading.steps else "None"
        self._write_all(list(enumerate(bodies)))
        self.lines = self._lines

    def _write_all(self, bodies: list[tuple[int, list[str]]]) -> None:
        self._put("def read_sound(text, pos, s, out, tools, settings, once, o):")
        self._indent = 1
        self._put("n = len(text)", "known = None if tools is None else tools.names", "depth = settings.max_depth")
        self._put("last = said = None", "while True:")
        self._block(lambda: self._dispatch(bodies))

    def _dispatch(self, bodies: list[tuple[int, list[str]]]) -> None:
        """Dispatch to the code of the state `s`, by binary search; first, to the states that were found first."""
        if len(bodies) > 1:
            half = min(_FIRST, len(bodies) // 2) if len(bodies) == len(self.states) else len(bodies) // 2
            for line, part in ((f"if s < {bodies[half][0]}:", bodies[:half]), ("else:", bodies[half:])):
                self._put(line)
                self._block(partial(self._dispatch, part))
        else:
            self._put(*bodies[0][1])

    def _lacks(self, branch: StateBranch) -> str:
        """What the function returns if it lacks a branch, while it learns."""
        self.missing.append(branch)
        return f"({len(self.missing) - 1},)"

    # states

    def _body(self, state: State) -> None:
        """The code of a state; it returns None if the state is not supported."""
        self._facts, self._again = {}, -1
        is_known = state in self._parts
        try:
            if not is_known and not self._learning:
                raise UnsupportedError
            self._state(state)
        except UnsupportedError:
            self._lines[:], self._indent = ["return None"], 0
        if not is_known and self._learning:
            self._lines.insert(0, f"learned({self.states[state]})")

    def _state(self, state: State) -> None:
        """The code of a state."""
        config = state.config
        self._nodes = list(state.nodes)
        self._is_bare = False
        if state.at_marker:
            start = self._automaton.start
            if start.free is not None and start.free.target is config:
                self._usual(start, "pos")
            markers = self._shared.markers(config, "find")
            self._put(f"m = {self._match(markers)}(text, pos)", "if m is None:", "    return None")
            self._take_branch(state, "find", markers)
            return
        if config.free is None:
            found = next((step for step in config.embedded if "{" in JSON_FIRST.get(step.terminal.short, ())), None)
            if found is not None and found.role == "arguments" and all(step.inserted for step in config.markers):
                self._again = self.states[state]
                self._put("while True:")
                self._block(partial(self._bound, state, found))
            else:
                self._bound(state)
            return
        if any(not step.inserted for step in config.leading_markers):
            markers = self._shared.markers(config, "leading")
            firsts = [step.terminal.first for step in config.leading_markers if not step.inserted]
            chars = "".join(sorted({*(BLANK if self._automaton.tables.ignore else ""), *itertools.chain(*firsts)}))
            may_match = f" if text[pos : pos + 1] in {chars!r} else None" if all(firsts) else ""
            self._put(f"m = {self._match(markers)}(text, pos){may_match}", "if m is not None:")
            self._block(lambda: self._take_branch(state, "leading", markers))
        is_top_level = config.free.target is self._automaton.top_level
        if config.free.terminal.short == "TEXT" and is_top_level and not state.nodes:
            self._put("if once:")
            self._put("    out.flush()", "    return pos")
        self._free(state, config.free)

    def _end(self, config: Config) -> None:
        """The code at the end of the text."""
        ops = config.end_operations()
        if ops is None:
            self._put("return DAMAGED")
            return
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("out.flush()", "return n")

    def _goto(self, config: Config) -> None:
        """Continue in a configuration. A state that is a loop continues with itself at once."""
        number = self.states.setdefault(State(config, tuple(self._nodes), True), len(self.states))
        if number != self._again:
            self._put(f"s = {number}")
        self._put("continue" if self._again in (-1, number) else "break")

    def _usual(self, config: Config, at: str, unless: str = "", write_before: Callable[[], None] | None = None) -> None:
        """The code for the usual ways from a configuration on, each of which does what the states on it do in a row.

        If one segment is read, only those within it are taken. `write_before` writes what they have in common.
        """
        ways = self._ways.of(config) if self._ways is not None else []
        if not ways:
            return
        within = [way.is_within(self._automaton.top_level) for way in ways]
        match = self._usual_match(ways, at)
        some = self._usual_match([way if is_some else way.never for way, is_some in zip(ways, within, strict=True)], at)
        match = match if all(within) else f"{some if any(within) else None} if once else {match}"
        self._put(f"m = None if {unless} else {match}" if unless else f"m = {match}", "if m is not None:")
        self._block(partial(self._usual_ways, ways, write_before))

    def _usual_match(self, ways: list[Way], at: str) -> str:
        """The match of one of some ways."""
        match = self._global("usual", "lazy", "|".join([way.source + way.tail for way in ways]))
        return f"{match}(text, {at})"

    def _usual_ways(self, ways: list[Way], write_before: Callable[[], None] | None) -> None:
        if write_before is not None:
            write_before()
        self._put("g = m.lastindex")
        last = 0
        for way in ways:
            self._put(f"if g == {last + len(way.groups)}:")
            self._block(partial(self._way, way, last))
            last += len(way.groups)

    def _way(self, way: Way, last: int) -> None:
        """The code for a way, whose groups follow the `last` one of others."""
        groups = {id(step): number for number, step in enumerate(way.groups, last + 1)}
        for number, step in enumerate(way.steps):
            group = groups.get(id(step), 0)
            if step.free is not None:
                role, ends = step.free.terminal.short, named_operations(step.free)
                if number:
                    self._put(f"pos = m.end({group - 1})")
                if ends or role not in self._automaton.trims:
                    self._put(f"e = m.start({group})")
                if role not in self._automaton.trims:
                    self._piece(role, number > 0, "e", ends=False)
                elif role == "TEXT":
                    self._put(f"out.consumed = pos{self._shift}")
                self._operate(ends, "e", "e")
            self._operate([(name, arg, group) for name, arg, _ in step.operations])
        self._put("pos = m.end()")
        if not way.ends_text:
            self._goto(way.end)
        elif way.end.free is None:
            self._end(way.end)
        else:
            self._put(f"out.consumed = pos{self._shift}")
            self._operate(named_operations(way.end.free), "n", "n")
            self._end(way.end.free.target)

    def _bound(self, state: State, step: Transition | None = None) -> None:
        """The code for a marker or an embedded value; of `step`, an object is tried at once."""
        config = state.config
        if step is not None:
            self._object(step)
        self._put("if pos == n:")
        self._block(lambda: self._end(config))
        if any(not step.inserted for step in config.markers):
            markers = self._shared.markers(config, "match")
            self._put(f"m = {self._match(markers)}(text, pos)", "if m is not None:")
            self._block(lambda: self._take_branch(state, "match", markers))
        if config.embedded:
            self._embedded(config, tried="" if step is None else "{")
        self._refuse()

    def _refuse(self) -> None:
        """The grammar refuses the text: return whether a stream has passed on anything by then."""
        for d, kinds in enumerate(self._nodes):
            if "tool_call" in kinds.split():
                self._put(f"if args{d} is not None or key{d} is not None:", "    return True")
        self._put("return bool(out.segments or out.run_model)")

    def _match(self, markers: Markers) -> str:
        """The name of the function that matches markers."""
        return self._global("match", "lazy", markers.source)

    def _take_branch(self, state: State, kind: str, markers: Markers) -> None:
        """The code behind a match, by its branch."""
        parts = {group: StateBranch(state, kind, group) for group in range(1, len(markers.steps) + 1)}
        self._put("g = m.lastindex")
        for group in [group for group, part in parts.items() if part in self._parts]:
            self._put(f"if g == {group}:")
            self._block(partial(self._branch, markers.steps[group - 1], group))
        if self._learning:
            missing = [f"{group}: {self._lacks(part)}" for group, part in parts.items() if part not in self._parts]
            self._put(f"return {{{', '.join(missing)}}}[g]")
        else:
            self._put("return None")

    def _branch(self, step: Transition, group: int) -> None:
        self._operate(branch_operations(step, group))
        self._put("pos = m.end()")
        self._goto(step.target)

    # free text

    def _free(self, state: State, free: Transition) -> None:
        """The code for free text up to the marker that ends it, or to the end."""
        target, role = free.target, free.terminal.short
        markers, closers = self._shared.markers(target, "find"), _missing_closers(free)
        if not markers.steps:
            self._free_to_end(free, role, state.after_marker)
            return
        lacks = f"{self._may_lack_closer(target)}(text, pos, e + {CLOSER_OVERLAP})" if closers else ""
        write_end = partial(self._free_end, free, state.after_marker)
        has_ways = self._ways is not None and bool(self._ways.of(state.config))
        if has_ways and markers.chars is not None:
            # If the first stop is a character of every missing closer, and ends the text, none is lacking.
            implied = all(not required_chars(closer.prefilter).isdisjoint(markers.chars[1]) for closer in closers)
            self._first_stop(*markers.chars)
            self._usual(state.config, "e", "e < 0", partial(write_end, "" if implied else lacks))
            if implied and lacks:
                self._put("stop = e")
                lacks = f"e != stop and {lacks}"
        if markers.chars is None:
            source = f"{markers.lookahead}(?:{markers.source})"
            find = self._global("find", "lazy", source, "search", *filter(None, [markers.signs]))
        else:
            find = self._global("find", "lazy", markers.source, "match", *markers.chars)
        self._put(f"m = {find}(text, pos)", "if m is None:")
        self._block(lambda: self._free_to_end(free, role, state.after_marker))
        self._put("e = m.start()")
        if has_ways and markers.chars is None:
            self._put("found = m")
            self._usual(state.config, "e", "", partial(write_end, lacks))
            self._put("m = found")
        write_end(lacks)
        self._take_branch(state, "find", markers)

    def _first_stop(self, spaces: str, chars: str) -> None:
        """The search for the place `e` where a marker may first begin behind free text; -1 for none."""
        self._put(f"e = text.find({chars[0]!r}, pos)")
        for char in chars[1:]:
            self._put(f"k = text.find({char!r}, pos, e if e >= 0 else n)", "if k >= 0:", "    e = k")
        if spaces:
            self._put(f"while e > pos and text[e - 1] in {self._global('spaces', '', spaces)}:", "    e -= 1")

    def _free_to_end(self, free: Transition, role: str, after_marker: bool) -> None:
        """The code for free text that runs to the end of the text."""
        if free.target.end_operations() is None:
            self._put("return DAMAGED")
            return
        if _missing_closers(free):
            self._put(f"if {self._may_lack_closer(free.target)}(text, pos) is not None:", "    return None")
        self._piece(role, after_marker, "n", ends=True)
        self._check_value(free)
        self._operate(named_operations(free), "n", "n")
        self._end(free.target)

    # embedded values

    def _object(self, step: Transition) -> None:
        """The code for an object that begins right here. One that is nested too deeply is longer than twice that."""
        self._put("try:", "    last, e = scan(text, pos)", "except UNSOUND:", "    last = None")
        self._put("if last.__class__ is dict:", "    said = text[pos:e]")
        self._put(r'    if "\\" in said or (e - pos > 2 * depth and ("[" in said or said.rfind("{") > 0)):')
        self._put("        try:", "            last = checked(last, said, depth)")
        self._put("        except UNSOUND:", "            return None")
        self._block(partial(self._shift_value, step))

    def _embedded(self, config: Config, tried: str) -> None:
        """The code for an embedded value. One that begins with the character that was `tried` is not sound."""
        self._put("c = text[pos]")
        if self._automaton.tables.ignore:
            self._put(f"if c in {BLANK!r}:", "    pos = blanks(text, pos).end()")
            more = ["if pos == n:", "    return None", "c = text[pos]"] if not tried else ["continue"]
            self._put(*[f"    {line}" for line in more])
        if tried:
            self._put(f"if c == {tried!r}:", "    return None")
        firsts = {char: step for step in config.embedded[::-1] for char in JSON_FIRST.get(step.terminal.short, ())}
        for step in config.embedded:
            chars = "".join(sorted([char for char, found in firsts.items() if found is step and char != tried]))
            if chars:
                self._put(f"if c {'==' if len(chars) == 1 else 'in'} {chars!r}:")
                self._block(partial(self._scan, step, "read_at(text, pos, depth)"))
            elif step not in firsts.values():
                known = self._global("notation", "notation", step.terminal.short, step.terminal.canonical)
                view = self._schema_view(step) if notation_of(step.terminal).typed_by_schema else "ANY"
                read = f"{known}.read_at(text, pos, depth, True, {view})"
                self._put(f"if {known}.may_begin(c):")
                self._block(partial(self._scan, step, read))

    def _schema_view(self, step: Transition) -> str:
        if not self._nodes:
            return "ANY"
        key = "None" if step.role == "arguments" else f"key{self._top()}"
        return f'schema_view_of(tools, name{self._top()}, {key}, "{self._values}")'

    def _scan(self, step: Transition, read: str) -> None:
        self._put(f"found = {read}", "if found is None:", "    return None", "last, e, said = found")
        self._shift_value(step)

    def _shift_value(self, step: Transition) -> None:
        self._operate(named_operations(step), "pos", "e")
        self._put("pos = e")
        self._usual(step.target, "pos")
        self._goto(step.target)


def _missing_closers(free: Transition) -> tuple[MissingCloser, ...]:
    """The patterns that show that free text lacks its closing marker. The parser looks for them in values only."""
    return free.target.missing_closers if free.terminal.short == "ARG_VALUE" else ()
