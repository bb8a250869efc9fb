"""Responses of LLM providers: read from the wire, and written in the wire formats of other APIs.

A response flows through the rooms in this order; each imports only from those before it:

- `errors`, `usage`, `replies`, `events`: what callers receive and catch; `requested`: what a request of theirs says
- `decode`: bytes, text and SDK objects to JSON objects
- `assembly`: text, reasoning and calls to one stream of events and one reply
- `wire`: one module or package for each API: its reader, which feeds the assembly, its exporter, and its requests
- `registry`, `stream`: the providers by name, and what callers use

Import the public names from here. The rooms may import the parser and what it is made of (`parsing`, `json`,
`notations`, `grammar`, `results`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.finish_reasons import FinishReason as FinishReason

    from .decode.sdk_objects import ChunkLike as ChunkLike
    from .errors import ProviderFormatError as ProviderFormatError, UnknownProviderError as UnknownProviderError
    from .events import (
        Failed as Failed,
        Finished as Finished,
        ProviderEvent as ProviderEvent,
        ReasoningSigned as ReasoningSigned,
        RefusalDelta as RefusalDelta,
        Started as Started,
        StreamEvent as StreamEvent,
        UsageReported as UsageReported,
    )
    from .wire.writing import (
        Wire as Wire,
        WireOptions as WireOptions,
        sse as sse,
        stream_to_wire as stream_to_wire,
        to_wire as to_wire,
    )
    from .registry import Provider as Provider
    from .replies import (
        ProviderError as ProviderError,
        ProviderReply as ProviderReply,
        Signature as Signature,
    )
    from .stream import (
        ProviderStream as ProviderStream,
        astream_response as astream_response,
        parse_response as parse_response,
        stream_response as stream_response,
    )
    from .usage import Usage as Usage

export_lazily(__name__)
