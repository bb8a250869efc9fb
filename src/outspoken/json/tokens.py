"""Tokens of damaged JSON: what stands between values, and the numbers, literals and bare words that models write."""

from __future__ import annotations

import re

#: spaces and marks that JSON does not know: they mean nothing between tokens
ODD_SPACE = "\f\v\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
#: JSON's own white space, and what may be mistaken for it
BLANK = re.compile(
    rf"[ \t\r\n]+|(?P<space>[{ODD_SPACE}]+)|(?P<comment>//[^\n\r]*|\#(?![0-9a-fA-F]{{3,8}}\b)[^\n\r]*|/\*.*?\*/)",
    re.DOTALL,
)
SPACES = re.compile(r"[ \t\r\n]*")

#: An opening bracket as JSON writes it, the closing one, and its name on the stack.
OPENERS = {"{": "}", "｛": "}", "[": "]", "［": "]", "【": "]", "(": ")", "（": ")"}
#: A closing bracket, and the name on the stack that it answers to.
CLOSERS = {"}": "}", "｝": "}", "]": "]", "］": "]", "】": "]", ")": ")", "）": ")"}
#: What is on the stack, and the bracket that JSON closes it with. "D" is an object in doubled braces, "t" a tuple
#: with a comma.
NAMES = str.maketrans("Dt", "})")
CLOSING = {"}": "}", "D": "}", "]": "]", ")": "]", "t": "]"}
COMMAS = {",": "", "，": "wide-punctuation", "、": "wide-punctuation", ";": "other-separator", "；": "other-separator"}
COLON = re.compile(r":(?!=)|(?P<wide>：)|(?P<other>:=|=>|=|->)")

_END = r"(?=[ \t\r\n,:\]}/\#;)\x0c\x0b\xa0\u2000-\u200d\u3000\ufeff，、；｝］】）]|\Z)"
_APART = _END.replace("[", '["{\\[', 1)
STRICT = re.compile(
    rf"(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?){_APART}|(?P<word>true|false|null){_APART}"
)
#: the beginning of a literal or number at the end of the text
CUT_SCALAR = re.compile(r"(?:[tTfFnNuI][A-Za-z]{0,8}|[-+]?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]*)?)\Z")
WORDS = re.compile(rf"(?:[+-]?[A-Za-z]+){_END}")
LITERALS = {
    "True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null",
    "undefined": "null",
}  # fmt: skip
NOT_FINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("NaN", "nan", "Infinity", "inf", "infinity"))
LOOSE = re.compile(
    r"(?:[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)"
    rf"|[-+－＋]?[0-9０-９]+(?:[.．][0-9０-９]+)?){_END}"
)
THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?(?=\s*[,}]\s*(?:[\"'}\]]|\Z)|\s*\}|\s*\Z)")
ELLIPSIS = re.compile(r"(?:\.{3,}|…+)")
BARE_KEY = re.compile(r"[^\W0-9][\w$.\-]*(?=\s*(?::(?!:)|：|=))|\$[\w$.\-]*(?=\s*:)|-?[0-9]+(?:\.[0-9]+)?(?=\s*:)")
#: what begins an object with members, or a list
DATA = re.compile(
    r"""[{｛]\s*(?:["'“＂][^\n"'”＂]{0,80}["'”＂]\s*[:：]|[A-Za-z_]\w*\s*[:：]|[}｝]|\Z)"""
    r"""|[\[［【]\s*(?:["'“＂{｛\[［【\-0-9\]］】]|(?:[Tt]rue|[Ff]alse|null|None)\b|\Z)"""
)
#: what is left of JSON that was read for too short: a quote beside punctuation
TORN = re.compile(r"""["'”＂]\s*[,:}\]，：｝］](?!\w)|[,:，：{\[]\s*["“＂]""")
#: a key without quotes whose colon is missing
KEY_ALONE = re.compile(
    r"[A-Za-z_]\w*(?=\s*[{\[｛［【]|\s*[\"'“‘＂](?!\s*:)|\s+(?:-?[0-9]|true\b|false\b|null\b|True\b|False\b|None\b))"
)
#: a word without quotes; a colon or slash inside is part of it
_WORD = r"[^\s,，:：{}\[\]()\"'`“”｛｝［］【】;；\#]{1,100}(?::(?=[^\s,{}\[\]\"'`“”])[^\s,，:：{}\[\]\"'`“”]+)*"
BARE = re.compile(rf"\#?{_WORD}(?:[ \t]+{_WORD}){{0,20}}")
BARE_END = re.compile(r"[ \t]*(?=[,，}｝\]］】\r\n;；]|\Z|//)")

_WIDE_DIGITS = str.maketrans("０１２３４５６７８９．－＋", "0123456789.-+")
_MAX_DIGITS = 4000


def loose_number(text: str) -> str | None:
    """A number as JSON writes it; None where it is too long to be converted."""
    text = text.translate(_WIDE_DIGITS).replace("_", "").lstrip("+")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if len(digits) > _MAX_DIGITS or not digits:
        return None
    if digits[:2].lower() in ("0x", "0o", "0b"):
        return f"{sign}{int(digits, 0)}" if len(digits) > 2 else None
    mantissa, mark, exponent = re.sub("[eE]", "e", digits).partition("e")
    whole, point, fraction = mantissa.partition(".")
    whole = whole.lstrip("0") or "0"
    if point:
        whole = f"{whole}.{fraction or '0'}"
    return f"{sign}{whole}{mark}{exponent}"
