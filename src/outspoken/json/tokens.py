"""The tokens of damaged JSON: white space, punctuation, numbers, words, and the quotes and escapes of strings."""

from __future__ import annotations

import re

from outspoken.patterns.lazy import lazy_pattern

#: spaces and marks that are not white space in JSON; ignored between tokens
ODD_SPACE = "\f\v\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
#: the white space of JSON, other spaces, and comments
BLANK = lazy_pattern(
    rf"[ \t\r\n]+|(?P<space>[{ODD_SPACE}]+)|(?P<comment>//[^\n\r]*|\#(?![0-9a-fA-F]{{3,8}}\b)[^\n\r]*|/\*.*?\*/)",
    re.DOTALL,
)

#: An opening bracket, and what closes it in JSON; "(" stays apart, as it may be a tuple.
OPENERS = {"{": "}", "｛": "}", "[": "]", "［": "]", "【": "]", "(": ")", "（": ")"}
#: A closing bracket, and the stack entry that it closes.
CLOSERS = {"}": "}", "｝": "}", "]": "]", "］": "]", "】": "]", ")": ")", "）": ")"}
#: The stack entries, and the bracket that JSON closes them with. "D" is an object in doubled braces, "t" a tuple with
#: a comma.
NAMES = str.maketrans("Dt", "})")
CLOSING = {"}": "}", "D": "}", "]": "]", ")": "]", "t": "]"}
COMMAS = {",": "", "，": "wide-punctuation", "、": "wide-punctuation", ";": "other-separator", "；": "other-separator"}
COLON = lazy_pattern(r":(?!=)|(?P<wide>：)|(?P<other>:=|=>|=|->)")

