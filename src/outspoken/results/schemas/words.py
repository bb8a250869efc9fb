"""How words, keys, numbers, dates and times are spelled: which of several words one means, and what a text says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .schema import Schema

#: Words shorter than this are not taken for misspelled.
SHORTEST = 4
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
#: Digits in groups of three; a single group behind a comma or a point may be a fraction.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([,_' \u00a0\u202f])\d{3})(?:\1\d{3}){0,30}(?:\.\d{1,300})?")
_POINT_GROUPED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3}){1,30},\d{1,300}")
_MAYBE_GROUP = re.compile(r"[+-]?\d{1,3}\.\d{3}")
#: A decimal comma, which no group of three digits follows.
_COMMA = re.compile(r"[+-]?\d{1,300},(?:\d{1,2}|\d{4,300})")
_CLOCK = re.compile(r"(?P<h>\d{1,2})(?::(?P<m>\d{2}))? ?(?P<half>[ap])\.?m\.?", re.IGNORECASE)
#: Dates with the year first, or with the name of the month.
_DATES = [
    re.compile(pattern)
    for pattern in (
        r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})",
        r"(?P<m>[A-Za-z]{3,9})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})",
        r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.)? (?P<m>[A-Za-z]{3,9})\.?,? (?P<y>\d{4})",
    )
]
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def plain(word: str) -> str:
    """A word without case, accents, white space and punctuation."""
    letters = unicodedata.normalize("NFKD", word.replace("&", " and ")).casefold()
    return "".join([letter for letter in letters if letter.isalnum()])


#: What stands before a word and says nothing more: `is_` of a truth value, the name of an enumeration.
_BEFORE = re.compile(r"(?:[Ii]s|[Hh]as)(?:[_ -]|(?=[A-Z]))|[A-Z]\w*\.(?=[A-Za-z])")


def core(word: str) -> str:
    """The same without what may stand before it."""
    return plain(_BEFORE.sub("", word, count=1) if _BEFORE.match(word) else word)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > SHORTEST else word


def meant_word(word: str, words: list[str]) -> str:
    """The one of several words that a word means, spelled in another way or with one mistake; "" if none is sure."""
    wanted = plain(word)
    rules: tuple[Callable[[str], bool], ...] = (
        lambda candidate: plain(candidate) == wanted,
        lambda candidate: _singular(plain(candidate)) == _singular(wanted),
        lambda candidate: plain(candidate) == core(word) or core(candidate) == wanted,
        lambda candidate: len(wanted) >= SHORTEST and is_one_mistake(plain(candidate), wanted),
    )
    for rule in rules if wanted else ():
        matches = [candidate for candidate in words if rule(candidate)]
        if matches:
            return matches[0] if len(matches) == 1 else ""
    return ""


#: What a key may say besides the name of its member, which is none of another one.
_WORD_ENDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_SAYS_NO_MORE = ("name", "value", "text")


def stands_for(key: str, name: str) -> bool:
    """Is a key another form of a member's name: with `name` behind it or without, or an abbreviation?

    Other words are like it, too, so that this says something only where no other key and no other member is left.
    """
    key_word, name_word = plain(key), plain(name)
    if not key_word or not name_word:
        return False
    if key_word in [name_word + more for more in _SAYS_NO_MORE] or name_word in [
        key_word + more for more in _SAYS_NO_MORE
    ]:
        return True
    if key_word == plain(_WORD_ENDS.split(name, maxsplit=1)[0]):  # `user` is no abbreviation of `user_id`
        return False
    letters = iter(name_word)
    return (
        len(key_word) < len(name_word) and key_word[0] == name_word[0] and all(letter in letters for letter in key_word)
    )


def is_alike(key: str, name: str) -> bool:
    """Do two keys begin alike, so that one may be meant for the other?"""
    one, other = plain(key), plain(name)
    return min(len(one), len(other)) >= SHORTEST and one[:SHORTEST] == other[:SHORTEST]


def is_one_mistake(known: str, word: str, shortest: int = SHORTEST) -> bool:
    """Do two words differ in one letter that is missing, additional, another one, or swapped with the next?"""
    if abs(len(known) - len(word)) > 1 or min(len(known), len(word)) < shortest:
        return False
    at = next((at for at, (a, b) in enumerate(zip(known, word, strict=False)) if a != b), min(len(known), len(word)))
    one, other = known[at:], word[at:]
    return other[1:] == one[1:] or other == one[1:] or other[1:] == one or (other[1::-1] + other[2:] == one)


def key_meant(key: str, schema: Schema, absent: list[str]) -> str:
    """The member that a key means which the schema does not name, of those that are absent; "" if none is sure."""
    is_odd = key not in schema.properties and not (schema.allows_others and not set(absent) & {*schema.required})
    if not is_odd:
        return ""
    if schema.fields.get(key) in absent:
        return schema.fields[key]
    if meant := meant_word(key, absent):
        return meant
    needed = [name for name in absent if name in schema.required]
    is_only = len(needed) == 1 and is_one_mistake(plain(needed[0]), plain(key), shortest=SHORTEST - 1)
    return needed[0] if is_only else ""


def is_path(key: str, value: dict[str, Any], schema: Schema) -> bool:
    """Is a key that the schema does not have the path of a member of an object that is absent?"""
    head, dot, rest = key.partition(".")
    member = schema.member(head) if dot and head in schema.properties and not schema.may_have(key) else None
    return member is not None and head not in value and rest in member.properties


def nested(value: dict[str, Any], paths: list[str]) -> dict[str, Any]:
    """An object with what stands under paths in the objects that they lead to."""
    made = dict[str, Any]()
    for key, inner in value.items():
        if key in paths:
            head, _, rest = key.partition(".")
            made.setdefault(head, {})[rest] = inner
        else:
            made[key] = inner
    return made


_ONES: list[str] = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
_TENS: list[str] = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")


def number_of_words(text: str) -> int | None:
    """The number from 0 to 99 that English words say."""
    first, _, second = text.casefold().replace(" ", "-").partition("-")
    if first in _ONES and not second:
        return _ONES.index(first)
    if first not in _TENS or second not in ["", *_ONES[1:10]]:
        return None
    return 10 * _TENS.index(first) + 20 + (_ONES.index(second) if second else 0)


def number_of(text: str, *, whole: bool) -> int | float | None:
    """The number that a text is, if there is one reading and no digit is lost."""
    text = text.replace("\u2212", "-")
    if grouped := _GROUPED.fullmatch(text):
        if not whole and text.count(",") == 1 and "." not in text:
            return None  # `1,200` may be a fraction
        text = text.replace(grouped[1], "")
    elif _POINT_GROUPED.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    elif whole and _MAYBE_GROUP.fullmatch(text):
        return None  # `1.200` may be a fraction
    elif not whole and _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    elif not _PLAIN_NUMBER.fullmatch(text):
        return None
    try:
        exact = Decimal(text)
        is_integer = whole or text.lstrip("+-").isdecimal()
        if is_integer and exact == exact.to_integral_value() and "e" not in text.lower():
            return int(exact)
        number = float(text)
        is_kept = not whole and abs(number) != float("inf") and Decimal(repr(number)) == exact
    except (InvalidOperation, OverflowError, ValueError):
        return None
    return number if is_kept else None


def iso_date(text: str) -> str:
    """The date that a text is, in the notation of ISO 8601; "" if it is none."""
    found = next((match for one in _DATES if (match := one.fullmatch(text))), None)
    if found is None:
        return ""
    month = found["m"].casefold()
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3]) + 1 if month[:3] in _MONTHS else 0
    return f"{found['y']}-{number:02}-{int(found['d']):02}"


def iso_time(text: str) -> str:
    """The same for a time of twelve hours."""
    found = _CLOCK.fullmatch(text)
    if found is None or not 1 <= int(found["h"]) <= 12:
        return ""
    hour = int(found["h"]) % 12 + (12 if found["half"] in "pP" else 0)
    return f"{hour:02}:{found['m'] or '00'}:00"
