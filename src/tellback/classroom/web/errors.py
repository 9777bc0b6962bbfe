"""Refusals as JSON: every one says what is wrong, and in which field."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from tellback.classroom.store.describing import RefusedError
from tellback.classroom.web.bodies import Problems
from tellback.classroom.web.problems import Problem
from tellback.errors import TellbackError, UnknownNameError

LOGGER = logging.getLogger(__name__)

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problems, "description": says}
    for status, says in {
        400: "The request cannot be read.",
        401: "Nobody has signed in, or the token is not valid.",
        403: "The caller may not do that.",
        404: "There is no such thing.",
        409: "It does not fit with where things stand.",
        413: "The body is too large.",
        422: "A value is not allowed; the field is named.",
        429: "Too many requests.",
        503: "The database does not answer just now; try again.",
    }.items()
}
"""For the description of the API."""


def refusal(
    status: int,
    code: str,
    says: str,
    field: str | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The answer to a request that is refused."""
    body = {"error": {"code": code, "says": says, "field": field}}
    return JSONResponse(body, status, headers)


def handle_errors(app: FastAPI) -> None:
    """Answer every error in the same form."""

    @app.exception_handler(Problem)
    def problem(_: Request, error: Problem) -> JSONResponse:
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return refusal(error.status, error.code, str(error), error.field, headers)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"] if part != "body"]
        field = ".".join(place) or None
        more = len(error.errors()) - 1
        says = f"{field or 'The body'}: {first['msg']}" + (f" (and {more} more)" if more else "")
        return refusal(422, "unfit", says[:500], field)

    @app.exception_handler(TellbackError)
    def refused(_: Request, error: TellbackError) -> JSONResponse:
        if isinstance(error, RefusedError):
            return refusal(409, error.code, str(error))
        if isinstance(error, UnknownNameError):
            return refusal(404, "not_found", str(error))
        return refusal(422, "unfit", str(error)[:1000], getattr(error, "field", None))

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> JSONResponse:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
        headers = dict(error.headers) if error.headers else None
        return refusal(error.status_code, code, str(error.detail), headers=headers)

    @app.exception_handler(OperationalError)
    def database(_: Request, error: OperationalError) -> JSONResponse:
        LOGGER.error("the database failed: %s", error.orig)
        says = "The database does not answer just now; nothing was changed."
        return refusal(503, "database", says, headers={"Retry-After": "1"})

    @app.exception_handler(Exception)
    def unforeseen(_: Request, error: Exception) -> JSONResponse:
        LOGGER.error("unforeseen", exc_info=error)
        return refusal(500, "unforeseen", "Something went wrong that nobody foresaw.")
