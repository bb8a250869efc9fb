"""What is shown of a response, as JSON."""

from __future__ import annotations

from typing import Any

from .model import ResponseView, StepView
from .tree import Node


def as_json(view: ResponseView, *, stream: bool = False, trace: bool = False) -> dict[str, Any]:
    """Tokens, tree, refusals and the reply; with `stream` the events, with `trace` every step.

    In the tree, rules have `rule`, `complete` and `children`; a number is the index of a token. Spans are offsets into
    the response.
    """
    found: dict[str, Any] = {
        "source": view.source,
        "tokens": [_step(token) for token in view.tokens],
        "tree": [_node(node) for node in view.tree],
        "refusals": view.refusals,
        "reply": view.reply.model_dump(mode="json"),
        "difference": view.difference,
    }
    if stream:
        found["events"] = view.events
    if trace:
        found["steps"] = [_step(step) for step in view.steps]
    return found


def _step(step: StepView) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "name": step.name,
        "span": [step.start, step.end],
        "text": step.text,
        "mark": step.mark,
        "withdrawn": step.withdrawn,
        "repairs": list(step.repairs),
    }


def _node(node: Node | int) -> dict[str, Any] | int:
    if isinstance(node, int):
        return node
    return {"rule": node.name, "complete": node.complete, "children": [_node(child) for child in node.children]}
