"""Payloads: structured elements that an application's assistant writes into its text, each after a marker.

An application declares its types once (`PayloadType`, `PayloadRegistry`). The registry describes them in the prompt,
reads and validates them in whole texts and streams, and removes them from the message. The command line and users
import from here. May import the rooms from `results` to `rendering`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.events import PayloadPreview as PayloadPreview

    from .registry import ContentLike as ContentLike, PayloadParser as PayloadParser
    from .registry import PayloadRegistry as PayloadRegistry
    from .replies import PayloadEvent as PayloadEvent, PayloadReply as PayloadReply, TypedPayload as TypedPayload
    from .reader import PayloadSession as PayloadSession
    from .types import PayloadSettings as PayloadSettings
    from .types import Page as Page, PayloadType as PayloadType
    from .validation import BrokenRulesError as BrokenRulesError

export_lazily(__name__)
