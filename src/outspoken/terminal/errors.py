"""The error of a command that cannot run."""

from __future__ import annotations

from collections.abc import Iterable

#: Names whose similarity is lower than that of the best match by more than this are not suggested.
_MAX_DIFFERENCE = 0.1


class UsageError(Exception):
    """The command cannot run with these arguments. The message is one sentence that says what to do instead."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar names, or an empty string if none is similar.

    A name that begins a few known ones means these.
    """
    from difflib import SequenceMatcher, get_close_matches  # few processes need it

    words = {one.lstrip("-"): one for one in known}
    name = name.lower().lstrip("-")
    near = [f"`{one}`" for word, one in words.items() if len(name) > 2 and word.startswith(name)][:3]
    if not near:
        found = get_close_matches(name, list(words), n=2, cutoff=0.65)
        like = [SequenceMatcher(None, one, name).ratio() for one in found]
        pairs = zip(found, like, strict=True)
        near = [f"`{words[one]}`" for one, ratio in pairs if ratio > like[0] - _MAX_DIFFERENCE]
    return f"; did you mean {' or '.join(near)}?" if near else ""
