"""Random walks: texts that an engine lets a random model write under a constraint, and what is wrong with them."""

import random
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ValidationError

from outspoken import Screen, parse
from outspoken.constraints.action_skeleton import learned_actions
from outspoken.constraints.deriving import Constraint, constraint
from outspoken.constraints.forms import Choice, Form, Grammar, Literal, Repeat, Seq
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.results.errors import ConstraintError
from outspoken.results.geometry import Point
from tests.constraints import engines
from tests.constraints.constraint_cases import TOOL_SETS, random_registry
from tests.constraints.engines import State
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


Kind = typing.Literal["tools", "actions", "payloads"]
#: What is asked for, by its kind.
ASKED: Mapping[Kind, Callable[[str, random.Random], Asked | None]] = {
    "tools": _asked_for_tools,
    "actions": _asked_for_actions,
    "payloads": _asked_for_payloads,
}


# random walks: texts that an engine lets a random model write under a constraint, and what is wrong with them


#: What ends strings, lists and objects.
_CLOSERS = ('"', "'", "}", "]", "}}", "\n", "`", "0", "```", " ", "</")
#: A walk of more tokens is given up, in multiples of the length from which on it is led to its end.
_LONGEST = 6


class Walk(NamedTuple):
    """A text that was written, and why it has no end ("" if it has one)."""

    text: str
    broken_off: str = ""


def literals(grammar: Grammar) -> list[str]:
    """The literals of a constraint."""
    return sorted({text for form in [grammar.root, *grammar.rules.values()] for text in _literals(form)})


def _literals(form: Form) -> Iterator[str]:
    if isinstance(form, Literal) and form.text:
        yield form.text
    elif isinstance(form, (Seq, Choice)):
        for part in form.parts if isinstance(form, Seq) else form.options:
            yield from _literals(part)
    elif isinstance(form, Repeat):
        yield from _literals(form.part)


def walk(
    start: Callable[[], State], tokens: Sequence[bytes], known: Sequence[str], seed: str, length: int = 60
) -> Walk:
    """Write what the engine admits. Behind `length` tokens, the walk looks for its end."""
    draw = random.Random(seed)
    state, written = start(), list[bytes]()
    calm = draw.choice([0.05, 0.15, 0.4])  # how often a literal is tried before the walk is led to its end
    for count in range(length * _LONGEST):
        is_long = count > length
        if state.may_end() and draw.random() < (0.8 if is_long else 0.03):
            return Walk(_text(written))
        if draw.random() < (0.8 if is_long else calm):
            tried = [*draw.sample(known, min(len(known), 40 if is_long else 6)), *(_CLOSERS if is_long else ())]
            if is_long:
                draw.shuffle(tried)
            found = next((text for text in tried if state.take_text(text)), None)
            if found is not None:
                written.append(found.encode())
                continue
        choices = state.choices()
        if not choices:
            return Walk(_text(written), "" if state.may_end() else "no token fits")
        token = draw.choice(choices)
        if not state.take(token):
            return Walk(_text(written), "the mask admits a token that is refused")
        written.append(tokens[token])
    return Walk(_text(written), "" if state.may_end() else "too long")


def _text(written: list[bytes]) -> str:
    return b"".join(written).decode("utf-8", "replace")


def failures(format: str, engine: str, walks: int, seed: int, *, kind: Kind = "tools") -> Iterator[tuple[str, str]]:
    """What is wrong with each walk ("" if nothing is), and its text.

    The constraint is one of a `kind`, drawn for the seed; there is none of "actions" if the format has none.
    """
    asked = ASKED[kind](format, random.Random(f"{seed}/{format}"))
    if asked is None:
        return
    known, vocabulary = literals(asked.constraint.grammar), engines.bpe_vocabulary()
    try:
        compiled = engines.ENGINES[engine](asked.constraint, vocabulary)
    except ValueError as error:
        yield "does not compile", str(error)[:300]
        return
    for attempt in range(walks):
        found = walk(compiled, vocabulary.tokens, known, f"{seed}/{format}/{attempt}")
        wrong = found.broken_off or asked.complaint(found.text)
        if not wrong and not attempt:
            wrong = asked.miscounted(found.text)
        yield wrong, found.text
