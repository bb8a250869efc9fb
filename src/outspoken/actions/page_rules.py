"""What is changed of actions that do not fit the page or lack something, as their format's header says in `checks`.

    select_option(kind=checkbox) = set_checked(checked=true)
    wait(!seconds) = wait(seconds=20)

On the left stands an action of the vocabulary, and in parentheses what is true of its fields, or of its element's
`kind`; on the right what it becomes. Fields that both have are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.grammar.header import Header
from outspoken.results.actions.union import PROVENANCE, BaseAction
from outspoken.results.diagnostics import Severity
from outspoken.results.settings import Settings

from .codec import Reader, built, unknown_action
from .fields import Misfit
from .mapping import Condition, Meaning, find_argument, meaning_of
from .page import PageContext, PageElement

#: The field of a condition that speaks of the element of an action.
KIND = "kind"


class Finding(NamedTuple):
    """What is said of an action that was checked."""

    code: str
    message: str
    severity: Severity


class Checker:
    """Checks actions of a format against a page. `given` are arguments that the model need not write."""

    def __init__(self, header: Header, page: PageContext | None, given: Mapping[str, Any], settings: Settings) -> None:
        self._header, self._settings, self._page = header, settings, page
        self._given = dict(given)
        self._meanings = _meanings(tuple(header.checks.items()))

    def check(self, action: Any) -> tuple[Any, list[Finding]]:
        """The action with what the page says of its elements, and changed where it does not fit; what was found."""
        found: list[Finding] = []
        action, element = self._placed(action, found)
        for meaning in self._meanings:
            if action.type in meaning.names and self._fits(meaning, action, element):
                action = self._changed(meaning, action, element, found)
        return action, found

    def _placed(self, action: Any, found: list[Finding]) -> tuple[Any, PageElement | None]:
        """The action with what the page says of the elements that it names, and the one that is its target."""
        target: PageElement | None = None
        for field in ("element", "start_element", "end_element"):
            named = getattr(action, field, None)
            if named is None or self._page is None:
                continue
            name, element = self._page.find(named)
            if element is None:
                if name:
                    message = f"there is no element `{name}` on the page, which `{action.name}` names"
                    found.append(Finding("unknown-element", message, "warning"))
                continue
            known = {"hash": element.hash, "kind": element.kind, "text": named.text or element.text}
            change: dict[str, Any] = {field: named.model_copy(update=known)}
            if field == "element":
                target = element
                change["metadata"] = {**action.metadata, **({"element": element.data} if element.data else {})}
            action = action.model_copy(update=change)
        return action, target

    def _fits(self, meaning: Meaning, action: Any, element: PageElement | None) -> bool:
        fields = _fields(action)
        for condition in meaning.conditions:
            if condition.keys == (KIND,):
                if element is None or not element.words or not _is_kind(condition, element):
                    return False
            elif not _holds(condition, fields):
                return False
        return True

    def _changed(self, meaning: Meaning, action: Any, element: PageElement | None, found: list[Finding]) -> Any:
        """What an action becomes, and what is said of that."""
        kept = {key: getattr(action, key) for key in BaseAction.model_fields}
        kept |= {k: v for k, v in _fields(action).items() if k in meaning.model.model_fields}
        reader = Reader(self._header, self._settings, meaning, action.name)
        try:
            changes = reader.fields({**self._given, **_fields(action)})
        except Misfit as misfit:
            found.append(Finding("invalid-action", f"`{action.name}` {misfit}", "error"))
            common = {key: value for key, value in kept.items() if key not in ("status", "name", "extra")}
            return unknown_action(action.name, {**action.extra, **_fields(action)}, common)
        made = built(meaning.model, {**kept, **changes})
        if any(condition.keys == (KIND,) for condition in meaning.conditions):
            kind = " ".join(sorted(element.words)) if element is not None else ""
            what = f"was read as `{made.type}`" if made.type != action.type else "is kept"
            message = f"`{action.name}` does not go with its element, which is `{kind}`, and {what}"
            found.append(Finding("wrong-element", message, "warning"))
        else:
            taken = ", ".join([f"`{key}` is taken to be {str(value)[:80]}" for key, value in changes.items()])
            found.append(Finding("default-value", f"`{action.name}` does not say all: {taken}", "note"))
        return made


@lru_cache(maxsize=64)
def _meanings(checks: tuple[tuple[str, str], ...]) -> tuple[Meaning, ...]:
    return tuple([meaning_of(left, right) for left, right in checks])


def _fields(action: Any) -> dict[str, Any]:
    """What an action says is to be done."""
    return dict(_said(action))


def _said(action: BaseAction) -> Iterator[tuple[str, Any]]:
    for key, info in type(action).model_fields.items():
        value = getattr(action, key)
        if key not in PROVENANCE and key != "type" and value != info.get_default(call_default_factory=True):
            yield key, value


def _holds(condition: Condition, fields: dict[str, Any]) -> bool:
    _, value = find_argument(condition.keys, fields)
    if not condition.words:
        return (value is not None) is condition.wanted
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return (said in condition.words) is condition.wanted


def _is_kind(condition: Condition, element: PageElement) -> bool:
    return bool(element.words & set(condition.words)) is condition.wanted
