"""Answers to requests with an idempotency key: a request that is sent again changes nothing."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.tables import answers

KEPT_SECONDS = 7 * 24 * 3600.0


class KeyedRequest(NamedTuple):
    """A request with an idempotency key; ``digest`` tells it from all others."""

    account: str
    key: str
    digest: str


class AnsweredError(ConflictError):
    """Another request with the same key was faster."""


def find_answer(connection: Connection, request: KeyedRequest) -> str | None:
    """The stored answer to a request; an error if its key came with another request."""
    row = connection.execute(
        select(answers.c.request, answers.c.answer).where(
            answers.c.account == request.account, answers.c.key == request.key
        )
    ).one_or_none()
    if row is None:
        return None
    if row.request != request.digest:
        says = "This key came with another request before."
        raise ConflictError("key_reused", says, "Idempotency-Key")
    answer: str = row.answer
    return answer


def add_answer(connection: Connection, request: KeyedRequest, answer: str) -> None:
    """Store an answer, in the transaction of the request's changes."""
    values = {
        "account": request.account,
        "key": request.key,
        "request": request.digest,
        "answer": answer,
        "at": time.time(),
    }
    try:
        connection.execute(insert(answers), values)
    except IntegrityError as error:
        says = "Another request with this key is being answered."
        raise AnsweredError("key_reused", says, "Idempotency-Key") from error


def change_answer(connection: Connection, request: KeyedRequest, answer: str) -> None:
    """Store an answer, in place of an earlier one to the same request."""
    mine = (answers.c.account == request.account) & (answers.c.key == request.key)
    if not connection.execute(update(answers).where(mine).values(answer=answer)).rowcount:
        add_answer(connection, request, answer)


def delete_old_answers(connection: Connection) -> None:
    """Delete the answers of more than a week ago."""
    connection.execute(delete(answers).where(answers.c.at < time.time() - KEPT_SECONDS))


def delete_answers_to(connection: Connection, account: str) -> None:
    """Delete the answers to somebody's requests."""
    connection.execute(delete(answers).where(answers.c.account == account))
