"""The violation of an invariant."""

from __future__ import annotations


class ViolationError(AssertionError):
    """`kind` names the invariant that is violated; the message says what was found."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}")
        self.message = message


def require(holds: object, kind: str, message: object = "") -> None:
    """Raise ViolationError unless something holds."""
    if not holds:
        raise ViolationError(kind, str(message))
