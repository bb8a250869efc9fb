"""The words in the lines of a mapping, and the names that stand for several."""

from __future__ import annotations

import re

#: A pattern for a word in quotes.
STRING = r'"(?:[^"\\]|\\.)*"'
#: A field that is in no model: the points of a drag as one list.
PATH = "path"

#: Named groups of arguments, from the header's `arguments`.
Groups = dict[str, tuple[str, ...]]


def unquoted(word: str) -> str:
    """A word without its quotes and escapes."""
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word
