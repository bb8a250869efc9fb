"""Reads grammars of llama.cpp (GBNF), and texts by them.

A small reader of its own, so that what `to_gbnf` writes is tested without llama.cpp:
https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\#[^\n]*)|(?P<line>\n)|(?P<name>[a-zA-Z0-9-]+)|(?P<defined>::=)|(?P<sign>[|().])
    |(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<chars>\[(?:[^\]\\\n]|\\.)*\])|(?P<times>[*+?]|\{[0-9]+(?:,[0-9]*)?\})""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<char>.))|.", re.S)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]"}


class Chars(NamedTuple):
    """A class of characters."""

    ranges: tuple[tuple[int, int], ...]
    is_negated: bool = False

    def holds(self, code: int) -> bool:
        """Is a character in the class?"""
        return any(low <= code <= high for low, high in self.ranges) != self.is_negated


#: A class of characters, or the name of a rule.
Part: TypeAlias = "Chars | str"
#: What is still to be read: the rest of a sequence, and what comes behind it.
Rest: TypeAlias = "tuple[tuple[Part, ...], Rest] | None"


class GbnfError(ValueError):
    """A text is no grammar."""


class Grammar:
    """The rules of a grammar, each with its alternatives. Raises GbnfError if a text is none."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, tuple[tuple[Part, ...], ...]] = {}
        self._tokens = list(_tokens(text))
        self._at = 0
        while self._peek()[0]:
            if self._peek()[0] == "line":
                self._at += 1
            else:
                self._rule()
        used = [part for rule in self.rules.values() for parts in rule for part in parts if isinstance(part, str)]
        if missing := {"root", *used} - self.rules.keys():
            raise GbnfError(f"no rules of these names: {', '.join(sorted(missing))}")
        self.opened: dict[Rest, tuple[frozenset[Rest], bool]] = {}

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("", "")

    def _next(self, *kinds: str) -> str:
        kind, text = self._peek()
        if kind not in kinds:
            raise GbnfError(f"{text!r} where a {' or '.join(kinds)} is expected")
        self._at += 1
        return text

    def _rule(self) -> None:
        name = self._next("name")
        self._next("defined")
        if name in self.rules:
            raise GbnfError(f"two rules are named {name}")
        self.rules[name] = ()
        self.rules[name] = self._alternatives(in_group=False)
        if self._peek()[0]:
            self._next("line")

    def _alternatives(self, *, in_group: bool) -> tuple[tuple[Part, ...], ...]:
        found = [self._sequence(in_group=in_group)]
        while self._peek() == ("sign", "|"):
            self._at += 1
            found.append(self._sequence(in_group=in_group))
        return tuple(found)

    def _sequence(self, *, in_group: bool) -> tuple[Part, ...]:
        found: list[Part] = []
        while True:
            while in_group and self._peek()[0] == "line":
                self._at += 1
            kind, text = self._peek()
            if kind in ("", "line") or (text in ("|", ")") and kind == "sign"):
                return tuple(found)
            last = self._item()
            while self._peek()[0] == "times":
                last = self._repeated(tuple(last), self._next("times"))
            found += last

    def _item(self) -> list[Part]:
        text = self._next("name", "text", "chars", "sign")
        if text == "(":
            options = self._alternatives(in_group=True)
            if self._next("sign") != ")":
                raise GbnfError("a group is not closed")
            return list(options[0]) if len(options) == 1 else [self._new(options)]
        if text == ".":
            return [Chars((), is_negated=True)]
        if text.startswith('"'):
            return [Chars(((ord(char), ord(char)),)) for char, _ in _characters(text[1:-1])]
        if text.startswith("["):
            return [_chars(text[1:-1])]
        return [text]

    def _new(self, options: tuple[tuple[Part, ...], ...]) -> str:
        name = f" {len(self.rules)}"
        self.rules[name] = options
        return name

    def _repeated(self, part: tuple[Part, ...], times: str) -> list[Part]:
        low, comma, high = {"*": "0,", "+": "1,", "?": "0,1"}.get(times, times.strip("{}")).partition(",")
        found = list(part) * int(low)
        if comma and not high:
            name = self._new(())
            self.rules[name] = ((*part, name), ())
            return [*found, name]
        rest: tuple[Part, ...] = ()
        for _ in range(int(high or low) - int(low)):
            rest = (self._new(((*part, *rest), ())),)
        return [*found, *rest]

    def open(self, rest: Rest) -> tuple[frozenset[Rest], bool]:
        """The places that read a character, from a place on, and whether the text may end there."""
        if rest not in self.opened:
            places, seen, may_end = set[Rest](), {rest}, False
            waiting = [rest]
            while waiting:
                one = waiting.pop()
                if one is None:
                    may_end = True
                    continue
                parts, behind = one
                if not parts:
                    reached = [behind]
                elif isinstance(first := next(iter(parts)), Chars):
                    places.add(one)
                    continue
                else:
                    after = (parts[1:], behind) if len(parts) > 1 else behind
                    reached = [(option, after) for option in self.rules[first]]
                waiting += [new for new in reached if new not in seen]
                seen.update(reached)
            self.opened[rest] = frozenset(places), may_end
        return self.opened[rest]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise GbnfError(f"unexpected {text[at : at + 20]!r}")
        at = found.end()
        if found.lastgroup != "space":
            yield str(found.lastgroup), found[0]


