"""Results back to text: `render` writes calls and actions as a format writes them, `render_history` whole chats.

`messages` gives the message that a response template describes, `reasoning_tags` what stands around reasoning. May
import the rooms from `results` to `parsing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.errors import MessageError as MessageError

    from .history import render_history as render_history
    from .messages import parse_message as parse_message
    from .prompting import describe_tools as describe_tools
    from .render import render as render

export_lazily(__name__)
