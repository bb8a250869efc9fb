"""JSON documents as tokens, and damage as functions from tokens to tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from random import Random
from typing import Any, NamedTuple, cast


class Token(NamedTuple):
    """A token, or the white space between two. `kind` is open, close, comma, colon, key, text, word or space."""

    kind: str
    text: str
    #: the bracket of the container that it lies in, and how many are open round it
    inside: str = ""
    depth: int = 0


class Style(NamedTuple):
    """How a document is written: indentation for each level (None: on one line), gaps, and only ASCII or not."""

    indent: str | None
    gap: str
    ascii: bool


def style(random: Random) -> Style:
    """One of the ways in which models write JSON."""
    indent = random.choice((None, None, None, "  ", "  ", "    "))
    return Style(indent, "" if indent is None and random.random() < 0.3 else " ", random.random() < 0.3)


def quoted(text: str, how: Style) -> str:
    """A string as JSON."""
    return encode_basestring_ascii(text) if how.ascii else encode_basestring(text)


_WORDS = {"True": "true", "False": "false", "None": "null"}


def tokens(value: Any, how: Style, depth: int = 0) -> list[Token]:
    """A value as tokens."""
    if isinstance(value, str):
        return [Token("text", quoted(value, how))]
    if not isinstance(value, (dict, list)):
        return [Token("word", _WORDS.get(str(value)) or repr(value))]
    bracket, members = "[]", cast("list[tuple[str | None, Any]]", [])
    if isinstance(value, dict):
        bracket, members = "{}", list(cast("dict[str | None, Any]", value).items())
    else:
        members += [(None, item) for item in cast("list[Any]", value)]
    parts = [Token("open", bracket[0], bracket[0], depth)]
    for i, (key, item) in enumerate(members):
        if i:
            parts.append(Token("comma", ",", bracket[0], depth))
        if how.indent is not None:
            parts.append(Token("space", "\n" + how.indent * (depth + 1)))
        elif i and how.gap:
            parts.append(Token("space", how.gap))
        if key is not None:
            parts += [Token("key", quoted(key, how)), Token("colon", ":", bracket[0], depth)]
            parts += [Token("space", how.gap)] if how.gap else []
        parts += tokens(item, how, depth + 1)
    if members and how.indent is not None:
        parts.append(Token("space", "\n" + how.indent * depth))
    return [*parts, Token("close", bracket[1], bracket[0], depth)]


def joined(parts: list[Token]) -> str:
    """The text of tokens."""
    return "".join([token.text for token in parts])


# --- Damage to the structure: from tokens to tokens, or None if a document does not allow it

Mutation = Callable[[Random, list[Token]], "list[Token] | None"]


def places(parts: list[Token], kind: str, inside: str = "{[", deeper: int = 0) -> list[int]:
    """Where tokens of a kind are, in containers of these brackets, at least so deep."""
    return [i for i, p in enumerate(parts) if p.kind == kind and p.inside in inside and p.depth >= deeper]


def put(parts: list[Token], place: int, *new: Token, drop: int = 0) -> list[Token]:
    """Tokens with `new` at a place instead of `drop` others."""
    return [*parts[:place], *new, *parts[place + drop :]]


def before_closer(parts: list[Token], place: int) -> int:
    """The place of a comma that trails before a closer: before its white space, too. -1 for an empty container."""
    place -= parts[place - 1].kind == "space"
    return -1 if parts[place - 1].kind == "open" else place


def trailing_comma(random: Random, parts: list[Token], nested: bool = False) -> list[Token] | None:
    closers = places(parts, "close", deeper=1 if nested else 0)
    spots = [spot for i in (closers if nested else closers[-1:]) if (spot := before_closer(parts, i)) > 0]
    return put(parts, random.choice(spots), Token("comma", ",")) if spots else None


def nested_trailing_comma(random: Random, parts: list[Token]) -> list[Token] | None:
    return trailing_comma(random, parts, nested=True)


def trailing_commas(random: Random, parts: list[Token]) -> list[Token] | None:
    for i in reversed(places(parts, "close")):
        if (spot := before_closer(parts, i)) > 0:
            parts = put(parts, spot, Token("comma", ","))
    return parts


def no_comma(random: Random, parts: list[Token], inside: str = "{") -> list[Token] | None:
    spots = places(parts, "comma", inside)
    if not spots:
        return None
    spot = random.choice(spots)
    fused = parts[spot - 1].kind == parts[spot + 1].kind == "word"
    return put(parts, spot, *([Token("space", " ")] if fused else []), drop=1)


def no_comma_between_items(random: Random, parts: list[Token]) -> list[Token] | None:
    return no_comma(random, parts, "[")


def no_colon(random: Random, parts: list[Token]) -> list[Token] | None:
    return put(parts, random.choice(spots), drop=1) if (spots := places(parts, "colon")) else None


def without_last(parts: list[Token], count: int) -> list[Token] | None:
    """Tokens without their last closers; white space before them is lost with them."""
    for _ in range(count):
        if parts[-1].kind != "close":
            return None
        parts = parts[:-2] if parts[-2].kind == "space" else parts[:-1]
    return parts


def no_closer(random: Random, parts: list[Token]) -> list[Token] | None:
    return without_last(parts, 1)


def no_closers(random: Random, parts: list[Token]) -> list[Token] | None:
    return without_last(parts, 2)


def doubled_braces(random: Random, parts: list[Token]) -> list[Token] | None:
    return [Token("open", "{"), *parts, Token("close", "}")]


def surplus_closer(random: Random, parts: list[Token]) -> list[Token] | None:
    return [*parts, Token("close", random.choice("}}}]"))]


def surplus_closer_inside(random: Random, parts: list[Token], open_to_guess: bool = False) -> list[Token] | None:
    """A closer twice. A second brace that also closes the object round it, not the outermost one, has two readings."""
    closers = [i for i in places(parts, "close", deeper=1) if parts[i + 1].kind == "comma"]
    spots = [i for i in closers if open_to_guess == (parts[i].depth > 1 and parts[i].text == "}")]
    return put(parts, spot := random.choice(spots), parts[spot]) if spots else None


def surplus_brace(random: Random, parts: list[Token]) -> list[Token] | None:
    return surplus_closer_inside(random, parts, open_to_guess=True)


def wrong_closer(random: Random, parts: list[Token]) -> list[Token] | None:
    spot = random.choice(places(parts, "close"))
    return put(
        parts, spot, parts[spot]._replace(text=random.choice("]]])" if parts[spot].text == "}" else "}}})")), drop=1
    )


def bare_keys(random: Random, parts: list[Token]) -> list[Token] | None:
    bare: list[Token] = []
    for token in parts:
        kinds = (bare[-1].kind, token.kind) if bare else ("", "")
        if kinds in (("word", "key"), ("key", "word")):  # what stood between them is missing
            bare.append(Token("space", " "))
        name = token.text[1:-1]
        bare.append(token._replace(text=name) if token.kind == "key" and name.isidentifier() else token)
    return bare


REMARKS = ("the user's file", "as asked", 'not "final" yet', "see https://example.com/a", "TODO: check", "a, b: {c}")


def comment(random: Random, parts: list[Token], opener: str, closer: str) -> list[Token] | None:
    for _ in range(random.randint(1, 3)):
        spots = [i for i, p in enumerate(parts) if p.kind == "space" and ("\n" in p.text or closer)]
        if not spots:
            return None
        parts = put(parts, random.choice(spots), Token("note", f" {opener} {random.choice(REMARKS)}{closer}"))
    return parts


def slash_comments(random: Random, parts: list[Token]) -> list[Token] | None:
    return comment(random, parts, "//", "")


def hash_comments(random: Random, parts: list[Token]) -> list[Token] | None:
    return comment(random, parts, "#", "")


def block_comments(random: Random, parts: list[Token]) -> list[Token] | None:
    return comment(random, parts, "/*", " */")


def in_quotes(token: Token) -> bool:
    """Whether it is a string, or a key that is not bare."""
    return token.kind == "text" or (token.kind == "key" and token.text[:1] in "\"'")


def with_quotes(parts: list[Token], opener: str, closer: str) -> list[Token] | None:
    """Other quotes round every string; None if one of them stands in a string."""
    if any(in_quotes(p) and (opener in p.text or closer in p.text) for p in parts):
        return None
    return [p._replace(text=opener + p.text[1:-1] + closer) if in_quotes(p) else p for p in parts]


def smart_quotes(random: Random, parts: list[Token]) -> list[Token] | None:
    return with_quotes(parts, *random.choice(("“”", "“”", "“”", "„“", "””", "‘’")))


def fullwidth(random: Random, parts: list[Token]) -> list[Token] | None:
    chosen = set(random.sample(("colon", "comma", "braces", "brackets"), random.randint(1, 3)))
    swaps = {"colon": ":：", "comma": ",，", "braces": "{｛}｝", "brackets": random.choice(("[［]］", "[【]】"))}
    pairs = {s[i]: s[i + 1] for name, s in swaps.items() if name in chosen for i in range(0, len(s), 2)}
    wide = [
        p._replace(text=pairs.get(p.text, p.text)) if p.kind in ("colon", "comma", "open", "close") else p
        for p in parts
    ]
    return with_quotes(wide, "＂", "＂") if random.random() < 0.15 else wide


_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_RAW = {"n": "\n", "t": "\t"}


def with_escapes(token: Token, spell: Callable[[str], str | None]) -> Token:
    """A string whose escapes are written as `spell` says of what follows the backslash; None leaves one as it is."""
    body = _ESCAPE.sub(lambda escape: escape[0] if (new := spell(escape[1])) is None else new, token.text[1:-1])
    return token._replace(text=f'"{body}"')


def raw_breaks(random: Random, parts: list[Token]) -> list[Token] | None:
    return [with_escapes(p, _RAW.get) if p.kind == "text" else p for p in parts]


def python_words(random: Random, parts: list[Token]) -> list[Token] | None:
    words = {word: name for name, word in _WORDS.items()}
    return [p._replace(text=words.get(p.text, p.text)) if p.kind == "word" else p for p in parts]


def single_quotes(random: Random, parts: list[Token]) -> list[Token] | None:
    def single(token: Token) -> Token:
        body = with_escapes(token._replace(text=token.text.replace("'", "\\'")), {'"': '"'}.get).text[1:-1]
        return token._replace(text=f"'{body}'")

    return [single(p) if in_quotes(p) else p for p in parts]


# --- Damage to strings


def bare_quotes(random: Random, token: Token, raw: bool = False, after: int = 0) -> Token:
    """A string whose quotes are bare, except the first ones."""
    seen = 0

    def spell(escape: str) -> str | None:
        nonlocal seen
        if escape == '"':
            seen += 1
            return '"' if seen > after else None
        return _RAW.get(escape) if raw else None

    return with_escapes(token, spell)


def some_bare_quotes(random: Random, token: Token) -> Token:
    return bare_quotes(random, token, after=random.randint(1, max(1, token.text.count('\\"') - 1)))


def bare_quotes_and_breaks(random: Random, token: Token) -> Token:
    return bare_quotes(random, token, raw=True)


_DOUBLED = re.compile(r'(?<!\\)\\\\(?![\\"/bfnrt]|u[0-9a-fA-F]{4}|$)')


def bare_backslashes(random: Random, parts: list[Token]) -> list[Token] | None:
    """Backslashes are single where what follows them makes no escape."""
    single = "\\\\"
    return [p._replace(text=_DOUBLED.sub(single, p.text[:-1]) + '"') if p.kind == "text" else p for p in parts]


def no_closing_quote(random: Random, parts: list[Token]) -> list[Token] | None:
    kind = "key" if random.random() < 0.25 else "text"
    spot = random.choice([i for i, p in enumerate(parts) if p.kind == kind])
    return put(parts, spot, parts[spot]._replace(text=parts[spot].text[:-1]), drop=1)


def smart_quotes_inside(random: Random, parts: list[Token]) -> list[Token] | None:
    opener, closer = random.choice(("“”", "“”", "„“"))
    if all(opener not in p.text and closer not in p.text for p in parts):
        return None
    return [p._replace(text=opener + p.text[1:-1] + closer) if in_quotes(p) else p for p in parts]
