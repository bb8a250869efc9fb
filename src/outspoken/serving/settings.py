"""What the proxy is told: where the upstream is, how its text is read, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from outspoken.grammar.registry import resolve
from outspoken.results.errors import OutspokenError


class ServeError(OutspokenError, ValueError):
    """The proxy cannot be started as it was told."""


@dataclass(frozen=True)
class ServeSettings:
    """How the proxy serves.

    `upstream` is a base URL as OpenAI's clients take it; where it has no path, `/v1` is meant. `format` is a format's
    name, or "auto". Times are in seconds: to connect, between two pieces of a response, and for a whole one.
    `max_body` is in bytes of a request, `max_chars` in characters of a response; of requests beyond `max_concurrent`,
    each is told to come again. `reasoning_field` is where reasoning goes that was found in the text, and `action_tool`
    the tool that GUI actions are calls of.

    Raises ServeError, and UnknownFormatError.
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
            raise ServeError(f"`{self.upstream}` is no URL of a server; expected http://host:port or https://host")
        if self.format != "auto":
            resolve(self.format)
        for name in ("connect_timeout", "read_timeout", "total_timeout", "max_body", "max_chars", "max_concurrent"):
            if getattr(self, name) <= 0:
                raise ServeError(f"`{name}` is {getattr(self, name)}; expected more than 0")

    @property
    def base(self) -> str:
        """The base URL, without a slash at its end."""
        base = self.upstream.rstrip("/")
        return base if urlsplit(base).path else f"{base}/v1"
