"""Recovery: how a damaged segment was most likely meant.

The strict automaton is read with damage allowed: a marker may be missing, damaged, stray or plain text, something else
may stand where only markers may, and a JSON value may need repair. Each has a cost, and the cheapest way through the
automaton wins. It is a shortest path (Dijkstra) over the places in the text and the configurations, the same parse that
an error-correcting Earley parser would give over the same tokens (Aho and Peterson 1972).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from . import islands
from .automaton import Automaton, Config, Transition
from .coarse import Token, coarse, is_closed, matcher, tokens
from .json_codes import Cap, Edit, Effort, Mended
from .json_mend import mend
from .lenient import takes_break
from .settings import Settings
from .tools import Tools
from .vocabulary import JSON_FIRST

BLANK = " \t\r\n\f"

#: What damage costs: a marker that is missing, damaged, stray, part of free text, plain text, or less than an opener and
#: plain text; something else where only markers may stand, the same where it is open whether there is a call at all, and
#: each further word of it; and that a marker is not the one that the grammar would take first.
MISSING, DAMAGED, STRAY, SWALLOWED, PLAIN, UNMARKED, JUNK, UNSURE, WORD, OTHER = 3, 2, 4, 4, 9, 5, 5, 11, 3, 2
#: What it costs that a call is written as only the rules for damage allow it.
WIDENED = 2
#: What it costs to take JSON for cut, where nothing proves that it ended.
CUT = 5
#: What a repaired JSON value costs, by the rung that read it, and what it costs more where it could be read two ways.
RUNGS = {"exact": 0, "notation": 1, "structure": 2, "strings": 4, "heuristic": 8}
AMBIGUOUS = 3
#: A way that costs more than this is no reading.
LIMIT = 36

_MAX_TOKENS = 400
_MAX_NODES = 6000
_MAX_ENDS = 6
_MAX_READ = 4
_FAR = 20_000


class Taken(NamedTuple):
    """One step of a way: what was read from `start` to `end`, and what had to be changed for it.

    `step` is None where something was dropped. `value` and `value_text` are set for an island.
    """

    step: Transition | None
    start: int
    end: int
    text: str = ""
    value: Any = None
    value_text: str = ""
    edits: tuple[Edit, ...] = ()
    free: bool = False
    ambiguous: str = ""


@dataclass(frozen=True)
class Way:
    """The cheapest way through a segment; `cut` says that the text ends inside it."""

    steps: tuple[Taken, ...]
    config: Config
    cost: int
    cut: bool = False


@dataclass
class Region:
    """A damaged segment: the text from `base` on, read from a configuration.

    `closed` says that something behind it proves that it ended; `announced` that a call in it was announced already,
    so that it cannot be text.
    """

    automaton: Automaton
    outer: Config
    text: str
    base: int
    closed: bool
    announced: bool
    cap: Cap
    tools: Tools | None
    settings: Settings
    effort: Effort
    #: how many places and configurations may be looked at; counted down
    nodes: int
    tokens: list[Token] = field(default_factory=list[Token])


class _Edge(NamedTuple):
    """Something that can be read at a place: its cost, where it ends, the configuration there, and its steps."""

    cost: int
    end: int
    target: Config
    taken: tuple[Taken, ...]


class _Node(NamedTuple):
    """How a place was reached: the last step and the node before it.

    `name` is the tool that is being called, `bare` says that a marker that opens calls was missing.
    """

    taken: tuple[Taken, ...]
    before: _Node | None
    name: str
    bare: bool


def recover(region: Region) -> Way | None:
    """The cheapest way through a region; None where there is none, or none that is cheap enough."""
    way = _cheapest(region)
    broken = region.automaton.broken
    if broken is None or region.outer is not region.automaton.home or region.announced or region.cap == "notation":
        return way
    other = replace(region, automaton=broken, outer=broken.home)
    widened = _cheapest(other)
    region.nodes = other.nodes
    if widened is None or not widened.config.automaton.home.stack == widened.config.stack:
        return way
    if way is not None and way.cost <= widened.cost + WIDENED:
        return way
    return Way(_foreign(widened.steps, region), region.automaton.home, widened.cost + WIDENED, widened.cut)


def _cheapest(region: Region) -> Way | None:
    found = tokens(region.automaton, region.text, _MAX_TOKENS)
    if found is None:
        return None
    region.tokens = found
    return _Search(region).run()


def _foreign(steps: tuple[Taken, ...], region: Region) -> tuple[Taken, ...]:
    """Record that each call of a way is written as the format does not write it."""
    found: list[Taken] = []
    for taken in steps:
        if taken.step is not None and any(op == "begin" and "tool_call" in kind for op, kind in taken.step.after):
            text = region.text[taken.start - region.base : taken.end - region.base]
            edit = Edit(taken.start, taken.end, text, "foreign-notation", "markup")
            taken = taken._replace(edits=(edit, *taken.edits))
        found.append(taken)
    return tuple(found)


class _Search:
    def __init__(self, region: Region) -> None:
        self._region = region
        self._text = region.text
        self._end = len(region.text)
        self._tokens = region.tokens
        self._starts = {token.start: token for token in region.tokens}
        self._json = coarse(region.automaton).has_json
        self._markup = region.cap not in ("none", "notation")
        home = region.automaton.home
        self._home = home
        self._openers = [t for t in (home.free.target if home.free else home).markers if not t.supplied]
        self._mended: dict[tuple[int, int, str], list[Mended]] = {}

    def run(self) -> Way | None:
        """Dijkstra's algorithm; ties go to what was found first.

        A state is a place, a configuration, and whether free text may still begin there.
        """
        tie = count()
        region = self._region
        queue: list[tuple[int, int, int, Config, bool, _Node]] = []
        heapq.heappush(queue, (0, next(tie), 0, self._region.outer, True, _Node((), None, "", False)))
        seen: set[tuple[int, Config, bool]] = set()
        while queue and len(seen) < _MAX_NODES and region.nodes > 0:
            region.nodes -= 1
            cost, _, pos, config, fresh, node = heapq.heappop(queue)
            if (pos, config, fresh) in seen:
                continue
            seen.add((pos, config, fresh))
            if not self._text[pos:].strip(BLANK):
                if is_closed(config) or not (region.closed or node.bare):
                    return Way(_steps(node, self._text, region.base), config, cost, not is_closed(config))
            for edge in self._edges(pos, config, fresh, node):
                total, free = cost + edge.cost, edge.taken[-1].free
                if total <= LIMIT and (edge.end, edge.target, not free) not in seen:
                    bare = node.bare or any(t.step is not None and t.step.supplied for t in edge.taken)
                    entry = _Node(edge.taken, node, _name(edge.taken, node.name), bare)
                    heapq.heappush(queue, (total, next(tie), edge.end, edge.target, not free, entry))
        return None

    def _edges(self, pos: int, config: Config, fresh: bool, node: _Node) -> list[_Edge]:
        """What can be read at a place."""
        free = config.free if fresh else None
        found = self._free(pos, config, free) if free is not None else []
        at = pos
        if self._region.automaton.tables.ignore:
            while at < self._end and self._text[at] in BLANK:
                at += 1
        first = 0
        for step in config.markers if free is None else config.ahead:
            if self._json and step.terminal.canonical.strip() in ("{", "["):
                continue  # it is read with all that it holds
            taken = self._take(step, pos) or (self._take(step, at) if at > pos else None)
            if taken is not None:
                found.append(taken._replace(cost=taken.cost + first))
                first = OTHER
            elif self._markup and free is None and self._may_supply(step, at, node.bare):
                edit = self._edit(pos, pos, step.terminal.canonical, "missing-marker")
                found.append(_Edge(MISSING, pos, step.target, (Taken(step, pos, pos, edits=(edit,)),)))
        if at < self._end and free is None:
            found += self._islands(at, config)
            found += self._json_regions(at, config, node.name) if self._json else []
            found += self._junk(at, config) if at or not self._region.announced else []
        return found

    # markers

    def _take(self, step: Transition, pos: int) -> _Edge | None:
        """A marker that stands here, sound or nearly so."""
        known, text = matcher(step), self._text
        match = known.regex.match(text, pos)
        if match is not None and (match.end() > pos):
            price, edits = 0, ()
            if step.supplied:
                price = MISSING
                edits = (self._edit(pos, pos, step.supplied, "missing-marker"),)
            return _Edge(price, match.end(), step.target, (Taken(step, pos, match.end(), match[0], edits=edits),))
        if step.supplied or not known.written or not self._markup:
            return None
        if text.startswith(known.written, pos):
            end = pos + len(known.written)
            return _Edge(0, end, step.target, (Taken(step, pos, end, known.written),))
        for damaged in known.damaged:
            if text.startswith(damaged, pos):
                end = pos + len(damaged)
                edit = self._edit(pos, end, step.terminal.canonical, "damaged-marker")
                return _Edge(DAMAGED, end, step.target, (Taken(step, pos, end, known.written, edits=(edit,)),))
        return None

    def _may_supply(self, step: Transition, at: int, bare: bool) -> bool:
        """May this marker be missing here? At an open end only the one whose opening marker was missing, too."""
        written = step.terminal.canonical.strip()
        if not written or step.supplied or not step.terminal.short.startswith("_"):
            return False
        if at == self._end and not self._region.closed and not (bare and is_closed(step.target)):
            return False
        if self._json and len(written) == 1 and written in "{}[],:":
            return False
        if not self._is_edge(at, step.target):
            return False
        value = step.target.free is not None and step.target.free.terminal.short == "ARG_VALUE"
        if value and (at == self._end or at in self._starts):
            return False  # there is no value
        begun = [set(arg.split()) for op, arg in step.after if op == "begin"]
        return not any(kinds <= {"think", "code"} for kinds in begun)

    def _is_edge(self, at: int, target: Config) -> bool:
        """Is this a place where a marker may be missing: where another one stands, a value begins, or a line?"""
        if at == self._end or at in self._starts or (self._json and self._text[at] in "{["):
            return True
        if target.free is not None:
            return target.free.terminal.short == "ARG_VALUE" or (
                self._region.announced and "\n" in self._text[at - 1 : at]
            )
        return any(matcher(t).regex.match(self._text, at) for t in target.markers if not t.supplied)

    def _junk(self, at: int, config: Config) -> list[_Edge]:
        """Drop what stands where only markers may: a stray marker, or text up to the next marker."""
        if not self._markup:
            return []
        if not self._region.closed and config.free is None:
            rest = self._text[at:]
            if any(t.terminal.canonical.strip().startswith(rest) for t in config.markers):
                return [_Edge(0, self._end, config, (Taken(None, at, self._end),))]  # the text ends inside a marker
        token = self._starts.get(at)
        if token is not None:
            if config.free is None and any(matcher(t).regex.match(self._text, at) for t in config.markers):
                return []  # it has a place here
            edit = self._edit(token.start, token.end, "", "stray-marker")
            if config.free is not None and not self._is_doubled(token):
                return []
            return [_Edge(STRAY, token.end, config, (Taken(None, token.start, token.end, edits=(edit,)),))]
        if config.free is not None:
            return []
        ends = [next((t.start for t in self._tokens if t.start > at), self._end)]
        if self._json and any(_opens_json(t) for t in (*config.markers, *config.islands)):
            opener = min((i for c in "{[" if (i := self._text.find(c, at + 1)) > 0), default=-1)
            if 0 < opener < ends[0]:
                ends.append(opener)
        found: list[_Edge] = []
        for end in ends:
            dropped = self._text[at:end].rstrip(BLANK)
            if dropped:
                stop = at + len(dropped)
                edit = self._edit(at, stop, "", "stray-text")
                price = (JUNK if self._region.announced else UNSURE) + WORD * (len(dropped.split()) - 1)
                found.append(_Edge(price, stop, config, (Taken(None, at, stop, edits=(edit,)),)))
        return found

    def _is_doubled(self, token: Token) -> bool:
        """Is this marker all that there is before the next one?"""
        text = self._text
        return self._region.closed and not (text[: token.start] + text[token.end :]).strip(BLANK)

    # free text

    def _free(self, pos: int, config: Config, free: Transition) -> list[_Edge]:
        """Free text up to a marker. Markers that it runs over cost something."""
        found: list[_Edge] = []
        outside = free.target is self._home or config is self._region.outer
        if pos == 0 and self._region.announced and outside:
            return [_Edge(0, 0, free.target, (Taken(free, 0, 0, free=True),))]
        price = 0
        text = free.terminal.short == "TEXT"
        for token in self._tokens:
            if token.start < pos:
                continue
            found.append(_Edge(price, token.start, free.target, (Taken(free, pos, token.start, free=True),)))
            price += self._plain_price(token) if text else SWALLOWED
            if price > LIMIT:
                return found
        found.append(_Edge(price, self._end, free.target, (Taken(free, pos, self._end, free=True),)))
        if text and pos not in self._starts:
            found.append(_Edge(0, pos, free.target, (Taken(free, pos, pos, free=True),)))
        return found

    def _plain_price(self, token: Token) -> int:
        """What it costs that a marker is plain text: an opening marker says more than others."""
        for step in self._openers:
            if matcher(step).regex.match(self._text, token.start):
                return PLAIN
        return UNMARKED

    # islands and JSON

    def _islands(self, at: int, config: Config) -> list[_Edge]:
        """Values in another notation: sound ones, and Python literals that need repair."""
        found: list[_Edge] = []
        for step in config.islands:
            notation = islands.NOTATIONS[step.terminal.short]
            if not notation.may_begin(self._text[at]):
                continue
            sound = notation.read_at(self._text, at, self._region.settings.max_depth, True)
            if sound is not None:
                value, end, text = sound
                found.append(_Edge(0, end, step.target, (Taken(step, at, end, "", value, text),)))
            if step.terminal.short in JSON_FIRST:
                continue
            if sound is not None and self._is_followed(sound[1], step.target):
                continue
            read = 0
            for end in self._literal_ends(at, step.target):
                v = self._literal(at, end)
                if v is not None and read < _MAX_READ:
                    read += 1
                    taken = Taken(step, at, end, "", v.value[0], v.text[1:-1], v.edits, ambiguous=v.runner_up or "")
                    found.append(_Edge(_price(v), end, step.target, (taken,)))
        return found

    def _is_followed(self, pos: int, config: Config) -> bool:
        """Does a marker stand here that may follow?"""
        pos += len(self._text[pos : pos + 40]) - len(self._text[pos : pos + 40].lstrip(BLANK))
        return any(matcher(t).regex.match(self._text, pos) for t in config.markers)

    def _literal(self, start: int, end: int) -> Mended | None:
        """A damaged literal, read as the only item of a list, so that its own end is known."""
        found = mend(
            f"[{self._text[start:end]}]",
            0,
            end - start + 2,
            closed=True,
            cap=self._region.cap,
            settings=self._region.settings,
            effort=self._region.effort,
        )
        if len(found) != 1 or not found[0].complete or _dropped(found[0]):
            return None
        v = found[0]
        if not isinstance(v.value, list) or len(v.value) != 1 or v.text[:1] != "[" or v.text[-1:] != "]":  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
            return None
        return v._replace(edits=tuple([e._replace(start=e.start + start - 1, end=e.end + start - 1) for e in v.edits]))

    def _literal_ends(self, at: int, target: Config) -> list[int]:
        """Where a damaged literal may end: before the markers that may follow it."""
        ends: list[int] = []
        closers = [t.terminal.canonical.strip() or t.terminal.regex[0] for t in target.markers]
        for closer in sorted(set(closers)):
            end = self._text.find(closer, at + 1)
            while end > 0 and len(ends) < 40:
                ends.append(end)
                end = self._text.find(closer, end + 1)
        ends = sorted(set(ends))
        return ends[:_MAX_ENDS] + ends[_MAX_ENDS:][-_MAX_ENDS:]

    def _json_regions(self, at: int, config: Config, name: str) -> list[_Edge]:
        """JSON that needs repair, as an island or with keys that the grammar knows."""
        found: list[_Edge] = []
        if self._region.cap == "none" or not any(_opens_json(t) for t in (*config.markers, *config.islands)):
            return found
        if at in self._starts and self._text[at] not in "{[":
            return found
        ends = [t.start for t in self._tokens if t.start > at and self._ends_json(t)]
        ends = [*ends[: _MAX_ENDS - 1], *ends[_MAX_ENDS - 1 :][-2:], self._end]
        if self._end - at > _FAR:
            ends = [*ends[:1], *ends[-2:]]
        balanced = islands.balanced(self._text, at, self._end)
        if balanced > 0:
            ends.insert(0, balanced)
        if not self._region.closed:
            found.append(self._cut(at, config, name))
        for end in dict.fromkeys(ends):
            values = self._mend(at, end, name)
            if not values or not values[0].complete:
                continue
            way = self._walk(config, values[0])
            if way is None:
                continue
            v, price = values[0], _price(values[0])
            for dropped in _dropped(v):
                price += JUNK + WORD * len(self._text[dropped.start : dropped.end].split())
            if v.rung in ("strings", "heuristic"):
                price += SWALLOWED * sum(at < t.start < v.end and t.end - t.start > 2 for t in self._tokens)
            found.append(_Edge(price, v.end, way[1], way[0]))
            if RUNGS[v.rung] <= RUNGS["structure"] and not _dropped(v):
                break  # its strings are sound, so it does not end further on
        return found

    def _cut(self, at: int, config: Config, name: str) -> _Edge:
        """JSON that the text cuts off: what is complete of it is read."""
        values = self._mend(at, self._end, name)
        if len(values) == 1 and not values[0].complete:
            way = self._walk(config, values[0])
            if way is not None:
                return _Edge(CUT, self._end, way[1], way[0])
        return _Edge(CUT, self._end, config, (Taken(None, at, self._end),))

    def _ends_json(self, token: Token) -> bool:
        """May JSON end before this marker? Before more JSON only where a line begins."""
        if self._text[token.start] not in "{[":
            return token.end - token.start > 2
        return self._text[token.start - 1 : token.start] == "\n"

    def _mend(self, start: int, end: int, name: str) -> list[Mended]:
        """What the ladder reads of a part of the text."""
        region = self._region
        try:
            return self._mended[start, end, name]
        except KeyError:
            pass
        closed = region.closed or end < self._end
        found = self._mended[start, end, name] = mend(
            self._text,
            start,
            end,
            closed=closed,
            cap=region.cap,
            schema=self._schema(name, start, end),
            settings=region.settings,
            effort=region.effort,
        )
        return found

    def _schema(self, name: str, start: int, end: int) -> dict[str, Any] | None:
        """The schema of what stands there: the arguments of a tool, or an object round them."""
        tools = self._region.tools
        if name:
            return tools.schema(name) if tools is not None and name in tools else None
        keys: dict[str, Any] = {}
        called = next((n for n in (tools.names if tools else ()) if f'"{n}"' in self._text[start:end]), None)
        for terminal in self._region.automaton.tables.terminals.values():
            written = terminal.canonical.strip()
            if written.startswith('"') and written.endswith('":'):
                keys[written[1:-2]] = {}
        if tools is not None and called is not None and (schema := tools.schema(called)):
            keys = {key: schema if "ARG" in key.upper() or "PARAM" in key.upper() else {} for key in keys}
        return {"type": "object", "properties": keys} if keys else None

    def _walk(self, config: Config, mended: Mended) -> tuple[tuple[Taken, ...], Config] | None:
        """Read repaired JSON by the strict grammar, as far as it is complete.

        None where it is not what the format may have here.
        """
        text, pos, taken = mended.text, 0, list[Taken]()
        place = _Places(mended)
        depth = self._region.settings.max_depth
        stop = len(text) if mended.complete else place.cut()
        while pos < len(text):
            if text[pos] in BLANK:
                pos += 1
                continue
            step, end, value = _strict(config, text, pos, depth)
            if step is None:
                return None
            if end > stop:
                break
            start, after = place.raw(pos), place.raw(end)
            piece = text[pos:end]
            if value is not None:
                taken.append(Taken(step, start, after, piece, value[0], value[1]))
            else:
                taken.append(Taken(step, start, after, piece))
            config, pos = step.target, end
        if not taken:
            return None
        edits = tuple([e for e in mended.edits if not e.code.startswith("cut-")])
        first = taken[0]._replace(edits=edits, ambiguous=mended.runner_up or "")
        return (first, *taken[1:]), config

    def _edit(self, start: int, end: int, after: str, code: str) -> Edit:
        return Edit(start, end, after, code, "markup")


class _Places:
    """Where the characters of repaired text stand in the raw text."""

    def __init__(self, mended: Mended) -> None:
        self._mended = mended
        self._marks = [(0, mended.start)]
        at, raw = 0, mended.start
        for edit in mended.edits:
            at += edit.start - raw
            self._marks.append((at, edit.start))
            at += len(edit.after)
            raw = edit.end
            self._marks.append((at, raw))
        self._at = 0

    def cut(self) -> int:
        """Up to where the repaired text is complete: to what was put in for what the text cut off."""
        for mark, edit in enumerate(self._mended.edits):
            if edit.code.startswith("cut-"):
                return self._marks[2 * mark + 1][0]
        return self._marks[-1][0]

    def raw(self, offset: int) -> int:
        """The raw offset of an offset in the repaired text; within what was put in, where that was put."""
        marks = self._marks
        while self._at + 1 < len(marks) and marks[self._at + 1][0] <= offset:
            self._at += 1
        while self._at and marks[self._at][0] > offset:
            self._at -= 1
        at, raw = marks[self._at]
        limit = marks[self._at + 1][1] if self._at + 1 < len(marks) else raw + offset - at
        return min(raw + offset - at, limit)


def _strict(config: Config, text: str, pos: int, depth: int) -> tuple[Transition | None, int, Any]:
    """What the strict grammar reads at a place: the transition, its end, and the value and text of an island."""
    for step in config.markers:
        match = matcher(step).regex.match(text, pos)
        if match is not None and match.end() > pos and not step.supplied:
            return step, match.end(), None
    for step in config.islands:
        if text[pos] in JSON_FIRST.get(step.terminal.short, ()):
            found = islands.read_at(text, pos, depth)
            if found is not None:
                return step, found[1], (found[0], found[2])
    return None, pos, None


def _opens_json(step: Transition) -> bool:
    return step.terminal.short in JSON_FIRST or step.terminal.canonical.strip() in ("{", "[")


def _dropped(mended: Mended) -> list[Edit]:
    return [edit for edit in mended.edits if edit.code == "dropped-text"]


def _price(mended: Mended) -> int:
    return RUNGS[mended.rung] + (AMBIGUOUS if mended.runner_up is not None else 0)


def _name(steps: tuple[Taken, ...], known: str) -> str:
    """The name of the tool that is being called after some steps."""
    for taken in steps:
        if taken.step is not None and taken.step.terminal.short == "TOOL_NAME":
            return taken.text
        if taken.step is not None and taken.step.role == "tool_name" and isinstance(taken.value, str):
            return taken.value
    return known


def _steps(node: _Node | None, text: str, base: int) -> tuple[Taken, ...]:
    """The steps that led to a node, with offsets into the raw text.

    Where a marker is missing behind free text, a line break before it belongs to it, or to the marker behind it.
    """
    found: list[Taken] = []
    while node is not None:
        found += reversed(node.taken)
        node = node.before
    found.reverse()
    for i in range(len(found) - 1):
        free, after = found[i], found[i + 1]
        if not free.free or free.end == free.start or text[free.end - 1] != "\n" or not _is_missing(after):
            continue
        behind = [t for t in found[i + 1 :] if t.step is not None]
        markers = behind[: next((n for n, t in enumerate(behind) if not _is_missing(t)), len(behind)) + 1]
        if any(takes_break(t.step.terminal) for t in markers if t.step is not None):
            found[i] = free._replace(end=free.end - 1)
            edits = tuple([e._replace(start=e.start - 1, end=e.end - 1) for e in after.edits])
            found[i + 1] = after._replace(start=after.start - 1, end=after.end - 1, edits=edits)
    return tuple([_moved(taken, base) for taken in found])


def _is_missing(taken: Taken) -> bool:
    return taken.start == taken.end and bool(taken.edits)


def _moved(taken: Taken, base: int) -> Taken:
    edits = tuple([e._replace(start=e.start + base, end=e.end + base) for e in taken.edits])
    return taken._replace(start=taken.start + base, end=taken.end + base, edits=edits)
