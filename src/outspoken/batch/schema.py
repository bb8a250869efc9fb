"""The columns of a row: what was read of one response, in Arrow's types.

| column | type | what it holds |
|---|---|---|
| `file` | string | the input file as it was named; null for rows of another engine |
| `line` | int64 | the line of a file of JSON lines, or the row of a Parquet file, from 1; null for another engine |
| `id` | string | the value of the id column, as JSON if it is no text; null without one |
| `format` | string | the format that the response was read in; null if it is plain text |
| `status` | string | `ok`, `repaired`, `truncated` or `invalid` |
| `text` | string | `Reply.text` |
| `reasoning` | string | `Reply.reasoning`; null if there is none |
| `segments` | list of struct | everything in document order; see below |
| `tool_calls` | list of struct | the complete calls: `name`, `arguments` (a JSON object), `id` |
| `actions` | list of struct | the complete GUI actions: `type`, `name`, `data` (a JSON object), `id` |
| `payloads` | list of struct | the complete payloads: `type`, `data` (JSON) |
| `diagnostics` | list of struct | all fields of `Diagnostic`; `start` and `end` are its span |
| `repairs` | list of struct | all fields of `Repair`; `path` is a JSON list |
| `needs_more_work` | bool | `Reply.needs_more_work` |
| `unread` | string | `Reply.unread` as a JSON object; null if it is empty |
| `chars` | int64 | the length of the response in characters |
| `response` | struct | only with `provider` or `messages_column`: what a provider sends beside the content |
| kept columns | their own | those of `keep`, in that order; `input_NAME` if `NAME` is one of the columns above |
| `error` | struct | null, or why the row could not be read: `code`, `message` |

A row with an `error` has only `file`, `line`, `id` and the kept columns; the others are null or empty.

A segment has the fields `kind` (`text`, `reasoning`, `tool_call`, `action`, `payload`, `json`), `name` (of a call or an
action; the type of a payload), `text` (of text and reasoning; of an unfinished call, its arguments as the model wrote
them), `data` (JSON: arguments of a call, fields of an action with its `type`, data of a payload, a JSON value), `id`,
`status`, and `start` and `end`: offsets in characters into the response.
"""

from __future__ import annotations

from typing import Any

from .arrow import DataType, Schema, pa

#: The fields of each struct, with the names of their types.
SEGMENT = "kind name text data id status start:int32 end:int32"
TOOL_CALL = "name arguments id"
ACTION = "type name data id"
PAYLOAD = "type data"
DIAGNOSTIC = (
    "code severity message format start:int32 end:int32 line:int32 column:int32 label notes:list helps:list "
    "excerpt excerpt_start:int32"
)
REPAIR = "code level path before after start:int32 end:int32 line:int32 column:int32"
RESPONSE = (
    "provider id model finish_reason stop_reason refusal error input_tokens:int64 output_tokens:int64 "
    "total_tokens:int64 reasoning_tokens:int64 cached_tokens:int64"
)
ERROR = "code message"

_TYPES = {"": pa.string(), "int32": pa.int32(), "int64": pa.int64(), "list": pa.list_(pa.string())}


def struct_of(fields: str) -> Any:
    """The type of a struct: names with the name of a type behind a colon, or without one for text."""
    parts = [field.partition(":") for field in fields.split()]
    return pa.struct([(name, _TYPES[kind]) for name, _, kind in parts])


#: The columns that every batch begins with.
COLUMNS: dict[str, Any] = {
    "file": pa.string(),
    "line": pa.int64(),
    "id": pa.string(),
    "format": pa.string(),
    "status": pa.string(),
    "text": pa.string(),
    "reasoning": pa.string(),
    "segments": pa.list_(struct_of(SEGMENT)),
    "tool_calls": pa.list_(struct_of(TOOL_CALL)),
    "actions": pa.list_(struct_of(ACTION)),
    "payloads": pa.list_(struct_of(PAYLOAD)),
    "diagnostics": pa.list_(struct_of(DIAGNOSTIC)),
    "repairs": pa.list_(struct_of(REPAIR)),
    "needs_more_work": pa.bool_(),
    "unread": pa.string(),
    "chars": pa.int64(),
}
RESPONSE_TYPE: Any = struct_of(RESPONSE)
ERROR_TYPE: Any = struct_of(ERROR)

#: The types that a kept column can be given, by name.
KEPT_TYPES: dict[str, Any] = {
    "string": pa.string(),
    "json": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


def kept_name(name: str) -> str:
    """The name that a kept column has in the output."""
    return f"input_{name}" if name in COLUMNS or name in ("response", "error") else name


def make_schema(kept: dict[str, DataType], *, has_response: bool) -> Schema:
    """The schema of a batch: our columns, then those that are kept, by their names in the input, and the error."""
    fields = dict(COLUMNS)
    if has_response:
        fields["response"] = RESPONSE_TYPE
    fields.update({kept_name(name): type for name, type in kept.items()})
    fields["error"] = ERROR_TYPE
    return pa.schema(list(fields.items()))
