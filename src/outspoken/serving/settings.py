"""The settings of the proxy: the upstream, the format of its text, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from outspoken.grammar.model_ids import bare_id, find
from outspoken.grammar.registry import resolve
from outspoken.providers.wire.parts import STREAM_CALLS, StreamCalls
from outspoken.results.arguments import check_optional, check_type, kind_of
from outspoken.results.errors import OutspokenError

#: No name of a model is longer.
_LONGEST = 300
#: The upstreams whose responses can be constrained.
UPSTREAMS = ("vllm", "sglang", "llama_cpp")
_NUMBERS = (
    "connect_timeout", "read_timeout", "total_timeout", "max_body", "max_chars", "max_concurrent", "ask_again",
)  # fmt: skip


class ServerStartError(OutspokenError, ValueError):
    """The proxy cannot start, or not with these settings."""


@dataclass(frozen=True)
class ServerSettings:
    """The settings of the proxy.

    `upstream` is a base URL as OpenAI's clients take it; without a path, it means `/v1`. `format` is the name of a
    format or of a model, or "auto"; by default, that of the model that a request names. `models` maps patterns of
    models, as grammars write them in `ids`, to the formats or models that go before it. Times are in seconds: to
    connect, between two pieces of a response, and for a whole response. `max_body` is in bytes of a request,
    `max_chars` in characters of a response. More than `max_concurrent` requests are rejected and may be tried
    again. `reasoning_field` is the field for reasoning from the text. With `action_tool`, GUI actions are calls of
    the tool of that name. `stream_calls` says whether a call of a stream is sent when it is "complete", or in
    "pieces" for clients that wait for its end (see `Exporter`). With `show_invalid`, the text of a call that is invalid
    stays in the content. The model is asked again up to `ask_again` times if a call cannot be read, or if a request
    wants a call or JSON and gets none; then no text of an invalid call is shown. `prefix` is what the prompts of the
    models end with, if it is not what is usual for them. With `render_history`, the upstream gets calls, reasoning and
    results of earlier turns as text in the format (see `outspoken.rendering.render_history`); it and `constrain` need
    more than "auto". `constrain` names the upstream ("vllm", "sglang" or
    "llama_cpp") if requests with tools are to be constrained to what the format and the tools allow; with
    `constrain_strict`, a request is rejected if its constraint cannot be made or does not
    enforce everything. With `log_requests`, `outspoken serve` logs a line for each request.

    Raises ServerStartError for invalid values, UnknownFormatError, and TypeError for values of a wrong type.
    """

    upstream: str
    format: str | None = None
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    connect_timeout: float = 10.0
    read_timeout: float = 120.0
    total_timeout: float = 1800.0
    max_body: int = 32 * 1024 * 1024
    max_chars: int = 10_000_000
    max_concurrent: int = 1024
    reasoning_field: str = "reasoning_content"
    action_tool: str | None = None
    stream_calls: StreamCalls = "complete"
    show_invalid: bool = True
    ask_again: int = 0
    prefix: str | None = None
    render_history: bool = False
    constrain: str | None = None
    constrain_strict: bool = False
    log_requests: bool = True

    def __post_init__(self) -> None:
        for name in ("upstream", "reasoning_field"):
            check_type(getattr(self, name), str, name)
        for name in ("format", "action_tool", "constrain", "prefix"):
            check_optional(getattr(self, name), str, name)
        if self.stream_calls not in STREAM_CALLS:
            names = " or ".join([f"`{name}`" for name in STREAM_CALLS])
            raise ServerStartError(f"`stream_calls` is {self.stream_calls!r}; expected {names}")
        parts = urlsplit(self.upstream)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ServerStartError(
                f"`{self.upstream}` is not a server's URL; expected http://host:port or https://host"
            )
        formats = [*self.models.values(), *([] if self.format is None else [self.format])]
        for format in formats:
            if format != "auto":
                resolve(format)
        if self.constrain is not None and self.constrain not in UPSTREAMS:
            raise ServerStartError(f"`constrain` is `{self.constrain}`; expected {', '.join(UPSTREAMS)}")
        for name in ("constrain", "render_history"):
            if getattr(self, name) and "auto" in formats:
                raise ServerStartError(f"`{name}` needs the name of a format")
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name in _NUMBERS:
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"`{name}` is {kind_of(value)}; expected a number")
            if value < 0 or (value == 0 and name != "ask_again"):
                raise ServerStartError(f"`{name}` is {value}; expected more than 0")

    def format_of(self, model: object) -> str:
        """The format of a model, or the model itself, of which more is known. Raises UnknownFormatError."""
        name = model[:_LONGEST] if isinstance(model, str) else ""
        found = find(name, [(format, bare_id(pattern), "") for pattern, format in self.models.items()])
        if found is not None or self.format is not None:
            return self.format or "" if found is None else found.format
        resolve(name)
        return name

    @property
    def base(self) -> str:
        """The base URL without a trailing slash."""
        base = self.upstream.rstrip("/")
        return base if urlsplit(base).path else f"{base}/v1"
