"""Idempotency keys: a request that is sent again gets the first answer again."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Header, Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel

from tellback.classroom.web.problems import invalid

HEADER = "Idempotency-Key"
Key = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="Requests with the same key get the same answer, and the service acts once.",
    ),
]


def takes_key(endpoint: Dependant) -> bool:
    """Whether an endpoint acts once on requests with the same key."""
    return any(one.alias == HEADER for one in endpoint.header_params)


def refuse_key(request: Request) -> None:
    """Refuse a key that would be ignored. Other methods than POST may be repeated anyway."""
    if request.method == "POST" and HEADER in request.headers:
        raise invalid(HEADER, f"This request takes no {HEADER}: sent twice, it is done twice.")


def refuse_two_keys(request: Request) -> None:
    """Refuse several keys: only one would count."""
    if len(request.headers.getlist(HEADER)) > 1:
        raise invalid(HEADER, "A key must be given once only.")


def digest_of(route: str, body: BaseModel) -> str:
    """Digest of a request."""
    return hashlib.sha256(f"{route} {body.model_dump_json()}".encode()).hexdigest()
