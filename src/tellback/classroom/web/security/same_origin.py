"""Requests that a page of another site made a browser send are refused.

A page elsewhere can make a browser send requests here: to our own name (cross-site request
forgery), or to a name of its own that it lets point to this machine (DNS rebinding). There are no
tokens in pages against this. These facts are relied on instead:

- GET, HEAD and OPTIONS change nothing, and no answer allows another origin to read it. So only the
  other methods are looked at.
- Browsers send ``Origin`` with each request of another method: with forms, ``fetch`` in every mode
  and beacons alike. From a sandboxed page or after a redirect it is ``null``. No page can set or
  remove it.
- Browsers also send ``Sec-Fetch-Site`` to HTTPS and to this machine (Chrome since 2019, Firefox
  since 2021, Safari since 2023). No page can set or remove it either.
- Another port or scheme of the same host is another origin, although its pages send our cookie
  along.
- ``Host`` is the name that the browser looked up, so a rebound name shows in it.

Programs send neither ``Origin`` nor ``Sec-Fetch-Site``. They are let through to show their token.
A request that is authenticated by the cookie of a session must bring one of the two, and it must
name this origin: a browser that sends neither is refused, not trusted. Without accounts there is
no cookie, and a browser from before 2020 that sends no ``Origin`` with forms is not recognised.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from tellback.classroom.settings import Settings
from tellback.classroom.web.problem_handlers import send_problem
from tellback.classroom.web.problems import Problem, other_origin
from tellback.classroom.web.security.credentials import credential_of

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
SAME_ORIGIN = "same-origin"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class SameOrigin:
    """Middleware: passes on requests to a name of this service, by its own pages or by programs."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._secure = settings.secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await send_problem(send, problem)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _problem(self, scope: Scope) -> Problem | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1:
            return Problem(400, "bad_host", "A request must name one Host.")
        if without_port(hosts[0]) not in self._hosts:
            return Problem(421, "unknown_host", "This service is not known by that name.")
        if scope.get("method", "") in SAFE_METHODS:
            return None
        sites, origins = _values(scope, b"sec-fetch-site"), _values(scope, b"origin")
        if any(site not in (SAME_ORIGIN, "none") for site in sites):
            return other_origin("A page of another site may not do that.")
        ours = SAME_ORIGIN in sites
        if any(not self._own(origin, hosts[0], ours) for origin in origins):
            return other_origin("A page of another origin may not do that.")
        if not (ours or origins):
            credential = credential_of(scope, self._secure)
            if credential is not None and credential.from_cookie:
                return other_origin("A change with the cookie of a session must name its Origin.")
        return None

    def _own(self, origin: str, host: str, ours: bool) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in _DEFAULT_PORTS or without_port(parts.netloc) not in self._hosts:
            return False
        if self._secure and parts.scheme != "https":
            return False
        if ours:  # the browser compared the origins; a proxy may have changed port and scheme
            return True
        port = _DEFAULT_PORTS[parts.scheme]
        same_host = parts.netloc.removesuffix(port) == host.removesuffix(port)
        return same_host and parts.scheme == ("https" if self._secure else "http")


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1").lower() for name, value in scope["headers"] if name == wanted]


def without_port(host: str) -> str:
    """The name alone; addresses of IPv6 keep their brackets."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
