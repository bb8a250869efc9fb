"""The playground: a page on this machine where a response is pasted and read, and pages of one response as files.

`serve` opens it, `write` writes a page that works from a file. Needs the extra `ui`; only the command line imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .run import PlaygroundError as PlaygroundError, begin_with as begin_with, serve as serve, write as write

export_lazily(__name__, {"run": "PlaygroundError begin_with serve write"})
