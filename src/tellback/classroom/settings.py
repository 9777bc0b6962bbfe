"""How a classroom is run."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from tellback.errors import SettingError, real, whole

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """How a classroom is run.

    Parameters
    ----------
    database : str
        ``sqlite:///path/to/file`` or ``postgresql://user@host/name``.
    accounts : bool
        Whether people sign in and programs bring tokens. Without, whoever reaches the service
        may do everything: for one's own machine only.
    hosts : tuple of str
        The names under which the service is reached. Requests to any other are refused, so that
        no page elsewhere can pass for this one.
    secure : bool
        Whether it is reached over HTTPS, through a proxy: then cookies are sent over nothing else.
    lease_seconds : float
        How long a response stays with the teacher who was shown it.
    largest_body : int
        The most bytes of a request; those that import a log may be ten times as large.
    requests_a_minute : int
        The most that one account, or one address that has not signed in, may send; 0 for any
        number.
    private_hooks : bool
        Whether hooks may lead to addresses that are not public, such as those of this machine
        and its neighbours.
    """

    database: str
    accounts: bool = True
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    secure: bool = False
    lease_seconds: float = 180.0
    largest_body: int = 32 * 2**20
    requests_a_minute: int = 6000
    private_hooks: bool = False

    def __post_init__(self) -> None:
        real("lease_seconds", self.lease_seconds, above=0)
        whole("largest_body", self.largest_body)
        whole("requests_a_minute", self.requests_a_minute, at_least=0)
        if not self.hosts:
            raise SettingError("hosts must name at least one.")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
