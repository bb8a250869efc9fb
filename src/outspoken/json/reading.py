"""What was read of the JSON in a text."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outspoken.results.construct import FrozenModel
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.replies import Status

Span = tuple[int, int]


class JsonReading(FrozenModel):
    """The JSON values of a text.

    `status` is "ok" if the text holds the values as they are, "repaired" if repairs were needed, "truncated" if the
    text ends inside a value, and "invalid" if there is no value. `spans` are the offsets (start, end) of the values in
    `raw`, `texts` their JSON: the text of the span with the repairs applied. `level` is the highest level of repair
    that was needed: "exact", "notation", "structure", "strings" or "heuristic". `repairs` lists every change.
    `diagnostics` describes the repairs and other findings, such as text around the values, which does not change the
    status. `ambiguous` says that another reading of a value is as likely.
    """

    raw: str = Field(repr=False)
    values: tuple[Any, ...] = ()
    status: Status
    level: str | None = None
    repairs: tuple[Repair, ...] = ()
    spans: tuple[Span, ...] = Field(default=(), repr=False)
    texts: tuple[str, ...] = Field(default=(), repr=False)
    diagnostics: tuple[Diagnostic, ...] = ()
    ambiguous: bool = False

    @property
    def value(self) -> Any:
        """The first value; None if there is none. `status` tells that from a `null`."""
        return self.values[0] if self.values else None
