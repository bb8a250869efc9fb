"""Was a damaged text read as it was meant? And what a reading has to look like to be asked that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from .cases import KINDS, DamageCase


class Change(Protocol):
    """A repair, as far as it is looked at here."""

    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


class Reading(Protocol):
    """What `read_json` returns, as far as it is looked at here."""

    @property
    def values(self) -> Sequence[Any]: ...
    @property
    def status(self) -> str: ...
    @property
    def rung(self) -> str | None: ...
    @property
    def ambiguous(self) -> bool: ...
    @property
    def repairs(self) -> Sequence[Change]: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def spans(self) -> Sequence[tuple[int, int]]: ...


@dataclass(frozen=True)
class Verdict:
    """Was a text read as it was meant, and if not, does the reading say that it may be wrong?"""

    right: bool
    flagged: bool
    why: str = ""

    @property
    def silent(self) -> bool:
        """Wrong, and nothing says so."""
        return not self.right and not self.flagged


def same(one: Any, other: Any) -> bool:
    """Are two values the same, with their types and with the order of their keys?"""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        mine, yours = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return list(mine) == list(yours) and all(same(mine[k], yours[k]) for k in mine)
    if isinstance(one, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(map(same, items, others))
    return one == other


def begins(part: Any, whole: Any) -> bool:
    """Is a value what can be known of another one from the beginning of its text?"""
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, dict) and isinstance(whole, dict):
        known, meant = cast("dict[str, Any]", part), cast("dict[str, Any]", whole)
        if list(known) != list(meant)[: len(known)]:
            return False
        return _begin([(known[k], meant[k]) for k in known])
    if isinstance(part, list) and isinstance(whole, list):
        items, others = cast("list[Any]", part), cast("list[Any]", whole)
        return len(items) <= len(others) and _begin(list(zip(items, others, strict=False)))
    return same(part, whole)


def _begin(pairs: list[tuple[Any, Any]]) -> bool:
    return all(same(*pair) for pair in pairs[:-1]) and all(begins(*pair) for pair in pairs[-1:])


def judge(case: DamageCase, reading: Reading) -> Verdict:
    """Judge the reading of a case.

    A text that was cut has to be called `truncated`, with the beginning of what was meant. Any other has to be read
    whole; it may be called `truncated` only where nothing proves that it is not. A wrong reading is flagged where it
    is `invalid`, ambiguous or json-repair's; or `truncated`, where the text was not cut, as nobody acts on it.
    """
    status, values = reading.status, list(reading.values)
    whole = same(values, case.values)
    flagged = status == "invalid" or reading.ambiguous or reading.rung == "heuristic"
    if KINDS[case.kind].group == "cut":
        if status == "truncated":
            known = len(values) <= 1 and all(begins(value, case.values[0]) for value in values)
            return Verdict(known, flagged, "" if known else "not the beginning of what was meant")
        return Verdict(whole and status != "invalid", flagged, "" if whole else f"{status}, but was cut")
    if not whole:
        return Verdict(False, flagged or status == "truncated", "another value")
    if status == "invalid" or (status == "truncated" and not case.open_ended):
        return Verdict(False, True, f"the value, but {status}")
    return Verdict(True, flagged)


def replay(raw: str, reading: Reading) -> list[str]:
    """The raw text of each value with the repairs in it done. They come in order, those of one value together."""
    texts: list[str] = []
    left = list(reading.repairs)
    for start, end in reading.spans:
        pieces: list[str] = []
        at = start
        while left and at <= left[0].span[0] and left[0].span[1] <= end:
            first, last = left[0].span
            pieces += [raw[at:first], left.pop(0).after]
            at = last
        texts.append("".join([*pieces, raw[at:end]]))
    return texts
