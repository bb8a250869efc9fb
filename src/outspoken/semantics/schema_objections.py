"""What a tool's schema says against a call: what it lacks, what it has and should not have, and values that do not fit.

A sound call that violates its tool's schema is the model's own mistake: it stays in the list, with a diagnostic, unless
the caller wants it refused (`Settings.schema_check`). A repaired call that does so is never proven, so it is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from outspoken.notations.tools import Tools, may_have
from outspoken.results.schemas.schema import Schema, fits

from .keys import lacking, mentions


class Objection(NamedTuple):
    """What a call lacks, or has and should not have: the code of the diagnostic, its message, and the argument."""

    code: str
    message: str
    key: str = ""


def objections(
    tools: Tools, name: str, arguments: Mapping[str, Any], *, is_repaired: bool = False
) -> Iterator[Objection]:
    """What the schema of a tool says against a call: in one that was repaired, at any depth."""
    if name not in tools:
        yield Objection("unknown-tool", f"there is no tool `{name}`")
        return
    facts, told = tools.facts(name), set[str]()
    for key in facts.required:
        if key not in arguments:
            told.add(key)
            yield Objection("missing-argument", f"the argument `{key}` of `{name}` is missing")
    for key, value in arguments.items():
        if not fits(value, tools.types(name, key)):
            told.add(key)
            kinds = " or ".join(sorted(tools.types(name, key) or ()))
            yield Objection("mistyped-argument", f"the argument `{key}` of `{name}` should be {kinds}", key)
        elif key in facts.listed and not _is_listed(value, facts.listed[key]):
            told.add(key)
            message = f"the value of the argument `{key}` of `{name}` is none that its schema lists"
            yield Objection("unlisted-value", message, key)
        elif key[:1] == "$" and not may_have(tools, name, key):
            yield Objection("unnamed-argument", f"a value of `{name}` has no name")
        elif name not in tools.types_by_name and not may_have(tools, name, key):
            yield Objection("unknown-argument", f"`{name}` has no argument `{key}`")
        elif is_repaired and isinstance(value, (dict, list)) and _is_misfit(tools.arguments(name).member(key), value):
            yield Objection("mistyped-argument", f"a part of the argument `{key}` of `{name}` has another type", key)
    yield from misfits(tools, name, arguments, told)


def misfits(tools: Tools, name: str, arguments: Mapping[str, Any], told: Collection[str] = ()) -> Iterator[Objection]:
    """Why a call has no value of the type, or for the function, that its tool was given as.

    What is wrong with some arguments is `told` already.
    """
    holder = tools.types_by_name.get(name)
    if holder is not None:
        from outspoken.results.typed_calls import problems  # which tools without types do not need

        misfit_reasons = problems(name, arguments, holder.type)
        told_paths = [[key] for key in told]
        reasons = [
            f"{path}: {why}".removeprefix(": ")
            for path, why in misfit_reasons
            if path.split("/")[1:2] not in told_paths
        ]
        if reasons:
            yield Objection("type-mismatch", f"the arguments of `{name}` do not fit it: {'; '.join(reasons)}")


def _is_misfit(schema: Schema, value: Any) -> bool:
    """Does a part of a value have another type than its schema says, or lack a member that is required?"""
    return schema.misfits(value) > schema.unknown_names(value)


def is_unlike(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> bool:
    """Does a call lack arguments that its tool may have, or have others?"""
    return bool(lacking(tools, name, arguments)) or has_others(tools, name, arguments)


def has_others(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> bool:
    """Does a call have arguments that its tool may not have?"""
    return tools is not None and not all(may_have(tools, name, key) for key in arguments)


def has_those_of_named(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> bool:
    """Does a value name another tool, of which all arguments are that the call's own tool may not have?"""
    if tools is None or name not in tools:
        return False
    others = [key for key in arguments if not may_have(tools, name, key)]
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return bool(others) and any(
        all(may_have(tools, tool, key) for key in others)
        and any(tool in text and re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", text) for text in texts)
        for tool in tools.names
        if tool != name
    )


def is_declaration(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> bool:
    """Are the arguments of a call the schema of some, so that its tool is declared as in a prompt, and not called?"""
    schema: Mapping[str, Any] = (tools.schema(name) if tools is not None else None) or {}
    declared: Mapping[str, Any] = schema.get("properties") or {}
    if arguments.get("type") == "object" and arguments.get("properties").__class__ is dict:
        return "properties" not in declared
    types = {key: _type_of(value) for key, value in arguments.items()}
    return bool(types) and all(
        type_ not in (None, "object") and _type_of(declared.get(key)) == type_ for key, type_ in types.items()
    )


def _type_of(schema: Any) -> Any:
    """The type that a schema names; None if it is none."""
    return schema.get("type") if schema.__class__ is dict else None


def is_usual(tools: Tools, name: str, arguments: Mapping[str, Any]) -> bool:
    """Is nothing wrong with the names of a call, and with its arguments as its tool declares them? This is fast."""
    if name not in tools.names or name in tools.types_by_name:
        return False
    facts = tools.facts(name)
    if facts.has_odd_name:
        return False
    fitting = facts.fitting
    for key, value in arguments.items():
        if key not in fitting or value.__class__ not in fitting[key]:
            return False
    if len(arguments) == len(facts.properties):
        return facts.lists_required
    if any(key not in arguments for key in facts.required):
        return False
    return not mentions([key for key in facts.properties if key not in arguments], arguments)


def may_violate(tools: Tools, name: str, arguments: Mapping[str, Any], *, checks: bool) -> bool:
    """May something speak against a sound call? This is fast.

    Its schema counts if that `checks` the call. A value that holds the name of an argument which the call lacks always
    does.
    """
    if checks and any(objections(tools, name, arguments)):
        return True
    absent = lacking(tools, name, arguments)
    return bool(absent) and mentions(absent, arguments)


def _is_listed(value: Any, listed: list[Any]) -> bool:
    """Is a value one of those that a schema lists? True and 1 are different."""
    return any(value == one and value.__class__ is one.__class__ for one in listed)
