"""The error of a command that cannot run."""

from __future__ import annotations

from collections.abc import Iterable

from outspoken.results.errors import nearest


class UsageError(Exception):
    """The command cannot run with these arguments. The message is one sentence that says what to do instead."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar names, or an empty string if none is similar.

    A name that begins a few known ones means these.
    """
    words = {one.lstrip("-"): one for one in known}
    name = name.lower().lstrip("-")
    near = [word for word in words if len(name) > 2 and word.startswith(name)][:3] or nearest(name, [*words], 0.65)
    return f"; did you mean {' or '.join([f'`{words[word]}`' for word in near])}?" if near else ""
