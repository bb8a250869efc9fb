"""Actions read and checked: changed as the `checks` of the format's grammar header say, also against a page.

    select_option(kind=checkbox) = set_checked(checked=true)
    wait(!seconds) = wait(seconds=20)

The left side of a line holds an action, with conditions on its fields or on the `kind` of its element; the right side
holds the action that it becomes. Fields that both actions have are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outspoken.grammar.header import Header
from outspoken.results.actions.base import BaseAction
from outspoken.results.settings import DEFAULT, Settings

from .decoding import (
    ActionFinding,
    DecodedAction,
    FieldDecoder,
    build_action,
    decode_action,
    set_fields,
    unknown_action,
)
from .fields import FieldError
from .mapping import MappingRule, parse_rule
from .page import PageContext, PageElement

if TYPE_CHECKING:
    from outspoken.results.actions.union import Action

#: The key of conditions on the element of an action.
KIND = "kind"


def read_action(
    header: Header,
    name: str,
    arguments: dict[str, Any],
    common: dict[str, Any],
    settings: Settings = DEFAULT,
    page: PageContext | None = None,
    given: Mapping[str, Any] | None = None,
) -> DecodedAction | None:
    """The action for a name and arguments, checked; None if the format has no such action.

    `page` holds the elements that the model sees, and `given` arguments that it need not write. The other arguments and
    what is returned for an invalid action are those of `decode_action`.
    """
    decoded = decode_action(header, name, arguments, common, settings)
    if decoded is None or decoded.problem or (page is None and not header.checks):
        return decoded
    checker = _Checker(header, page, given or {}, settings)
    try:
        action = checker.check(decoded.action)
    except FieldError as error:
        subject = f"`{decoded.action.name}`" if decoded.action.name else "the action"
        action = unknown_action(decoded.action.name, arguments, common)
        decoded = DecodedAction(action, f"{subject} {error}", error.argument)
    return decoded._replace(action=action, findings=decoded.findings + tuple(checker.findings))


def may_become_another(header: Header, type: str) -> bool:
    """May a check change an action of a type because of what its element is?"""
    rules = [rule for rule in _rules(tuple(header.checks.items())) if type in rule.names]
    return any(condition.keys == (KIND,) for rule in rules for condition in rule.conditions)


class _Checker:
    """Checks an action of a format. `findings` are what it found and changed."""

    def __init__(self, header: Header, page: PageContext | None, given: Mapping[str, Any], settings: Settings) -> None:
        self.findings: list[ActionFinding] = []
        self._header, self._settings, self._page = header, settings, page
        self._given = dict(given)
        self._rules = _rules(tuple(header.checks.items()))

    def check(self, action: Action) -> Action:
        """The action, with the page's data of its elements, and changed if it does not fit. Raises FieldError."""
        action, element = self._resolved(action)
        for rule in self._rules:
            if action.type in rule.names and _applies(rule, action, element):
                action = self._changed(rule, action, element)
        return action

    def _resolved(self, action: Action) -> tuple[Action, PageElement | None]:
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
                    self.findings.append(ActionFinding("unknown-element", message, "warning"))
                continue
            page_data = {"hash": element.hash, "kind": element.kind, "text": reference.text or element.text}
            change: dict[str, Any] = {field: reference.model_copy(update=page_data)}
            if field == "element":
                target = element
                change["metadata"] = {**action.metadata, **({"element": element.data} if element.data else {})}
            action = action.model_copy(update=change)
        return action, target

    def _changed(self, rule: MappingRule, action: Action, element: PageElement | None) -> Action:
        """The action that a rule makes of an action; adds what changed to the findings. Raises FieldError."""
        fields = dict(set_fields(action))
        kept = {key: getattr(action, key) for key in BaseAction.model_fields}
        kept |= {key: value for key, value in fields.items() if key in rule.model.model_fields}
        changes = FieldDecoder(self._header, self._settings, rule, action.name).fields({**self._given, **fields})
        new_action = build_action(rule.model, {**kept, **changes})
        if any(condition.keys == (KIND,) for condition in rule.conditions):
            kind = " ".join(sorted(element.words)) if element is not None else ""
            result = f"was read as `{new_action.type}`" if new_action.type != action.type else "is kept"
            message = f"`{action.name}` does not match its element, which is `{kind}`, and {result}"
            self.findings.append(ActionFinding("wrong-element", message, "warning"))
        else:
            defaults = ", ".join([f"`{key}` defaults to {str(value)[:80]}" for key, value in changes.items()])
            self.findings.append(ActionFinding("default-value", f"`{action.name}` is incomplete: {defaults}", "note"))
        return new_action


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
