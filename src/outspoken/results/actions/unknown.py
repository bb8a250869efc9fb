"""What cannot be read as an action of the format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from .base import BaseAction


class UnknownAction(BaseAction):
    """An action that is not in the format's vocabulary or has invalid arguments, which are in `extra`."""

    type: Literal["unknown"] = "unknown"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield None, self.name
        yield from super().__repr_args__()
