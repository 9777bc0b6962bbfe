"""The scripts, styles and icons that pages load."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_STATIC = Path(__file__).parent / "static"
_VERSION = re.compile("[0-9a-f]{12}")

# Browsers run modules of no other type, and the system's own table is not always right.
mimetypes.add_type("text/javascript", ".js")


@lru_cache(1)
def version() -> str:
    """A digest of all files: it changes whenever one of them does."""
    whole = hashlib.sha256()
    for file in sorted(_STATIC.iterdir()):
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()[:12]


class Assets(StaticFiles):
    """Files under their version, which browsers may cache for good.

    Files are also served under another version, such as the one before an update. Then browsers
    must revalidate them.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file."""
        first, _, rest = path.partition("/")
        if not _VERSION.fullmatch(first):
            return await super().get_response(path, scope)
        response = await super().get_response(rest, scope)
        if first == version():
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def mount_assets(app: FastAPI) -> None:
    """Serve the files."""
    app.mount("/static", Assets(directory=_STATIC), name="static")


def asset(name: str) -> str:
    """The URL of a file."""
    return f"/static/{version()}/{name}"
