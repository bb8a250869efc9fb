"""Names of tools and arguments in damaged segments: without what should stand beside them, or right before another."""

from __future__ import annotations

from outspoken.grammar.automaton import Transition
from outspoken.notations.tools import Tools

from . import costs
from .marker_lexer import PUNCTUATION_LENGTH, marker_forms
from .path import BLANK, Edge, Node, RecoveryStep, Region

#: No name is longer than this.
_LONGEST_NAME = 200


class NameReader:
    """Reads the names of a region."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._text = region.text
        self._end = len(region.text)
        self._tokens = region.tokens
        self._may_edit = region.repair_limit not in ("none", "notation")

    def unconditional(self, marker: Transition, at: int, node: Node) -> list[Edge]:
        """A name without what should stand beside it: because that is damaged, or missing."""
        pattern = marker_forms(marker).name
        if pattern is None or at == self._end or not self._may_edit:
            return []
        ends: dict[int, None] = {}
        for token in self._tokens:
            if token.is_near and at < token.start < at + _LONGEST_NAME:
                text = self._text[at : token.start].rstrip(BLANK)
                if pattern.fullmatch(text):
                    ends[at + len(text)] = None
        match = pattern.match(self._text, at)
        if match is not None and match.end() > at and not self._text[match.end() : match.end() + 1].isalnum():
            ends[match.end()] = None
        is_beside_damage = bool(node.steps) and any(edit.code == "damaged-marker" for edit in node.steps[-1].edits)
        cost = 0 if is_beside_damage else costs.UNCONDITIONAL_NAME
        readings = [(end, self._text[at:end]) for end in ends]
        return [Edge(cost, end, marker.target, (RecoveryStep(marker, at, end, text),)) for end, text in readings]

    def fused(self, marker: Transition, at: int) -> list[Edge]:
        """The name of a tool, right behind which stands that of an argument: what separates them is missing."""
        tools = self._region.tools
        if tools is None or marker.terminal.short != "TOOL_NAME" or not self._may_edit:
            return []
        behind = next((token.start for token in self._tokens if token.start > at), self._end)
        words = self._text[at:behind].rstrip(BLANK)
        return [
            Edge(costs.UNCONDITIONAL_NAME, end, marker.target, (RecoveryStep(marker, at, end, name),))
            for name in tools.names
            if words.startswith(name) and _declares(tools, name, self._text[(end := at + len(name)) : behind].strip())
        ]

    def may_follow_repair(self, marker: Transition, edge: Edge, node: Node) -> bool:
        """May a marker stand right behind a repair? A name may only if it is well followed.

        The name of a tool may not at all, but behind punctuation; what the name of an argument would lose may not
        have been dropped before it.
        """
        short = marker.terminal.short
        if short not in ("TOOL_NAME", "ARG_NAME"):
            return True
        if not node.is_after_dropped_text and self._is_declared(short, edge.steps[0].text, node):
            return stands([t for t in edge.target.markers if not t.inserted], self._text, edge.end)
        is_punctuation = (
            node.repaired_length <= PUNCTUATION_LENGTH and not self._text[edge.end - 1 : edge.end].isspace()
        )
        if not is_punctuation and (short == "TOOL_NAME" or node.is_after_drop):
            return False
        if is_punctuation and node.is_after_drop and not self._is_separate(edge, node):
            return False
        return stands([t for t in edge.target.markers if not t.inserted], self._text, edge.end)

    def _is_declared(self, short: str, name: str, node: Node) -> bool:
        """Is this the name of a tool, or of an argument of the tool that is called?"""
        tools = self._region.tools
        if tools is None:
            return False
        if short == "TOOL_NAME":
            return name in tools
        return _declares(tools, node.name, name)

    def _is_separate(self, edge: Edge, node: Node) -> bool:
        """Is what was dropped before a name no part of it?"""
        dropped = self._text[node.steps[-1].start : node.steps[-1].end]
        return not dropped.isalnum() or edge.steps[0].start > node.steps[-1].end


def stands(markers: list[Transition], text: str, at: int) -> bool:
    """Does one of the markers stand at a place in a text?"""
    return any(not marker.replaces and marker_forms(marker).match(text, at) for marker in markers)


def _declares(tools: Tools, name: str, argument: str) -> bool:
    """Does a tool have an argument of this name?"""
    return name in tools and tools.arguments(name).member(argument).node is not None