def _characters(text: str) -> Iterator[tuple[str, bool]]:
    """The characters of a string or class, and whether each is written as it is."""
    for found in _ESCAPED.finditer(text):
        code = found["x"] or found["u"] or found["U"]
        if code:
            yield chr(int(code, 16)), False
        elif found["char"]:
            if found["char"] not in _ESCAPES:
                raise GbnfError(f"unknown escape {found[0]}")
            yield _ESCAPES[found["char"]], False
        else:
            yield found[0], True


def _chars(text: str) -> Chars:
    characters = list(_characters(text))
    is_negated = bool(characters) and characters[0] == ("^", True)
    characters = characters[is_negated:]
    ranges: list[tuple[int, int]] = []
    while characters:
        low = characters.pop(0)[0]
        high = low
        if len(characters) > 1 and characters[0] == ("-", True):
            high = characters[1][0]
            del characters[:2]
        ranges.append((ord(low), ord(high)))
    return Chars(tuple(ranges), is_negated)


class State:
    """A text that is being written. Its tokens are of one character each."""

    def __init__(self, grammar: Grammar, tokens: Sequence[bytes] = ()) -> None:
        self._grammar, self._tokens = grammar, tokens
        self._places, self._may_end = grammar.open((("root",), None))

    def choices(self) -> list[int]:
        """The tokens that may come next."""
        known = [(number, token.decode()) for number, token in enumerate(self._tokens)]
        return [number for number, char in known if any(_first(place).holds(ord(char)) for place in self._places)]

    def may_end(self) -> bool:
        """May the text end here?"""
        return self._may_end

    def take(self, token: int) -> bool:
        """Write a token."""
        return self.take_text(self._tokens[token].decode())

    def take_text(self, text: str) -> bool:
        """Write a text, if the grammar admits it."""
        places, may_end = self._places, self._may_end
        for char in text:
            reached = [self._grammar.open(_behind(place)) for place in places if _first(place).holds(ord(char))]
            places = frozenset([place for opened, _ in reached for place in opened])
            may_end = any(ends for _, ends in reached)
            if not reached:
                return False
        self._places, self._may_end = places, may_end
        return True


def _first(place: Rest) -> Chars:
    assert place is not None
    assert isinstance(place[0][0], Chars)
    return place[0][0]


def _behind(place: Rest) -> Rest:
    assert place is not None
    parts, behind = place
    return (parts[1:], behind) if len(parts) > 1 else behind
