"""A proxy in front of a server that returns raw text: `outspoken serve`. Needs the extra `serve`.

It builds on `providers`; only the command line imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .app import Proxy as Proxy
    from .settings import ServerSettings as ServerSettings, ServerStartError as ServerStartError

export_lazily(__name__)
