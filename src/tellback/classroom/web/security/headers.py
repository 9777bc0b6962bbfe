"""Security headers of every answer."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
HTTPS_ONLY = {"strict-transport-security": "max-age=31536000"}
STATIC = "/static/"
"""Files that are the same for everybody: browsers may cache them and revalidate."""


class SecurityHeaders:
    """Middleware: adds the headers to each answer, errors included."""

    def __init__(self, app: ASGIApp, secure: bool) -> None:
        self.app = app
        headers = ALWAYS | HTTPS_ONLY if secure else ALWAYS
        self._raw = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cache = b"no-cache" if scope["path"].startswith(STATIC) else b"no-store"

        async def safer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *self._raw]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", cache))
                message["headers"] = headers
            await send(message)

        await self.app(scope, receive, safer)
