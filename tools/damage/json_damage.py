"""JSON documents as tokens, and a table of what may damage them.

Damage is an edit at a place: `one(PLACE, EDIT)` edits one of the tokens that a place names; others rewrite all tokens
of a kind. A new one is a line of `DAMAGE`, of `STRING_DAMAGE`, or of `QUOTE_DAMAGE`.
"""

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


#: Damages tokens; None if the document does not allow it.
Mutation = Callable[[Random, list[Token]], "list[Token] | None"]
#: Where an edit may be done: indices of tokens.
Place = Callable[[list[Token]], list[int]]
#: What is done at an index.
Edit = Callable[[Random, list[Token], int], list[Token]]


# --- Places


def places(kind: str, inside: str = "{[", deeper: int = 0) -> Place:
    """Tokens of a kind, in containers of these brackets, at least so deep."""
    return lambda parts: [i for i, p in enumerate(parts) if p.kind == kind and p.inside in inside and p.depth >= deeper]


def _before_closers(deeper: int = 0, *, last: bool = False) -> Place:
    """Before closers of containers that are not empty, or only the last one, and before their white space."""

    def find(parts: list[Token]) -> list[int]:
        closers = places("close", deeper=deeper)(parts)
        spots = [i - (parts[i - 1].kind == "space") for i in (closers[-1:] if last else closers)]
        return [spot for spot in spots if parts[spot - 1].kind != "open"]

    return find


def _inner_closers(*, is_open_to_guess: bool) -> Place:
    """Closers before a comma. A second brace that also closes the object round it, not the outermost, is a guess."""
    return lambda parts: [
        i
        for i in places("close", deeper=1)(parts)
        if parts[i + 1].kind == "comma" and is_open_to_guess == (parts[i].depth > 1 and parts[i].text == "}")
    ]


# --- Edits at a place


def _put(parts: list[Token], place: int, *new: Token, drop: int = 0) -> list[Token]:
    return [*parts[:place], *new, *parts[place + drop :]]


def _comma_put(random: Random, parts: list[Token], at: int) -> list[Token]:
    return _put(parts, at, Token("comma", ","))


def _dropped(random: Random, parts: list[Token], at: int) -> list[Token]:
    """Without the token; words on both sides stay apart."""
    fused = parts[at].kind == "comma" and parts[at - 1].kind == parts[at + 1].kind == "word"
    return _put(parts, at, *([Token("space", " ")] if fused else []), drop=1)


def _doubled(random: Random, parts: list[Token], at: int) -> list[Token]:
    return _put(parts, at, parts[at])


def _wrong_closer(random: Random, parts: list[Token], at: int) -> list[Token]:
    return _put(parts, at, parts[at]._replace(text=random.choice("]]])" if parts[at].text == "}" else "}}})")), drop=1)


def _unquoted_end(random: Random, parts: list[Token], at: int) -> list[Token]:
    return _put(parts, at, parts[at]._replace(text=parts[at].text[:-1]), drop=1)


def one(place: Place, edit: Edit) -> Mutation:
    """An edit at one of the places."""

    def mutate(random: Random, parts: list[Token]) -> list[Token] | None:
        spots = place(parts)
        return edit(random, parts, random.choice(spots)) if spots else None

    return mutate


# --- Damage to the whole document


def _trailing_commas(random: Random, parts: list[Token]) -> list[Token] | None:
    for spot in reversed(_before_closers()(parts)):
        parts = _put(parts, spot, Token("comma", ","))
    return parts


def _without_closers(count: int) -> Mutation:
    """Without the last closers; white space before them is lost with them."""

    def mutate(random: Random, parts: list[Token]) -> list[Token] | None:
        for _ in range(count):
            if parts[-1].kind != "close":
                return None
            parts = parts[:-2] if parts[-2].kind == "space" else parts[:-1]
        return parts

    return mutate


def _doubled_braces(random: Random, parts: list[Token]) -> list[Token]:
    return [Token("open", "{"), *parts, Token("close", "}")]


