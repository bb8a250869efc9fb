"""The extension: exports put what a protocol has no field for under this key, and readers look for it there."""

from __future__ import annotations

#: The key of the extension in a message, a chunk or a response.
EXTENSION = "outspoken"
#: Its field for the blank lines that separate two blocks of reasoning.
REASONING_BREAKS = "breaks"