_END = r"(?=[ \t\r\n,:\]}/\#;)\x0c\x0b\xa0\u2000-\u200d\u3000\ufeff，、；｝］】）]|\Z)"
_APART = _END.replace("[", '["{\\[', 1)
STRICT = lazy_pattern(
    rf"(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?){_APART}|(?P<word>true|false|null){_APART}"
)
#: the beginning of a literal or number that the text ends in
CUT_SCALAR = lazy_pattern(r"(?:[tTfFnNuI][A-Za-z]{0,8}|[-+]?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]*)?)\Z")
WORDS = lazy_pattern(rf"(?:[+-]?[A-Za-z]+){_END}")
LITERALS = {
    "True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null",
    "undefined": "null",
}  # fmt: skip
NOT_FINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("NaN", "nan", "Infinity", "inf", "infinity"))
LOOSE = lazy_pattern(
    r"(?:[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)"
    rf"|[-+－＋]?[0-9０-９]+(?:[.．][0-9０-９]+)?){_END}"
)
THOUSANDS = lazy_pattern(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?(?=\s*[,}]\s*(?:[\"'}\]]|\Z)|\s*\}|\s*\Z)")
ELLIPSIS = lazy_pattern(r"(?:\.{3,}|…+)")
BARE_KEY = lazy_pattern(r"[^\W0-9][\w$.\-]*(?=\s*(?::(?!:)|：|=))|\$[\w$.\-]*(?=\s*:)|-?[0-9]+(?:\.[0-9]+)?(?=\s*:)")
#: the beginning of an object with members, or of a list
DATA = lazy_pattern(
    r"""[{｛]\s*(?:["'“＂][^\n"'”＂]{0,80}["'”＂]\s*[:：]|[A-Za-z_]\w*\s*[:：]|[}｝]|\Z)"""
    r"""|[\[［【]\s*(?:["'“＂{｛\[［【\-0-9\]］】]|(?:[Tt]rue|[Ff]alse|null|None)\b|\Z)"""
)
#: what text holds if it is the rest of a JSON value: a quote beside punctuation
TORN = lazy_pattern(r"""["'”＂]\s*[,:}\]，：｝］](?!\w)|[,:，：{\[]\s*["“＂]""")
#: a key without quotes whose colon is missing
KEY_ALONE = lazy_pattern(
    r"[A-Za-z_]\w*(?=\s*[{\[｛［【]|\s*[\"'“‘＂](?!\s*:)|\s+(?:-?[0-9]|true\b|false\b|null\b|True\b|False\b|None\b))"
)
#: a word without quotes; a colon inside is part of it
_WORD = r"[^\s,，:：{}\[\]()\"'`“”｛｝［］【】;；\#]{1,100}(?::(?=[^\s,{}\[\]\"'`“”])[^\s,，:：{}\[\]\"'`“”]+)*"
BARE = lazy_pattern(rf"\#?{_WORD}(?:[ \t]+{_WORD}){{0,20}}")
#: text of which each backslash begins an escape, as in a string that lacks its quotes
ESCAPED = lazy_pattern(r"[^\\]*(?:\\(?:[bfnrt\\/]|u[0-9A-Fa-f]{4})[^\\]*)*")
BARE_END = lazy_pattern(r"[ \t]*(?=[,，}｝\]］】\r\n;；]|\Z|//)")

_WIDE_DIGITS = str.maketrans("０１２３４５６７８９．－＋", "0123456789.-+")
_MAX_DIGITS = 4000


def loose_number(text: str) -> str | None:
    """A number as JSON writes it, or a text if zeros before it leave open what it is; None if it is too long."""
    written, text = text, text.translate(_WIDE_DIGITS).replace("_", "").lstrip("+")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if len(digits) > _MAX_DIGITS or not digits:
        return None
    if digits[:2].lower() in ("0x", "0o", "0b"):
        return f"{sign}{int(digits, 0)}" if len(digits) > 2 else None
    if digits[0] == "0" and digits[1:2].isdigit():
        return f'"{written}"'
    mantissa, mark, exponent = re.sub("[eE]", "e", digits).partition("e")
    whole, point, fraction = mantissa.partition(".")
    whole = whole or "0"
    if point:
        whole = f"{whole}.{fraction or '0'}"
    return f"{sign}{whole}{mark}{exponent}"


# -- strings

Change = tuple[int, int, str, str]
"""An edit without its level and path: start, end, replacement, code."""

#: An opening quote, and the quotes that close it.
QUOTES = {
    '"': '"', "'": "'", "`": "`´", "“": "”", "”": "”", "„": "“”", "‟": "”", "‘": "’", "’": "’", "‚": "‘’",
    "＂": "＂", "＇": "＇", "「": "」", "『": "』", "«": "»", "″": "″",
}  # fmt: skip

_SOUND_ESCAPE = (
    r"\\(?:[\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_PLAIN = '[^"\\\\\x00-\x1f\ud800-\udfff]*'
#: a sound JSON string without lone surrogates
SOUND = lazy_pattern(f'"{_PLAIN}(?:{_SOUND_ESCAPE}{_PLAIN})*"')

#: a lone surrogate
SURROGATE = lazy_pattern("[\ud800-\udfff]")

_ODD = lazy_pattern(
    f"{_SOUND_ESCAPE}|(?P<escape>\\\\)|(?P<control>[\x00-\x1f]+)|(?P<half>[\ud800-\udfff])|(?P<quote>[\"'`])"
)
#: what a string holds as it stands in JSON, whatever its quotes are
_AS_WRITTEN = lazy_pattern("[^\"'`\\\\\x00-\x1f\ud800-\udfff]*")
_XX = "[0-9a-fA-F]{2}"
_HIGH, _LOW = rf"\\u[dD][89abAB]{_XX}", rf"\\u[dD][c-fC-F]{_XX}"
#: The escape of a half of a surrogate pair without the other half beside it, or behind a backslash, which may be what
#: is escaped. All alternatives begin with the same characters, which the search looks for.
LONE_ESCAPE = lazy_pattern(
    rf"\\u[dD](?:[89abAB]{_XX}(?!{_LOW})|(?<!{_HIGH}\\u[dD])[c-fC-F]{_XX}|(?<=\\\\u[dD])[89abAB]{_XX})"
)
#: what a backslash begins that is no escape of JSON: half a surrogate pair, an escape of Python, a sign without need
_LOOSE_ESCAPE = lazy_pattern(
    rf"\\(?:(?P<half>u[dD][89a-fA-F]{_XX})|\r\n|\n|\r|x(?P<hex>{_XX})|U(?P<wide>000[0-9a-fA-F]{{5}}|0010[0-9a-fA-F]{{4}})"
    r"|(?P<plain>['`]))"
)
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_TAIL = lazy_pattern(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")
_HIGH_END = lazy_pattern(rf"{_HIGH}\Z")


def half_at(text: str, pos: int) -> int:
    """Where the next lone surrogate stands, or an escape that may be one; the end of the text if there is none."""
    escape = LONE_ESCAPE.search(text, pos) if text.find("\\u", pos) >= 0 else None
    end = escape.start() if escape else len(text)
    half = None if text.isascii() else SURROGATE.search(text, pos, end)
    return half.start() if half else end


def _closing(quotes: str) -> re.Pattern[str]:
    chars = re.escape(quotes)
    return re.compile(rf"[^{chars}\\]*(?:\\.[^{chars}\\]*)*([{chars}])", re.DOTALL)


#: The patterns of strings behind their opening quotes, up to the first quote that closes them.
STRING_REST = {opening: _closing(closing) for opening, closing in QUOTES.items()}


def string_changes(text: str, open_end: int, close: int, quote: str, inner_quote: str = "bare-quote") -> list[Change]:
    """The edits that the body of a string needs to be JSON; `quote` is its opening quote, `inner_quote` the code of
    those inside."""
    changes: list[Change] = []
    pos = open_end
    while (pos := _end_as_written(text, pos, close)) < close and (match := _ODD.match(text, pos, close)) is not None:
        kind = match.lastgroup
        start, pos = match.span()
        if kind == "quote":
            if match[0] == quote:
                changes.append((start, pos, '\\"' if quote == '"' else quote, inner_quote))
            elif match[0] == '"':
                changes.append((start, pos, '\\"', "quote-style"))
        elif kind == "control":
            changes.append((start, pos, "".join(map(_control, match[0])), "raw-control"))
        elif kind == "half":
            changes.append((start, pos, "\\ufffd", "lone-surrogate"))
        elif kind == "escape":
            changes.append(_escape_change(text, start, close))
            pos = changes[-1][1]
    return changes


def _end_as_written(text: str, pos: int, end: int) -> int:
    match = _AS_WRITTEN.match(text, pos, end)
    return match.end() if match else end


def _control(char: str) -> str:
    return _CONTROLS.get(char) or f"\\u{ord(char):04x}"


def _escape_change(text: str, start: int, close: int) -> Change:
    """The edit for a backslash that begins no JSON escape."""
    match = _LOOSE_ESCAPE.match(text, start, close)
    if match is None:
        return start, start + 1, "\\\\", "invalid-escape"
    wide = chr(int(match["wide"], 16)) if match["wide"] else ""
    if match["half"] or "\ud800" <= wide <= "\udfff":
        return start, match.end(), "\\ufffd", "lone-surrogate"
    if match["hex"]:
        return start, match.end(), f"\\u00{match['hex']}", "loose-escape"
    if wide:
        return start, match.end(), wide if wide > "~" else _control(wide), "loose-escape"
    return start, match.end(), match["plain"] or "", "loose-escape"


def truncated_end(text: str, open_end: int, end: int) -> int:
    """The end of a truncated string without an incomplete escape or half a surrogate pair."""
    for tail in (_TAIL, _HIGH_END):
        match = tail.search(text, max(open_end, end - 6), end)
        if match and not is_escaped(text, open_end, match.start()):
            end = match.start()
    return end


def is_escaped(text: str, first: int, pos: int) -> bool:
    """Is the character escaped by an odd number of backslashes?"""
    count = pos
    while count > first and text[count - 1] == "\\":
        count -= 1
    return (pos - count) % 2 == 1
