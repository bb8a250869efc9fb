"""Actions checked against a page, and changed as the `checks` of the format's grammar header say.

    select_option(kind=checkbox) = set_checked(checked=true)
    wait(!seconds) = wait(seconds=20)

The left side of a line holds an action, with conditions on its fields or on the `kind` of its element; the right side
holds the action that it becomes. Fields that both actions have are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.grammar.header import Header
from outspoken.results.actions.union import Action, BaseAction
from outspoken.results.diagnostics import Severity
from outspoken.results.settings import Settings

from .codec import FieldDecoder, build_action, set_fields, unknown_action
from .fields import FieldError
from .mapping import MappingRule, parse_rule
from .page import PageContext, PageElement

#: The key of conditions on the element of an action.
KIND = "kind"


class Finding(NamedTuple):
    """A diagnostic for an action that was checked."""

    code: str
    message: str
    severity: Severity


class PageChecker:
    """Checks the actions of a format against a page. `given` are arguments that the model need not write."""

    def __init__(self, header: Header, page: PageContext | None, given: Mapping[str, Any], settings: Settings) -> None:
        self._header, self._settings, self._page = header, settings, page
        self._given = dict(given)
        self._rules = _rules(tuple(header.checks.items()))

    def check(self, action: Action) -> tuple[Action, list[Finding]]:
        """The action, with the page's data of its elements and changed if it does not fit; and the findings."""
        findings: list[Finding] = []
        action, element = self._resolved(action, findings)
        for rule in self._rules:
            if action.type in rule.names and _applies(rule, action, element):
                action = self._changed(rule, action, element, findings)
        return action, findings

    def _resolved(self, action: Action, findings: list[Finding]) -> tuple[Action, PageElement | None]:
        """The action with the page's data of its elements, and the element that is its target."""
        target: PageElement | None = None
        for field in ("element", "start_element", "end_element"):
            reference = getattr(action, field, None)
            if reference is None or self._page is None:
                continue
            name, element = self._page.find(reference)
            if element is None:
                if name:
                    message = f"the page has no element `{name}`, to which `{action.name}` refers"
                    findings.append(Finding("unknown-element", message, "warning"))
                continue
            known = {"hash": element.hash, "kind": element.kind, "text": reference.text or element.text}
            change: dict[str, Any] = {field: reference.model_copy(update=known)}
            if field == "element":
                target = element
                change["metadata"] = {**action.metadata, **({"element": element.data} if element.data else {})}
            action = action.model_copy(update=change)
        return action, target

    def _changed(
        self, rule: MappingRule, action: Action, element: PageElement | None, findings: list[Finding]
    ) -> Action:
        """The action that a rule makes of an action; adds what changed to the findings."""
        fields = dict(set_fields(action))
        kept = {key: getattr(action, key) for key in BaseAction.model_fields}
        kept |= {key: value for key, value in fields.items() if key in rule.model.model_fields}
        decoder = FieldDecoder(self._header, self._settings, rule, action.name)
        try:
            changes = decoder.fields({**self._given, **fields})
        except FieldError as error:
            findings.append(Finding("invalid-action", f"`{action.name}` {error}", "error"))
            common = {key: value for key, value in kept.items() if key not in ("status", "name", "extra")}
            return unknown_action(action.name, {**action.extra, **fields}, common)
        made = build_action(rule.model, {**kept, **changes})
        if any(condition.keys == (KIND,) for condition in rule.conditions):
            kind = " ".join(sorted(element.words)) if element is not None else ""
            result = f"was read as `{made.type}`" if made.type != action.type else "is kept"
            message = f"`{action.name}` does not match its element, which is `{kind}`, and {result}"
            findings.append(Finding("wrong-element", message, "warning"))
        else:
            defaults = ", ".join([f"`{key}` defaults to {str(value)[:80]}" for key, value in changes.items()])
            findings.append(Finding("default-value", f"`{action.name}` is incomplete: {defaults}", "note"))
        return made


@lru_cache(maxsize=64)
def _rules(checks: tuple[tuple[str, str], ...]) -> tuple[MappingRule, ...]:
    return tuple([parse_rule(left, right) for left, right in checks])


def _applies(rule: MappingRule, action: BaseAction, element: PageElement | None) -> bool:
    """True if all conditions of a rule hold; a condition on an element of unknown kind does not."""
    fields = dict(set_fields(action))
    words: frozenset[str] = element.words if element is not None else frozenset()
    for condition in rule.conditions:
        is_kind = condition.keys == (KIND,)
        if is_kind and (not words or words.isdisjoint(condition.words) is condition.expected):
            return False
        if not is_kind and not condition.holds(fields):
            return False
    return True
