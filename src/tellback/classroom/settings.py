"""The settings of a classroom."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from tellback.errors import SettingError, TellbackError, real, whole

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """The settings of a classroom.

    Parameters
    ----------
    database : str
        ``sqlite:///path/to/file`` or ``postgresql://user@host/name``.
    accounts : bool
        Whether people sign in and programs send tokens. Without accounts every caller may do
        everything: for one's own machine only.
    hosts : tuple of str
        The host names of the service. Requests to any other name are refused, against DNS
        rebinding.
    secure : bool
        Whether it is reached over HTTPS, through a proxy: then cookies are sent over HTTPS only.
    lease_seconds : float
        How long a response stays reserved for the teacher who sees it.
    largest_body : int
        The most bytes of a request; imports may be ten times as large.
    requests_a_minute : int
        The most requests of an account, or of an address without one; 0 for any number.
    proxies : tuple of str
        Addresses or networks of the proxies before it, with ``secure``: only these may name the
        client's address (``X-Forwarded-For``), by which requests without an account are counted.
    private_webhooks : bool
        Whether webhooks may lead to addresses that are not public, such as those of this machine
        and its network.
    """

    database: str
    accounts: bool = True
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    secure: bool = False
    lease_seconds: float = 180.0
    largest_body: int = 32 * 2**20
    requests_a_minute: int = 6000
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    private_webhooks: bool = False

    def __post_init__(self) -> None:
        real("lease_seconds", self.lease_seconds, above=0)
        whole("largest_body", self.largest_body)
        whole("requests_a_minute", self.requests_a_minute, at_least=0)
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise SettingError(
                    f"proxies must be addresses or networks, such as 10.0.0.0/8, not {proxy!r}."
                ) from error
        if not self.hosts:
            raise SettingError("hosts must name at least one.")


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def free_port(host: str, wanted: int) -> int:
    """The wanted port, or the next one that is free."""
    for port in range(wanted, min(wanted + 50, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, port))
            except OSError:
                continue
            return port
    raise TellbackError(f"No port from {wanted} on is free on {host}.")
