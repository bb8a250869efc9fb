"""Addresses of the web, as far as they can be judged without asking anybody."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\d)")
_HOST = re.compile(r"[^\s<>\"\\^`{|}]+")
_LOCAL = ("localhost", "local", "internal", "home.arpa")


def web_address(text: str) -> str:
    """An address of the web: with `https://` before it, where it has no scheme, and without the blanks round it.

    Raises ValueError for what is no such address, and for one that leads into the caller's own network: a name that
    says so (`localhost`), or a private, loopback or link-local number. No name is looked up; one that stands
    for such a number is not noticed.
    """
    address = text.strip()
    if not _SCHEME.match(address):
        address = f"https://{address.removeprefix('//')}"
    try:
        parts = urlsplit(address)
        scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    except ValueError:
        scheme = host = ""
    if not host or not _HOST.fullmatch(address) or scheme not in ("http", "https"):
        raise ValueError(f"no address of the web: {text[:80]!r}")
    if _is_own(host):
        raise ValueError(f"an address in your own network: {text[:80]!r}")
    return address


def _is_own(host: str) -> bool:
    """Does a host say that it is in the caller's own network?"""
    if host in _LOCAL or host.endswith(tuple([f".{name}" for name in _LOCAL])):
        return True
    try:
        return not ip_address(int(host, 0) if host.isalnum() and host[0].isdigit() else host).is_global
    except ValueError:
        return False
