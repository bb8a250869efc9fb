"""A promise that does not hold."""

from __future__ import annotations


class Violation(AssertionError):
    """A promise that does not hold: `kind` is which one, the message what was found instead."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}")
        self.message = message


def require(holds: object, kind: str, message: object = "") -> None:
    """Raises Violation for what does not hold."""
    if not holds:
        raise Violation(kind, str(message))
