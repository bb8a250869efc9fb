"""Checks of a caller's arguments: the same types are read, and the same message refuses others, in every function."""

from __future__ import annotations

from collections.abc import AsyncIterable, Collection, Iterable, Mapping
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from .edits import REPAIR_LIMITS

_T = TypeVar("_T")


def kind_of(value: object) -> str:
    """What a value is, for a message: "None", "bytes", "a dict", "the class `Weather`"."""
    if value is None:
        return "None"
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def text_of(value: object, name: str) -> str:
    """The text that an argument holds: a str as it is, bytes as UTF-8, None as "" (chat APIs give `content: null`).

    Bytes that are no UTF-8 become U+FFFD. Raises TypeError for anything else.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    raise TypeError(f"`{name}` is {kind_of(value)}; expected str, bytes or None")


def check_type(value: object, expected: type[_T], name: str) -> _T:
    """Return an argument that is an instance of `expected`. Raises TypeError for anything else."""
    if isinstance(value, expected):
        return value
    raise TypeError(f"`{name}` is {kind_of(value)}; expected {expected.__name__}")


def check_optional(value: object, expected: type[_T], name: str) -> _T | None:
    """Return an argument that is None or an instance of `expected`. Raises TypeError for anything else."""
    if value is None or isinstance(value, expected):
        return value
    raise TypeError(f"`{name}` is {kind_of(value)}; expected {expected.__name__} or None")


def check_choice(value: object, choices: Collection[str], name: str) -> None:
    """Raise ValueError for an argument that is not one of some strings."""
    if isinstance(value, str) and value in choices:
        return
    known = [f'"{choice}"' for choice in choices]
    expected = " or ".join(known) if len(known) == 2 else f"one of {', '.join(known)}"
    raise ValueError(f"`{name}` is {value!r}; expected {expected}")


def check_count(value: object, name: str, least: int = 0) -> None:
    """Raise ValueError for an argument that is not an integer of at least `least`."""
    if type(value) is not int or value < least:
        raise ValueError(f"`{name}` is {value!r}; expected an integer of at least {least}")


def check_repair_limit(value: object) -> None:
    """Raise ValueError for an argument that is not a repair limit."""
    check_choice(value, REPAIR_LIMITS, "repair")


def check_chunks(chunks: Any, whole: str = "parse", twin: str = "astream") -> None:
    """Raise TypeError for an argument that is not an iterable of chunks; a text or an object of an API is none.

    The message names the function for a `whole` response, or the asynchronous `twin`.
    """
    if isinstance(chunks, str | bytes | bytearray | Mapping | BaseModel):
        kind = kind_of(cast("object", chunks))
        raise TypeError(f"`chunks` is {kind}; expected an iterable of chunks (for a whole response, call `{whole}`)")
    if isinstance(chunks, AsyncIterable):
        raise TypeError(f"`chunks` is asynchronous; call `{twin}`")
    if not isinstance(chunks, Iterable):
        raise TypeError(f"`chunks` is {kind_of(chunks)}; expected an iterable of chunks")


def check_async_chunks(chunks: Any, twin: str = "stream") -> None:
    """Raise TypeError for an argument that is not an asynchronous iterable of chunks; the message names the `twin`."""
    if not isinstance(chunks, AsyncIterable):
        raise TypeError(f"`chunks` is {kind_of(chunks)}; expected an asynchronous iterable of chunks (else: `{twin}`)")
