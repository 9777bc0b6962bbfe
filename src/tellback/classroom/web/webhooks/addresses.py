"""Where a webhook may point.

A service that sends requests to any address gives its callers access to its own network
(server-side request forgery). So a webhook must lead to the public internet: its name is resolved
at each delivery, all its addresses must be public, and the connection goes to the address that was
checked, so that the name cannot change in between. ``Settings.private_webhooks`` allows other
addresses. Redirects are not followed, and no proxy of the environment is used.
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import ip_network
from urllib.parse import SplitResult, urlsplit

from tellback.errors import FieldError, TellbackError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ip_network("64:ff9b::/96")
# Not public, although Python says so: documentation (RFC 9637), and relays of 6to4 (RFC 7526).
_UNLISTED = [ip_network("3fff::/20"), ip_network("192.88.99.0/24")]
_PORTS = {"http": 80, "https": 443}


def checked_url(url: str, private: bool) -> str:
    """The URL, if a webhook may have it.

    A name without an address may get one later: then it is accepted, and checked at each delivery.
    """
    host = _parts(url).hostname or ""
    if not private and not all(map(is_public, _addresses(host, None))):
        raise FieldError("url", f"url must lead to the public internet, not to {host}.")
    return url


def _parts(url: str) -> SplitResult:
    allowed = "url must be http:// or https:// with a host, without a password or a fragment."
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise FieldError("url", allowed)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise FieldError("url", allowed) from error
    strange = "%" in parts.netloc  # the zone of a link-local address
    strange = strange or parts.username is not None or parts.password is not None or "#" in url
    if parts.scheme not in _PORTS or not parts.hostname or strange:
        raise FieldError("url", allowed)
    return parts


def resolved(url: str, private: bool) -> tuple[str, str]:
    """The URL with an address in place of its host, and the host; an error if it is not public."""
    parts = _parts(url)
    assert parts.hostname is not None
    port = parts.port or _PORTS[parts.scheme]
    addresses = _addresses(parts.hostname, port)
    if not addresses:
        raise TellbackError(f"{parts.hostname} has no address")
    if not private and not all(map(is_public, addresses)):
        raise TellbackError(f"{parts.hostname} does not lead to the public internet")
    first = addresses[0]
    host = f"[{first}]" if first.version == 6 else str(first)
    return parts._replace(netloc=f"{host}:{port}").geturl(), parts.hostname


def _addresses(host: str, port: int | None) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        # Not every resolver knows "localhost." and the names below it (RFC 6761).
        local = f".{host.rstrip('.')}".endswith(".localhost")
        return [ipaddress.IPv4Address("127.0.0.1")] if local else []
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None or address.is_site_local:
            return False
    if any(address in network for network in _UNLISTED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
