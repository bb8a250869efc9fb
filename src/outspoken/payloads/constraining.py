"""The constraint of a page: text, and its payloads, each behind its marker and by the schema of its model."""

from __future__ import annotations

from typing import Any

from outspoken.constraints.deriving import Constraint
from outspoken.constraints.forms import EMPTY, NOTHING, Form, FreeText, Grammar, Literal, choice, optional, seq
from outspoken.constraints.plain_patterns import escape
from outspoken.constraints.schema_forms import SchemaForms
from outspoken.constraints.styles import Style

from .grammar import FORMAT
from .types import Page, PayloadType

_NOT_JSON: dict[str, Any] = {"object": {"type": "object"}, "array": {"type": "array", "items": {"type": "object"}}}


def page_constraint(page: Page, *, text: bool = True) -> Constraint:
    """The constraint of the responses of a page, with text or without.

    There are payloads that are `beside` others, once each at most and in the order of registration, or one other
    payload, since a message with both is reported. Text holds no marker of the registry, no code and no markup of
    reasoning.
    """
    grammar = Grammar()
    words = _text(page) if text else EMPTY
    before = optional(seq(words, Literal("\n"))) if text else EMPTY
    alone = choice([_payload(payload, grammar) for payload in page.types if not payload.beside])
    last = EMPTY if alone == NOTHING else optional(grammar.rule("alone", seq(before, alone, Literal("\n"))))
    others = [_payload(payload, grammar) for payload in page.types if payload.beside]
    beside = [
        optional(grammar.rule("beside", seq(before, payload, Literal("\n"))))
        for payload in others
        if payload != NOTHING
    ]
    grammar.root = seq(choice([seq(*beside), last]), words)
    grammar.prune()
    return Constraint(FORMAT, grammar)


def _text(page: Page) -> FreeText:
    """Text in which nothing is read as a payload, as code, or as reasoning."""
    names = [escape(one.marker) for one in (*page.types, *page.elsewhere)]
    return FreeText((*names, "`", "~~~", "<"))


def _payload(type_: PayloadType, grammar: Grammar) -> Form:
    """The form of a payload behind its marker; NOTHING if the model has no JSON of its kind."""

    def warn(message: str) -> None:
        grammar.warn(f"{type_.name}: {message}")

    schema = type_.schema or _NOT_JSON[type_.kind]
    if type_.schema is None and type_.model is not None:
        warn("the model is not enforced, since a parser reads the JSON")
    if type_.check is not None:
        warn("what its `check` says is not enforced")
    value: Form = SchemaForms(Style(), grammar, schema, warn).value(schema, "", frozenset([type_.kind]))
    if value == NOTHING:
        warn(f"the model admits no JSON that is an {type_.kind}, so the payload is left out")
        return NOTHING
    return grammar.rule(f"payload_{type_.name}", seq(Literal(f"{type_.marker}: "), value))