def _surplus_closer(random: Random, parts: list[Token]) -> list[Token]:
    return [*parts, Token("close", random.choice("}}}]"))]


def _bare_keys(random: Random, parts: list[Token]) -> list[Token]:
    bare: list[Token] = []
    for token in parts:
        kinds = (bare[-1].kind, token.kind) if bare else ("", "")
        if kinds in (("word", "key"), ("key", "word")):  # what stood between them is missing
            bare.append(Token("space", " "))
        name = token.text[1:-1]
        bare.append(token._replace(text=name) if token.kind == "key" and name.isidentifier() else token)
    return bare


_REMARKS = ("the user's file", "as asked", 'not "final" yet', "see https://example.com/a", "TODO: check", "a, b: {c}")


def _comments(opener: str, closer: str = "") -> Mutation:
    def mutate(random: Random, parts: list[Token]) -> list[Token] | None:
        for _ in range(random.randint(1, 3)):
            spots = [i for i, p in enumerate(parts) if p.kind == "space" and ("\n" in p.text or closer)]
            if not spots:
                return None
            parts = _put(parts, random.choice(spots), Token("note", f" {opener} {random.choice(_REMARKS)}{closer}"))
        return parts

    return mutate


def _in_quotes(token: Token) -> bool:
    """Whether it is a string, or a key that is not bare."""
    return token.kind == "text" or (token.kind == "key" and token.text[:1] in "\"'")


def _with_quotes(parts: list[Token], opener: str, closer: str, *, also_inside: bool = False) -> list[Token] | None:
    """Other quotes round every string; None if one of them stands in a string, or none where they are to."""
    if any((opener in p.text or closer in p.text) and (also_inside or _in_quotes(p)) for p in parts) != also_inside:
        return None
    return [p._replace(text=opener + p.text[1:-1] + closer) if _in_quotes(p) else p for p in parts]


def _smart_quotes(random: Random, parts: list[Token]) -> list[Token] | None:
    return _with_quotes(parts, *random.choice(("“”", "“”", "“”", "„“", "””", "‘’")))


def _smart_quotes_inside(random: Random, parts: list[Token]) -> list[Token] | None:
    return _with_quotes(parts, *random.choice(("“”", "“”", "„“")), also_inside=True)


def _fullwidth(random: Random, parts: list[Token]) -> list[Token] | None:
    chosen = set(random.sample(("colon", "comma", "braces", "brackets"), random.randint(1, 3)))
    swaps = {"colon": ":：", "comma": ",，", "braces": "{｛}｝", "brackets": random.choice(("[［]］", "[【]】"))}
    pairs = {s[i]: s[i + 1] for name, s in swaps.items() if name in chosen for i in range(0, len(s), 2)}
    marks = ("colon", "comma", "open", "close")
    wide = [p._replace(text=pairs.get(p.text, p.text)) if p.kind in marks else p for p in parts]
    return _with_quotes(wide, "＂", "＂") if random.random() < 0.15 else wide


_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_RAW = {"n": "\n", "t": "\t"}
_DOUBLED = re.compile(r'(?<!\\)\\\\(?![\\"/bfnrt]|u[0-9a-fA-F]{4}|$)')


def _with_escapes(token: Token, spell: Callable[[str], str | None]) -> Token:
    """A string whose escapes are written as `spell` says of what follows the backslash; None leaves one as it is."""
    body = _ESCAPE.sub(lambda escape: escape[0] if (new := spell(escape[1])) is None else new, token.text[1:-1])
    return token._replace(text=f'"{body}"')


def _raw_breaks(random: Random, parts: list[Token]) -> list[Token]:
    return [_with_escapes(p, _RAW.get) if p.kind == "text" else p for p in parts]


def _python_words(random: Random, parts: list[Token]) -> list[Token]:
    words = {word: name for name, word in _WORDS.items()}
    return [p._replace(text=words.get(p.text, p.text)) if p.kind == "word" else p for p in parts]


