"""Web URLs, validated without network access."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_SCHEME = re.compile(r"https?:|[A-Za-z][A-Za-z0-9+.\-]*:(?!\d)", re.IGNORECASE)
_URL = re.compile(r"[^\s\x00-\x1f\x7f<>\"\\^`{|}]+")
_LOCAL = ("localhost", "local", "internal", "home.arpa")
#: Networks that no host on the internet has an address in, by IANA's registries of special-purpose addresses, and those
#: of multicast. `ipaddress.is_global` answers otherwise in each version of Python.
_NOT_PUBLIC = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
        *("::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"),
        *("fc00::/7", "fe80::/9", "ff00::/8"),
    )
]
#: IPv6 networks whose addresses hold an IPv4 address, and how many bits stand behind it
_HOLDING_IPV4 = [
    (ip_network(network), bits)
    for network, bits in (("::/96", 0), ("::ffff:0:0:0/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80))
]


def web_url(text: str) -> str:
    """A web URL without surrounding white space, and with `https://` if it has no scheme.

    Raises ValueError for text that is not a web URL, and for a host in the caller's own network: a name such as
    `localhost`, or an address that is not public. The host is the one to which a browser connects: `127.1`, `0x7f.1`,
    `127%2e0.0.1` and `１２７.0.0.1` are 127.0.0.1. Names are not resolved: a public name for a private address passes.
    """
    url = text.strip()
    if not _SCHEME.match(url):
        url = f"https://{url.removeprefix('//')}"
    host = _browser_host(url) if _URL.fullmatch(url) else ""
    if not host:
        raise ValueError(f"no web URL: {text[:80]!r}")
    if _is_local(host):
        raise ValueError(f"a URL in your own network: {text[:80]!r}")
    return url


def _browser_host(url: str) -> str:
    """The host of a web URL as the WHATWG URL standard normalises it; "" if a browser does not open the URL."""
    from ada_url import URL  # a library in C; only addresses need it

    try:
        parsed = URL(url)
    except ValueError:
        return ""
    return parsed.hostname.rstrip(".") if parsed.protocol in ("http:", "https:") else ""


def _is_local(host: str) -> bool:
    """True for a normalised host name or address that belongs to the caller's own network."""
    if host in _LOCAL or host.endswith(tuple([f".{name}" for name in _LOCAL])):
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return any(one in network for one in _addresses(address) for network in _NOT_PUBLIC)


def _addresses(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """An address, and the IPv4 address that it holds. A mapped IPv4 address stands for that alone."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    held = [IPv4Address(int(address) >> bits & 0xFFFFFFFF) for net, bits in _HOLDING_IPV4 if address in net]
    return [address, *held]
