"""Generates sound responses of a format by a random walk through its automaton, with their expected content.

`Generator(name).response(seed)` takes, for one seed after another, each step of the grammar in turn: it walks to that
step, on from there, and to an end. Each terminal is spelled as the grammar writes it or as its expression reads it, and
round it stands what the grammar leaves open: text, names, values. The terminals of what comes of it are found by
`lexer.py`. If they are not the intended ones (text that holds a marker by chance, a look-ahead that
does not hold), those round the place are spelled anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from random import Random

from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT

from .content import Content
from .lexer import Position, Token, tokens
from .reference import content_of_tokens
from .state_graph import StateGraph, Step, step_of
from .token_text import Lexeme, TerminalForm, TokenWriter, forms_of

#: How often a response is spelled anew where it does not read as it was meant, and how often another one is begun.
_ATTEMPTS, _WALKS = 60, 12
#: How many terminals a walk goes on without an argument while an action lacks one.
_PATIENCE = 12
#: From how many terminals on a walk takes any step that leads to its goal.
_LONGEST = 200
#: How often the same place may read differently before the walk is given up.
_STUCK = 30
#: How often a step of a walk leads straight on; it may be a little way round where not.
_STRAIGHT = 0.85


@dataclass(frozen=True)
class Response:
    """A sound response: its text, its content, which steps and forms it takes.

    `strict` says that its free text may hold markers that mean nothing where they stand; recovery would see damage.
    """

    text: str
    content: Content
    strict: bool
    steps: frozenset[Step]
    forms: frozenset[TerminalForm]


class Generator:
    """Makes responses of one format; the same for the same seed and the same wishes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.automaton = registry.automaton(name)
        self.map = StateGraph(self.automaton)

    @cached_property
    def forms(self) -> frozenset[TerminalForm]:
        """All forms of the markers of the grammar, except ignored white space."""
        tables = self.automaton.tables
        terminals = [tables.terminals[name] for name in {step.terminal for step in self.map.steps}]
        found = frozenset[TerminalForm]().union(*[forms_of(terminal) for terminal in terminals])
        return found - {TerminalForm(t.name, None) for t in terminals if tables.ignore and t.canonical.isspace()}

    def response(self, seed: int, wanted: Collection[TerminalForm] = ()) -> Response | None:
        """The response of a seed; None if none was found that is read as intended.

        A marker takes one of its wanted forms, if any.
        """
        if not self.map.steps:
            return None
        random = Random(f"{self.name} {seed}")
        goal = self.map.steps[seed % len(self.map.steps)]
        for _ in range(_WALKS):
            walk = _Walk(self, random, strict=random.random() < 0.25, wanted=wanted)
            walk.walk([goal, *random.sample(self.map.steps, random.randint(0, 2))])
            found = walk.response()
            if found is not None:
                return found
        return None


