"""What all actions share, and how they name an element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outspoken.results.diagnostics import Repair

FROZEN = ConfigDict(frozen=True, defer_build=True)

Button = Literal["left", "right", "middle", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]


class ElementRef(BaseModel):
    """An element of the page or the screen, by whatever the model has to name it with.

    `mark` is the number or letter that was drawn on it, `index` its place in a list, `id` what the page's own data call
    it; `description` is words for it. `hash`, `kind` and `text` are what a caller's page says of it.
    """

    model_config = FROZEN

    id: str | None = None
    index: int | None = None
    mark: str | None = None
    description: str | None = None
    xpath: str | None = None
    hash: str | None = None
    kind: str | None = None
    text: str | None = None


class BaseAction(BaseModel):
    """What all actions share.

    `name` is the model's own word for it, `raw` the text that it wrote, at `span` in the response, and `extra` holds
    the arguments that no field took. `order` counts the actions of a response from 0, those that cannot be read too.
    `id` is that of the tool call that the action was. `reasoning`, `intention`, `confidence` (0 to 1) and `sensitive`
    are what the model says of this action, None where it says nothing. `metadata` is the caller's.
    """

    model_config = FROZEN

    kind: Literal["action"] = "action"
    name: str = ""
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    status: Literal["ok", "repaired", "truncated", "invalid"] = "ok"
    repairs: tuple[Repair, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict[str, Any])
    id: str | None = None
    order: int = 0
    reasoning: str | None = None
    intention: str | None = None
    confidence: float | None = None
    sensitive: bool | None = None
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What is shown of it: the fields that say something."""
        fields = type(self).model_fields
        for key, value in super().__repr_args__():
            if key is None or key not in fields or value != fields[key].get_default(call_default_factory=True):
                yield key, value


#: The fields of `BaseAction` that say where an action comes from, not what is to be done.
PROVENANCE = frozenset({"kind", "name", "raw", "span", "status", "repairs", "extra", "id", "order", "metadata"})
