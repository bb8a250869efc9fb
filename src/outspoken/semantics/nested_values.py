"""Lists and objects that are written as bare text, with damage: as in JSON formats, they are repaired by the schema."""

from __future__ import annotations

from typing import Any

from outspoken.json.edits import is_trustworthy, with_paths
from outspoken.notations.coerce import SchemaView
from outspoken.results.schemas.schema import fits

from .state import ReplyState


def repaired_nested(state: ReplyState, text: str, end: int, key: str, schema: SchemaView) -> Any:
    """The list or object that a bare value before an offset should be, or None; its repairs are recorded.

    It is none if its schema allows a string, if nothing may be repaired, or if a part of it would be left out.
    """
    from outspoken.json.repair import repair_region

    context, types = state.context, schema.types or frozenset()
    start, bare = end - len(text), text.strip()
    is_due = not types.isdisjoint(("array", "object")) and "string" not in types
    if not is_due or bare[:1] not in ("[", "{") or context.repair_limit == "none":
        return None
    if state.source.slice(start, end) != text:
        return None  # it was written otherwise
    limit, settings = context.repair_limit, context.settings
    regions = repair_region(bare, 0, len(bare), closed=True, repair_limit=limit, schema=schema, settings=settings)
    if len(regions) != 1 or not regions[0].complete or regions[0].runner_up or not is_trustworthy(regions[0], bare):
        return None
    read, start = with_paths(regions[0]), start + text.index(bare)
    if (read.start, read.end) != (0, len(bare)) or not fits(read.value, types):
        return None
    state.recorder.edits += [
        edit._replace(start=start + edit.start, end=start + edit.end, path=(key, *edit.path)) for edit in read.edits
    ]
    return read.value
