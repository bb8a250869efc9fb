"""The names that carry meaning in a grammar. Any other name is structure only.

A rule or terminal that is imported from another grammar keeps its meaning: Lark's import prefix (`shared__json__`)
is not part of the name.
"""

from __future__ import annotations

#: Free text: it runs up to the next marker that the grammar allows after it, and may be empty.
FREE_TEXT = frozenset({"TEXT", "CODE", "REASONING", "ARG_VALUE"})

#: Embedded values: regions in another notation, such as JSON, which a scanner of their own reads.
EMBEDDED_VALUES = frozenset({
    "JSON_VALUE", "JSON_OBJECT", "JSON_ARRAY", "JSON_STRING", "JSON_NUMBER", "JSON_BOOLEAN", "JSON_NULL",
    "PYTHON_VALUE", "BRACED_OBJECT", "TAGGED_OBJECT",
})  # fmt: skip

#: Embedded values whose terminal is a string that their notation depends on: the quote of strings, the prefix of tags.
SPELLED_VALUES = frozenset({"BRACED_OBJECT", "TAGGED_OBJECT"})

#: The characters with which embedded JSON values begin.
JSON_FIRST = {
    "JSON_OBJECT": frozenset("{"),
    "JSON_ARRAY": frozenset("["),
    "JSON_STRING": frozenset('"'),
    "JSON_NUMBER": frozenset("-0123456789"),
    "JSON_BOOLEAN": frozenset("tf"),
    "JSON_NULL": frozenset("n"),
    "JSON_VALUE": frozenset('{["-0123456789tfn'),
}

#: Terminals whose matched text is a value of the call, action or payload that is being read.
TOKENS = frozenset({"TOOL_NAME", "ARG_NAME", "CALL_ID", "CALL_INDEX", "ACTION_NAME", "PAYLOAD_NAME"})

#: Rules that become a part of the reply, or that delimit what belongs together. Each opens a node in the builder.
NODES = frozenset({
    "think", "code", "tool_call", "call_id", "action", "payload", "json", "envelope", "unread", "quoted", "invented",
    "answer", "mention",
})  # fmt: skip

#: Rules that an application acts on. Recovery never reads one of them as another.
CALLS = frozenset({"tool_call", "action", "payload"})

#: Rules that pass the value just read to the node round them.
FIELDS = frozenset({
    "tool_name", "arguments", "argument", "id", "content", "needs_more_work", "no_calls", "unknown", "odd", "is_text",
    "is_true",
})  # fmt: skip


def short(name: str) -> str:
    """The name without Lark's import prefix: `_shared__json_call__NAME_KEY` is `_NAME_KEY`."""
    if "__" not in name.strip("_"):
        return name
    head, _, tail = name.rpartition("__")
    return f"_{tail}" if head.startswith("_") and not tail.startswith("_") else tail


def is_meaningful(name: str) -> bool:
    """Does the name, without its import prefix, carry meaning?"""
    return any(name in names for names in (FREE_TEXT, EMBEDDED_VALUES, TOKENS, NODES, FIELDS))
