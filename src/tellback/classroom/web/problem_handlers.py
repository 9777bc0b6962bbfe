"""How problems are sent and declared: one form for all of them, wherever they come from."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import Send

from tellback.classroom.store.database import DatabaseFailure
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.turns import BusyError
from tellback.classroom.web.problems import (
    MEDIA_TYPE,
    Problem,
    busy,
    database_unavailable,
    invalid,
)
from tellback.errors import TellbackError, UnknownNameError

LOGGER = logging.getLogger(__name__)
CLIENT_CLOSED = 499
"""The status, in the log and the metrics, of a request whose body did not arrive: nginx's."""

LONGEST = 1000
"""Characters of a detail: errors repeat the value that they refuse."""


class ProblemDocument(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str = Field(description="An address of this service that explains the code.")
    title: str = Field(description="The code in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong with this request, in a sentence.")
    code: str = Field(description="What is wrong, in a word that does not change.")
    field: str | None = Field(description="The part of the request that is wrong, if it is one.")
    retry_after: int | None = Field(description="Seconds after which to try again, if that helps.")


_MEANINGS = {
    400: "The request cannot be read.",
    401: "The caller is not signed in, and sent no valid token.",
    403: "The caller may not do that.",
    404: "There is no such thing.",
    409: "The request contradicts the state of the classroom.",
    413: "The body is too large.",
    421: "This service is not known by that name.",
    422: "A value is not allowed.",
    429: "Too many requests: Retry-After says when to try again.",
    503: "The database does not answer, or the service is busy: nothing was changed, try again.",
}
_FROM_EVERY_ENDPOINT = {400, 413, 421, 429, 503}
_REFERENCE = {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of an endpoint, for the description of the API."""
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": _REFERENCE}},
        }
        for status in sorted({*statuses, *_FROM_EVERY_ENDPOINT})
    }


class DescribedApp(FastAPI):
    """An app whose description declares problem documents."""

    def openapi(self) -> dict[str, Any]:
        """The description of the API."""
        described = super().openapi()
        schemas = described.setdefault("components", {}).setdefault("schemas", {})
        schemas[ProblemDocument.__name__] = ProblemDocument.model_json_schema()
        bearer = {"type": "http", "scheme": "bearer", "description": "A token of an account."}
        described["components"]["securitySchemes"] = {"token": bearer}
        described["security"] = [{"token": []}, {}]  # none where a classroom has no accounts
        return described


def handle_problems(app: FastAPI) -> None:
    """Have an app answer every error with a problem document."""
    app.add_exception_handler(TellbackError, _tellback)
    app.add_exception_handler(DatabaseFailure, _no_database)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _gone)


async def send_problem(send: Send, problem: Problem) -> None:
    """Answer from outside of the app."""
    body = problem.body()
    headers = {"content-type": MEDIA_TYPE, "content-length": str(len(body))}
    raw = [(k.lower().encode(), v.encode()) for k, v in (headers | problem.headers).items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, MEDIA_TYPE)


async def _tellback(_: Request, error: Exception) -> Response:
    return _response(_problem_of(error))


def _problem_of(error: Exception) -> Problem:
    detail = str(error)[:LONGEST]
    if isinstance(error, Problem):
        return error
    if isinstance(error, ConflictError):
        return Problem(409, error.code, detail, error.field)
    if isinstance(error, BusyError):
        return busy(detail, 2)
    if isinstance(error, UnknownNameError):
        return Problem(404, "not_found", detail)
    return Problem(422, "invalid", detail, getattr(error, "field", None))


async def _no_database(_: Request, error: Exception) -> Response:
    assert isinstance(error, DatabaseFailure)
    LOGGER.error("the database failed: %s", error.orig)
    return _response(database_unavailable())


_PLAIN = {
    "model_attributes_type": "It must be an object of JSON",
    "dict_type": "It must be an object of JSON",
    "string_pattern_mismatch": "It has a character that is not allowed here, or a wrong length",
}
"""For errors that Pydantic words for those who know Python and regular expressions."""


async def _invalid(request: Request, error: Exception) -> Response:
    """Name the first wrong field. Its value is not repeated: it may be a password."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    if first["type"] == "json_invalid":
        at = first["loc"][-1]
        place = f", at character {at + 1}" if isinstance(at, int) and at else ""
        return _response(invalid("body", f"The body is not JSON: {first['ctx']['error']}{place}."))
    if where == ["body"] and isinstance(first.get("input"), bytes):  # it was not read as JSON
        name, sent_as = "Content-Type", request.headers.get("Content-Type", "")
        return _response(invalid(name, f"{name} must be application/json, not {sent_as[:100]!r}."))
    if where[0] in ("body", "header") and len(where) > 1:
        where = where[1:]
    says = _PLAIN.get(first["type"], str(first["msg"]).removeprefix("Value error, "))
    if where[-1] in ("int", "str"):  # the branches of a field of either type
        where.pop()
        says = "Input should be a valid string or a whole number"
    field = ".".join(where)[:200]
    return _response(invalid(field, f"{field}: {says}."))


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED)  # for the log and the metrics: nobody reads it


_CODES = {404: "not_found", 405: "method_not_allowed"}


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "bad_request")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed(request))
    return _response(Problem(error.status_code, code, f"{error.detail}.", headers=headers))


def _allowed(request: Request) -> list[str]:
    """The methods of a path on all routes: the router names those of the first only."""
    asked = {key: request.scope[key] for key in ("type", "path", "root_path", "headers")}
    return [
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        for route in request.app.router.routes
        # HEAD is answered as GET.
        if route.matches({**asked, "method": method.replace("HEAD", "GET")})[0] is Match.FULL
    ]
