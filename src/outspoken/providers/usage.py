"""Token counts, and their names in each API."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import Field

from outspoken.results.construct import FrozenModel


class Usage(FrozenModel):
    """Token counts; None for those that the provider does not report. `raw` is its object."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] = Field(default_factory=dict[str, Any], repr=False)


class UsageKeys(NamedTuple):
    """The keys of a usage object. Several keys are alternatives; a dot leads into an object."""

    input_tokens: tuple[str, ...]
    output_tokens: tuple[str, ...]
    total_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    cached_tokens: tuple[str, ...] = ()

    def write(self, usage: Usage, *required: str) -> dict[str, Any]:
        """A usage object, with the first key of each count. Unknown counts are left out; `required` ones are 0."""
        counts: dict[str, Any] = {}
        for name, paths in self._asdict().items():
            count = getattr(usage, name)
            if count is None and name in required:
                is_total = name == "total_tokens"
                count = (usage.input_tokens or 0) + (usage.output_tokens or 0) if is_total else 0
            if count is not None and paths:
                *parents, last = paths[0].split(".")
                inner = counts
                for key in parents:
                    inner = inner.setdefault(key, {})
                inner[last] = count
        return counts
