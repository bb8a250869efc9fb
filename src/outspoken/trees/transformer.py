"""From a tree to segments: the tokens, and what they mean.

The value of a subtree is a list of `TreeStep`s: its tokens, each with the operations that follow from the rules which
begin and end there. A `Builder` carries them out, as it does for the engine, so what a rule means is written down once,
in `semantics.handlers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lark import Token, Transformer, Tree

from outspoken.grammar.automaton import Automaton, Config, Operations, Transition
from outspoken.grammar.value_markup import loose_ends
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FIELDS, FREE_TEXT, NODES, TOKENS
from outspoken.notations.interface import notation_of
from outspoken.results.replies import Segment
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import Place
from outspoken.semantics.said_signs import Bare
from outspoken.semantics.settle import Settled
from outspoken.semantics.state import Context, ReplyState
from outspoken.semantics.steps import FreeText, RecoveryStep, apply_step, begin_text, carry_out, schema_of
from outspoken.semantics.think_markers import think_markers


class TreeStep(NamedTuple):
    """A token, and what follows from it: operations as the automaton has them, such as ("begin", "tool_call").

    `token` is None for operations of a rule without tokens.
    """

    token: Token | None
    operations: Operations = ()


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


def _joined(parts: Iterable[TreeSteps]) -> TreeSteps:
    """The steps of several subtrees in order. Operations without a token join those of the token before them."""
    found: TreeSteps = []
    for step in [step for part in parts for step in part]:
        if step.token is None and found and found[-1].token is not None:
            step = TreeStep(found[-1].token, found.pop().operations + step.operations)
        found.append(step)
    return found


class SegmentTransformer(Transformer[Token, Any]):
    """Turns a tree of `parse_tree`, or a part of one, into the segments that `parse` gives.

    The methods of a subclass are called as in any `lark.Transformer`: by the name of a rule with the values of its
    children, by the name of a terminal with the token. Values are lists of `TreeStep`. A method that calls
    `self.__default__` or `self.__default_token__` keeps the meaning of the rule or terminal; one that returns an empty
    list drops it.
    """

    def __default__(self, data: str, children: list[TreeSteps], meta: Any) -> Any:
        if data in FIELDS:
            return _joined([*children, [TreeStep(None, (("field", data),))]])
        if data not in NODES:
            return _joined(children)
        end = [TreeStep(None, (("end", data),))]
        for i, steps in enumerate(children):
            first = next((n for n, step in enumerate(steps) if step.token is not None), None)
            if first is None:
                continue
            token, operations = steps[first]
            if operations[:1] and operations[0][0] == "begin":  # a node that becomes the first part of this one
                again = [TreeStep(None, (("reopen", data),))]
                return _joined([*children[: i + 1], again, *children[i + 1 :], end])
            begun = [*steps[:first], TreeStep(token, (("begin", data), *operations)), *steps[first + 1 :]]
            return _joined([*children[:i], begun, *children[i + 1 :], end])
        return _joined(children)

    def __default_token__(self, token: Token) -> Any:
        return [TreeStep(token, (("token", token.type),) if token.type in TOKENS else ())]

    def transform(self, tree: Tree[Token]) -> list[Segment]:
        """The segments of a tree. Raises ValueError for a tree that `parse_tree` has not made."""
        source: TreeSource | None = getattr(tree.meta, "source", None)
        if source is None:
            raise ValueError("the tree is not from `parse_tree`: its `meta` has no `source`")
        transformed: Any = super().transform(tree)
        steps: TreeSteps = transformed or []
        builder = Builder(ReplyState(source.context, None))
        builder.source.slice = source.slice
        _Run(builder, source).apply([(step.token, step.operations) for step in steps if step.token is not None])
        tools, bare_calls = source.context.tools, source.automaton.tables.header.bare_calls
        settled = Settled(
            builder.output.segments,
            source.text,
            think_markers(source.automaton),
            None,
            prompt_end=source.prompt,
            bare=Bare.of(tools and tools.names, bare_calls),
            ends=loose_ends(source.automaton),
        )
        return settled.segments


class _Run:
    """Carries out the steps of a whole response."""

    def __init__(self, builder: Builder, source: TreeSource) -> None:
        self._builder, self._source = builder, source
        self._trims = source.automaton.trims
        self._terminals = {terminal.short: terminal for terminal in source.automaton.tables.terminals.values()}
        self._after_marker = False

    def apply(self, steps: list[tuple[Token, Operations]]) -> None:
        """Carry out the steps, and end the response."""
        is_prompt = bool(self._source.prompt)
        for i, (token, operations) in enumerate(steps):
            if is_prompt and (token.end_pos or 0) > 0:
                is_prompt = False
                self._builder.discard_prompt()
            self._apply(token, operations, is_last=i + 1 == len(steps))
        if is_prompt:
            self._builder.discard_prompt()
        self._builder.output.flush()
        self._builder.recorder.take_repairs()

    def _apply(self, token: Token, operations: Operations, *, is_last: bool) -> None:
        """Carry out a step as the engine does: what it does with the token, and what follows later."""
        role, start, end = token.type, token.start_pos or 0, token.end_pos or 0
        step = RecoveryStep(None, start, end, str(token), is_text=role in FREE_TEXT)
        free = FreeText("", start, end)
        if step.is_text:
            leads = begin_text(self._builder, role, start, self._trims, after_marker=self._after_marker)
            ends = role in self._trims and (not is_last or role == "ARG_VALUE")
            free = step.trimmed(step.text, leads=leads, ends=ends)
        elif role not in EMBEDDED_VALUES:
            self._after_marker = True
        terminal, target = self._terminals[role], self._source.automaton.start
        if role in EMBEDDED_VALUES:
            step = self._with_value(step, Transition(terminal, target, (), operations, 0))
        fact = self._source.facts.get(TokenPlace(role, start, end))
        if fact is None:
            apply_step(self._builder, step._replace(transition=Transition(terminal, target, (), operations, 0)), free)
            return
        ends_at = [at for at, (name, _) in enumerate(operations) if name == "end"]
        first = ends_at[-fact.late :][0] if ends_at and fact.late else len(operations)
        now = (*((("markup", ""),) if fact.is_lone else ()), *operations[:first])
        later = (*operations[first:], *((("markup", ""),) if fact.is_structure else ()))
        apply_step(self._builder, step._replace(transition=Transition(terminal, fact.target, (), now, 0)), free)
        carry_out(self._builder, Transition(terminal, fact.target, (), later, 0), Place(fact.end, fact.end))

    def _with_value(self, step: RecoveryStep, transition: Transition) -> RecoveryStep:
        """The step of an embedded value with its value."""
        depth, short = self._builder.context.settings.max_depth, transition.terminal.short
        text, at = self._source.text, step.start
        if at < 0 or not text.startswith(step.text, at):
            text, at = step.text + text[max(step.end, 0) :], 0  # what follows may end the value
        for terminal in self._source.automaton.tables.terminals.values():
            if terminal.short == short:  # a grammar may have several, with other marks
                notation = notation_of(terminal)
                reading = notation.read_at(text, at, depth, True, schema_of(self._builder, transition, notation))
                if reading is not None and reading[1] == at + len(step.text):
                    return step._replace(value=reading[0], value_text=reading[2])
        raise ValueError(f"the token {step.text!r} is no {short}")
