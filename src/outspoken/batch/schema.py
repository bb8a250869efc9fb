"""The columns of a row in Arrow's types. The README of this room says what each holds."""

from __future__ import annotations

from typing import Any

from .arrow import DataType, Schema, pa


def struct_of(fields: str) -> Any:
    """The type of a struct: names with the name of a type behind a colon, or without one for text."""
    parts = [field.partition(":") for field in fields.split()]
    return pa.struct([(name, named_type(kind)) for name, _, kind in parts])


def named_type(kind: str) -> DataType:
    """A type by its name: one of `KEPT_KINDS`, another one of Arrow, `list` for a list of text, or "" for text."""
    if kind == "list":
        return pa.list_(pa.string())
    return pa.string() if kind in ("", "json") else pa.type_for_alias(kind)


#: The columns that every batch begins with.
COLUMNS: dict[str, Any] = {
    "file": pa.string(),
    "line": pa.int64(),
    "id": pa.string(),
    "format": pa.string(),
    "status": pa.string(),
    "text": pa.string(),
    "reasoning": pa.string(),
    "segments": pa.list_(struct_of("kind name text data id status start:int32 end:int32")),
    "tool_calls": pa.list_(struct_of("name arguments id")),
    "actions": pa.list_(struct_of("type name data id")),
    "payloads": pa.list_(struct_of("type data")),
    "diagnostics": pa.list_(
        struct_of(
            "code severity message format start:int32 end:int32 line:int32 column:int32 label notes:list helps:list "
            "excerpt excerpt_start:int32"
        )
    ),
    "repairs": pa.list_(struct_of("code level path before after start:int32 end:int32 line:int32 column:int32")),
    "needs_more_work": pa.bool_(),
    "unread": pa.string(),
    "chars": pa.int64(),
}


def kept_name(name: str) -> str:
    """The name that a kept column has in the output."""
    return f"input_{name}" if name in COLUMNS or name in ("response", "error") else name


def make_schema(kept: dict[str, DataType], *, has_response: bool) -> Schema:
    """The schema of a batch: our columns, then those that are kept, by their names in the input, and the error."""
    fields = dict(COLUMNS)
    if has_response:
        fields["response"] = struct_of(
            "provider id model finish_reason stop_reason refusal error input_tokens:int64 output_tokens:int64 "
            "total_tokens:int64 reasoning_tokens:int64 cached_tokens:int64"
        )
    fields.update({kept_name(name): type for name, type in kept.items()})
    fields["error"] = struct_of("code message")
    return pa.schema(list(fields.items()))
