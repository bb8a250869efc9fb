"""The names that applications expect in the plain objects of `Reply.to_envelope` and `Reply.to_message`.

The core knows no such names. `outspoken/__init__.py` registers a function that imports the defaults from `contrib`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Conventions(NamedTuple):
    """Key names and fixed words of an application.

    `content`, `tool_calls` and `needs_more_work` are the keys of an envelope; `placeholder` is the content of an
    envelope for a reply that calls tools and contains no text. `message_keys` are the types of the payloads that have
    a key of their own in a message.
    """

    content: str = "content"
    tool_calls: str = "tool_calls"
    needs_more_work: str = "needs_more_work"
    placeholder: str = ""
    message_keys: tuple[str, ...] = ()


_load: Callable[[], Conventions] = Conventions


def register_conventions(load: Callable[[], Conventions]) -> None:
    """Set the function that returns the default conventions. It is called each time they are needed."""
    global _load
    _load = load


def default_conventions() -> Conventions:
    """The conventions that apply unless a call passes others."""
    return _load()
