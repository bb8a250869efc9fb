"""What the batch reader raises, and the reason why a row could not be read."""

from __future__ import annotations

from typing import Literal, NamedTuple

from outspoken.results.errors import OutspokenError

#: Why a row is in quarantine. Codes are added, never renamed.
ErrorCode = Literal[
    "not-utf8", "not-json", "not-an-object", "repeated-column", "no-text", "not-text", "too-long", "unknown-format",
    "invalid-tools", "invalid-column", "not-a-response", "no-answer", "failed", "timeout", "worker-died",
    "unreadable-input",
]  # fmt: skip


class BatchError(OutspokenError, ValueError):
    """A batch cannot run: an option, an input or an output folder is wrong. The message says what to do."""


class RowError(NamedTuple):
    """Why a row could not be read: a stable code, and a sentence for people."""

    code: ErrorCode
    message: str


class UnreadableRowError(Exception):
    """A row cannot be read. Caught where rows are read; it never leaves the room."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = RowError(code, message)
