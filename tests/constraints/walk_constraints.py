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
from outspoken.notations.tools import Tools
from outspoken.results.errors import ConstraintError
from outspoken.results.geometry import Point
from tests.constraints.constraint_cases import TOOL_SETS, random_registry
from tests.constraints.walk_judging import complaint, trouble

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


def _asked_for_tools(format: str, draw: random.Random) -> Asked:
    """The constraint of a set of tools, mostly with the first options, which admit most."""
    tools = draw.choice(list(TOOL_SETS.values()))
    known = Tools.of(tools)
    assert known is not None
    options: list[_Options] = [
        *[({}, 0, None)] * 6,
        ({"tool_choice": "required"}, 1, None),
        ({"parallel": False, "reasoning": "none"}, 0, 1),
        ({"tool_choice": next(iter(known.names)), "max_calls": 2}, 1, 2),
        ({"reasoning": "required"}, 0, None),
        ({"tool_choice": "none"}, 0, 0),
    ]
    more, least, most = draw.choice(options)
    chosen: dict[str, Any] = {"tools": tools, **more}
    try:
        made = constraint(format, **chosen)
    except ConstraintError:  # the format does not allow these options
        chosen, least, most = {"tools": tools}, 0, None
        made = constraint(format, **chosen)

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


def _asked_for_actions(format: str, _: random.Random) -> Asked | None:
    """The constraint of all actions; None if the format has no actions."""
    types = {paths.usage.type for paths in learned_actions(registry.automaton(format))}
    if not types:
        return None
    made = constraint(format, actions=True)

    def wrong(text: str) -> str:
        return complaint(text, made, (), least=0, most=None) or _acted(text, format, types)

    return Asked(made, wrong)


def _acted(text: str, format: str, types: Collection[str]) -> str:
    """What is wrong with the actions of a text."""
    for action in parse(text, format=format, finish_reason="stop").actions:
        if action.type not in types:
            return f"action: {action.type}"
        try:
            type(action).model_validate(action.model_dump())
        except ValidationError as error:
            return f"action: {error.errors()[0]['type']}"
        for point in _points(action):
            edges = Screen(_FARTHEST, _FARTHEST).extent(point.space)
            edges = (_FARTHEST, _FARTHEST) if edges[0] > _UNLIMITED else edges
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


def _asked_for_payloads(_: str, draw: random.Random) -> Asked:
    """The constraint of a page of a random registry, with text or without. There is no format to name."""
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
ASKED: Mapping[Kind, Callable[[str, random.Random], Asked | None]] = {
    "tools": _asked_for_tools,
    "actions": _asked_for_actions,
    "payloads": _asked_for_payloads,
}
