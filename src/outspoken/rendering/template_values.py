"""Values of the regions of a response template: a text as a number, a dict, or whatever the template asks for."""

from __future__ import annotations

import json
import re
from typing import Any, cast

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_value(parser: str, args: dict[str, Any], data: Any) -> Any:
    """The value of a region by its content parser. `data` is its text, or a value that was read from JSON.

    Raises ValueError if the text is not what the template says, LookupError if an expression lacks its groups.
    """
    if not isinstance(data, str):
        return data
    text = data.strip() if args.get("strip", True) else data
    if parser == "int":
        return int(text)
    if parser == "float":
        return float(text)
    if parser == "bool":
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"`{text}` is neither true nor false")
        return _BOOLEANS[text.lower()]
    if parser == "json":
        return _json(text, args)
    if parser == "xml-inline":
        return _tags(data, args)
    return _lines(data, args) if parser == "kv-lines" else text


def _json(text: str, args: dict[str, Any]) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        if not args.get("allow_non_json"):
            raise
        return text


def _held(text: str, args: dict[str, Any]) -> Any:
    """A value in a region by the `value_parser`; text if there is none."""
    given: Any = args.get("value_parser")
    if given is None:
        return text
    known = cast("dict[str, Any]", given) if isinstance(given, dict) else {"name": given}
    return read_value(str(known.get("name", "text")), known.get("args") or {}, text)


def _tags(text: str, args: dict[str, Any]) -> dict[str, Any]:
    """Pairs by the groups `key` and `value` of an expression; `merge_duplicates` lists all values of a key."""
    found: dict[str, Any] = {}
    merged: set[str] = set()
    for match in re.finditer(str(args.get("tag_pattern")), text, re.DOTALL):
        key, value = match["key"], _held(match["value"], args)
        if key not in found or not args.get("merge_duplicates"):
            found[key] = value
        elif key in merged:
            found[key].append(value)
        else:
            found[key] = [found[key], value]
            merged.add(key)
    return found


def _lines(text: str, args: dict[str, Any]) -> dict[str, Any]:
    """A pair on each line; lines without a separator are ignored."""
    colon, strip = args.get("kv_sep", ":"), args.get("strip", True)
    found: dict[str, Any] = {}
    for line in text.split(args.get("line_sep", "\n")):
        key, middle, value = line.partition(colon)
        if middle:
            found[key.strip() if strip else key] = _held(value.strip() if strip else value, args)
    return found
