"""Web URLs, validated without network access."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\d)")
_HOST = re.compile(r"[^\s<>\"\\^`{|}]+")
_LOCAL = ("localhost", "local", "internal", "home.arpa")


def web_url(text: str) -> str:
    """A web URL without surrounding white space, and with `https://` if it has no scheme.

    Raises ValueError for text that is not a web URL, and for a host in the caller's own network: a name such as
    `localhost`, or a private, loopback or link-local address. Names are not resolved, so a public name for a private
    address passes.
    """
    url = text.strip()
    if not _SCHEME.match(url):
        url = f"https://{url.removeprefix('//')}"
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    except ValueError:
        scheme = host = ""
    if not host or not _HOST.fullmatch(url) or scheme not in ("http", "https"):
        raise ValueError(f"no web URL: {text[:80]!r}")
    if _is_local(host):
        raise ValueError(f"a URL in your own network: {text[:80]!r}")
    return url


def _is_local(host: str) -> bool:
    """True for a host name or address that belongs to the caller's own network."""
    if host in _LOCAL or host.endswith(tuple([f".{name}" for name in _LOCAL])):
        return True
    try:
        return not ip_address(int(host, 0) if host.isalnum() and host[0].isdigit() else host).is_global
    except ValueError:
        return False
