"""Payloads: structured elements that an application's assistant writes into its text, each after a marker.

An application declares its types once (`PayloadType`, `PayloadRegistry`). The registry describes them in the prompt,
reads and validates them in whole texts and streams, and removes them from the message. The command line and users
import from here. May import the rooms from `results` to `rendering`.
"""

from .registry import PayloadRegistry
from .replies import PayloadReply, TypedPayload
from .streaming import PayloadStream
from .types import Options, Page, PayloadType
from .validation import BrokenRulesError

__all__ = [
    "BrokenRulesError",
    "Options",
    "Page",
    "PayloadRegistry",
    "PayloadReply",
    "PayloadStream",
    "PayloadType",
    "TypedPayload",
]
