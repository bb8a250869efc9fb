"""One response, read: `Parser` and `Session`, `parse`, `stream`, `astream`, `detect`, `formats`.

The rooms that read responses (`rendering`, `payloads`, `providers`, `processing`) import from here. May import the
rooms from `results` to `fast_path`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.notations.tools import ToolLike as ToolLike

    from .event_stream import AsyncEventStream as AsyncEventStream, EventStream as EventStream
    from .inspection import Candidate as Candidate, FormatInfo as FormatInfo
    from .options import ParserOptions as ParserOptions

export_lazily(
    __name__,
    {
        "event_stream": "AsyncEventStream EventStream",
        "inspection": "Candidate FormatInfo",
        "options": "ParserOptions",
        "outspoken.notations.tools": "ToolLike",
    },
)
