"""Which member of a schema a key of an object means that the schema does not have."""

from __future__ import annotations

from typing import Any

from .schema import Schema
from .words import SHORTEST, is_one_mistake, meant_word, plain


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
