"""Requests that another site made a browser send are refused.

A page elsewhere can make a browser send requests here: to our name (cross-site request forgery),
or to a name of its own that it lets point to this machine (DNS rebinding). The first shows in
``Sec-Fetch-Site`` and ``Origin``, the second in ``Host``; no page can forge these. Programs send
neither of the first two, and are let through to show their token.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.web.problem_responses import send_refusal
from tellback.classroom.web.problems import Problem, forbidden

SAFE = {"GET", "HEAD", "OPTIONS"}
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class OwnOrigin:
    """Lets through what is sent to a name of this service, by its own pages or by programs."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._schemes = {"https"} if settings.secure else {"http", "https"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await send_refusal(send, problem)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _problem(self, scope: Scope) -> Problem | None:
        hosts: list[str] = []
        origins: list[str] = []
        site = ""
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value.decode("latin-1").lower())
            elif name == b"origin":
                origins.append(value.decode("latin-1").lower())
            elif name == b"sec-fetch-site":
                site = value.decode("latin-1").lower()
        if len(hosts) != 1:
            return Problem(400, "bad_host", "A request must name one Host.")
        if without_port(hosts[0]) not in self._hosts:
            return Problem(421, "unknown_host", "This service is not known by that name.")
        if scope.get("method", "") in SAFE:
            return None
        if site not in ("", "same-origin", "none"):
            return forbidden("A page of another site may not do that.")
        if any(not self._own(origin, hosts[0], site) for origin in origins):
            return forbidden("A page of another origin may not do that.")
        return None

    def _own(self, origin: str, host: str, site: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in self._schemes or without_port(parts.netloc) not in self._hosts:
            return False
        # A proxy may leave the port out of Host; then only the browser's own word will do.
        port = _DEFAULT_PORTS[parts.scheme]
        same = parts.netloc.removesuffix(port) == host.removesuffix(port)
        return same or site == "same-origin"


def without_port(host: str) -> str:
    """The name alone; addresses of IPv6 keep their brackets."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
