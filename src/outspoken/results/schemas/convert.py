"""Converts values to the types and words of a JSON schema, where there is one way to do so that loses nothing.

Models write `"12"` for 12, `Full board` for `full_board`, `seatCount` for `seat_count`, one object for a list of one.
Each conversion is recorded. A part that fits is left as it is, and so is one that could become two values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast

from outspoken.results.call_keys import CALL_WORDS, called

from .schema import LINK, SINGLE_TYPES, Schema, fits, is_object
from .words import (
    core,
    is_path,
    iso_date,
    iso_time,
    key_meant,
    meant_word,
    nested,
    number_of,
    number_of_words,
    plain,
    stands_for,
)

Path = tuple[str | int, ...]

#: What a conversion does, by its code. README.md has the same table.
CONVERSIONS = {
    "number-text": "the text `{before}` is the number {after}",
    "number-word": "the word `{before}` is the number {after}",
    "truth-word": "the word `{before}` is {after}",
    "null-word": "the word `{before}` is null",
    "listed-word": "`{before}` is the value `{after}` that the schema lists",
    "number-as-text": "the number {before} is text",
    "json-text": "a text holds the JSON that is due",
    "bare-text": "`{before}` without quotes is the whole answer",
    "list-of-one": "one value is a list of one",
    "numbered-items": "an object with numbers as keys is a list",
    "listed-members": "a list has the members of the value, in their order",
    "merged-items": "several objects with other keys are one",
    "only-item": "the only item of a list is the value",
    "split-text": "`{before}` is a list of values that the schema lists",
    "date-text": "the text `{before}` is the date or time {after}",
    "link-text": "the link `{before}` is the address {after}",
    "null-member": "null at `{before}` is no value",
    "known-member": "`{before}` can only be {after}",
    "key-spelling": "the key `{before}` is `{after}`",
    "dotted-key": "the key `{before}` is a path",
    "as-type": "`{before}` was taken as the type is",
    "wrapped": "the value stands under the key `{before}`",
    "call-arguments": "the value is the arguments of a call of `{before}`",
}
_TRUTH = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}
_NULL = frozenset({"null", "none", "nil", "n/a", "-", ""})
_MAX_DEPTH, _MAX_OPTIONS = 64, 16


class Conversion(NamedTuple):
    """One conversion: its code, the path of the part, and the part before and after, as JSON text."""

    code: str
    path: Path
    before: str
    after: str

    @property
    def message(self) -> str:
        """What was done."""
        return CONVERSIONS[self.code].format(before=self.before, after=self.after)


class Converted(NamedTuple):
    """A value after its conversions."""

    value: Any
    conversions: tuple[Conversion, ...] = ()


#: Values and what became of them, by path, value and schema: each is looked at once.
_Memo = dict[tuple[Path, int, int], tuple[Any, Converted]]


def convert(value: Any, schema: Schema) -> Converted:
    """Convert the parts of a value that do not fit a schema, as far as that is certain.

    The value itself is not changed. What cannot be converted stays as it is.
    """
    return _convert(value, schema, (), {})


def is_valid(value: Any, schema: Schema, depth: int = 0) -> bool:
    """Does a value have the types, words and members that a schema asks for? Bounds are not looked at."""
    if depth > _MAX_DEPTH or not fits(value, schema.types):
        return depth <= _MAX_DEPTH and schema.types is None
    if schema.values is not None and not _is_listed(value, schema.values):
        return False
    if any(not any(is_valid(value, option, depth + 1) for option in options) for options in schema.choices):
        return False
    if is_object(value):
        if any(key not in value for key in schema.required):
            return False
        return all(is_valid(inner, schema.own_member(key), depth + 1) for key, inner in value.items())
    if isinstance(value, list):
        return all(is_valid(inner, schema.item, depth + 1) for inner in cast("list[Any]", value))
    return not isinstance(value, str) or schema.takes_text(value)


def _is_listed(value: Any, values: list[Any]) -> bool:
    return any(value == one and (value.__class__ is bool) == (one.__class__ is bool) for one in values)


def _convert(value: Any, schema: Schema, path: Path, memo: _Memo) -> Converted:
    key = path, id(value), id(schema.node)
    valid = is_valid(value, schema)
    if key not in memo and (not valid or isinstance(value, (dict, list))):
        memo[key] = value, Converted(value)  # where a type holds itself, it ends here
        made = _made(value, schema, path, memo)  # of what is valid, keys may be misspelled
        if not valid or is_valid(made.value, schema):
            memo[key] = value, made
    return memo[key][1] if key in memo else Converted(value)


def _made(value: Any, schema: Schema, path: Path, memo: _Memo) -> Converted:
    if schema.choices:
        candidates = [
            candidate for candidate in _from_holder(value, schema, path, memo) if is_valid(candidate.value, schema)
        ]
        return candidates[0] if len(candidates) == 1 else _by_choice(value, schema, path, memo)
    if schema.values is not None and isinstance(value, str):
        return _listed(value, schema, path)
    if fits(value, schema.types):
        if is_object(value):
            call = _call_in(value, schema)
            return _from_call(value, call, schema, path, memo) if call else _members(value, schema, path, memo)
        if isinstance(value, list):
            return _items(cast("list[Any]", value), schema, path, memo)
        return _dated(value, schema, path) if isinstance(value, str) else Converted(value)
    candidates = [candidate for candidate in _to_types(value, schema, path, memo) if is_valid(candidate.value, schema)]
    return (
        candidates[0]
        if candidates and all(_same(candidate.value, candidates[0].value) for candidate in candidates)
        else Converted(value)
    )


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _by_choice(value: Any, schema: Schema, path: Path, memo: _Memo) -> Converted:
    """Convert to the alternative that fits, if it is one: that of a tag, if the alternatives have tags."""
    for options in schema.choices:
        tagged = [option for option in options if is_valid(value, option)]
        tagged = tagged or [option for option in options if _has_tag(value, option)] or options
        candidates = [_convert(value, option, path, memo) for option in tagged[:_MAX_OPTIONS]]
        valid = [
            candidate
            for candidate, option in zip(candidates, tagged, strict=False)
            if is_valid(candidate.value, option)
        ]
        # an alternative that needs fewer conversions does not make another one impossible
        if valid and all(_same(candidate.value, valid[0].value) for candidate in valid):
            return valid[0]
        if len(tagged) == 1:
            return candidates[0]
    return Converted(value)


def _has_tag(value: Any, option: Schema) -> bool:
    """Does an object hold a word that an alternative alone allows at a key?"""
    if not is_object(value):
        return False
    listed = [(key, values) for key in option.properties if (values := option.member(key).values) is not None]
    return any(key in value and len(values) == 1 and _is_listed(value[key], values) for key, values in listed)


def _listed(value: str, schema: Schema, path: Path) -> Converted:
    """The listed value that a word means, or of which it is the name."""
    values = schema.values or []
    by_text = [one for one in values if not isinstance(one, str) and json.dumps(one) == value.strip().lower()]
    if len(by_text) == 1:
        return Converted(by_text[0], (Conversion("number-text", path, value, json.dumps(by_text[0])),))
    for words in ({one: one for one in values if isinstance(one, str)}, schema.names):
        if meant := meant_word(value, [*words]):
            found = words[meant]
            return Converted(found, (Conversion("listed-word", path, value, str(found)),))
    return Converted(value)


def _to_types(value: Any, schema: Schema, path: Path, memo: _Memo) -> Iterator[Converted]:
    """What a value of a wrong type may be, of the types that are due."""
    types = schema.types or frozenset[str]()
    if isinstance(value, str):
        converted = [*_from_text(value, types, schema, path, memo)]
        yield from converted
        if converted and converted[0].conversions[0].code == "json-text" and is_valid(converted[0].value, schema):
            return  # that a text is JSON is no chance
    elif "string" in types and value.__class__ is int and not schema.formats:
        yield Converted(str(value), (Conversion("number-as-text", path, str(value), str(value)),))
    yield from _from_holder(value, schema, path, memo)
    if "array" in types and not isinstance(value, list) and not _is_null_word(value):
        converted = _convert(value, schema.item, path, memo)
        is_one = not isinstance(value, str) or "," not in value or schema.item.formats or converted.conversions
        if is_valid(converted.value, schema.item) and is_one:
            yield Converted([converted.value], (*converted.conversions, Conversion("list-of-one", path, "", "")))


def _is_null_word(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NULL)


def _from_holder(value: Any, schema: Schema, path: Path, memo: _Memo) -> Iterator[Converted]:
    """What an object or a list holds, where neither is due: the value of its only key that fits, or its only item."""
    types = schema.types or frozenset({"object", "array"})
    if isinstance(value, list) and "array" not in types:
        yield from _from_items(cast("list[Any]", value), schema, path, memo)
    if is_object(value) and "object" not in types:
        numbers = [str(at) for at in range(len(value) + 1)]
        if value and types == SINGLE_TYPES["array"] and [*value] in (numbers[:-1], numbers[1:]):
            found = _convert([*value.values()], schema, path, memo)
            yield Converted(found.value, (Conversion("numbered-items", path, "", ""), *found.conversions))
        yield from _unwrapped(value, schema, path, memo)


def _from_items(items: list[Any], schema: Schema, path: Path, memo: _Memo) -> Iterator[Converted]:
    """What a list holds where one value is due: its only item, or an object, by its members or in pieces."""
    if len(items) == 1:
        only_item = _convert(items[0], schema, (*path, 0), memo)
        yield Converted(only_item.value, (Conversion("only-item", path, "", ""), *only_item.conversions))
        return
    keys, members = [*schema.required], dict[str, Any]()
    if len(keys) == len(items) and keys == [*schema.properties][: len(keys)]:
        kinds = [schema.member(key).types for key in keys]
        members = dict(zip(keys, items, strict=True)) if len({*kinds}) == len(keys) and None not in kinds else {}
        code = "listed-members"
    else:
        members, code = merged(items) if not schema.properties else {}, "merged-items"
    if members and is_valid(members, schema):
        yield Converted(members, (Conversion(code, path, "", ""),))


def merged(items: Sequence[Any]) -> dict[str, Any]:
    """One object with the members of several; empty if a key is in two of them, or one is no object."""
    made = {key: value for item in items if is_object(item) for key, value in item.items()}
    return made if len(made) == sum(len(item) if is_object(item) else 1 for item in items) else {}


def calls_within(value: Any, schema: Schema, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The paths and names of the calls that stand where another object is due."""
    if is_object(value):
        if call := _call_in(value, schema):
            yield path, call[0]
            return
        for key, inner in value.items():
            yield from calls_within(inner, schema.member(key), (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[Any]", value)):
            yield from calls_within(inner, schema.item, (*path, at))


def _call_in(value: dict[str, Any], schema: Schema) -> tuple[str, str] | None:
    """The name of the tool that an object calls, and the key of the arguments; None if it is what the schema says.

    It is, if the schema has such a member, or another one of those that calls do not have.
    """
    call = called(value)
    if call is None or not schema.properties or schema.may_have(call[1]):
        return None
    return call if schema.properties.keys() & value.keys() <= CALL_WORDS else None


def _from_call(value: dict[str, Any], call: tuple[str, str], schema: Schema, path: Path, memo: _Memo) -> Converted:
    """The arguments of a call of the tool that has the name of the type. Those of others are another tool's."""
    name, key = call
    made = _convert(value[key], schema, (*path, key), memo) if plain(name) == plain(schema.title) else None
    if made is None or not is_valid(made.value, schema):
        return Converted(value)
    return Converted(made.value, (Conversion("call-arguments", path, name, ""), *made.conversions))


def _unwrapped(value: dict[str, Any], schema: Schema, path: Path, memo: _Memo) -> Iterator[Converted]:
    """The value under a key that the schema does not have, if no other key has one that fits.

    Beside others, it must be of the kind that is due, and such as no value is by chance.
    """
    if called(value) is not None:
        return
    kinds = [kind for kind in ("object", "array") if kind in (schema.types or ())]
    is_rare = len(kinds) == len(schema.types or ()) or all(isinstance(choice, str) for choice in schema.values or [0])
    if any(key in schema.properties for key in value) or (len(value) > 1 and not is_rare):
        return
    candidates = list[Converted]()
    for key, inner in value.items():
        if len(value) > 1 and kinds and not (inner and fits(inner, schema.types)):
            continue
        inner_value = _convert(inner, schema, (*path, key), memo)
        if is_valid(inner_value.value, schema):
            candidates.append(
                Converted(inner_value.value, (Conversion("wrapped", path, key, ""), *inner_value.conversions))
            )
    if len(candidates) == 1:
        yield candidates[0]


def _from_text(text: str, types: frozenset[str], schema: Schema, path: Path, memo: _Memo) -> Iterator[Converted]:
    bare = text.strip()
    if types & {"object", "array"} and bare[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            parsed = _convert(json.loads(bare), schema, path, memo)
            yield Converted(parsed.value, (Conversion("json-text", path, text, ""), *parsed.conversions))
    if "array" in types and "," in text and schema.item.values:
        parts = [_listed(part.strip(), schema.item, path).value for part in text.split(",")]
        yield Converted(parts, (Conversion("split-text", path, text, ""),))
    if "null" in types and _is_null_word(text):
        yield Converted(None, (Conversion("null-word", path, text, "null"),))
    if "boolean" in types and (truth := _TRUTH.get(bare.casefold())) is not None:
        yield Converted(truth, (Conversion("truth-word", path, text, json.dumps(truth)),))
    if types & {"integer", "number"} and (number := number_of(bare, whole="number" not in types)) is not None:
        yield Converted(number, (Conversion("number-text", path, text, json.dumps(number)),))
    if types & {"integer", "number"} and (number := number_of_words(bare)) is not None:
        yield Converted(number, (Conversion("number-word", path, text, json.dumps(number)),))


def _dated(text: str, schema: Schema, path: Path) -> Converted:
    """The date that a text is, in the notation of ISO 8601, or the address of a link, if that is what is due."""
    if "uri" in schema.formats and (link := LINK.fullmatch(text)):
        address = link["target"] or link["address"]
        return Converted(address, (Conversion("link-text", path, text, address),))
    date = text
    if "date" in schema.formats:
        date = iso_date(text.strip()) or text
    elif "time" in schema.formats:
        date = iso_time(text.strip()) or text
    is_date = date != text and is_valid(date, schema)
    return Converted(date, (Conversion("date-text", path, text, date),)) if is_date else Converted(text)


def _left_over(value: dict[str, Any], schema: Schema, absent: list[str], renamed: dict[str, str]) -> dict[str, str]:
    """The only key that the schema does not have, if it stands for the only member that is missing, and fits it."""
    needed = [name for name in absent if name in schema.required]
    odd = [key for key in value if key not in schema.properties and key not in renamed] if len(needed) == 1 else []
    if len(odd) != 1 or not stands_for(odd[0], needed[0]):
        return {}
    member, inner = schema.member(needed[0]), value[odd[0]]
    if not isinstance(inner, (dict, list)):
        inner = _convert(inner, member, (), {}).value
    return {odd[0]: needed[0]} if is_valid(inner, member) else {}


def _members(value: dict[str, Any], schema: Schema, path: Path, memo: _Memo) -> Converted:
    """The members of an object, under the keys that the schema has."""
    done: list[Conversion] = []
    if paths := [key for key in value if is_path(key, value, schema)]:
        done += [Conversion("dotted-key", (*path, key), key, "") for key in paths]
        value = nested(value, paths)
    absent = [key for key in schema.properties if key not in value]
    renamed: dict[str, str] = {}
    for key in value:
        meant = key_meant(key, schema, absent)
        if meant:
            renamed[key] = meant
    for key, meant in [*renamed.items()]:
        if [*renamed.values()].count(meant) > 1:
            del renamed[key]
    renamed |= _left_over(value, schema, [name for name in absent if name not in renamed.values()], renamed)
    members: dict[str, Any] = {}
    for key, inner in value.items():
        name = renamed.get(key, key)
        if name != key:
            done.append(Conversion("key-spelling", (*path, key), key, name))
        member = schema.member(name)
        converted = _convert(inner, member, (*path, key), memo)
        if (
            isinstance(converted.value, str)
            and member.types == SINGLE_TYPES["boolean"]
            and core(name) == plain(converted.value)
        ):
            converted = Converted(True, (Conversion("truth-word", (*path, key), converted.value, "true"),))
        if _is_null_word(converted.value) and _may_be_absent(name, schema) and not is_valid(converted.value, member):
            done.append(Conversion("null-member", (*path, key), key, ""))
            continue
        done += converted.conversions
        members[name] = converted.value
    for name in schema.required if members.keys() & schema.properties.keys() else ():
        words = schema.member(name).values or []
        if name not in members and len(words) == 1:
            done.append(Conversion("known-member", path, name, json.dumps(words[0])))
            members[name] = words[0]
    converted = Converted(members, tuple(done))
    return converted if is_valid(members, schema) else next(_unwrapped(value, schema, path, memo), converted)


def _may_be_absent(name: str, schema: Schema) -> bool:
    """Is a member a list or an object that need not be there?"""
    types = schema.member(name).types or frozenset({"string"})
    return name in schema.properties and name not in schema.required and types <= {"array", "object"}


def _items(value: list[Any], schema: Schema, path: Path, memo: _Memo) -> Converted:
    if value and "array" in (schema.item.types or ()) and not any(isinstance(inner, list) for inner in value):
        row = _convert(value, schema.item, path, memo)
        if is_valid(row.value, schema.item):
            return Converted([row.value], (*row.conversions, Conversion("list-of-one", path, "", "")))
    made = [_convert(inner, schema.item, (*path, at), memo) for at, inner in enumerate(value)]
    return Converted([one.value for one in made], tuple([done for one in made for done in one.conversions]))
