"""What a format's own words for actions mean, as its grammar's header says: from a name and arguments to an action.

    click|left_single = click(point=start!)
    left_double       = click(point=start!, clicks=2)
    computer_use(action=terminate, status=success) = complete

On the left stand the words, and in parentheses what must be true of the arguments; on the right an action of the
vocabulary, and where its fields come from. The first line that fits counts. Written backwards, the same lines say how
an action is called. See `grammars/vocabulary/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple, cast

from outspoken.grammar.header import Header
from outspoken.results.actions.union import MODELS, PROVENANCE, BaseAction, ElementRef

from .fields import CONVERSIONS, SUBMIT, kind_of

_SIDE = re.compile(r"([^()]*?)\s*(?:\((.*)\))?", re.DOTALL)
_STRING = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf"(?:{_STRING}|[\w.+\-]+)"
_CONDITION = re.compile(rf"\s*(!?)([\w.$]+)\s*(?:(!?=)\s*({_VALUE}(?:\|{_VALUE})*))?\s*(?:,|$)")
_FIELD = re.compile(rf'\s*([\w.]+)\s*=\s*({_STRING}|[^\s,"()]+)\s*(?:,|$)')
_WORD = re.compile(rf"{_STRING}|[^|]+")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SOURCE = re.compile(r"([\w.$+|*]+?)(?::(\w+))?(!?)")
_CONSTANTS = {"true": True, "false": False}

#: The left side of the line that says what all actions have; on its right there are only fields.
EVERY = "*"

#: What a field of a mapping may be besides those of the model: the points of a drag, as one list.
_PATH = "path"

#: The argument that holds the actions within an action.
PARTS = "*"


class Condition(NamedTuple):
    """What must be true of an argument: that it is there, or is one of some words; or is not."""

    keys: tuple[str, ...]
    words: tuple[str, ...]
    wanted: bool


class Origin(NamedTuple):
    """Where a field comes from: arguments, of which the first that is there counts; two of them make one point."""

    sources: tuple[tuple[str, ...], ...]
    conversion: str
    needed: bool


class Meaning:
    """What a line of a mapping says: the words, the conditions, the model, constants, and where each field is found."""

    __slots__ = ("conditions", "constants", "line", "model", "names", "origins")

    def __init__(self, names: tuple[str, ...], conditions: tuple[Condition, ...], line: str) -> None:
        self.names, self.conditions, self.line = names, conditions, line
        self.model: type[BaseAction] = BaseAction
        self.constants: dict[str, Any] = {}
        self.origins: dict[str, Origin] = {}

    def is_path(self, field: str) -> bool:
        """Is this no field of the model, but all points of a drag?"""
        return field == _PATH and field not in self.model.model_fields

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """Which arguments each field may come from; without those of which two make one."""
        return {field: tuple([s[0] for s in o.sources if len(s) == 1]) for field, o in self.origins.items()}


class Mapping:
    """The meanings of all words of a format."""

    def __init__(self, header: Header) -> None:
        self.any_case = header.any_case
        self.meanings: list[Meaning] = []
        self._by_name: dict[str, list[Meaning]] = {}
        aliases = tuple(header.arguments.items())
        every: dict[str, Origin] = {}
        for left, right in header.actions.items():
            meaning = meaning_of(left, right, aliases)
            if left == EVERY:
                every = meaning.origins
                continue
            meaning.origins.update({field: origin for field, origin in every.items() if field not in meaning.origins})
            self.meanings.append(meaning)
            for name in meaning.names:
                self._by_name.setdefault(self.word(name), []).append(meaning)
        #: the words that begin one
        self.names = frozenset(self._by_name)
        unnamed = [meaning.conditions[0] for meaning in self._by_name.get("", ()) if meaning.conditions]
        #: the arguments that hold the word, where an action has no other
        self.naming = tuple(dict.fromkeys([key for condition in unnamed for key in condition.keys]))

    def word(self, name: str) -> str:
        """A word as it is compared."""
        return name.strip().lower() if self.any_case else name

    def called(self, name: str, arguments: dict[str, Any]) -> str:
        """The word for an action: its own, or what the argument says that holds it."""
        said = None if name else find_argument(self.naming, arguments)[1] if self.naming else None
        return said if isinstance(said, str) else name

    def knows(self, word: str) -> bool:
        """Is this a word for an action, be it with other arguments?"""
        said = self.word(word)
        unnamed = [meaning.conditions[0] for meaning in self._by_name.get("", ()) if meaning.conditions]
        return said in self.names or any(said == self.word(known) for c in unnamed for known in c.words)

    def find(self, name: str, arguments: dict[str, Any]) -> Meaning | None:
        """The first meaning of a word that fits its arguments."""
        found = self._by_name.get(self.word(name), ())
        return next((meaning for meaning in found if self._fits(meaning, arguments)), None)

    def types(self, name: str, argument: str) -> bool:
        """Is an argument of this word the text that a keyboard types, whatever the other arguments are?"""
        found = self._by_name.get(self.word(name), ())
        return any(
            meaning.model is MODELS["type_text"] and "text" in meaning.origins
            and (argument,) in meaning.origins["text"].sources and not meaning.conditions
            for meaning in found
        )  # fmt: skip

    def _fits(self, meaning: Meaning, arguments: dict[str, Any]) -> bool:
        return all(self._holds(condition, arguments) for condition in meaning.conditions)

    def _holds(self, condition: Condition, arguments: dict[str, Any]) -> bool:
        _, value = find_argument(condition.keys, arguments)
        if not condition.words:
            return (value is not None) is condition.wanted
        said = self.word(value if isinstance(value, str) else _spelled(value))
        return any(said == self.word(word) for word in condition.words) is condition.wanted


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def mapping_of(header: Header) -> Mapping | None:
    """The mapping of a format; None where it has no actions. Raises ValueError for a line that cannot be read."""
    if not header.actions:
        return None
    return _mapping(tuple(header.actions.items()), tuple(header.arguments.items()), header.any_case)


@lru_cache(maxsize=256)
def _mapping(actions: tuple[tuple[str, str], ...], arguments: tuple[tuple[str, str], ...], any_case: bool) -> Mapping:
    return Mapping(Header("", actions=dict(actions), arguments=dict(arguments), any_case=any_case))


def find_argument(keys: tuple[str, ...], arguments: dict[str, Any]) -> tuple[str, Any]:
    """The first of these arguments that is there and not null, and its value; `a.b` is `b` of the object `a`."""
    for key in keys:
        value = arguments.get(key)
        if value is None and "." in key:
            value = _inner(arguments, key.split("."))
        if value is not None:
            return key, value
    return keys[0], None


def _inner(value: Any, path: list[str]) -> Any:
    """What stands in an object under these keys, one in the other; None where there is nothing."""
    for part in path:
        value = cast("dict[str, Any]", value).get(part) if isinstance(value, dict) else None
    return value


def meaning_of(left: str, right: str, aliases: tuple[tuple[str, str], ...] = ()) -> Meaning:
    """Read a line of a mapping. Raises ValueError where it cannot be read."""
    named: dict[str, tuple[str, ...]] = {}
    for name, others in aliases:
        listed = [part for other in others.split("|") for part in named.get(other.strip(), (other.strip(),))]
        named[name] = tuple(dict.fromkeys(listed))
    side = _SIDE.fullmatch(left.strip())
    if side is None:
        raise ValueError(f"`{left}` is not `name` or `name(argument=word)`")
    names = tuple([_unquoted(word.strip()) for word in _WORD.findall(side[1])]) or ("",)
    meaning = Meaning(names, tuple(_conditions(side[2] or "", named)), f"{left} = {right}")
    side = _SIDE.fullmatch(right.strip() if left != EVERY else f"no_op{right.strip()}")
    model = MODELS.get(side[1]) if side else None
    if side is None or model is None:
        near = get_close_matches(side[1] if side else right, MODELS, 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ", which is in `outspoken.actions`"
        raise ValueError(f"`{right}` is no action of the vocabulary{hint}")
    meaning.model = model
    for field, value in _fields(side[2] or "", side[1]):
        _add_field(meaning, field, value, named)
    return meaning


def _conditions(text: str, named: dict[str, tuple[str, ...]]) -> Iterator[Condition]:
    pos = 0
    while text[pos:].strip():
        match = _CONDITION.match(text, pos)
        if match is None or (match[1] and match[3]):
            raise ValueError(f"`{text[pos:].strip()}` is not `argument`, `!argument` or `argument=word|word`")
        words = tuple([_unquoted(word) for word in _WORD.findall(match[4] or "")])
        yield Condition(named.get(match[2], (match[2],)), words, match[3] != "!=" and not match[1])
        pos = match.end()


def _fields(text: str, model: str) -> Iterator[tuple[str, str]]:
    pos = 0
    while text[pos:].strip():
        match = _FIELD.match(text, pos)
        if match is None:
            raise ValueError(f"`{text[pos:].strip()}` is not `field=source|source` or `field=constant` of `{model}`")
        yield match[1], match[2]
        pos = match.end()


def _add_field(meaning: Meaning, field: str, value: str, named: dict[str, tuple[str, ...]]) -> None:
    """Note where a field comes from, or what it always is."""
    model, (name, _, part) = meaning.model, field.partition(".")
    known = name in model.model_fields and name not in PROVENANCE - {"id", "order"}
    if not meaning.is_path(field) and (not known or (part and part not in ElementRef.model_fields)):
        raise ValueError(f"`{field}={value}` is not `field=source|source` or `field=constant` of `{_type(model)}`")
    if value.startswith('"') or value in _CONSTANTS or _NUMBER.fullmatch(value):
        meaning.constants[field] = _constant(value, model, field)
        return
    match = _SOURCE.fullmatch(value)
    if match is None or (match[2] and match[2] not in {*CONVERSIONS, SUBMIT}):
        known_words = ", ".join(sorted({*CONVERSIONS, SUBMIT}))
        raise ValueError(f"`{value}` is not `source|source`, `x+y` or `source:conversion`; conversions: {known_words}")
    sources: list[tuple[str, ...]] = []
    for source in match[1].split("|"):
        parts = tuple(source.split("+"))
        sources += [(s,) for s in named.get(source, (source,))] if len(parts) == 1 else [parts]
    meaning.origins[field] = Origin(tuple(sources), match[2] or "", bool(match[3]))


def _constant(value: str, model: type[BaseAction], field: str) -> Any:
    if value.startswith('"'):
        text = _unquoted(value)
        kind = kind_of(model, field) if "." not in field else None
        return [part for part in text.split() if part] if kind and kind.reader in ("keys", "held", "texts") else text
    if value in _CONSTANTS:
        return _CONSTANTS[value]
    return float(value) if "." in value else int(value)


def _type(model: type[BaseAction]) -> str:
    return str(model.model_fields["type"].default)


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word
