"""One response, read: `Parser` and `Session`, `parse`, `stream`, `astream`, `detect`, `formats`, `parse_tree`.

The rooms that read responses (`rendering`, `payloads`, `providers`, `processing`) import from here. May import the
rooms from `results` to `detection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.notations.tools import ToolLike as ToolLike
    from outspoken.results.diagnostics import Repair as Repair
    from outspoken.results.errors import (
        CallError as CallError,
        PromptError as PromptError,
        StreamClosedError as StreamClosedError,
        ToolError as ToolError,
    )
    from outspoken.results.events import Held as Held
    from outspoken.results.replies import Segment as Segment
    from outspoken.trees.transformer import SegmentTransformer as SegmentTransformer

    from .event_stream import AsyncEventStream as AsyncEventStream, EventStream as EventStream
    from .inspection import Candidate as Candidate, FormatInfo as FormatInfo
    from .options import ParserOptions as ParserOptions
    from .parser import Prompt as Prompt
    from .session import Session as Session
    from .tree_parser import parse_tree as parse_tree

export_lazily(__name__)
