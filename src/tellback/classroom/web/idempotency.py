"""Idempotency keys: a request that is sent again gets the first answer again."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Header
from pydantic import BaseModel

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="Requests with the same key get the same answer, and the service acts once.",
    ),
]


def digest_of(route: str, body: BaseModel) -> str:
    """Digest of a request."""
    return hashlib.sha256(f"{route} {body.model_dump_json()}".encode()).hexdigest()
