"""Values of arguments that look escaped for XML, in formats that write values between tags without escapes.

Vendors have decoded entities in such values, and stopped, since files of HTML hold them, too. Values stay as written;
one that holds entities and none of the signs that they stand for is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.diagnostics import PendingDiagnostic

#: An entity of XML.
ENTITY = lazy_pattern(r"&(?:lt|gt|amp|quot|apos|#39);")
_SIGNS = lazy_pattern(r"[<>]|&(?!(?:lt|gt|amp|quot|apos|#39);)")


def escaped_values(segments: Sequence[Any], format: str) -> Iterator[PendingDiagnostic]:
    """A warning for each value of a call that looks escaped."""
    for call in segments:
        if call.kind != "tool_call" or call.status not in ("ok", "repaired"):
            continue
        for key, value in call.arguments.items():
            if isinstance(value, str) and "&" in value and ENTITY.search(value) and not _SIGNS.search(value):
                message = f"the argument `{key}` of `{call.name}` looks escaped for XML; it is kept as it was written"
                yield PendingDiagnostic("escaped-value", message, call.span, "warning", format, "called here")
