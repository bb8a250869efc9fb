"""Whether a text ends within a sentence, and whether a sentence goes on behind what stands in it."""

from __future__ import annotations

import re

#: The last words of a sentence that is open at the end of a text.
_WORDS = re.compile(r"[^\W\d_]['’]?[ \t,]{1,3}[^\W\d_]+,?[ \t]{0,9}\n?[ \t]{0,9}\Z")
#: The end of a line that ends in a word or a number. Chinese, Japanese and Thai write no blanks between their words,
#: and the last letter of others may have marks of its own.
_WORD = re.compile(r"(?:[^\W_]|(?![։؛؟۔।॥።၊။])[\u0300-\u1fff])[)\]）]?[,，、،]?[ \t]{0,9}\Z")
#: So much of a text tells.
_LONGEST = 200
#: What stands in a sentence behind a part of it, and the next word.
_FOLLOWS = re.compile(r"[,;，、；،؛]?[ \t]{0,9}[(（]?[^\W\d_]")
_NEXT_WORD = re.compile(r"[\w'’-]{0,40}[ \t,]{1,3}[^\W\d_]")
#: Signs with which a text may end within a sentence.
_INNER = frozenset(",，、،)]）")


def may_be_open(char: str) -> bool:
    """May a sentence go on behind a character? This is fast."""
    return char.isalnum() or char in _INNER or "\u0300" <= char < "\u2000"


def is_in_sentence(text: str) -> bool:
    """Does a text end within a sentence, maybe at the end of a line?"""
    return _WORDS.search(text[-_LONGEST:]) is not None


def ends_in_word(text: str) -> bool:
    """Does a text end with a word, in its last line?"""
    return _WORD.search(text[-_LONGEST:]) is not None


def end_of_next_word(text: str, *, on_new_line: bool = False, two: bool = False) -> int:
    """Where the first letter of the word ends with which a text goes on with a sentence, or 0 if it does not.

    A new sentence begins with a capital; on a new line, one may also begin with a letter that has none. If `two` words
    are asked for, it is the second one, but in scripts without capitals, which may write no blanks between words.
    """
    match = _FOLLOWS.match(text)
    if match is None:
        return 0
    letter = match[0][-1]
    if not letter.islower():
        return 0 if on_new_line or letter.isupper() else match.end()
    if two:
        match = _NEXT_WORD.match(text, match.end())
    return 0 if match is None else match.end()
