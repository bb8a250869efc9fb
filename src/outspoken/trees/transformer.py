"""From a tree to segments: the tokens, and what they mean.

The value of a subtree is a list of `TreeStep`s: its tokens, each with the operations that follow from the rules which
begin and end there. A `Builder` carries them out, as it does for the engine, so what a rule means is written down once,
in `semantics.handlers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lark import Token, Transformer, Tree

from outspoken.grammar.automaton import Automaton, Config, Operation, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS
from outspoken.notations.interface import notation_of
from outspoken.results.edits import Edit
from outspoken.results.replies import Segment
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import Place
from outspoken.semantics.said_signs import Bare
from outspoken.semantics.settle import Settled
from outspoken.semantics.state import Context, ReplyState
from outspoken.semantics.steps import FreeText, Step, apply_step, begin_text, carry_out, schema_of
from outspoken.semantics.think_markers import think_markers

#: The type of a `RepairedToken` that is text which was dropped: no terminal of the grammar.
DROPPED = "_DROPPED"


class RepairedToken(Token):
    """A token that was not read as it stands.

    `edits` are what was changed of the text between `start_pos` and `end_pos`; offsets are those of the raw text. A
    missing marker is an empty token with one edit. `reading` is the value of an embedded value and its JSON text, or
    None if the token's own text is to be read. `ambiguous` says which other reading costs the same, or is empty.
    """

    edits: tuple[Edit, ...] = ()
    reading: tuple[Any, str] | None = None
    ambiguous: str = ""

    @classmethod
    def make(
        cls,
        type: str,
        text: str,
        start: int,
        end: int,
        edits: tuple[Edit, ...] = (),
        reading: tuple[Any, str] | None = None,
        ambiguous: str = "",
    ) -> RepairedToken:
        """A token of a type (the name of a terminal, or `DROPPED`) from its text and its offsets."""
        made: Any = cls(type, text, start, end_pos=end)
        made.edits, made.reading, made.ambiguous = edits, reading, ambiguous
        return made


class TreeStep(NamedTuple):
    """A token, and what follows from it: operations as the automaton has them, such as ("begin", "tool_call").

    `token` is None for operations of a rule without tokens.
    """

    token: Token | None
    operations: tuple[Operation, ...] = ()

    @property
    def carries(self) -> bool:
        """May operations be carried out here? Not where text was dropped."""
        return self.token is not None and self.token.type != DROPPED


TreeSteps = list[TreeStep]


class TokenPlace(NamedTuple):
    """Which token of a response it is: the short name of its terminal, and its offsets."""

    type: str
    start: int
    end: int

    @classmethod
    def of(cls, token: Token) -> TokenPlace:
        """The place of a token."""
        return cls(token.type, token.start_pos or 0, token.end_pos or 0)


class TokenFacts(NamedTuple):
    """What the engine knows of a token, and its tree does not say.

    `target` is the configuration behind it. `is_lone`: it is a marker that belongs to no node. `is_structure`: behind
    it, the grammar shows that what had begun is no node. White space behind either belongs to it. `late`: so many nodes
    that end with it end for the engine only where what follows shows it, at the offset `end`.
    """

    target: Config
    is_lone: bool
    is_structure: bool
    late: int
    end: int


class TreeSource(NamedTuple):
    """What a tree was made from: the raw text behind the end of its prompt, and what is given for the response.

    It is `tree.meta.source` in each tree of `parse_tree`.
    """

    prompt: str
    text: str
    automaton: Automaton
    context: Context
    facts: Mapping[TokenPlace, TokenFacts]

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets; those of the prompt are negative."""
        if start >= 0:
            return self.text[start:end]
        base = len(self.prompt)
        return (self.prompt + self.text)[start + base : end + base]


class StepTransformer(Transformer[Token, Any]):
    """Turns a tree into the steps that a builder carries out."""

    def __default__(self, data: str, children: list[TreeSteps], meta: Any) -> Any:
        if data in FIELDS:
            return joined([*children, [TreeStep(None, (("field", data),))]])
        if data not in NODES:
            return joined(children)
        end = [TreeStep(None, (("end", data),))]
        for i, steps in enumerate(children):
            first = next((n for n, step in enumerate(steps) if step.carries), None)
            if first is None:
                continue
            token, operations = steps[first]
            if operations[:1] and operations[0][0] == "begin":  # a node that becomes the first part of this one
                again = [TreeStep(None, (("reopen", data),))]
                return joined([*children[: i + 1], again, *children[i + 1 :], end])
            begun = [*steps[:first], TreeStep(token, (("begin", data), *operations)), *steps[first + 1 :]]
            return joined([*children[:i], begun, *children[i + 1 :], end])
        return joined(children)

    def __default_token__(self, token: Token) -> Any:
        return [TreeStep(token, (("token", token.type),) if token.type in TOKENS else ())]


def joined(parts: Iterable[TreeSteps]) -> TreeSteps:
    """The steps of several subtrees in order. Operations without a token join those of the token before them."""
    found: TreeSteps = []
    last = -1
    for step in [step for part in parts for step in part]:
        if step.token is None and last >= 0:
            token, operations = found[last]
            found[last] = TreeStep(token, operations + step.operations)
            continue
        last = len(found) if step.carries else last
        found.append(step)
    return found


def steps_of(tree: Tree[Token], automaton: Automaton, target: Config | None = None) -> list[Step]:
    """The steps of a tree, as `apply_step` and recovery paths take them.

    The tree may be one of any parser if its rules and tokens have the names of the grammar file; see
    `lark_parser.shorten`. Embedded values have a value only if they are a `RepairedToken` with a `reading`. The
    transition of each step leads to `target`, or to the automaton's start.
    """
    return _as_steps(StepTransformer().transform(tree), automaton, target)


