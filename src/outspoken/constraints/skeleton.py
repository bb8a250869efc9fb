"""The skeleton of a format: which literals stand between the places that a model fills in.

It is learned from `render`: responses of all shapes are written and read back, and each path through the automaton is
cut at its holes: text, reasoning, the name of a call, its arguments. A hole is known by its terminal and the
configuration behind it. What may follow depends on nothing else, so the edges between holes that were seen in some
responses make up all responses that `render` writes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

from outspoken.grammar.automaton import Automaton, Config, Stack
from outspoken.grammar.tables import Terminal
from outspoken.rendering.render import Rendered, render_path
from outspoken.rendering.writer import Item, Written, pieces_of
from outspoken.results.errors import RenderError
from outspoken.results.replies import Reasoning, Text
from outspoken.results.settings import DEFAULT

Role: TypeAlias = Literal[
    "start", "end", "text", "reasoning", "name", "id", "index", "arguments", "key", "value", "flag", "action"
]

#: The kinds of values that formats write in different ways, each with an example.
EXAMPLES: Mapping[str, Any] = {
    "string": "ab cd", "integer": 3, "number": 2.5, "true": True, "false": False, "null": None, "object": {"k": 1},
    "array": [1],
}  # fmt: skip


class Hole(NamedTuple):
    """A place that the model fills in: what it is, its terminal's name, and the configuration behind it.

    `number` counts the names of one call, of which some formats write two.
    """

    role: Role
    terminal: str = ""
    stack: Stack = ()
    number: int = 0


START, END = Hole("start"), Hole("end")


class SkeletonStep(NamedTuple):
    """A hole of a response, the literal before it, and the number of its segment.

    `text` was written in it, in the argument `key`, a value of a `kind`; `config` is behind it, unless it is the end.
    """

    literal: str
    hole: Hole
    item: int
    text: str = ""
    config: Config | None = None
    key: str = ""
    kind: str = ""


@dataclass(eq=False)
class Skeleton:
    """The holes of a format and the literals between them.

    `inner` maps a hole of a call to the holes of the same call that may follow, each with the literal between them;
    `outer` does so for all others. `kinds` says which kinds of values a hole takes.
    """

    format: str
    terminals: dict[str, Terminal]
    inner: dict[Hole, dict[Hole, str]] = field(default_factory=dict[Hole, dict[Hole, str]])
    outer: dict[Hole, dict[Hole, str]] = field(default_factory=dict[Hole, dict[Hole, str]])
    kinds: dict[Hole, set[str]] = field(default_factory=dict[Hole, set[str]])
    #: a text of each hole
    samples: dict[Hole, str] = field(default_factory=dict[Hole, str])
    #: the configurations behind each hole
    configs: dict[Hole, tuple[Config, ...]] = field(default_factory=dict[Hole, tuple[Config, ...]])

    #: of a skeleton with holes joined: the hole that stands for each one
    joined: dict[Hole, Hole] = field(default_factory=dict[Hole, Hole])

    def add(self, path: Iterable[SkeletonStep]) -> None:
        """Add the holes of a response, and the edges between them."""
        before, item = START, -1
        for step in path:
            edges = self.inner if step.item == item else self.outer
            edges.setdefault(before, {}).setdefault(step.hole, step.literal)
            if step.kind:
                self.kinds.setdefault(step.hole, set()).add(step.kind)
            if step.config is not None:
                self.configs.setdefault(step.hole, (step.config,))
                self.samples.setdefault(step.hole, step.text)
            before, item = step.hole, step.item

    def has(self, role: Role) -> bool:
        """Does the format have holes of this role?"""
        return any(hole.role == role for hole in self.configs)

    def path(self, start: Hole, goal: Hole) -> list[tuple[str, Hole]] | None:
        """The shortest way between two holes: each literal with the hole behind it; None if there is none."""
        paths: dict[Hole, list[tuple[str, Hole]]] = {start: []}
        waiting = deque([start])
        while waiting:
            hole = waiting.popleft()
            if hole == goal:
                return paths[hole]
            for edges in (self.inner, self.outer):
                for target, literal in edges.get(hole, {}).items():
                    if target not in paths:
                        paths[target] = [*paths[hole], (literal, target)]
                        waiting.append(target)
        return None

    def sample(self, start: Hole, goal: Hole) -> str | None:
        """A text between two holes, with both."""
        path = self.path(start, goal)
        if path is None:
            return None
        return self.samples.get(start, "") + "".join([literal + self.samples.get(hole, "") for literal, hole in path])


TEXT = Text(text="Hello there.", span=(0, 12))
REASONING = Reasoning(text="They ask.", span=(0, 9))
_TOOL = "tool_a"


def skeleton_of(automaton: Automaton) -> Skeleton:
    """The skeleton of a format, by its automaton."""
    skeleton = Skeleton(automaton.tables.header.format, automaton.tables.terminals)
    for response in _responses(skeleton):
        if (rendered := written_path(response, skeleton.format)) is not None:
            skeleton.add(steps_of(rendered))
    return skeleton


def a_call(*kinds: str) -> dict[str, Any]:
    """A call with arguments of some kinds."""
    return {"name": _TOOL, "arguments": {f"k{i}": EXAMPLES[kind] for i, kind in enumerate(kinds)}}


def _responses(skeleton: Skeleton) -> Iterator[list[Any]]:
    """What is rendered: first each kind of value alone, then calls in all surroundings."""
    text, reasoning = TEXT, REASONING
    yield from ([text], [reasoning], [reasoning, text], [text, reasoning], [text, reasoning, text])
    for kind in EXAMPLES:
        yield [a_call(kind)]
    calls = [a_call(), *_calls_of(skeleton)]
    few, short = calls[:2] + calls[-1:], calls[:2][-1]
    leads: list[list[Any]] = [[], [text], [reasoning], [reasoning, text], [text, reasoning], [calls[0]], [short]]
    leads += [[short, text], [short, reasoning], [short, short], [reasoning, short], [text, short]]
    rests: list[list[Any]] = [[], [text], [reasoning, text], [calls[0]], [short], [text, short]]
    yield from ([call, *rest] for call, rest in product(calls, rests))
    yield from ([*lead, call, *rest] for lead, call, rest in product(leads[1:], few, rests))


def _calls_of(skeleton: Skeleton) -> list[dict[str, Any]]:
    """Calls with each kind of value that is written in a way of its own, in each place."""
    classes: dict[tuple[Hole, ...], str] = {}
    for kind in EXAMPLES:
        holes = tuple([hole for hole in skeleton.kinds if kind in skeleton.kinds[hole]])
        classes.setdefault(holes, kind)
    kinds = [kind for holes, kind in classes.items() if holes]
    if not skeleton.has("key"):
        return [a_call(kind) for kind in kinds[:1]]
    pairs = dict.fromkeys([pair for kind in kinds for pair in ((kinds[0], kind), (kind, kinds[-1]))])
    return [*[a_call(kind) for kind in kinds], *[a_call(*pair) for pair in pairs], a_call(*kinds[:1] * 3)]


def written_path(response: list[Any], format: str) -> Rendered | None:
    """A response as a format writes it, with its path through the automaton; None if the format cannot write it."""
    try:
        return render_path(response, format, None, DEFAULT, "none")
    except RenderError:
        return None


def _pieces(rendered: Rendered) -> Iterator[tuple[str, Written]]:
    """The pieces of what was rendered, without the first characters, which the prompt ends with."""
    pieces = pieces_of(rendered.path)
    chars = sum([len(text) for text, _ in pieces]) - len(rendered.text)
    for text, written in pieces:
        yield text[chars:], written
        chars = max(chars - len(text), 0)


def steps_of(rendered: Rendered) -> Iterator[SkeletonStep]:
    """The holes of what was rendered; at last the end."""
    literal = ""
    names: Counter[int] = Counter()
    for text, written in _pieces(rendered):
        if written.is_marker:
            literal += text
            continue
        number = written.progress.item
        item = rendered.items[number]
        role = _role(written, item)
        names[number] += role == "name"
        hole = Hole(role, written.terminal.name, written.config.stack, names[number] if role == "name" else 0)
        key, value = item.arguments[written.progress.argument] if role in ("key", "value") else ("", None)
        kind = _kind(value) if role == "value" else ""
        yield SkeletonStep(literal, hole, number, text, written.config, key, kind)
        literal = ""
    yield SkeletonStep(literal, END, len(rendered.items))


_TOKEN_ROLES: Mapping[str, Role] = {"TOOL_NAME": "name", "CALL_ID": "id", "CALL_INDEX": "index", "ARG_NAME": "key"}


def _role(written: Written, item: Item) -> Role:
    """What a hole of an item is."""
    progress, short = written.progress, written.terminal.short
    if short == "TEXT":
        return "text"
    if item.kind == "think":
        return "reasoning"
    if short in _TOKEN_ROLES:
        return _TOKEN_ROLES[short]
    if progress.phase == 1:
        return "value"
    if item.name and not progress.name:
        return "name"
    is_positional = progress.argument < len(item.arguments) and item.arguments[progress.argument][0].startswith("$")
    return "value" if is_positional else "arguments"


def _kind(value: Any) -> str:
    """The kind of a value of a call; "" for another one, which an action has."""
    return next((kind for kind, known in EXAMPLES.items() if known == value and type(known) is type(value)), "")


def merged(skeleton: Skeleton) -> Skeleton:
    """The skeleton with holes joined that differ only in where they stand, so that the same follows them."""
    groups = _groups(skeleton)
    joined_skeleton = Skeleton(skeleton.format, skeleton.terminals, joined=groups)
    for edges, joined in ((skeleton.inner, joined_skeleton.inner), (skeleton.outer, joined_skeleton.outer)):
        for hole, following in edges.items():
            for target, literal in following.items():
                joined.setdefault(groups[hole], {}).setdefault(groups[target], literal)
    for hole, kinds in skeleton.kinds.items():
        joined_skeleton.kinds.setdefault(groups[hole], set()).update(kinds)
    for hole, configs in skeleton.configs.items():
        joined_skeleton.configs[groups[hole]] = (*joined_skeleton.configs.get(groups[hole], ()), *configs)
        joined_skeleton.samples.setdefault(groups[hole], skeleton.samples[hole])
    return joined_skeleton


def _groups(skeleton: Skeleton) -> dict[Hole, Hole]:
    """The hole that stands for each hole. Two are joined unless a literal differs between them and the same others."""
    holes = [START, END, *skeleton.configs]
    key: dict[Hole, Any] = {hole: (hole.role, hole.terminal, hole.number) for hole in holes}
    _split_by_literal(skeleton, key)
    for _ in range(len(holes)):
        members: dict[Any, list[Hole]] = {}
        for hole in holes:
            members.setdefault(key[hole], []).append(hole)
        renewed = dict(key)
        for number, group in enumerate(members.values()):
            for part, some in enumerate(_compatible(skeleton, group, key)):
                for hole in some:
                    renewed[hole] = (number, part)
        if len(set(renewed.values())) == len(members):
            break
        key = renewed
    first: dict[Any, Hole] = {}
    for hole in holes:
        first.setdefault(key[hole], hole)
    return {hole: first[key[hole]] for hole in holes}


def _split_by_literal(skeleton: Skeleton, key: dict[Hole, Any]) -> None:
    """Tell holes apart that follow the same hole behind different literals."""
    for edges in (skeleton.inner, skeleton.outer):
        for following in edges.values():
            literals: dict[Any, set[str]] = {}
            for target, literal in following.items():
                literals.setdefault(key[target], set()).add(literal)
            for target, literal in following.items():
                if len(literals[key[target]]) > 1:
                    literals[key[target], literal] = {literal}
                    key[target] = (key[target], literal)


def _compatible(skeleton: Skeleton, group: list[Hole], key: dict[Hole, Any]) -> list[list[Hole]]:
    """The holes of a group in parts in which no two have different literals before the same others."""
    parts: list[tuple[dict[Any, str], bool, list[Hole]]] = []
    for hole in group:
        own_literals: dict[Any, str] = {}
        for inner, edges in ((True, skeleton.inner), (False, skeleton.outer)):
            own_literals |= {(inner, key[target]): literal for target, literal in edges.get(hole, {}).items()}
        ends = END in skeleton.outer.get(hole, {})
        for literals, may_end, some in parts:
            is_same = ends == may_end or hole.role in ("name", "key", "value")
            agrees = all(literals.get(target, literal) == literal for target, literal in own_literals.items())
            if is_same and agrees and (own_literals.keys() & literals.keys() or not own_literals or not literals):
                literals.update(own_literals)
                some.append(hole)
                break
        else:
            parts.append((own_literals, ends, [hole]))
    return [some for _, _, some in parts]