def _single_quotes(random: Random, parts: list[Token]) -> list[Token]:
    def single(token: Token) -> Token:
        body = _with_escapes(token._replace(text=token.text.replace("'", "\\'")), {'"': '"'}.get).text[1:-1]
        return token._replace(text=f"'{body}'")

    return [single(p) if _in_quotes(p) else p for p in parts]


def _bare_backslashes(random: Random, parts: list[Token]) -> list[Token]:
    """Backslashes are single where what follows them makes no escape."""
    return [p._replace(text=_DOUBLED.sub("\\\\", p.text[:-1]) + '"') if p.kind == "text" else p for p in parts]


def _no_closing_quote(random: Random, parts: list[Token]) -> list[Token] | None:
    kind = "key" if random.random() < 0.25 else "text"
    return one(lambda parts: [i for i, p in enumerate(parts) if p.kind == kind], _unquoted_end)(random, parts)


# --- Damage to a string


def _bare_quotes(*, some: bool = False, breaks: bool = False) -> Callable[[Random, Token], Token]:
    """A string whose quotes are bare, or some of them but for the first ones, or its line breaks, too."""

    def damage(random: Random, token: Token) -> Token:
        seen, after = 0, random.randint(1, max(1, token.text.count('\\"') - 1)) if some else 0

        def spell(escape: str) -> str | None:
            nonlocal seen
            if escape == '"':
                seen += 1
                return '"' if seen > after else None
            return _RAW.get(escape) if breaks else None

        return _with_escapes(token, spell)

    return damage


#: Damage to the structure, by name.
DAMAGE: dict[str, Mutation] = {
    "trailing comma": one(_before_closers(last=True), _comma_put),
    "trailing comma, nested": one(_before_closers(deeper=1), _comma_put),
    "trailing commas, all": _trailing_commas,
    "comma missing between members": one(places("comma", "{"), _dropped),
    "comma missing between items": one(places("comma", "["), _dropped),
    "colon missing": one(places("colon"), _dropped),
    "closer missing": _without_closers(1),
    "both closers missing": _without_closers(2),
    "doubled outer braces": _doubled_braces,
    "surplus closer": _surplus_closer,
    "surplus closer, inside": one(_inner_closers(is_open_to_guess=False), _doubled),
    "surplus brace, two readings": one(_inner_closers(is_open_to_guess=True), _doubled),
    "wrong closer": one(places("close"), _wrong_closer),
    "Python literals": _python_words,
    "single quotes": _single_quotes,
    "bare keys": _bare_keys,
    "comments with //": _comments("//"),
    "comments with /* */": _comments("/*", " */"),
    "comments with #": _comments("#"),
    "fullwidth punctuation": _fullwidth,
    "smart quotes": _smart_quotes,
    "raw line breaks and tabs": _raw_breaks,
}
#: Damage to strings, or to what ends one.
STRING_DAMAGE: dict[str, Mutation] = {
    "closing quote lost": _no_closing_quote,
    "backslashes not doubled": _bare_backslashes,
    "smart quotes, in strings too": _smart_quotes_inside,
}
#: Damage to one string with quotes in it.
QUOTE_DAMAGE: dict[str, Callable[[Random, Token], Token]] = {
    "inner quotes bare": _bare_quotes(),
    "inner quotes and breaks bare": _bare_quotes(breaks=True),
    "some inner quotes bare": _bare_quotes(some=True),
}
#: Damage that occurs together, in the order in which it is done.
TOGETHER = (
    ("raw line breaks and tabs",),
    ("comma missing between members", "comma missing between items", "colon missing"),
    ("closer missing", "surplus closer", "doubled outer braces"),
    ("trailing comma", "trailing comma, nested", "trailing commas, all"),
    ("bare keys",),
    ("Python literals",),
    ("single quotes",),
    ("fullwidth punctuation",),
    ("comments with //", "comments with /* */", "comments with #"),
)
