"""Requests that may be sent again: the first answer is kept, and given again."""

from __future__ import annotations

import hashlib
import time
from typing import Annotated, TypeVar

from fastapi import Header
from pydantic import BaseModel
from sqlalchemy import Connection, delete, insert, select

from tellback.classroom.store.tables import answers
from tellback.classroom.web.problems import Problem

KEPT_SECONDS = 7 * 24 * 3600.0

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key brings the same answer, and is acted upon once.",
    ),
]
Answer = TypeVar("Answer", bound=BaseModel)


def digest_of(route: str, body: BaseModel) -> str:
    """A name for a request that no other request has."""
    return hashlib.sha256(f"{route} {body.model_dump_json()}".encode()).hexdigest()


def answered(
    connection: Connection, account: str, key: str, digest: str, kind: type[Answer]
) -> Answer | None:
    """The answer that was given to a key; an error if that was another request."""
    row = connection.execute(
        select(answers.c.request, answers.c.answer).where(
            answers.c.account == account, answers.c.key == key
        )
    ).one_or_none()
    if row is None:
        return None
    if row.request != digest:
        raise Problem(
            409, "key_reused", "This key came with another request before.", "Idempotency-Key"
        )
    return kind.model_validate_json(row.answer)


def keep_answer(
    connection: Connection, account: str, key: str, digest: str, answer: BaseModel
) -> None:
    """Keep an answer, in the transaction that did what was asked."""
    values = {
        "account": account,
        "key": key,
        "request": digest,
        "status": 200,
        "answer": answer.model_dump_json(),
        "at": time.time(),
    }
    connection.execute(insert(answers), values)


def forget_answers(connection: Connection) -> None:
    """Forget those that nobody will ask for again."""
    connection.execute(delete(answers).where(answers.c.at < time.time() - KEPT_SECONDS))
