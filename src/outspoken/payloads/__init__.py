"""Payloads: structured elements that an application's assistant writes in its text, each behind a marker.

An application declares them once (`PayloadType`, `PayloadRegistry`). Then they are parsed and validated, whole and in
streams, taken out of the message, and taught to the model.
"""

from .options import Options
from .page import Page
from .registry import PayloadRegistry
from .replies import PayloadReply, TypedPayload
from .streaming import PayloadStream
from .types import PayloadType
from .validation import BrokenRules

__all__ = [
    "BrokenRules",
    "Options",
    "Page",
    "PayloadRegistry",
    "PayloadReply",
    "PayloadStream",
    "PayloadType",
    "TypedPayload",
]
