"""Recovery: how a damaged segment was most likely meant.

The strict automaton is read with damage allowed: a marker may be missing, damaged, stray or plain text, something else
may stand where only markers may, and a JSON value may need repair. Each has a cost, and the cheapest way through the
automaton wins. It is a shortest path (Dijkstra) over the places in the text and the configurations, the same parse that
an error-correcting Earley parser would give over the same tokens (Aho and Peterson 1972).
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count

from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.lenient_rules import begins_with_newline
from outspoken.results.edits import Edit

from .marker_lexer import Token, coarse, is_closed, matcher, starts, tokens
from .path import (
    BLANK,
    DAMAGED,
    JUNK,
    LIMIT,
    MISSING,
    OTHER,
    PLAIN,
    STRAY,
    SWALLOWED,
    TELLING,
    UNMARKED,
    UNSURE,
    WIDENED,
    WORD,
    Edge,
    Node,
    Region,
    Taken,
    Way,
    name_after,
    steps_to,
)
from .values import Values, opens_json

_MAX_TOKENS = 400
_MAX_NODES = 6000
_SHORT = 2
_CALLS = frozenset({"tool_call", "action"})


def recover(region: Region) -> Way | None:
    """The cheapest way through a region; None where there is none, or none that is cheap enough."""
    way = _cheapest(region)
    broken = region.automaton.broken
    if (
        broken is None
        or region.outer is not region.automaton.top_level
        or region.announced
        or region.repair_limit == "notation"
    ):
        return way
    other = replace(region, automaton=broken, outer=broken.top_level)
    widened = _cheapest(other)
    region.nodes = other.nodes
    if widened is None or widened.config.automaton.top_level.stack != widened.config.stack:
        return way
    if way is not None and way.cost <= widened.cost + WIDENED:
        return way
    return Way(_foreign(widened.steps, region), region.automaton.top_level, widened.cost + WIDENED, widened.cut)


def _cheapest(region: Region) -> Way | None:
    found = tokens(region.automaton, region.text, _MAX_TOKENS)
    if found is None:
        return None
    region.tokens = found
    return _Search(region).run()


def _foreign(steps: tuple[Taken, ...], region: Region) -> tuple[Taken, ...]:
    """Record that each call or action of a way is written as the format does not write it."""
    found: list[Taken] = []
    for taken in steps:
        if taken.step is not None and any(
            op == "begin" and not _CALLS.isdisjoint(kind.split()) for op, kind in taken.step.after
        ):
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
        self._starts = starts(region.tokens, region.text)
        self._json = coarse(region.automaton).has_json
        #: the region begins within an object whose keys the grammar knows
        self._inside = self._json and not is_closed(region.outer)
        self._markup = region.repair_limit not in ("none", "notation")
        self._home = region.automaton.top_level
        self._openers = [t for t in region.automaton.top_level_markers if not t.inserted]
        self._values = Values(region)

    def run(self) -> Way | None:
        """Dijkstra's algorithm; ties go as the region says.

        A state is a place, a configuration, and whether free text may still begin there.
        """
        region = self._region
        tie = count(0, region.ties)
        queue: list[tuple[int, int, int, Config, bool, Node]] = []
        heapq.heappush(queue, (0, next(tie), 0, self._region.outer, True, Node((), None, "", False)))
        seen: set[tuple[int, Config, bool]] = set()
        while queue and len(seen) < _MAX_NODES and region.nodes > 0:
            region.nodes -= 1
            cost, _, pos, config, fresh, node = heapq.heappop(queue)
            if (pos, config, fresh) in seen:
                continue
            seen.add((pos, config, fresh))
            done = is_closed(config) or not (region.closed or node.bare)
            if done and not self._text[pos:].strip(BLANK):
                cut = not is_closed(config) and config.end_operations() is None
                return Way(steps_to(node, self._text, region.base), config, cost, cut)
            for edge in self._edges(pos, config, fresh, node):
                total, free = cost + edge.cost, edge.taken[-1].free
                if total <= LIMIT and (edge.end, edge.target, not free) not in seen:
                    bare = node.bare or any(t.step is not None and t.step.inserted for t in edge.taken)
                    entry = Node(edge.taken, node, name_after(edge.taken, node.name), bare)
                    heapq.heappush(queue, (total, next(tie), edge.end, edge.target, not free, entry))
        return None

    def _edges(self, pos: int, config: Config, fresh: bool, node: Node) -> list[Edge]:
        """What can be read at a place."""
        free = config.free if fresh else None
        found = self._free(pos, config, free) if free is not None else []
        at = pos
        if self._region.automaton.tables.ignore:
            while at < self._end and self._text[at] in BLANK:
                at += 1
        first = 0
        stands = self._starts.get(at) is not None and any(
            matcher(t).regex.match(self._text, at) for t in config.markers
        )
        for step in config.markers if free is None else config.leading_markers:
            if self._json and step.terminal.canonical.strip() in ("{", "["):
                continue  # it is read with all that it holds
            taken = self._take(step, pos, config) or (self._take(step, at, config) if at > pos else None)
            if taken is not None and step.terminal.short in ("TOOL_NAME", "ARG_NAME") and node.is_mended:
                sound = step.terminal.short == "ARG_NAME" and not node.is_dropped and self._is_followed(taken)
                taken = taken if sound else None  # what stands behind damage is no name
            if taken is not None:
                found.append(taken._replace(cost=taken.cost + first))
                first = OTHER
            elif self._markup and free is None and not stands and self._may_supply(step, at, node):
                found.append(self._supply(step, pos))
        if at < self._end and free is None:
            found += self._values.embedded(at, config, node.name)
            found += self._values.json(at, config, node.name) if self._json else []
            if (at or not self._region.announced) and not node.is_dropped:
                found += self._junk(at, config)
        return found

    # markers

    def _take(self, step: Transition, pos: int, config: Config) -> Edge | None:
        """A marker that stands here, sound or nearly so."""
        known, text = matcher(step), self._text
        match = known.regex.match(text, pos)
        if match is not None and (match.end() > pos):
            price, edits = 0, ()
            if step.inserted:
                price = MISSING
                edits = (self._edit(pos, pos, step.inserted, "missing-marker"),)
            return Edge(price, match.end(), step.target, (Taken(step, pos, match.end(), match[0], edits=edits),))
        if step.inserted or not known.written or not self._markup:
            return None
        lead = int(begins_with_newline(step.terminal) and text.startswith("\n", pos))
        if text.startswith(known.written, pos + lead):
            if self._is_another(step, pos, config):
                return None
            end = pos + lead + len(known.written)
            return Edge(0, end, step.target, (Taken(step, pos, end, known.written),))
        for damaged in known.damaged:
            if text.startswith(damaged, pos):
                end = pos + len(damaged)
                edit = self._edit(pos, end, step.terminal.canonical, "damaged-marker")
                return Edge(DAMAGED, end, step.target, (Taken(step, pos, end, known.written, edits=(edit,)),))
        return None

    def _is_another(self, step: Transition, pos: int, config: Config) -> bool:
        """Is what stands here another marker that is written alike, by what follows it?"""
        alike = [t for t in config.markers if t.terminal.canonical == step.terminal.canonical]
        return any(matcher(t).regex.match(self._text, pos) for t in alike)

    def _is_followed(self, edge: Edge) -> bool:
        """Does a marker that may follow stand right behind a step?"""
        return any(matcher(t).regex.match(self._text, edge.end) for t in edge.target.markers if not t.inserted)

    def _supply(self, step: Transition, pos: int) -> Edge:
        """A marker that is missing here. A line break that it would end with belongs to it."""
        written = step.terminal.canonical
        value = step.target.free is not None and step.target.free.terminal.short == "ARG_VALUE"
        end = pos
        if value and written.endswith("\n") and self._text.startswith("\n", pos):
            written, end = written[:-1], pos + 1
        edit = self._edit(pos, pos, written, "missing-marker")
        return Edge(MISSING, end, step.target, (Taken(step, pos, end, edits=(edit,)),))

    def _may_supply(self, step: Transition, at: int, node: Node) -> bool:
        """May this marker be missing here? At an open end only the one whose opening marker was missing, too."""
        written = step.terminal.canonical.strip()
        if not written or step.inserted or not step.terminal.short.startswith("_"):
            return False
        ends = node.bare and is_closed(step.target) and not node.is_mended
        if at == self._end and not self._region.closed and not ends:
            return False
        if self._json and len(written) == 1 and written in "{}[],:":
            return self._inside and written in "}]," and (at < self._end or self._region.closed)
        if not self._is_edge(at, step.target):
            return False
        if not self._region.closed and at < self._end and not ends and not self._is_proven(step, at):
            return False
        value = step.target.free is not None and step.target.free.terminal.short == "ARG_VALUE"
        if value and (at == self._end or at in self._starts):
            return False  # there is no value
        begun = [set(arg.split()) for op, arg in step.after if op == "begin"]
        return not any(kinds <= {"think", "code"} for kinds in begun)

    def _is_proven(self, step: Transition, at: int) -> bool:
        """Where the text may be cut: does what stands here show that the marker is missing?"""
        if not self._json and len(step.terminal.canonical.strip()) <= _SHORT:
            return False
        if not any(op == "end" for op, _ in step.after):
            return True
        return any(matcher(t).regex.match(self._text, at) for t in step.target.markers if not t.inserted)

    def _is_edge(self, at: int, target: Config) -> bool:
        """Is this a place where a marker may be missing: where another one stands, a value begins, or a line?"""
        if at == self._end or at in self._starts or (self._json and self._text[at] in "{["):
            return True
        if target.free is not None:
            return target.free.terminal.short == "ARG_VALUE" or (
                self._region.announced and "\n" in self._text[at - 1 : at]
            )
        return any(matcher(t).regex.match(self._text, at) for t in target.markers if not t.inserted)

    def _junk(self, at: int, config: Config) -> list[Edge]:
        """Drop what stands where only markers may: a stray marker, or text up to the next marker."""
        if not self._markup:
            return []
        text, token = self._text, self._starts.get(at)
        if not self._region.closed and config.free is None:
            rest = text[at:]
            if any(t.terminal.canonical.strip().startswith(rest) for t in config.markers):
                return [Edge(0, self._end, config, (Taken(None, at, self._end),))]  # the text ends inside a marker
        if token is not None:
            doubled = config.free is not None and self._is_doubled(token)
            has_place = any(matcher(t).regex.match(text, at) for t in config.markers)
            return (
                [self._drop(at, token.end, config, "stray-marker", STRAY)]
                if doubled or not (has_place or config.free)
                else []
            )
        if config.free is not None:
            return []
        if self._inside and text[at] == ",":
            return [self._drop(at, at + 1, config, "stray-text", STRAY)]
        ends = [next((t.start for t in self._tokens if t.start > at), self._end)]
        if self._json and any(opens_json(t) for t in (*config.markers, *config.embedded)):
            opener = min((i for c in "{[" if (i := text.find(c, at + 1)) > 0), default=-1)
            ends += [opener] if 0 < opener < ends[0] else []
        first = JUNK if self._region.announced else UNSURE
        pieces = [text[at:end].rstrip(BLANK) for end in ends]
        return [
            self._drop(at, at + len(piece), config, "stray-text", first + WORD * (len(piece.split()) - 1))
            for piece in pieces
            if piece and TELLING.isdisjoint(piece)
        ]

    def _drop(self, start: int, end: int, config: Config, code: str, price: int) -> Edge:
        edit = self._edit(start, end, "", code)
        return Edge(price, end, config, (Taken(None, start, end, edits=(edit,)),))

    def _is_doubled(self, token: Token) -> bool:
        """Is this marker all that there is before the next one?"""
        text = self._text
        return self._region.closed and not (text[: token.start] + text[token.end :]).strip(BLANK)

    # free text

    def _free(self, pos: int, config: Config, free: Transition) -> list[Edge]:
        """Free text up to a marker. Markers that it runs over cost something."""
        found: list[Edge] = []
        outside = free.target is self._home or config is self._region.outer
        if pos == 0 and self._region.announced and outside:
            return [Edge(0, 0, free.target, (Taken(free, 0, 0, free=True),))]
        price = 0
        text = free.terminal.short == "TEXT"
        for token in self._tokens:
            if token.start < pos:
                continue
            found.append(Edge(price, token.start, free.target, (Taken(free, pos, token.start, free=True),)))
            price += self._plain_price(token) if text else SWALLOWED
            if price > LIMIT or (text and not self._region.closed and pos > 0):
                return found  # what follows a call that may be cut is not text where it looks like a part of it
        found.append(Edge(price, self._end, free.target, (Taken(free, pos, self._end, free=True),)))
        if text and pos not in self._starts:
            found.append(Edge(0, pos, free.target, (Taken(free, pos, pos, free=True),)))
        return found

    def _plain_price(self, token: Token) -> int:
        """What it costs that a marker is plain text: an opening marker says more than others."""
        for step in self._openers:
            if matcher(step).regex.match(self._text, token.start):
                return PLAIN
        return UNMARKED

    def _edit(self, start: int, end: int, after: str, code: str) -> Edit:
        return Edit(start, end, after, code, "markup")
