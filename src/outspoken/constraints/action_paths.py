"""How a format writes its actions: the literals between the name, the keys and the values of each action.

Each way to write an action is rendered with different fields, and its path through the automaton is cut at its holes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from outspoken.grammar.automaton import Config
from outspoken.results.actions.base import BaseAction
from outspoken.results.replies import Segment

from .action_words import Usage
from .skeleton import REASONING, TEXT, Hole, SkeletonStep, steps_of, written_path


class _Path(NamedTuple):
    """A rendered action: its holes, and the names of its arguments."""

    action: BaseAction
    steps: list[SkeletonStep]
    keys: list[str]

    @property
    def ends(self) -> tuple[Hole, Hole]:
        """The first and the last hole."""
        return self.steps[0].hole, self.steps[-1].hole


@dataclass
class ActionPaths:
    """The holes of one usage: what may follow each of them, and between which an action stands.

    `keys` are the arguments with the holes of their keys, each with the terminals in which the value was written, none
    for one that is only a word. `order` is the order of the arguments, `needs` the groups of which an action has at
    least one, and `nested` the arguments that an object always has.
    """

    usage: Usage
    name_text: str = ""
    inner: dict[Hole, dict[Hole, str]] = field(default_factory=dict[Hole, dict[Hole, str]])
    spans: dict[tuple[Hole, Hole], BaseAction] = field(default_factory=dict[tuple[Hole, Hole], BaseAction])
    keys: dict[tuple[str, Hole], set[str]] = field(default_factory=dict[tuple[str, Hole], set[str]])
    order: list[str] = field(default_factory=list[str])
    configs: dict[Hole, Config] = field(default_factory=dict[Hole, Config])
    needs: tuple[str, ...] = ()
    nested: frozenset[str] = frozenset()

    def add(self, path: _Path) -> None:
        """Add a path."""
        before: Hole | None = None
        at: Hole | None = None
        for step in path.steps:
            hole = step.hole
            if before is not None:
                self.inner.setdefault(before, {}).setdefault(hole, step.literal)
            if hole.role == "name":
                self.name_text = step.text
            if hole.role == "key":
                at = hole
                self.keys.setdefault((step.key, at), set())
            elif hole.role == "value" and at is not None:
                self.keys.setdefault((step.key, at), set()).add(hole.terminal)
            if step.config is not None:
                self.configs[hole] = step.config
            before = hole
        self.spans.setdefault(path.ends, path.action)
        if len(path.keys) > len(self.order):
            self.order = [*path.keys, *[key for key in self.order if key not in path.keys]]
        else:
            self.order += [key for key in path.keys if key not in self.order]


def learned(usage: Usage) -> ActionPaths | None:
    """The paths of a usage, with the arguments that could be rendered; None if it cannot be written at all.

    What stands before an action may change how it is written.
    """
    required, optional = usage.fields(required=True), usage.fields(required=False)
    paths: ActionPaths | None = None
    learnt: set[str] = set()
    needs: set[str] = set()
    for lead in ((), (TEXT,), (REASONING,)):
        bare = _rendered(usage, required, lead)
        if paths is not None and bare is not None and bare.ends in paths.spans:
            continue
        for fields in [required, *[[*required, optional_field] for optional_field in optional], [*required, *optional]]:
            path = bare if fields == required else _rendered(usage, fields, lead)
            if path is None:
                continue
            paths = paths or ActionPaths(usage)
            paths.add(path)
            learnt |= set(fields)
            if bare is None and not lead:
                needs |= {*fields} - {*required}  # the fields of the shortest actions
                if len(fields) > len(required) + 1 and needs == {*fields} - {*required}:
                    return learned(_with_fewest(usage, fields))
    if paths is None:
        return None
    needed = tuple([name for name in optional if name in needs])
    return replace(paths, usage=usage.with_fields(learnt), needs=needed, nested=_always(usage))


def _with_fewest(usage: Usage, fields: list[str]) -> Usage:
    """The usage with as few fields required as make a sound action, of fields that make one together."""
    for name in fields:
        fewer = [other for other in fields if other != name]
        if _rendered(usage, fewer) is not None:
            fields = fewer
    groups = [replace(group, required=group.required or group.field in fields) for group in usage.groups]
    return replace(usage, groups=tuple(groups))


def _always(usage: Usage) -> frozenset[str]:
    """The arguments inside objects without which an action is not sound."""
    found: set[str] = set()
    for group in [group for group in usage.groups if len(group.fields) > 1]:
        fields = [*[one for one in usage.fields(required=True) if one != group.field], group.field]
        needed = [name for name in group.fields if _rendered(usage, fields, without=name) is None]
        paths = dict(zip(group.fields, group.arguments, strict=False))
        found |= {".".join(paths[name].path) for name in needed or group.fields[:1]}
    return frozenset(found)


def _rendered(
    usage: Usage, fields: list[str], lead: tuple[Segment, ...] = (), without: str | None = None
) -> _Path | None:
    """A rendered action with some fields; None if it cannot be written so."""
    groups = [group for group in usage.groups if group.field in fields]
    named = [name for group in groups for name in group.fields if name != without]
    expected = {key for group in usage.groups if not group.field or group.field in fields for key in group.keys}
    for negative in (False, True):
        action = usage.sample(named, negative=negative)
        if action is None:
            return None
        rendered = written_path([*lead, action], usage.header.format)
        if rendered is None:
            continue
        number = len(rendered.items) - 1
        keys = [key for key, _ in rendered.items[number].arguments]
        if set(keys) == expected and rendered.items[number].name == usage.name:
            return _Path(action, [step for step in steps_of(rendered) if step.item == number], keys)
    return None