def _as_steps(steps: Iterable[TreeStep], automaton: Automaton, target: Config | None = None) -> list[Step]:
    terminals = {terminal.short: terminal for terminal in automaton.tables.terminals.values()}
    config, found = target or automaton.start, list[Step]()
    for token, operations in steps:
        if token is None:
            continue
        start, end = token.start_pos or 0, token.end_pos or 0
        repaired = token if isinstance(token, RepairedToken) else None
        edits = repaired.edits if repaired is not None else ()
        if token.type == DROPPED:
            found.append(Step(None, start, end, edits=edits))
            continue
        transition = Transition(terminals[token.type], config, (), operations, 0)
        value, text = (repaired.reading if repaired is not None else None) or (None, "")
        is_text = token.type in FREE_TEXT
        ambiguous = repaired.ambiguous if repaired is not None else ""
        found.append(Step(transition, start, end, str(token), value, text, edits, is_text, ambiguous))
    return found


class SegmentTransformer(StepTransformer):
    """Turns a tree of `parse_tree`, or a part of one, into the segments that `parse` gives.

    The methods of a subclass are called as in any `lark.Transformer`: by the name of a rule with the values of its
    children, by the name of a terminal with the token. Values are lists of `TreeStep`. A method that calls
    `self.__default__` or `self.__default_token__` keeps the meaning of the rule or terminal; one that returns an empty
    list drops it.
    """

    def transform(self, tree: Tree[Token]) -> list[Segment]:
        """The segments of a tree. Raises ValueError for a tree that `parse_tree` has not made."""
        source: TreeSource | None = getattr(tree.meta, "source", None)
        if source is None:
            raise ValueError("the tree is not from `parse_tree`: its `meta` has no `source`")
        steps: Any = super().transform(tree)
        builder = Builder(ReplyState(source.context, None))
        builder.source.slice = source.slice
        _Run(builder, source).apply(_as_steps(steps or [], source.automaton))
        tools, bare_calls = source.context.tools, source.automaton.tables.header.bare_calls
        settled = Settled(
            builder.output.segments,
            source.text,
            think_markers(source.automaton),
            None,
            prompt_end=source.prompt,
            bare=Bare.of(tools and tools.names, bare_calls),
        )
        return settled.segments


def _with_facts(transition: Transition, known: TokenFacts) -> tuple[Transition, Transition]:
    """A transition that does what the engine does with its token, and one that does what follows later."""
    terminal, target, operations = transition.terminal, known.target, transition.after
    before = (("markup", ""),) if known.is_lone else ()
    behind = (("markup", ""),) if known.is_structure else ()
    ends = [at for at, (name, _) in enumerate(operations) if name == "end"]
    first = ends[-known.late :][0] if ends and known.late else len(operations)
    now = Transition(terminal, target, (), (*before, *operations[:first]), 0)
    return now, Transition(terminal, target, (), (*operations[first:], *behind), 0)


class _Run:
    """Carries out the steps of a whole response."""

    def __init__(self, builder: Builder, source: TreeSource) -> None:
        self._builder, self._source = builder, source
        self._trims = source.automaton.trims
        self._after_marker = False

    def apply(self, steps: list[Step]) -> None:
        """Carry out the steps, and end the response."""
        is_prompt = bool(self._source.prompt)
        for i, step in enumerate(steps):
            if is_prompt and step.end > 0:
                is_prompt = False
                self._builder.discard_prompt()
            self._apply(step, is_last=i + 1 == len(steps))
        if is_prompt:
            self._builder.discard_prompt()
        self._builder.output.flush()
        self._builder.recorder.take_repairs()

    def _apply(self, step: Step, *, is_last: bool) -> None:
        transition = step.transition
        free = FreeText("", step.start, step.end)
        if transition is not None and step.is_text:
            role = transition.terminal.short
            leads = begin_text(self._builder, role, step.start, self._trims, after_marker=self._after_marker)
            ends = role in self._trims and (not is_last or role == "ARG_VALUE")
            free = step.trimmed(step.text, leads=leads, ends=ends)
        elif transition is not None and transition.terminal.short in EMBEDDED_VALUES:
            step = self._with_value(step, transition)
        else:
            self._after_marker = True
        place = TokenPlace(transition.terminal.short, step.start, step.end) if transition is not None else None
        known = self._source.facts.get(place) if place is not None else None
        if transition is None or known is None:
            apply_step(self._builder, step, free)
            return
        now, later = _with_facts(transition, known)
        apply_step(self._builder, step._replace(transition=now), free)
        carry_out(self._builder, later, Place(known.end, known.end))

    def _with_value(self, step: Step, transition: Transition) -> Step:
        """The step of an embedded value with its value, which is read unless it is known."""
        if step.value_text:
            return step
        depth, short = self._builder.context.settings.max_depth, transition.terminal.short
        text, at = self._source.text, step.start
        if at < 0 or not text.startswith(step.text, at):
            text, at = step.text + text[max(step.end, 0) :], 0  # what follows may end the value
        for terminal in self._source.automaton.tables.terminals.values():
            if terminal.short == short:  # a grammar may have several, with other marks
                notation = notation_of(terminal)
                found = notation.read_at(text, at, depth, True, schema_of(self._builder, transition, notation))
                if found is not None and found[1] == at + len(step.text):
                    return step._replace(value=found[0], value_text=found[2])
        raise ValueError(f"the token {step.text!r} is no {short}")
