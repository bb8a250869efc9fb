"""What a builder holds of what is being read, until it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outspoken.json.partial_string import PartialString


class Frame:
    """What is being read: a call, an action, a block. Its fields are filled as they come."""

    start = 0
    kinds = ""
    name: str | None = None
    id: str | None = None
    #: the value of the whole arguments, or of each argument so far, and their JSON text in pieces
    arguments: Any = None
    parts: list[str] | None = None
    #: the argument that is being read: its name, its bare text in pieces, whether that is sent as a string already
    key: str | None = None
    key_start = 0
    bare: list[str] | None = None
    head = ""
    sending = False
    #: the arguments come one by one, so that their object is closed when the call is
    keyed = False
    #: the arguments that were given more than once, where that makes a list
    again: set[str] | None = None
    #: a call that was announced: its number
    index = -1
    #: a call that may be an action, and so is not announced, of which an argument was begun
    begun = False
    problem = ""
    content: str | None = None
    content_span: tuple[int, int] = (0, 0)
    more: bool | None = None
    #: the text that an action types or an answer says, as far as it came
    typed: PartialString | None = None
    #: where the arguments begin, if their places count
    places: dict[str, int] | None = None
