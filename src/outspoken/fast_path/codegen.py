"""Generates the source of a fast path: a function that reads sound text of one format, from the format's automaton.

The function does what the parser and the builder do with a complete text, for text, reasoning, code samples and calls
without damage. The generator knows which nodes are open in each state, so their data are local variables. The function
returns None for anything uncertain; then the parser reads the text from its start. It returns True or False if the
grammar refuses the text, and the number of a part if it lacks that part.

Local variables of the function: `s` is the state, `pos` the position, `n` the end and `o` the length of the prompt in
the text; `once` tells what is read. `m` is the match, `g` its branch, `e` its start. `run` is the text or reasoning
(by `kind`) that was read, from `run_start` to `run_end`; `last` is the value that was read last and `said` its text;
`safe` and `after` are as in `Entry`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any, NamedTuple

from outspoken.engine.batched_matching import LONG
from outspoken.engine.text_buffer import BLANK
from outspoken.grammar import matchers
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.marker_search import Find, search_by_chars
from outspoken.grammar.matchers import Branch, Matcher, named_operation, named_operations
from outspoken.notations.interface import notation_of
from outspoken.patterns.analysis import required_chars
from outspoken.patterns.syntax import with_groups
from outspoken.semantics.handlers import HANDLERS

from .codegen_operations import OperationWriter, UnsupportedError

#: How deep code is nested at most, in steps of the indentation.
_MAX_INDENT = 40


class State(NamedTuple):
    """A state of the function: a configuration, the open nodes, and whether a marker was read before.

    With `at_marker`, a marker that ends free text stands at the position.
    """

    config: Config
    nodes: tuple[str, ...]
    after_marker: bool
    at_marker: bool = False


class StateBranch(NamedTuple):
    """A branch from a state: the kind of matcher that takes it, and the group of the branch."""

    state: State
    matcher: str
    group: int


Part = State | StateBranch


class _Branches(NamedTuple):
    """The branches of a matcher: those to generate, and the numbers of those that are left out, by their groups.

    `expression` is the matcher's with fewer groups; `groups` maps the groups of the matcher to those that are left.
    """

    matcher: Matcher
    expression: re.Pattern[str]
    groups: dict[int, int]
    generated: dict[int, Branch]
    missing: dict[int, int]

    def number(self, match: re.Match[str]) -> int:
        """The number of the missing branch that a match took."""
        return self.missing[self.matcher.match(match.string, match.start()).lastindex]


def entry_states(automaton: Automaton) -> list[State]:
    """The states in which a function may start: at the beginning of a text, and at an opening marker."""
    return [State(automaton.start, (), False), State(automaton.top_level, (), True, True)]


class SourceWriter(OperationWriter):
    """Writes the function with some `parts`; `numbers` is extended by those that are missing.

    `source` is the text of the function, `names` the globals that it needs. `entries` are the states in which it may
    start. `counts` says how many branches lead to each state; a state with one is written in place.
    """

    def __init__(
        self,
        automaton: Automaton,
        numbers: dict[Part, int],
        parts: frozenset[Part],
        entries: list[State],
        counts: Counter[State] | None = None,
    ) -> None:
        super().__init__(automaton)
        self._numbers, self._parts = numbers, parts
        self._counts, self._inline = counts or Counter(), set[State]()
        self._waiting = dict.fromkeys(entries)
        self.counts = Counter(entries)
        self.names: dict[str, Any] = {}
        bodies: dict[int, list[str]] = {}
        while (state := next((s for s in self._waiting if numbers[s] not in bodies), None)) is not None:
            self._lines = bodies[numbers[state]] = []
            self._body(state)
        self._lines = []
        self._write_all(sorted(bodies.items()))
        self.source = "\n".join(self._lines)

    def _write_all(self, bodies: list[tuple[int, list[str]]]) -> None:
        self._put("def read_sound(text, pos, s, tools, known, depth, once, o, safe, after):")
        self._indent = 1
        self._put("n = len(text)", "segments = []", "append = segments.append", "run = last = said = None")
        self._put("kind = run_start = run_end = ended = 0", "while True:")
        self._block(lambda: self._dispatch(bodies))
        self._put(*self._flush[:2], "return (segments, n, safe, after) if once else segments")

    def _dispatch(self, bodies: list[tuple[int, list[str]]]) -> None:
        """Dispatch to the code of the state `s`, by binary search."""
        if len(bodies) > 1:
            half = len(bodies) // 2
            for line, part in ((f"if s < {bodies[half][0]}:", bodies[:half]), ("else:", bodies[half:])):
                self._put(line)
                self._block(partial(self._dispatch, part))
        else:
            self._put(*bodies[0][1])

    def _name(self, prefix: str, value: Any) -> str:
        """Make a value a global of the function, and return its name."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def _number(self, part: Part) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

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
            self._put(f"return {self._number(state)}")
            return
        config = state.config
        self._nodes = list(state.nodes)
        self._is_bare = False
        if state.at_marker:
            branches = self._branches_of(matchers.matcher_of(config, "find sound", HANDLERS), state, "opening")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is None:", "    return None")
            self._take_branch(branches)
            return
        if config.free is None:
            self._put("if pos == n:")
            self._block(lambda: self._end(config))
            self._marker(state)
            return
        if config.leading_markers:
            branches = self._branches_of(matchers.matcher_of(config, "leading sound", HANDLERS), state, "ahead")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is not None:")
            self._block(lambda: self._take_branch(branches))
        is_top_level = config.free.target is self._automaton.top_level
        if config.free.terminal.short == "TEXT" and is_top_level and not state.nodes:
            self._put("if once:")
            self._block(lambda: self._put(*self._flush[:2], "return segments, pos, safe, after"))
        self._free(state, config.free)

    def _end(self, config: Config) -> None:
        """The code at the end of the text."""
        ops = config.end_operations()
        if ops is None:
            raise UnsupportedError
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    def _goto(self, config: Config) -> None:
        """Continue in a configuration: with its code in place, or by a jump."""
        state = State(config, tuple(self._nodes), True)
        self.counts[state] += 1
        if self._counts[state] == 1 and state not in self._inline and self._indent < _MAX_INDENT:
            self._inline.add(state)
            self._state(state)
            self._inline.discard(state)
            return
        self._waiting[state] = None
        self._put(f"s = {self._number(state)}", "continue")

    def _marker(self, state: State) -> None:
        """The code for a marker or an embedded value."""
        config = state.config
        if config.markers:
            branches = self._branches_of(matchers.matcher_of(config, "match sound", HANDLERS), state, "match")
            self._put(f"m = {self._match(branches)}(text, pos)", "if m is not None:")
            self._block(lambda: self._take_branch(branches))
        if config.embedded:
            self._embedded(config)
        self._refuse()

    def _refuse(self) -> None:
        """The grammar refuses the text: return whether a stream has passed on anything by then."""
        calls = [d for d, kinds in enumerate(self._nodes) if "tool_call" in kinds.split()]
        passed_on = ["segments", "run is not None", *[f"args{d} is not None or key{d} is not None" for d in calls]]
        self._put(f"return bool({' or '.join(passed_on)})")

    def _branches_of(self, matcher: Matcher, state: State, kind: str) -> _Branches:
        """The branches of a matcher; its expression keeps only the groups of those that are generated."""
        generated, missing = dict[int, Branch](), dict[int, int]()
        for group, branch in matcher.branches.items():
            part = StateBranch(state, kind, group)
            if part in self._parts:
                generated[group] = branch
            else:
                missing[group] = self._number(part)
        tokens = [group for branch in generated.values() for _, _, group in branch.named_operations]
        expression, groups = with_groups(matcher.source, frozenset({*generated, *tokens}))
        return _Branches(matcher, expression, {0: 0, **groups}, generated, missing)

    def _match(self, branches: _Branches) -> str:
        """The name of the function that matches the branches."""
        return self._name("match", branches.expression.match)

    def _take_branch(self, branches: _Branches) -> None:
        """The code behind a match, by its branch."""
        self._matches += 1
        self._put("g = m.lastindex")
        for group, branch in branches.generated.items():
            self._put(f"if g == {branches.groups[group]}:")
            self._block(partial(self._branch, branch, branches.groups))
        self._put(f"return {self._name('missing', branches.number)}(m)")

    def _branch(self, branch: Branch, groups: dict[int, int]) -> None:
        self._operate([(name, arg, groups[group]) for name, arg, group in branch.named_operations])
        self._put("pos = m.end()")
        self._goto(branch.target)

    # free text

    def _free(self, state: State, free: Transition) -> None:
        """The code for free text up to the marker that ends it, or to the end."""
        target, role = free.target, free.terminal.short
        step = matchers.matcher_of(target, "find sound", HANDLERS)
        branches = self._branches_of(step, state, "find")
        searched = set(step.leading[1]) if step.leading is not None else set[str]()
        # If the search stops at a character of every missing closer, only text with other stops may lack one.
        implied = all(searched & required_chars(closer.prefilter) for closer in target.missing_closers)
        self._find(branches, notes_stops=implied and target.may_lack_closer is not None)
        self._put("if m is None:")
        self._block(lambda: self._free_to_end(free, role, state.after_marker))
        if target.may_lack_closer is not None:
            may_lack = self._name("may_lack_closer", target.may_lack_closer)
            self._put(f"if {'stopped and ' if implied else ''}{may_lack}(text, pos, e) is not None:")
            self._put("    return None")
        self._piece(role, state.after_marker, "e", ends=False)
        self._operate(named_operations(free), "e", "e")
        self._take_branch(branches)

    def _find(self, branches: _Branches, *, notes_stops: bool) -> None:
        """The search for the marker `m` that ends free text, at `e`.

        With `notes_stops`, `stopped` tells whether the search stopped at a character without a marker.
        """
        step = branches.matcher
        if step.leading is None:
            source = f"{step.lookahead}(?:{branches.expression.pattern})"
            find = self._name("find", re.compile(source).search)
            long = self._name("long", _finder(source))
            self._put(f"m = {find}(text, pos) if n - pos <= {LONG} else {long}(text, pos)")
            self._put("if m is not None:", "    e = m.start()")
            return
        spaces, chars = step.leading  # what follows does inline what `search_by_chars` does
        stopped = ["stopped = True"] * notes_stops
        first = self._name("first", re.compile(f"[{re.escape(chars)}]").search)
        self._put("e = pos", *["stopped = False"] * notes_stops, "while True:")
        self._indent += 1
        if len(chars) == 1:
            self._put(f"e = text.find({chars!r}, e)", "if e < 0:", "    m = None", "    break")
        else:
            self._put(f"if e >= n or text[e] not in {chars!r}:")  # a marker often stands right here
            self._put(f"    m = {first}(text, e)", "    if m is None:", "        break", "    e = m.start()")
        if spaces:
            find = self._name("find", search_by_chars(branches.expression.match, spaces, chars))
            self._put(f"if e > pos and text[e - 1] in {spaces!r}:", f"    m = {find}(text, pos)")
            self._put(
                "    if m is not None:", "        e = m.start()", *[f"    {line}" for line in stopped], "    break"
            )
        self._put(f"m = {self._match(branches)}(text, e)", "if m is not None:", "    break", "e += 1", *stopped)
        self._indent -= 1

    def _free_to_end(self, free: Transition, role: str, after_marker: bool) -> None:
        """The code for free text that runs to the end of the text."""
        ops = free.target.end_operations()
        if ops is None:
            raise UnsupportedError
        if free.target.may_lack_closer is not None:
            may_lack = self._name("may_lack_closer", free.target.may_lack_closer)
            self._put(f"if {may_lack}(text, pos) is not None:", "    return None")
        self._piece(role, after_marker, "n", ends=True)
        self._operate(named_operations(free), "n", "n")
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    # embedded values

    def _embedded(self, config: Config) -> None:
        """The code for an embedded value."""
        self._put("c = text[pos]")
        if self._automaton.tables.ignore:
            self._put(f"if c in {BLANK!r}:", "    pos = blanks(text, pos).end()", "    if pos == n:")
            self._put("        return None", "    c = text[pos]")
        for step in config.embedded:
            chars = "".join(sorted([char for char, found in config.json.items() if found is step]))
            if not chars:
                notation = notation_of(step.terminal)
                known = self._name("notation", notation)
                view = self._schema_view(step) if notation.typed_by_schema else "ANY"
                read = f"{known}.read_at(text, pos, depth, True, {view})"
                self._put(f"if {known}.may_begin(c):")
                self._block(lambda step=step, read=read: self._scan(step, read))
                continue
            if step.role == "arguments" and "{" in chars:
                self._put("if c == '{':")
                self._block(lambda step=step: self._json(step, "{"))
                chars = chars.replace("{", "")
            if chars:
                self._put(f"if c == {chars!r}:" if len(chars) == 1 else f"if c in {chars!r}:")
                self._block(lambda step=step, chars=chars: self._json(step, chars))

    def _schema_view(self, step: Transition) -> str:
        if not self._nodes:
            return "ANY"
        key = "None" if step.role == "arguments" else f"key{self._top()}"
        return f"schema_view_of(tools, name{self._top()}, {key}, {self._values!r})"

    def _scan(self, step: Transition, read: str) -> None:
        self._put(f"found = {read}", "if found is None:", "    return None", "last, e, said = found")
        self._shift_value(step)

    def _json(self, step: Transition, chars: str) -> None:
        """A JSON value that cannot continue behind its end; does inline what `read_at` does."""
        if step.role == "arguments" and chars != "{":
            raise UnsupportedError  # the parser makes arguments from other values
        if not set(chars) <= set('{["'):
            self._scan(step, "read(text, pos, depth)")
            return
        self._put("try:", "    last, e = scan(text, pos)", "except UNSOUND:", "    return None", "said = text[pos:e]")
        if chars != '"':
            first = {"{": "'[' in said", "[": "'{' in said"}.get(chars, "said.find('{', 1) > 0")
            again = "said.find('{', 1) > 0" if chars == "{" else "said.find('[', 1) > 0"
            self._put(f"if e - pos > depth and ({first} or {again}) and too_deep(said, depth):")
            self._put("    return None")
        self._put("if '\\\\' in said and '\\\\u' in said:", "    last = encodable_value(last)")
        self._shift_value(step)

    def _shift_value(self, step: Transition) -> None:
        self._operate(named_operations(step), "pos", "e")
        self._put("pos = e")
        self._goto(step.target)


def _finder(source: str) -> Find:
    """A search of `regex` for long text, compiled when it is first used."""
    compiled: list[Find] = []

    def find(text: str, pos: int) -> Any:
        if not compiled:
            import regex

            compiled.append(regex.compile(source).search)
        return compiled[0](text, pos)

    return find
