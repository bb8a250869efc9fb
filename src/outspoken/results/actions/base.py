"""The base model of GUI actions, references to elements, and actions that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from outspoken.results.construct import FrozenModel, construct, set_given
from outspoken.results.diagnostics import Repair

#: What is shown in the place of a secret.
REDACTED = "[redacted]"
#: The fields of a sensitive action that may hold the secret.
_SECRETS = frozenset({"text", "extra", "reasoning", "intention", "label", "value", "code", "query", "url", "keys"})

Button = Literal["left", "right", "middle", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]


class ElementRef(FrozenModel):
    """A reference to an element of a page or screen, in the terms that the model used.

    `mark` is the label drawn on the element in the screenshot, `index` its position in a list, `id` its identifier in
    the page data, and `description` a phrase. `hash`, `kind` and `text` are filled in from the caller's page.
    """

    id: str | None = None
    index: int | None = None
    mark: str | None = None
    description: str | None = None
    xpath: str | None = None
    hash: str | None = None
    kind: str | None = None
    text: str | None = None

    @classmethod
    def of(cls, parts: dict[str, Any]) -> ElementRef:
        """A reference from fields with values of the right type. Building the validators would take 15 ms."""
        made = construct(cls, {**_NO_PARTS, **parts})
        set_given(made, set(parts))
        return made


_NO_PARTS = dict.fromkeys(ElementRef.model_fields)


class BaseAction(FrozenModel):
    """The fields that all actions share.

    `name` is the model's own word for the action and `raw` the text it wrote, at `span` in the response. `extra` holds
    the arguments that no field takes. `order` numbers the actions of a response from 0, invalid ones included. `id` is
    the id of the tool call, if the action was one. `reasoning`, `intention`, `confidence` (0 to 1) and `sensitive` are
    the model's remarks on this action, or None. `metadata` belongs to the caller.
    """

    kind: Literal["action"] = "action"
    name: str = Field(default="", repr=False)
    raw: str = Field(default="", repr=False)
    span: tuple[int, int] = Field(default=(0, 0), repr=False)
    status: Literal["ok", "repaired", "truncated", "invalid"] = "ok"
    repairs: tuple[Repair, ...] = Field(default=(), repr=False)
    extra: dict[str, Any] = Field(default_factory=dict[str, Any])
    id: str | None = None
    order: int = Field(default=0, repr=False)
    reasoning: str | None = None
    intention: str | None = None
    confidence: float | None = None
    sensitive: bool | None = None
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])

    def secrets(self) -> frozenset[str]:
        """The fields that `repr` and `str` do not show, such as the text of a sensitive action."""
        return _SECRETS if self.sensitive else frozenset()

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What the action does, then the fields that all actions share."""
        shared, hidden = BaseAction.model_fields, self.secrets()
        for name, value in sorted(super().__repr_args__(), key=lambda arg: arg[0] in shared):
            yield name, REDACTED if name in hidden and value else value


class UnknownAction(BaseAction):
    """An action that is not in the format's vocabulary or has invalid arguments, which are in `extra`."""

    type: Literal["unknown"] = "unknown"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield None, self.name
        yield from super().__repr_args__()


#: The fields of `BaseAction` that describe where an action comes from, not what it does.
PROVENANCE = frozenset({"kind", "name", "raw", "span", "status", "repairs", "extra", "id", "order", "metadata"})
