"""Arguments of an action that no field took, though they say something: the action is not what the model meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outspoken.patterns.near_miss import near_misses

from .fields import FieldError, field_type, read_point
from .mapping import PARTS, MappingRule


def lost_argument(rule: MappingRule, extra: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    """What is wrong with an action that has `extra` arguments beside its `fields`; "" for nothing.

    An argument without a name, one whose name is that of an absent argument with a mistake, and a point in an action
    that lacks one say what the action does, and nothing tells how.
    """
    if not extra:
        return ""
    absent = {field: one for field, one in rule.origins.items() if field not in fields}
    words = dict.fromkeys([key for one in absent.values() for source in one.sources for key in source])
    lacks_point = any("." not in field and _is_point_field(rule, field) for field in absent)
    for key, value in extra.items():
        if key == PARTS or key in words or value is None:
            continue
        if not key.strip() or (key[:1] == "$" and key[1:].isdigit()):
            return "has a value without a name"
        if meant := next((word for word in words if _is_near(key, word)), ""):
            return f"has `{key}`, which may stand for `{meant}`"
        if lacks_point and isinstance(value, str | list | dict) and _is_point(value):
            return f"has a point in `{key}`, which is none of its arguments"
    return ""


def _is_near(key: str, word: str) -> bool:
    """Is a key the name of an argument, with a mistake or twice?"""
    quoted, low = f'"{key}"', key.lower()
    return low in (word.lower(), 2 * word.lower()) or any(
        end == len(quoted) for end, _ in near_misses(quoted, 0, f'"{word}"')
    )


def _is_point_field(rule: MappingRule, field: str) -> bool:
    return not rule.is_path(field) and field_type(rule.model, field).reader == "point"


def _is_point(value: Any) -> bool:
    try:
        read_point(value, "px")
    except FieldError:
        return False
    return True
