"""The source of a lane: a Python function that reads sound text of one format, made from the format's automaton.

The function does what the machine and the builder do with a whole text, for what can be said without them: text,
reasoning, code samples and calls that are as they should be. Which frames are open is known when the source is
written, so what they hold are local variables. Whatever is not certain, the function leaves: it returns None, and the
machine reads the text from its start. It returns True or False where the grammar refuses the text, and the number of
the part that is missing where it knows no way on yet.
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
from outspoken.grammar.marker_search import search_by_chars
from outspoken.grammar.matchers import Branch, Matcher, named_operations
from outspoken.grammar.operations import named_operation
from outspoken.notations.interface import notation_of
from outspoken.patterns.analysis import required_chars
from outspoken.patterns.groups import with_groups
from outspoken.semantics.handlers import HANDLERS

from .operations import LaneOperations, Unreadable

#: How deep code is nested at most, in steps of the indentation.
_MAX_INDENT = 40


class State(NamedTuple):
    """Where the function may stand: a configuration, the frames that are open, whether markup stood before.

    With `opening`, a marker that ends free text stands there.
    """

    config: Config
    frames: tuple[str, ...]
    marked: bool
    opening: bool = False


class Way(NamedTuple):
    """A way on from a state: the step that found it, and the group that says which way it is."""

    state: State
    step: str
    group: int


Part = State | Way


class _Ways(NamedTuple):
    """The ways of a step: those that are wanted, and the numbers of those that are missing, both by their groups.

    `expression` is the step's with the groups that are wanted only, and `groups` are the numbers that they have there.
    """

    step: Matcher
    expression: re.Pattern[str]
    groups: dict[int, int]
    wanted: dict[int, Branch]
    missing: dict[int, int]

    def number(self, match: Any) -> int:
        """The number of the way that a match took."""
        return self.missing[self.step.match(match.string, match.start()).lastindex]


def roots_of(automaton: Automaton) -> list[State]:
    """The states in which a lane is entered: at the beginning of a text, and at an opening marker."""
    return [State(automaton.start, (), False), State(automaton.top_level, (), True, True)]


class LaneSource(LaneOperations):
    """Writes the function for the parts that are wanted; `numbers` gets the parts that are missing, too.

    `source` is its text, `names` what it refers to. `roots` are the states in which it may begin. `counts` says how
    often each state is led to, so that what is led to once is written where it is.
    """

    def __init__(
        self,
        automaton: Automaton,
        numbers: dict[Part, int],
        wanted: frozenset[Part],
        roots: list[State],
        counts: Counter[State] | None = None,
    ) -> None:
        header = automaton.tables.header
        super().__init__(header)
        self._automaton, self._numbers, self._wanted = automaton, numbers, wanted
        self._known, self._inline = counts or Counter(), set[State]()
        self._waiting = dict.fromkeys(roots)
        self.counts = Counter(roots)
        self.names: dict[str, Any] = {}
        bodies: dict[int, list[str]] = {}
        while (state := next((s for s in self._waiting if numbers[s] not in bodies), None)) is not None:
            self._lines = bodies[numbers[state]] = []
            self._body(state)
        self._lines = []
        self._write_all(sorted(bodies.items()))
        self.source = "\n".join(self._lines)

    def _write_all(self, bodies: list[tuple[int, list[str]]]) -> None:
        self._put("def lane(text, pos, s, tools, known, depth, once, o, safe, after):")
        self._indent = 1
        self._put("n = len(text)", "segments = []", "append = segments.append", "run = last = said = None")
        self._put("kind = run_start = run_end = ended = 0", "while True:")
        self._block(lambda: self._dispatch(bodies))
        self._put(*self._flush[:2], "return (segments, n, safe, after) if once else segments")

    def _dispatch(self, bodies: list[tuple[int, list[str]]]) -> None:
        """Lead to the code of the state `s`, by halves."""
        if len(bodies) > 1:
            half = len(bodies) // 2
            for line, part in ((f"if s < {bodies[half][0]}:", bodies[:half]), ("else:", bodies[half:])):
                self._put(line)
                self._block(partial(self._dispatch, part))
        else:
            self._put(*bodies[0][1])

    def _name(self, prefix: str, value: Any) -> str:
        """The name under which the function knows a value."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def _number(self, part: Part) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

    # states

    def _body(self, state: State) -> None:
        """All that is read in a state; None is returned where nothing of it can be."""
        self._sure = {}
        try:
            self._state(state)
        except Unreadable:
            self._lines[:], self._indent = ["return None"], 0

    def _state(self, state: State) -> None:
        """What is read in a state."""
        if state not in self._wanted:
            self._put(f"return {self._number(state)}")
            return
        config = state.config
        self._frames = list(state.frames)
        self._is_bare = False
        if state.opening:
            ways = self._ways(matchers.matcher_of(config, "find sound", HANDLERS), state, "opening")
            self._put(f"m = {self._match(ways)}(text, pos)", "if m is None:", "    return None")
            self._paths(ways)
            return
        if config.free is None:
            self._put("if pos == n:")
            self._block(lambda: self._end(config))
            self._marker(state)
            return
        if config.leading_markers:
            ways = self._ways(matchers.matcher_of(config, "leading sound", HANDLERS), state, "ahead")
            self._put(f"m = {self._match(ways)}(text, pos)", "if m is not None:")
            self._block(lambda: self._paths(ways))
        if (
            config.free.terminal.short == "TEXT"
            and not state.frames
            and config.free.target is self._automaton.top_level
        ):
            self._put("if once:")
            self._block(lambda: self._put(*self._flush[:2], "return segments, pos, safe, after"))
        self._free(state, config.free)

    def _end(self, config: Config) -> None:
        """The text ends here."""
        ops = config.end_operations()
        if ops is None:
            raise Unreadable
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    def _goto(self, config: Config) -> None:
        """Go on in the state that is reached."""
        state = State(config, tuple(self._frames), True)
        self.counts[state] += 1
        if self._known[state] == 1 and state not in self._inline and self._indent < _MAX_INDENT:
            self._inline.add(state)
            self._state(state)
            self._inline.discard(state)
            return
        self._waiting[state] = None
        self._put(f"s = {self._number(state)}", "continue")

    def _marker(self, state: State) -> None:
        """A marker or an island that stands here."""
        config = state.config
        if config.markers:
            ways = self._ways(matchers.matcher_of(config, "match sound", HANDLERS), state, "match")
            self._put(f"m = {self._match(ways)}(text, pos)", "if m is not None:")
            self._block(lambda: self._paths(ways))
        if config.embedded:
            self._island(config)
        self._refuse()

    def _refuse(self) -> None:
        """The grammar refuses what stands here. Says whether something was read by then that a stream would tell."""
        calls = [d for d, kinds in enumerate(self._frames) if "tool_call" in kinds.split()]
        told = ["segments", "run is not None", *[f"args{d} is not None or key{d} is not None" for d in calls]]
        self._put(f"return bool({' or '.join(told)})")

    def _ways(self, step: Matcher, state: State, which: str) -> _Ways:
        """The ways of a step that are wanted. Where it stands to be matched, the other ways get no groups."""
        wanted, missing = dict[int, Branch](), dict[int, int]()
        for group, path in step.branches.items():
            way = Way(state, which, group)
            if way in self._wanted:
                wanted[group] = path
            else:
                missing[group] = self._number(way)
        needed = frozenset({*wanted, *[group for path in wanted.values() for _, _, group in path.named_operations]})
        expression, groups = with_groups(step.source, needed)
        return _Ways(step, expression, {0: 0, **groups}, wanted, missing)

    def _match(self, ways: _Ways) -> str:
        """The name of what matches one of the ways."""
        return self._name("match", ways.expression.match)

    def _paths(self, ways: _Ways) -> None:
        """Go the way that a match has found, if it is one that is wanted."""
        self._matches += 1
        self._put("g = m.lastindex")
        for group, path in ways.wanted.items():
            self._put(f"if g == {ways.groups[group]}:")
            self._block(lambda path=path: self._path(path, ways.groups))
        self._put(f"return {self._name('missing', ways.number)}(m)")

    def _path(self, path: Branch, groups: dict[int, int]) -> None:
        self._operate([(name, arg, groups[group]) for name, arg, group in path.named_operations])
        self._put("pos = m.end()")
        self._goto(path.target)

    # free text

    def _free(self, state: State, free: Transition) -> None:
        """Free text up to the marker that ends it, or up to the end."""
        target, role = free.target, free.terminal.short
        step = matchers.matcher_of(target, "find sound", HANDLERS)
        ways = self._ways(step, state, "find")
        solid = set(step.leading[1]) if step.leading is not None else set[str]()
        told = all(solid & required_chars(s.prefilter) for s in target.missing_closers)
        self._find(target, ways, counts=told and target.may_lack_closer is not None)
        self._put("if m is None:")
        self._block(lambda: self._free_to_end(free, role, state.marked))
        if target.may_lack_closer is not None:
            may_lack = self._name("may_lack_closer", target.may_lack_closer)
            self._put(f"if {'odd and ' if told else ''}{may_lack}(text, pos, e) is not None:")
            self._put("    return None")
        self._piece(role, state.marked, "e", ends=False)
        self._operate(named_operations(free), "e", "e")
        self._paths(ways)

    def _find(self, target: Config, ways: _Ways, *, counts: bool) -> None:
        """Search the marker that ends free text, at `e`; with `counts`, `odd` says if anything else began like one."""
        step = ways.step
        if step.leading is None:
            source = f"{step.lookahead}(?:{ways.expression.pattern})"
            find = self._name("find", re.compile(source).search)
            long = self._name("long", _finder(source))
            self._put(f"m = {find}(text, pos) if n - pos <= {LONG} else {long}(text, pos)")
            self._put("if m is not None:", "    e = m.start()")
            return
        blank, solid = step.leading  # written out what `paths.searched` makes
        odd = ["odd = True"] * counts
        first = self._name("first", re.compile(f"[{re.escape(solid)}]").search)
        self._put("e = pos", *["odd = False"] * counts, "while True:")
        self._indent += 1
        if len(solid) == 1:
            self._put(f"e = text.find({solid!r}, e)", "if e < 0:", "    m = None", "    break")
        else:
            self._put(f"if e >= n or text[e] not in {solid!r}:")  # often a marker stands here
            self._put(f"    m = {first}(text, e)", "    if m is None:", "        break", "    e = m.start()")
        if blank:
            find = self._name("find", search_by_chars(ways.expression.match, blank, solid))
            self._put(f"if e > pos and text[e - 1] in {blank!r}:", f"    m = {find}(text, pos)")
            self._put("    if m is not None:", "        e = m.start()", *[f"    {line}" for line in odd], "    break")
        self._put(f"m = {self._match(ways)}(text, e)", "if m is not None:", "    break", "e += 1", *odd)
        self._indent -= 1

    def _free_to_end(self, free: Transition, role: str, marked: bool) -> None:
        """Free text that runs to the end of the text."""
        ops = free.target.end_operations()
        if ops is None:
            raise Unreadable
        if free.target.may_lack_closer is not None:
            self._put(
                f"if {self._name('closer', free.target.may_lack_closer)}(text, pos) is not None:", "    return None"
            )
        self._piece(role, marked, "n", ends=True)
        self._operate(named_operations(free), "n", "n")
        self._operate([named_operation(op, 0, before=True) for op in ops], "n", "n")
        self._put("break")

    def _piece(self, role: str, marked: bool, end: str, *, ends: bool) -> None:
        """Free text from `pos` to `end`, without the white space that is the markup's."""
        if role == "CODE":
            self._put("if once == SEGMENT and not segments:", "    return None", f"if pos < {end}:")
            self._block(lambda: self._show(end))
            return
        if role == "TEXT":
            self._put("safe = pos")
        trims = role in self._automaton.trims
        if role == "ARG_VALUE":
            d = self._top()
            self._put(f"piece = text[pos:{end}]", *["a = pos"] * (trims and marked))
            self._trim(role, leads=trims and marked, ends=trims)
            self._put(f"bare{d} = piece if bare{d} is None else bare{d} + piece")
            self._is_bare = True
            return
        self._put(f"if pos < {end}:")
        self._block(lambda: self._said(role, end, leads=trims and marked, ends=trims and not ends))

    def _said(self, role: str, end: str, *, leads: bool, ends: bool) -> None:
        """Text or reasoning from `pos` to `end`, where there is some."""
        self._put(f"piece = text[pos:{end}]", "a = pos")
        self._trim(role, leads=leads, ends=ends)
        kind = 1 if role == "TEXT" else 2
        if leads or ends:
            self._put("if piece:")
            self._block(lambda: self._say(kind))
        else:
            self._say(kind)

    def _trim(self, role: str, *, leads: bool, ends: bool) -> None:
        """Take the white space off the piece that is the markup's."""
        if leads:
            lead = [f"b = piece.lstrip({BLANK!r})", "a += len(piece) - len(b)", "piece = b"]
            self._put(*(["if not after:", *[f"    {line}" for line in lead]] if role == "TEXT" else lead))
        if ends:
            self._put(f"piece = piece.rstrip({BLANK!r})")

    # islands

    def _island(self, config: Config) -> None:
        """A value in another notation."""
        self._put("c = text[pos]")
        if self._automaton.tables.ignore:
            self._put(f"if c in {BLANK!r}:", "    pos = blanks(text, pos).end()", "    if pos == n:")
            self._put("        return None", "    c = text[pos]")
        for step in config.embedded:
            chars = "".join(sorted([char for char, found in config.json.items() if found is step]))
            if not chars:
                notation = notation_of(step.terminal)
                known = self._name("notation", notation)
                read = f"{known}.read_at(text, pos, depth, True, {self._shape(step) if notation.typed else 'ANY'})"
                self._put(f"if {known}.may_begin(c):")
                self._block(lambda step=step, read=read: self._land(step, read))
                continue
            if step.role == "arguments" and "{" in chars:
                self._put("if c == '{':")
                self._block(lambda step=step: self._land_json(step, "{"))
                chars = chars.replace("{", "")
            if chars:
                self._put(f"if c == {chars!r}:" if len(chars) == 1 else f"if c in {chars!r}:")
                self._block(lambda step=step, chars=chars: self._land_json(step, chars))

    def _shape(self, step: Transition) -> str:
        if not self._frames:
            return "ANY"
        key = "None" if step.role == "arguments" else f"key{self._top()}"
        return f"schema_view_of(tools, name{self._top()}, {key}, {self._values!r})"

    def _land(self, step: Transition, read: str) -> None:
        self._put(f"found = {read}", "if found is None:", "    return None", "last, e, said = found")
        self._land_on(step)

    def _land_json(self, step: Transition, chars: str) -> None:
        """A JSON value: written out what `islands.read_at` does, for values that cannot go on behind their end."""
        if step.role == "arguments" and chars != "{":
            raise Unreadable  # the machine makes arguments of what is no object
        if not set(chars) <= set('{["'):
            self._land(step, "read(text, pos, depth)")
            return
        self._put("try:", "    last, e = scan(text, pos)", "except UNSOUND:", "    return None", "said = text[pos:e]")
        if chars != '"':
            first = {"{": "'[' in said", "[": "'{' in said"}.get(chars, "said.find('{', 1) > 0")
            again = "said.find('{', 1) > 0" if chars == "{" else "said.find('[', 1) > 0"
            self._put(f"if e - pos > depth and ({first} or {again}) and too_deep(said, depth):")
            self._put("    return None")
        self._put("if '\\\\' in said and '\\\\u' in said:", "    last = encodable_value(last)")
        self._land_on(step)

    def _land_on(self, step: Transition) -> None:
        self._operate(named_operations(step), "pos", "e")
        self._put("pos = e")
        self._goto(step.target)


def _finder(source: str) -> Any:
    """What finds in long text, once it is needed."""
    kept: list[Any] = []

    def find(text: str, pos: int) -> Any:
        if not kept:
            import regex

            kept.append(regex.compile(source).search)
        return kept[0](text, pos)

    return find
