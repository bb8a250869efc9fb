"""A short text for each terminal of a grammar, to show what the grammar reads."""

from __future__ import annotations

from outspoken.authoring.shared.regex_samples import example
from outspoken.grammar.tables import END
from outspoken.grammar.vocabulary import SPELLED_VALUES, short

_KNOWN = {
    "TEXT": "text", "CODE": "code", "REASONING": "text", "ARG_VALUE": "1", "JSON_VALUE": "1", "JSON_OBJECT": "{}",
    "JSON_ARRAY": "[]", "JSON_STRING": '"a"',
    "JSON_NUMBER": "1", "JSON_BOOLEAN": "true", "JSON_NULL": "null",
    "PYTHON_VALUE": "1", "TOOL_NAME": "f", "ARG_NAME": "a",
    "BRACED_OBJECT": "{}", "TAGGED_OBJECT": "",
}  # fmt: skip


def sample(name: str, pattern: str, canonical: str = "") -> str:
    """A text for a terminal: what is written, a value that is known by its name, else an example of its pattern."""
    if short(name) in SPELLED_VALUES:
        return _KNOWN[short(name)]
    return canonical or _KNOWN.get(short(name)) or example(pattern)


def samples(terminals: dict[str, tuple[str, str]]) -> dict[str, str]:
    """A text for each terminal, of which the pattern and the canonical text is given; empty for the end of the text."""
    found = {name: sample(name, pattern, canonical) for name, (pattern, canonical) in terminals.items()}
    return {**found, END: ""}
