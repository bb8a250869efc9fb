"""The error of a command that cannot run."""

from __future__ import annotations

from collections.abc import Iterable


class UsageError(Exception):
    """The command cannot run with these arguments. The message is one sentence that says what to do instead."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar names, or an empty string if none is similar."""
    from difflib import get_close_matches  # few processes need it

    found = get_close_matches(name.lower(), list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join([f'`{one}`' for one in found])}?" if found else ""
