"""Bodies that are read as a stream, and kept in a file if they are large."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator
from typing import BinaryIO, NamedTuple, cast

from fastapi import Request

IN_MEMORY = 2**20
"""Larger bodies are kept in a file."""


class Upload(NamedTuple):
    """The body of a request."""

    file: BinaryIO
    digest: str


async def uploaded(request: Request) -> AsyncIterator[Upload]:
    """The body of a request, in a file if it is large."""
    digest = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        async for piece in request.stream():
            digest.update(piece)
            file.write(piece)
        file.seek(0)
        yield Upload(cast(BinaryIO, file), digest.hexdigest())
