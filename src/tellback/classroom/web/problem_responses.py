"""How refusals are sent and declared: the same JSON for each, whoever raises it."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Send

from tellback.classroom.store.descriptions import ConflictError
from tellback.classroom.store.passwords import BusyError
from tellback.classroom.web.problems import Problem
from tellback.errors import TellbackError, UnknownNameError

LOGGER = logging.getLogger(__name__)
LONGEST = 1000
"""Characters of a refusal: errors repeat what they refuse."""


class Refused(BaseModel):
    """What was wrong."""

    code: str = Field(description="What is wrong, in a word that does not change.")
    says: str = Field(description="What is wrong, in a sentence.")
    field: str | None = Field(description="Which part of the request, if one is to blame.")


class Refusal(BaseModel):
    """The answer to a request that is refused."""

    error: Refused


_MEANINGS = {
    400: "The request cannot be read.",
    401: "The caller has not signed in, and brought no token that counts.",
    403: "The caller may not do that.",
    404: "There is no such thing.",
    409: "It does not fit with what is there.",
    413: "The body is too large.",
    421: "This service is not known by that name.",
    422: "A value is not allowed.",
    429: "Too many requests: Retry-After says when to try again.",
    503: "The database does not answer just now: nothing was changed, try again.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of an endpoint, for its description; some can come from every one."""
    return {
        status: {"model": Refusal, "description": _MEANINGS[status]}
        for status in sorted({*statuses, 400, 413, 421, 429, 503})
    }


def answer_refusals(app: FastAPI) -> None:
    """Have an app answer every refusal in the same way."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(TellbackError, _refused)
    app.add_exception_handler(OperationalError, _no_database)
    app.add_exception_handler(Exception, _unforeseen)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def send_refusal(send: Send, problem: Problem) -> None:
    """Answer from outside of the app."""
    body = problem.body()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    raw = [(k.lower().encode(), v.encode()) for k, v in (headers | problem.headers).items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, "application/json")


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _response(error)


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, ConflictError):
        return _response(Problem(409, error.code, str(error)))
    if isinstance(error, BusyError):
        return _response(Problem(503, "busy", str(error), headers={"Retry-After": "2"}))
    if isinstance(error, UnknownNameError):
        return _response(Problem(404, "not_found", str(error)[:LONGEST]))
    return _response(Problem(422, "unfit", str(error)[:LONGEST], getattr(error, "field", None)))


async def _no_database(_: Request, error: Exception) -> Response:
    assert isinstance(error, OperationalError)
    LOGGER.error("the database failed: %s", error.orig)
    says = "The database does not answer just now: nothing was changed, try again."
    return _response(Problem(503, "database", says, headers={"Retry-After": "1"}))


async def _unforeseen(_: Request, error: Exception) -> Response:
    LOGGER.error("unforeseen", exc_info=error)
    return _response(Problem(500, "unforeseen", "Something went wrong that nobody foresaw."))


async def _invalid(_: Request, error: Exception) -> Response:
    """Name the first field that is wrong. What was sent is not repeated: it may be a password."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    if where[:1] == ["body"] and len(where) > 1:
        where = where[1:]
    if first["type"] == "json_invalid":
        return _response(Problem(422, "unfit", "The body is not JSON.", "body"))
    says = str(first["msg"]).removeprefix("Value error, ")
    if where[-1] in _BRANCHES:  # of a field that may be one or the other
        where.pop()
        says = "Input should be a valid string or a whole number"
    field = ".".join(where)[:200]
    return _response(Problem(422, "unfit", f"{field}: {says}.", field))


_BRANCHES = ("int", "str")


_CODES = {404: "not_found", 405: "method_not_allowed"}


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "refused")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed(request))
    return _response(Problem(error.status_code, code, f"{error.detail}.", headers=headers))


def _allowed(request: Request) -> list[str]:
    """The methods of a path, whichever routes they are on: the router names those of the first."""
    asked = {key: request.scope[key] for key in ("type", "path", "root_path", "headers")}
    return [
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        for route in request.app.router.routes
        if route.matches({**asked, "method": method})[0] is Match.FULL
    ]
