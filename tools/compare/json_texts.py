"""JSON documents with schemas: sound ones, ones with other types than the schema's, damaged ones, and cut ones.

What a text means is known before it is written. It is the same for the same seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple, cast

from tools.damage import mutations
from tools.damage.cases import KINDS, SEED, generate, sound
from tools.damage.documents import document
from tools.damage.evaluation import equal
from tools.damage.mutations import Mutation

#: The groups of texts, and what each is.
GROUPS = {
    "sound": "sound tool calls",
    "types": "sound tool calls, in which one value has another type or spelling than the schema's",
    "records": "records of short values, damaged outside of strings",
    "structure": "tool calls with code and prose in an argument, damaged outside of strings, or in a fence",
    "strings": "the same, damaged in a string",
    "cut": "the same, ending before their end",
}

Json = dict[str, Any]


class JsonText(NamedTuple):
    """A text, the value that it means, and the schema of that value."""

    group: str
    kind: str
    text: str
    meant: Json
    schema: Json


def json_texts(per_kind: int) -> list[JsonText]:
    """The texts of all groups."""
    found = [*_sound(2 * per_kind), *_types(per_kind), *_records(per_kind)]
    for case in generate(SEED, per_kind)[0]:
        group = KINDS[case.kind].group
        if group in GROUPS:
            found.append(JsonText(group, case.kind, case.text, case.values[0], case.schema))
    return found


def _sound(count: int) -> Iterator[JsonText]:
    random = Random(f"{SEED} sound")
    for _ in range(count):
        meant = document(random)
        yield JsonText("sound", "sound", json.dumps(meant.value, ensure_ascii=False), meant.value, meant.schema)


# --- Values that are written otherwise than the schema has them

#: A change of one member of an object: what is written for it, and the schema that its value meets.
Change = Callable[[Any, Json], "tuple[Any, Json] | None"]


def _number_in_quotes(value: Any, schema: Json) -> tuple[Any, Json] | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (json.dumps(value), schema) if is_number else None


def _boolean_in_quotes(value: Any, schema: Json) -> tuple[Any, Json] | None:
    return (json.dumps(value), schema) if isinstance(value, bool) else None


def _item_without_list(value: Any, schema: Json) -> tuple[Any, Json] | None:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return (items[0], schema) if len(items) == 1 and isinstance(items[0], str) else None


def _word_in_other_case(value: Any, schema: Json) -> tuple[Any, Json] | None:
    if isinstance(value, str) and value.isascii() and value.isalpha() and value.islower():
        return value.upper(), {"type": "string", "enum": [value, "other", "none of these"]}
    return None


CHANGES: dict[str, Change] = {
    "a number in quotes": _number_in_quotes,
    "a boolean in quotes": _boolean_in_quotes,
    "an item without its list": _item_without_list,
    "a word of an enumeration in upper case": _word_in_other_case,
}


def _types(per_kind: int) -> Iterator[JsonText]:
    for kind, change in CHANGES.items():
        random, count = Random(f"{SEED} {kind}"), 0
        while count < per_kind:
            meant = document(random)
            members, schema = _arguments(meant.value, meant.schema)
            for name, value in members.items():
                if (changed := change(value, schema["properties"][name])) is None or value == meant.payload:
                    continue
                text, new = _replaced(meant.value, meant.schema, name, *changed)
                yield JsonText("types", kind, json.dumps(text, ensure_ascii=False), meant.value, new)
                count += 1
                break


def _arguments(value: Json, schema: Json) -> tuple[Json, Json]:
    """The arguments of a call, which the document is or holds, and their schema."""
    key = _key(value, schema)
    return (value[key], schema["properties"][key]) if key else (value, schema)


def _key(value: Json, schema: Json) -> str:
    return next((key for key in ("arguments", "parameters") if "name" in schema["required"] and key in value), "")


def _replaced(value: Json, schema: Json, name: str, written: Any, member: Json) -> tuple[Json, Json]:
    """A document and its schema with one argument written otherwise."""
    key = _key(value, schema)
    if key:
        text, inner = _replaced(value[key], schema["properties"][key], name, written, member)
        return value | {key: text}, schema | {"properties": schema["properties"] | {key: inner}}
    return value | {name: written}, schema | {"properties": schema["properties"] | {name: member}}


# --- Records of short values, which no quote or bracket stands in

DAMAGE: dict[str, Mutation] = {
    "record: trailing comma": mutations.trailing_comma,
    "record: trailing commas, all": mutations.trailing_commas,
    "record: comma missing between members": mutations.no_comma,
    "record: comma missing between items": mutations.no_comma_between_items,
    "record: colon missing": mutations.no_colon,
    "record: both closers missing": mutations.no_closers,
    "record: surplus closer": mutations.surplus_closer,
    "record: wrong closer": mutations.wrong_closer,
    "record: bare keys": mutations.bare_keys,
    "record: comments with //": mutations.slash_comments,
    "record: comments with #": mutations.hash_comments,
    "record: Python literals": mutations.python_words,
    "record: single quotes": mutations.single_quotes,
    "record: smart quotes": mutations.smart_quotes,
    "record: fullwidth punctuation": mutations.fullwidth,
}
RECORD: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string"},
        "age": {"type": "integer"},
        "score": {"type": "number"},
        "active": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["street", "city"],
        },
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "email", "age", "tags", "address"],
}
_NAMES = ("Ada Byron", "Grace Murray", "Emmy Weber", "Lise Kopp", "Rosa Winter", "Jane Marsh")
_CITIES = ("Leith", "Brest", "Aarhus", "Trieste", "Gdynia", "Porto")
_TAGS = ("sailing", "moss", "late ferry", "choir", "north tower", "bread")


def _record(random: Random) -> Json:
    name = random.choice(_NAMES)
    address = {"street": f"{random.randint(1, 90)} Quay Lane", "city": random.choice(_CITIES)}
    members: Json = {
        "name": name,
        "email": f"{name.split()[0].lower()}@example.com",
        "age": random.randint(20, 90),
        "score": random.choice((4.5, 0.25, 12.75)),
        "active": random.choice((True, False)),
        "tags": random.sample(_TAGS, random.randint(2, 4)),
        "address": address | ({"zip": f"{random.randint(10000, 99999)}"} if random.random() < 0.5 else {}),
        "note": random.choice((None, "calls on Fridays", "prefers letters")),
    }
    dropped = random.choice(("score", "active", "note", "none"))
    return {key: value for key, value in members.items() if key != dropped}


def _records(per_kind: int) -> Iterator[JsonText]:
    for kind, mutation in DAMAGE.items():
        random, count = Random(f"{SEED} {kind}"), 0
        while count < per_kind:
            meant = _record(random)
            parts = mutation(random, mutations.tokens(meant, mutations.style(random)))
            if parts is None or sound(text := mutations.joined(parts)):
                continue
            yield JsonText("records", kind, text, meant, RECORD)
            count += 1


# --- Comparing


def same(one: Any, other: Any, schema: Json) -> bool:
    """Whether two values are the same, with their types. The order of members does not count.

    Members of a class that are null are as if they were not there: readers that fill in classes cannot tell them apart.
    """
    return equal(_plain(one, schema), _plain(other, schema))


def _plain(value: Any, schema: Json) -> Any:
    if isinstance(value, dict):
        members, known = cast("Json", value), cast("Json", schema.get("properties", {}))
        kept = {key: item for key, item in members.items() if item is not None or not known}
        return {key: _plain(kept[key], known.get(key, {})) for key in sorted(kept)}
    if isinstance(value, list):
        return [_plain(item, schema.get("items", {})) for item in cast("list[Any]", value)]
    return value
