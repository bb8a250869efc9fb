"""JSON in any state: whole, still arriving, in prose, truncated or damaged.

- Sound JSON: `scanner` reads values, whole or in pieces, and counts brackets. `partial_string` gives the certain text
  of a string that is still arriving.
- Damaged JSON: `read_json` (`read`) finds the values of a text and repairs each (`repair`). A walk over the `tokens`
  (`structure`, `brackets`) records edits, which `repair` applies; a search over walks finds where strings end
  (`strings`); `heuristic` asks json-repair.

Nothing here knows formats, so any room above may use it. May import `results`, `patterns` and `grammar`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .convert import Conversion as Conversion
    from .read import JsonLimitError as JsonLimitError, read_json as read_json
    from .reading import JsonReading as JsonReading
    from .typed import Reading as Reading, SchemaLike as SchemaLike

export_lazily(__name__)
