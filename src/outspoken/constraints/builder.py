"""Builds the form of a constraint from the skeleton of a format and the tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton
from outspoken.notations.tools import Tools
from outspoken.results.geometry import Screen

from .action_forms import ActionForms
from .action_paths import ActionPaths
from .bare_values import EDGE
from .call_forms import CallForms
from .forms import EMPTY, Form, FreeText, Grammar, Literal, Rule, choice, seq
from .free_text import excluded_patterns, has_code
from .heads import common_beginning
from .plain_patterns import escape, plain_pattern
from .skeleton import END, START, Hole, Skeleton
from .styles import Style
from .text_borders import Border, border_before, border_behind, unread_within

#: Whether a response may have reasoning, has none, or begins with it.
ReasoningMode = OneOf["free", "none", "required"]
#: The roles of holes that are not in a call.
_OUTSIDE = frozenset({"start", "end", "text", "reasoning"})


@dataclass(frozen=True)
class Wishes:
    """What a constraint asks for: from `least` to `most` calls, text, and reasoning."""

    least: int = 0
    most: int | None = None
    with_text: bool = True
    reasoning: ReasoningMode = "free"


class Actions(NamedTuple):
    """The actions that a response may have, the screen on which their points lie, if it is known, and warnings."""

    paths: tuple[ActionPaths, ...]
    screen: Screen | None
    warnings: list[str]


class Builder:
    """Makes a rule for what may follow each hole outside of calls, and after how many calls."""

    def __init__(
        self,
        skeleton: Skeleton,
        automaton: Automaton,
        tools: Tools | None,
        wishes: Wishes,
        special_tokens: tuple[str, ...] = (),
        prefix: str | None = None,
        actions: Actions | None = None,
    ) -> None:
        self.grammar = Grammar()
        self._skeleton, self._automaton, self._wishes = skeleton, automaton, wishes
        self._special, self._prefix = special_tokens, (prefix or "").rstrip()
        self._ends: dict[Hole, str] = {}
        self._calls = CallForms(skeleton, automaton, tools, self.grammar, self._end_of)
        self._actions: ActionForms | None = None
        if actions is not None:
            self.grammar.warnings += actions.warnings
            self._actions = ActionForms(skeleton, automaton, actions.paths, actions.screen, self.grammar, self._end_of)
        self._rules: dict[tuple[Hole, int], Rule] = {}
        self._limit = wishes.least if wishes.most is None else wishes.most

    def build(self) -> Grammar:
        """The grammar of all responses."""
        self.grammar.root = self._following(START, 0)
        self._calls.warn_of_uncallable()
        self.grammar.prune()
        return self.grammar

    def _rule(self, hole: Hole, calls: int) -> Form:
        """The rule of what may follow a hole."""
        key = (hole, min(calls, self._limit))
        if key not in self._rules:
            rule = self._rules[key] = self.grammar.rule(f"after_{hole.role}", EMPTY)
            self.grammar.rules[rule.name] = self._following(hole, calls)
        return self._rules[key]

    def _following(self, hole: Hole, calls: int) -> Form:
        """What may follow a hole, up to the end of the response."""
        wishes, options = self._wishes, list[Form]()
        written = len(self._end_of(hole)) if hole.role not in _OUTSIDE else 0
        must_reason = hole == START and wishes.reasoning == "required"
        for target, whole in self._edges(hole).items():
            literal = whole[written:]
            if target.role == "reasoning":
                if hole == START or hole.role not in _OUTSIDE:
                    options += self._reasoning(hole, target, literal, calls)
            elif must_reason:
                continue
            elif target.role == "text":
                options += self._text(hole, target, whole, literal, calls) if wishes.with_text else []
            else:
                options += [seq(Literal(literal), rest) for rest in self._rests(target, calls)]
        return choice(options)

    def _calls_in(self, hole: Hole) -> dict[Hole, Form]:
        """The calls or actions that begin with a hole, by their last hole."""
        if hole.role != "action":
            return self._calls.calls(hole)
        return self._actions.actions(hole) if self._actions is not None else {}

    def _edges(self, hole: Hole) -> dict[Hole, str]:
        """What may follow a hole. At the start, what the prompt ends with is not written again."""
        edges = self._skeleton.outer.get(hole, {})
        if hole != START or not self._prefix:
            return edges
        begun = {
            target: ""
            for target, literal in edges.items()
            if target.role == "reasoning" and literal.strip() and self._prefix.endswith(literal.strip())
        }
        return begun or edges

    def _thoughts(self, hole: Hole) -> Form:
        """Any reasoning."""
        if self._skeleton.terminals[hole.terminal].short == "JSON_STRING":
            return Style().string(1, None)
        excluded = {*excluded_patterns(self._automaton, self._skeleton.configs[hole], is_text=False)}
        # what follows ends it, also where no call does
        excluded |= {escape(literal.rstrip()) for literal in self._skeleton.outer.get(hole, {}).values()}
        excluded |= {unread_within(self._skeleton, hole)}
        return FreeText(tuple(sorted(excluded - {""})))

    def _free_text(self, hole: Hole, begins: str = "", ends: str = "", more: tuple[str, ...] = ()) -> FreeText:
        configs = self._skeleton.configs[hole]
        excluded = excluded_patterns(self._automaton, configs, is_text=True)
        return FreeText((*excluded, *more), has_code(configs), begins, ends)

    def _reasoning(self, hole: Hole, target: Hole, literal: str, calls: int) -> list[Form]:
        content = self._thoughts(target)
        if hole.role == "action" and isinstance(content, FreeText):
            content = replace(content, begins=EDGE, low=1)  # what stands behind an action may not be read if empty
        if self._wishes.reasoning == "none":
            if hole != START or literal:
                return []
            content = EMPTY  # the prompt has opened it
        return [seq(Literal(literal), content, self._rule(target, calls))]

    def _text(self, hole: Hole, target: Hole, whole: str, literal: str, calls: int) -> list[Form]:
        """Text, and what may follow it, each with the condition on the end of the text."""
        begins = ""
        if hole.role not in _OUTSIDE or (hole == START and whole):
            begins = border_before(self._skeleton, hole, target, whole)
        if (
            not begins
            and (whole or hole != START)
            and not whole.endswith("\n")
            and has_code(self._skeleton.configs[target])
        ):
            begins = "[^`]"  # a block of code begins a line
        options: dict[tuple[str, bool], list[Form]] = {}
        for following, between in self._skeleton.outer.get(target, {}).items():
            border, may_be_empty = Border(between, "", True), True
            if following.role == "action" and not self._calls_in(following):
                continue
            if following.role not in ("end", "text"):
                trimmed = "TEXT" in self._automaton.trims
                border_found = border_behind(self._skeleton, target, following, between, trimmed=trimmed)
                if border_found is None or following.role == "reasoning":
                    continue
                border = border_found
                if border.chars and hole == START:
                    may_be_empty = border.may_be_empty
                elif border.chars:  # without text, the literal stands right behind the hole
                    may_be_empty = self._edges(hole).get(following) == whole + border.literal
            if rests := self._rests(following, calls):
                rest = seq(Literal(border.literal), choice(rests))
                options.setdefault((border.chars, may_be_empty), []).append(rest)
        names = self._names_behind(hole)
        return [
            seq(
                Literal(literal),
                replace(self._free_text(target, begins, ends, names), low=int(not is_free)),
                choice(rests),
            )
            for (ends, is_free), rests in options.items()
        ]

    def _names_behind(self, hole: Hole) -> tuple[str, ...]:
        """Patterns of the names of actions that may stand right behind a hole, so that text does not begin so."""
        if hole.role != "action":
            return ()
        written = len(self._end_of(hole))
        behind = self._skeleton.outer.get(hole, {}).items()
        terminals = {target.terminal for target, whole in behind if target.role == "action" and not whole[written:]}
        named = [self._skeleton.terminals[name] for name in sorted(terminals)]
        return tuple([plain_pattern(one.regex) for one in named if one.short == "ACTION_NAME"])

    def _rests(self, target: Hole, calls: int) -> list[Form]:
        """The end of the response, or a call with what follows it, if that is asked for."""
        wishes = self._wishes
        if target == END:
            return [EMPTY] * (calls >= wishes.least)
        if target.role == "text" or (wishes.most is not None and calls >= wishes.most):
            return []
        return [seq(form, self._rule(last, calls + 1)) for last, form in self._calls_in(target).items()]

    def _end_of(self, hole: Hole) -> str:
        """The literal that ends a call, whatever follows: what all literals behind its last hole begin with."""
        if hole not in self._ends:
            literals = list(self._skeleton.outer[hole].values())
            end = common_beginning(literals)
            for literal in literals:
                for special in self._special:
                    for token in re.finditer(re.escape(special), literal):
                        if token.start() < len(end) < token.end():
                            end = end[: token.start()]
            self._ends[hole] = end
        return self._ends[hole]
