"""The settings of the proxy: the upstream, the format of its text, and limits."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from outspoken.grammar.registry import resolve
from outspoken.results.errors import OutspokenError


class ServeError(OutspokenError, ValueError):
    """The proxy cannot start with these settings."""


@dataclass(frozen=True)
class ServeSettings:
    """The settings of the proxy.

    `upstream` is a base URL as OpenAI's clients take it; without a path, it means `/v1`. `format` is the name of a
    format, or "auto". Times are in seconds: to connect, between two pieces of a response, and for a whole response.
    `max_body` is in bytes of a request, `max_chars` in characters of a response. More than `max_concurrent` requests
    are rejected and may be tried again. `reasoning_field` is the field for reasoning from the text. With `action_tool`,
    GUI actions are calls of the tool of that name.

    Raises ServeError for invalid values, and UnknownFormatError.
    """

    upstream: str
    format: str = "auto"
    connect_timeout: float = 10.0
    read_timeout: float = 120.0
    total_timeout: float = 1800.0
    max_body: int = 32 * 1024 * 1024
    max_chars: int = 10_000_000
    max_concurrent: int = 1024
    reasoning_field: str = "reasoning_content"
    action_tool: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.upstream)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ServeError(f"`{self.upstream}` is not a server's URL; expected http://host:port or https://host")
        if self.format != "auto":
            resolve(self.format)
        for name in ("connect_timeout", "read_timeout", "total_timeout", "max_body", "max_chars", "max_concurrent"):
            if getattr(self, name) <= 0:
                raise ServeError(f"`{name}` is {getattr(self, name)}; expected more than 0")

    @property
    def base(self) -> str:
        """The base URL without a trailing slash."""
        base = self.upstream.rstrip("/")
        return base if urlsplit(base).path else f"{base}/v1"
