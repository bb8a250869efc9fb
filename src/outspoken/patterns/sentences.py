"""Whether a text ends within a sentence, and how a sentence goes on behind what stands in it."""

from __future__ import annotations

import re

#: The last words of a sentence that is open at the end of a text.
_WORDS = re.compile(r"[^\W\d_]['’]?[ \t,]{1,3}[^\W\d_]+,?[ \t]{0,9}\n?[ \t]{0,9}\Z")
#: So much of a text tells.
_LONGEST = 200
#: How a sentence goes on.
GOES_ON = re.compile(r"\A[,;]?[ \t]{0,9}(?![A-ZÀ-Þ])[^\W\d_]")


def is_in_sentence(text: str) -> bool:
    """Does a text end within a sentence?"""
    return _WORDS.search(text[-_LONGEST:]) is not None
