"""JSON in any state: whole, still arriving, in prose, truncated or damaged.

- Sound JSON: `scanner` reads values, whole or in pieces, and counts brackets. `partial_string` gives the certain text
  of a string that is still arriving.
- JSON that arrives: `stream_json` (`stream`) shows a value (`growing`) as far as it is sound, as a type (`shapes`).
- Damaged JSON: `read_json` (`read`) finds the values of a text and repairs each (`repair`). A walk over the `tokens`
  (`structure`, `brackets`) records edits, which `repair` applies; a search over walks finds where strings end
  (`strings`); `heuristic` asks json-repair.

Nothing here knows formats, so any room above may use it. May import `results`, `patterns` and `grammar`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.schemas.convert import Conversion as Conversion
    from outspoken.results.schemas.fitting import SchemaLike as SchemaLike

    from .descriptions import describe as describe
    from .growing import JsonEvent as JsonEvent
    from .document import JsonReading as JsonReading
    from .read import JsonLimitError as JsonLimitError, read_json as read_json
    from .shapes import Partial as Partial
    from .stream import (
        JsonStream as JsonStream,
        Snapshot as Snapshot,
        astream_json as astream_json,
        stream_json as stream_json,
    )
    from .typed import Reading as Reading

export_lazily(__name__)
