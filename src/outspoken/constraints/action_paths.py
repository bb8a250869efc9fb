"""How a format writes its actions: the literals between the name, the keys and the values of each action.

Each way to write an action is rendered with different fields, and its path through the automaton is cut at its holes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from outspoken.grammar.automaton import Config
from outspoken.grammar.header import Header
from outspoken.rendering.render import Rendered
from outspoken.rendering.writer import Item, Written, pieces_of
from outspoken.results.actions.base import BaseAction
from outspoken.results.replies import Segment

from .action_words import Usage, kind_of
from .skeleton import REASONING, TEXT, TOKEN_ROLES, Hole, Role, written_path

_FENCE = "```"


class Part(NamedTuple):
    """A hole of an action: the literal before it, what was written in it, and the name of the argument."""

    literal: str
    hole: Hole
    text: str
    key: str


@dataclass
class ActionPaths:
    """The holes of one usage: what may follow each of them, and between which an action stands.

    `keys` are the arguments with the holes of their keys, each with the terminals in which the value was written, none
    for one that is only a word. `order` is the order of the arguments, `needs` the groups of which an action has at
    least one, and `nested` the arguments that an object always has.
    """

    usage: Usage
    sample: BaseAction
    name_text: str = ""
    inner: dict[Hole, dict[Hole, str]] = field(default_factory=dict[Hole, dict[Hole, str]])
    spans: dict[tuple[Hole, Hole], BaseAction] = field(default_factory=dict[tuple[Hole, Hole], BaseAction])
    keys: dict[tuple[str, Hole], set[str]] = field(default_factory=dict[tuple[str, Hole], set[str]])
    order: list[str] = field(default_factory=list[str])
    configs: dict[Hole, Config] = field(default_factory=dict[Hole, Config])
    needs: tuple[str, ...] = ()
    nested: frozenset[str] = frozenset()

    def add(self, action: BaseAction, parts: list[Part], keys: list[str]) -> None:
        """Add a path."""
        before: Hole | None = None
        at: Hole | None = None
        for part in parts:
            if before is not None:
                self.inner.setdefault(before, {}).setdefault(part.hole, part.literal)
            if part.hole.role == "name":
                self.name_text = part.text
            if part.hole.role == "key":
                at = part.hole
                self.keys.setdefault((part.key, at), set())
            elif part.hole.role == "value" and at is not None:
                self.keys.setdefault((part.key, at), set()).add(part.hole.terminal)
            before = part.hole
        self.spans.setdefault((parts[0].hole, parts[-1].hole), action)
        if len(keys) > len(self.order):
            self.order = [*keys, *[key for key in self.order if key not in keys]]
        else:
            self.order += [key for key in keys if key not in self.order]


def all_learned(listed: list[Usage], format: str, header: Header) -> list[ActionPaths]:
    """The paths of usages. Those of the same line of the mapping differ only in their words."""
    found: list[ActionPaths] = []
    for usage in listed:
        known = found[-1] if found and found[-1].usage.rule is usage.rule else None
        paths = _renamed(known, usage, format, header) if known is not None else None
        paths = paths or learned(usage, format, header)
        if paths is not None:
            found.append(paths)
    return found


def _renamed(known: ActionPaths, usage: Usage, format: str, header: Header) -> ActionPaths | None:
    """The paths of a usage that differs in its word; None if it is written in another way."""
    required = [group.field for group in usage.groups if group.required and group.field]
    fields = [*required, *known.needs[:1]]
    rendered = _rendered(usage, format, header, fields)
    if rendered is None:
        return None
    action, parts, _, _ = rendered
    if (parts[0].hole, parts[-1].hole) not in known.spans or parts[0].hole != next(iter(known.spans))[0]:
        return None
    fields_known = {group.field for group in known.usage.groups}
    kept = tuple([group for group in usage.groups if not group.field or group.field in fields_known])
    name = next((part.text for part in parts if part.hole.role == "name"), "")
    return replace(known, usage=replace(usage, groups=kept), sample=action, name_text=name)


def learned(usage: Usage, format: str, header: Header) -> ActionPaths | None:
    """The paths of a usage, with the arguments that could be rendered; None if it cannot be written at all.

    What stands before an action may change how it is written.
    """
    required = [group.field for group in usage.groups if group.required and group.field]
    optional = [group.field for group in usage.groups if not group.required and group.field]
    found: ActionPaths | None = None
    learnt: set[str] = set()
    needs: set[str] = set()
    for lead in ((), (TEXT,), (REASONING,)):
        bare = _rendered(usage, format, header, required, lead)
        if found is not None and bare is not None and (bare[1][0].hole, bare[1][-1].hole) in found.spans:
            continue
        for fields in [required, *[[*required, one] for one in optional], [*required, *optional]]:
            rendered = bare if fields == required else _rendered(usage, format, header, fields, lead)
            if rendered is None:
                continue
            action, parts, keys, configs = rendered
            found = found or ActionPaths(usage, action)
            found.add(action, parts, keys)
            found.configs |= configs
            learnt |= set(fields)
            if bare is None and not lead:
                needs |= {*fields} - {*required}  # the fields of the shortest actions
                if len(fields) > len(required) + 1 and needs == {*fields} - {*required}:
                    return learned(_with_fewest(usage, format, header, fields), format, header)
    if found is None:
        return None
    kept = tuple([group for group in usage.groups if not group.field or group.field in learnt])
    return replace(
        found,
        usage=replace(usage, groups=kept),
        needs=tuple([name for name in optional if name in needs]),
        nested=_always(usage, format, header, required),
    )


def ends_with_code(paths: Iterable[ActionPaths], format: str, header: Header) -> bool:
    """Does a text in an action end the block of code round it, if a block of code ends in the text?"""
    for one in paths:
        rule, groups = one.usage.rule, [group for group in one.usage.groups if group.field]
        required = [group.field for group in groups if group.required]
        for name in [group.field for group in groups if not rule.is_path(group.field)]:
            action = one.usage.sample(header, [*required, name]) if kind_of(rule, name).reader == "text" else None
            written = None if action is None else written_path([action.model_copy(update={name: "a b"})], format)
            if action is None or written is None:
                continue
            if _FENCE not in written.text:
                return False
            if written_path([action.model_copy(update={name: f"a{_FENCE}b"})], format) is None:
                return True
    return False


def _with_fewest(usage: Usage, format: str, header: Header, fields: list[str]) -> Usage:
    """The usage with as few fields required as make a sound action, of fields that make one together."""
    for name in fields:
        fewer = [other for other in fields if other != name]
        if _rendered(usage, format, header, fewer) is not None:
            fields = fewer
    groups = [replace(group, required=group.required or group.field in fields) for group in usage.groups]
    return replace(usage, groups=tuple(groups))


def _always(usage: Usage, format: str, header: Header, required: list[str]) -> frozenset[str]:
    """The arguments inside objects without which an action is not sound."""
    found: set[str] = set()
    for group in usage.groups:
        if len(group.fields) < 2:
            continue
        others = [one for one in required if one != group.field]
        needed = [
            name
            for name in group.fields
            if _rendered(usage, format, header, [*others, group.field], without=frozenset([name])) is None
        ]
        paths = dict(zip(group.fields, group.arguments, strict=False))
        found |= {".".join(paths[name].path) for name in needed or group.fields[:1]}
    return frozenset(found)


def _rendered(
    usage: Usage,
    format: str,
    header: Header,
    fields: list[str],
    lead: tuple[Segment, ...] = (),
    without: frozenset[str] = frozenset(),
) -> tuple[BaseAction, list[Part], list[str], dict[Hole, Config]] | None:
    """A rendered action with some fields: its parts, and its arguments; None if it cannot be written so."""
    groups = [group for group in usage.groups if group.field in fields]
    named = [name for group in groups for name in group.fields if name not in without]
    for negative in (False, True):
        action = usage.sample(header, named, negative=negative)
        if action is None:
            return None
        rendered = written_path([*lead, action], format)
        if rendered is None:
            continue
        number = len(rendered.items) - 1
        item = rendered.items[number]
        keys = [key for key, _ in item.arguments]
        expected = {key for group in usage.groups if not group.field or group.field in fields for key in group.keys}
        if set(keys) != expected or item.name != usage.name:
            continue
        configs: dict[Hole, Config] = {}
        return action, list(_parts(rendered, number, configs)), keys, configs
    return None


def _parts(rendered: Rendered, number: int, configs: dict[Hole, Config]) -> Iterator[Part]:
    """The holes of an item of what was rendered."""
    literal = ""
    item = rendered.items[number]
    for text, written in pieces_of(rendered.path):
        if written.progress.item != number or written.is_marker:
            literal += text
            continue
        role = _role(written, item)
        hole = Hole(role, written.terminal.name, written.config.stack)
        key = item.arguments[written.progress.argument][0] if role in ("key", "value") else ""
        configs[hole] = written.config
        yield Part(literal, hole, text, key)
        literal = ""


def _role(written: Written, item: Item) -> Role:
    """What a hole of an action is."""
    progress, short = written.progress, written.terminal.short
    if short in TOKEN_ROLES:
        return TOKEN_ROLES[short]
    if progress.phase == 1:
        return "value"
    if item.name and not progress.name:
        return "name"
    is_positional = progress.argument < len(item.arguments) and item.arguments[progress.argument][0].startswith("$")
    return "value" if is_positional else "arguments"