class _Walk:
    """One walk through the automaton, and what is spelled on the way."""

    def __init__(
        self, generator: Generator, random: Random, *, strict: bool, wanted: Collection[TerminalForm] = ()
    ) -> None:
        self._automaton, self._map, self._random, self._strict = generator.automaton, generator.map, random, strict
        self._speller = TokenWriter(generator.automaton, random, strict=strict, wanted=wanted)
        self._lexemes: list[Lexeme] = []
        #: of the call or action on the way: the name of an action, the arguments so far, those that are still needed
        self._action = ""
        self._keys: list[str] = []
        #: does the argument on the way have a name? It is called by its place, where not
        self._named = False
        self._missing: list[str] = []
        #: where in the walk an argument was taken last, or an action's name
        self._gave = 0

    # the way

    def walk(self, goals: list[Step]) -> None:
        """Choose the terminals: some at random, then those that lead to a goal, one goal after the other."""
        position = self._map.positions[0]
        for goal in goals:
            position = self._random_steps(position, self._random.randint(0, 3))
            if self._map.number(position) in self._map.distances_to(goal):
                position = self._go_to(position, goal)
        position = self._random_steps(position, self._random.randint(0, 4))
        while self._map.to_end[self._map.number(position)]:
            position = self._step_closer(position, self._map.to_end)

    def _random_steps(self, position: Position, steps: int) -> Position:
        for _ in range(steps):
            if choices := self._choices(position):
                position = self._take(position, self._random.choice(choices))
        return position

    def _go_to(self, position: Position, goal: Step) -> Position:
        """Go where a step can be taken, and take it, unless what is being written does not admit it."""
        distances = self._map.distances_to(goal)
        while distances[self._map.number(position)]:
            position = self._step_closer(position, distances)
        last = [step for step in self._choices(position) if step.terminal.name == goal.terminal]
        return self._take(position, last[0]) if last else position

    def _step_closer(self, position: Position, distances: dict[int, int]) -> Position:
        found = self._nearer(self._choices(position), position, distances) or self._nearer(
            position.steps, position, distances
        )
        least = min([distance for distance, _ in found])
        most = least if self._random.random() < _STRAIGHT else least + 2
        return self._take(position, self._random.choice([step for distance, step in found if distance <= most]))

    def _nearer(
        self, steps: list[Transition], position: Position, distances: dict[int, int]
    ) -> list[tuple[int, Transition]]:
        """The steps from which a goal can be reached, with the distance from there."""
        found = [(distances.get(self._map.number(position.after(step))), step) for step in steps]
        return [(distance, step) for distance, step in found if distance is not None]

    def _choices(self, position: Position) -> list[Transition]:
        """The transitions that make sense: an action is not over while it lacks an argument that it needs.

        Behind its name, they are those that go with this name.
        """
        if len(self._lexemes) > _LONGEST:
            return position.steps  # what an action allows may keep the walk from its goal: then it goes straight there
        if len(self._lexemes) - self._gave > _PATIENCE:
            self._missing = []  # there is no place for them any more
        more = [step for step in position.steps if _leads_on(step)] if self._missing else []
        steps = more or position.steps
        last = self._lexemes[-1] if self._lexemes else None
        if last is None or last.short != "ACTION_NAME":
            return [step for step in steps if last is None or self._speller.leads_to(last, step.terminal)] or steps
        return [step for step in steps if self._speller.follows(last, step.terminal)] or steps

    def _take(self, position: Position, step: Transition) -> Position:
        lexeme = Lexeme(step)
        if lexeme.short == "ARG_NAME":
            if not self._action and not self._keys:
                self._action, self._missing = self._speller.unnamed()
            self._keys.append(self._speller.key(step.terminal, self._missing, self._keys))
            self._missing = [key for key in self._missing if key != self._keys[-1]]
            self._named = True
        elif lexeme.short == "ACTION_NAME":
            self._action, needed = self._speller.action(step.terminal)
            self._missing = [key for key in needed if key not in self._keys]
        elif self._action and _is_value(step):
            if not self._named:
                self._keys.append(f"${len(self._keys) + 1}")
                self._missing = [key for key in self._missing if key != self._keys[-1]]
            self._named = False
        if lexeme.short in ("ARG_NAME", "ACTION_NAME"):
            self._gave = len(self._lexemes)
        lexeme.action, lexeme.key = self._action, self._keys[-1] if self._keys else ""
        self._lexemes.append(lexeme)
        if any(op == "end" and kind in ("tool_call", "action") for op, kind in (*step.before, *step.after)):
            self._action, self._keys, self._missing = "", [], []
        return position.after(step)

    # the text

    def response(self) -> Response | None:
        """The response, once it reads as it was meant."""
        for i in range(len(self._lexemes)):
            self._spell(i)
        stuck: Counter[int] = Counter()
        for _ in range(_ATTEMPTS):
            text = "".join([lexeme.gap + lexeme.text for lexeme in self._lexemes])
            found, sound = tokens(self._automaton, text)
            wrong = self._first_wrong(text, found)
            if wrong is None and sound:
                return self._made(text, found)
            at = len(self._lexemes) - 1 if wrong is None else wrong
            stuck[at] += 1
            reach = 2
            if self._speller.acts:
                if stuck[at] > _STUCK:
                    return None
                reach = 4 if self._random.random() < 0.3 else 2  # what a marker looks ahead at may stand farther behind
            for i in range(max(at - 1, 0), min(at + reach, len(self._lexemes))):
                if i == at or self._random.random() < 0.7:
                    self._spell(i)
        return None

    def _spell(self, at: int) -> None:
        self._speller.spell(self._lexemes[at], self._lexemes[at - 1] if at else None)

    def _first_wrong(self, text: str, found: list[Token]) -> int | None:
        """The number of the first terminal that was that differs from the intended one; None if all are right."""
        meant = [i for i, lexeme in enumerate(self._lexemes) if not lexeme.is_empty]
        read = [t for t in found if t.end > t.start or t.step.terminal.short not in FREE_TEXT]
        for i, token in zip(meant, read, strict=False):
            if not self._lexemes[i].is_read_as(token, text[token.start : token.end]):
                return i
        if len(meant) == len(read):
            return None
        return meant[len(read)] if len(read) < len(meant) else len(self._lexemes) - 1

    def _made(self, text: str, found: list[Token]) -> Response | None:
        content = content_of_tokens(self._automaton, text, found)
        if content is None:
            return None
        position, steps = self._map.positions[0], set[Step]()
        for token in found:
            steps.add(step_of(position, token.step))
            position = position.after(token.step)
        forms = frozenset([form for lexeme in self._lexemes for form in lexeme.forms])
        return Response(text, content, self._strict, frozenset(steps), forms)


def _is_value(step: Transition) -> bool:
    """Whether this is the value of an argument."""
    return step.terminal.short == "ARG_VALUE" or (
        step.terminal.short in EMBEDDED_VALUES and step.role in ("", "argument")
    )


def _leads_on(step: Transition) -> bool:
    """Whether a transition ends nothing, so that another argument may follow."""
    return step.terminal.short in EMBEDDED_VALUES or not any(op == "end" for op, _ in (*step.before, *step.after))
