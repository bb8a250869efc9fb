"""The constraints under which walks are made, and what is wrong with how a text of each is read."""

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, cast

from pydantic import BaseModel, ValidationError

from outspoken import Screen, parse
from outspoken.constraints.action_skeleton import learned_actions
from outspoken.constraints.deriving import Constraint, constraint
from outspoken.grammar import registry
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.errors import ConstraintError
from outspoken.results.geometry import Point
from tests.constraints.constraint_cases import TOOL_SETS, mutated
from tests.constraints.walk_judging import complaint, trouble
from tests.constraints.walk_registries import random_registry

#: All coordinates are smaller, as the constraints have it.
_FARTHEST = 100000
#: The edge of spaces that depend on the screen is farther.
_UNLIMITED = 1000

#: Options of a constraint, and how many calls and actions there are at least and at most.
_Options = tuple[dict[str, Any], int, int | None]


class Asked(NamedTuple):
    """A constraint, and what says what is wrong with a text that it admits ("" for nothing).

    `miscounted` says what is wrong with the number of calls that are read in it. It takes long.
    """

    constraint: Constraint
    complaint: Callable[[str], str]
    miscounted: Callable[[str], str] = lambda _: ""


def _made(format: str, chosen: _Options, kept: Collection[str]) -> tuple[Constraint, _Options]:
    """The constraint with some options; if the format does not allow them, only with those that are to be kept."""
    try:
        return constraint(format, **chosen[0]), chosen
    except ConstraintError:
        fewer = {key: value for key, value in chosen[0].items() if key in kept}
        return constraint(format, **fewer), (fewer, 0, None)


def _asked_for_tools(format: str, number: int, seed: int) -> Asked:
    """The constraint of a number: sets of tools in turn, every second one changed, with different options."""
    sets = list(TOOL_SETS.values())
    tools: Sequence[ToolLike] = sets[number % len(sets)]
    if number % 2 != number // len(sets) % 2:
        tools = mutated(tools, f"{seed}/{number}")
    known = Tools.of(tools)
    assert known is not None
    options: list[_Options] = [
        ({}, 0, None),
        ({"tool_choice": "required"}, 1, None),
        ({"parallel": False, "reasoning": "none"}, 0, 1),
        ({"tool_choice": next(iter(known.names)), "max_calls": 2}, 1, 2),
        ({"reasoning": "required"}, 0, None),
        ({"tool_choice": "none"}, 0, 0),
    ]
    # mostly the first: it admits most
    more, least, most = options[number // 3 % len(options)] if number % 3 == 2 else options[0]
    made, (chosen, least, most) = _made(format, ({"tools": tools, **more}, least, most), ("tools",))

    def miscounted(text: str) -> str:
        reply = parse(text, format=format, tools=tools, finish_reason="stop")
        written = [
            segment for segment in reply.segments if segment.kind == "tool_call"
        ]  # refused ones are admitted, too
        calls = len(written) + sum(found.code == "quoted-call" for found in reply.diagnostics)
        options = {key: value for key, value in chosen.items() if key not in ("parallel", "max_calls")}
        options |= {"max_calls": calls} if calls else {"tool_choice": "none"}
        fewer = constraint(format, **options) if calls != most else made
        return f"more than {calls} calls are admitted" if not fewer.accepts(text) and made.accepts(text) else ""

    return Asked(made, partial(complaint, constraint=made, tools=tools, least=least, most=most), miscounted)


def _asked_for_actions(format: str, number: int, seed: int) -> Asked | None:
    """The constraint of a number with all actions or some, alone or beside tools; None if the format has no actions."""
    draw = random.Random(f"{seed}/{format}/{number}")
    usages = [paths.usage for paths in learned_actions(registry.automaton(format))]
    types = sorted({usage.type for usage in usages})
    if not types:
        return None
    some = draw.sample(types, min(len(types), draw.randint(1, 4)))
    screen = Screen(1280, 800)
    options: list[_Options] = [
        ({"actions": True}, 0, None),
        ({"actions": some}, 0, None),
        ({"actions": True, "tool_choice": "required", "max_calls": 3}, 1, 3),
        ({"actions": some, "tool_choice": "required"}, 1, None),
        ({"actions": True, "tools": draw.choice(list(TOOL_SETS.values()))}, 0, None),
        ({"actions": some, "parallel": False, "reasoning": "none", "screen": screen}, 0, 1),
        ({"actions": some, "tools": draw.choice(list(TOOL_SETS.values())), "tool_choice": "required"}, 1, None),
        ({"actions": True, "reasoning": "required", "screen": screen}, 0, None),
    ]
    made, (chosen, least, most) = _made(format, options[number % len(options)], ("actions",))
    # a type may be a word for another type
    wanted = types if chosen["actions"] is True else some
    admitted = {usage.type for usage in usages if {usage.type, usage.word, usage.name} & {*wanted}}
    tools: Sequence[ToolLike] = chosen.get("tools", ())

    def wrong(text: str) -> str:
        found = complaint(text, made, tools, least=least, most=most)
        return found or _acted(text, format, admitted, Tools.of(tools), chosen.get("screen"))

    return Asked(made, wrong)


def _acted(text: str, format: str, types: Collection[str], tools: Tools | None, screen: Screen | None) -> str:
    """What is wrong with the actions of a text. A tool that is an action is admitted beside those of the `types`."""
    for action in parse(text, format=format, tools=tools, finish_reason="stop").actions:
        if action.type not in types and (tools is None or action.name not in tools):
            return f"action: {action.type}"
        try:
            type(action).model_validate(action.model_dump())
        except ValidationError as error:
            return f"action: {error.errors()[0]['type']}"
        for point in _points(action):
            edges = (screen or Screen(_FARTHEST, _FARTHEST)).extent(point.space)
            edges = (_FARTHEST, _FARTHEST) if screen is None and edges[0] > _UNLIMITED else edges
            if not (0 <= point.x <= edges[0] and 0 <= point.y <= edges[1]):
                return "action: point"
    return ""


def _points(value: Any) -> Iterator[Point]:
    """The points of an action."""
    if isinstance(value, Point):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _points(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for part in cast("Sequence[Any]", value):
            yield from _points(part)


def _asked_for_payloads(format: str, number: int, seed: int) -> Asked:
    """The constraint of a page of a random registry, with text or without. There is no format to name."""
    draw = random.Random(f"{seed}/{number}")
    payloads = random_registry(draw)
    page = draw.choice([None, *payloads.pages])
    made = payloads.constraint(page, text=draw.random() < 0.7)

    def wrong(text: str) -> str:
        reply = payloads.parse(text, page=page, finish_reason="stop")
        known = {type_.name for type_ in payloads.page(page).types}
        # a grammar does not say that keys differ which a model leaves open
        found = trouble(reply, frozenset({"repeated-key"}))
        return found or ("" if {payload.type for payload in reply.payloads} <= known else "unknown payload")

    return Asked(made, wrong)


Kind = Literal["tools", "actions", "payloads"]
#: What is asked for, by its kind.
ASKED: Mapping[Kind, Callable[[str, int, int], Asked | None]] = {
    "tools": _asked_for_tools,
    "actions": _asked_for_actions,
    "payloads": _asked_for_payloads,
}
