"""The tokens of trees."""

from __future__ import annotations

from typing import Any

from lark import Token

from outspoken.results.edits import Edit

#: The type of a `RepairedToken` that is text which was dropped: no terminal of the grammar.
DROPPED = "_DROPPED"


class RepairedToken(Token):
    """A token that was not read as it stands.

    `edits` are what was changed of the text between `start_pos` and `end_pos`; offsets are those of the raw text. A
    missing marker is an empty token with one edit. `reading` is the value of an embedded value and its JSON text, or
    None if the token's own text is to be read. `ambiguous` says which other reading costs the same, or is empty.
    """

    edits: tuple[Edit, ...] = ()
    reading: tuple[Any, str] | None = None
    ambiguous: str = ""

    @classmethod
    def make(
        cls,
        type: str,
        text: str,
        start: int,
        end: int,
        edits: tuple[Edit, ...] = (),
        reading: tuple[Any, str] | None = None,
        ambiguous: str = "",
    ) -> RepairedToken:
        """A token of a type (the name of a terminal, or `DROPPED`) from its text and its offsets."""
        made: Any = cls(type, text, start, end_pos=end)
        made.edits, made.reading, made.ambiguous = edits, reading, ambiguous
        return made
