"""Requests as they are sent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from tellback.arrays import Array
from tellback.errors import FieldError, whole
from tellback.roles import Instruction
from tellback.specs import Data, Spec

API = "/api/v1"
PIECE = 2**16
"""Bytes of a download that are written at once."""

Features = Sequence[Sequence[float]] | Array
"""A row of numbers for each response."""


def connection_settings(url: str, token: str | None, tries: int) -> tuple[str, dict[str, str]]:
    """The base of all addresses, and the headers of all requests; an error never has the token."""
    whole("tries", tries)
    url = url.strip()
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:  # a port that is no number, or half an address
        wrong = True
    if wrong:
        raise FieldError(
            "url", "url must begin with http:// or https:// and name a host: http://127.0.0.1:8765."
        )
    base = url.rstrip("/") + API
    token = (token or "").strip()  # a file with a token ends with a newline
    if not token:
        return base, {}
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise FieldError("token", "token must be visible ASCII characters, as in tb_...")
    return base, {"Authorization": f"Bearer {token}"}


def plain(setting: Any) -> Any:
    """A setting as JSON: specs as their data, and numbers of NumPy as Python's."""
    if isinstance(setting, Spec):
        return setting.to_data()
    if isinstance(setting, np.ndarray | np.generic):
        return setting.tolist()
    if isinstance(setting, Mapping):
        return {name: plain(value) for name, value in setting.items()}
    return [plain(one) for one in setting] if isinstance(setting, list | tuple) else setting


def plain_body(**settings: Any) -> Data:
    """Settings as a body, without those that are not given."""
    return {name: value for name, value in settings.items() if value is not None}


def sendable(request: Data) -> Data:
    """A request whose body is JSON; an error names the field that JSON cannot hold."""
    if "json" not in request:
        return request
    body = {}
    for name, value in request["json"].items():
        if name == "features":  # floats by now, and there may be millions
            body[name] = value
            continue
        body[name] = plain(value)
        try:
            json.dumps(body[name], allow_nan=False)
        except (TypeError, ValueError) as error:
            raise FieldError(name, f"{name} cannot be sent as JSON: {error}.") from error
    return request | {"json": body}


def candidates_body(
    instruction: Instruction,
    features: Features | None,
    texts: Sequence[str] | None,
    images: Sequence[str] | None,
) -> Data:
    """The body of a request with the possible responses."""
    body: Data = {"instruction": instruction}
    if features is not None:
        body["features"] = _numbers(features)
    if texts is not None:
        body["texts"] = list(texts)
    if images is not None:
        body["images"] = list(images)
    return body


def _numbers(features: Features) -> list[list[float]]:
    try:
        rows = [[float(value) for value in row] for row in features]
    except (TypeError, ValueError, OverflowError) as error:
        says = f"features must be a row of numbers for each response: {error}."
        raise FieldError("features", says) from error
    for row in rows:
        for number in row:
            if not math.isfinite(number):  # JSON has no such number
                raise FieldError("features", f"features must be finite numbers, not {number}.")
    return rows


def from_the_start(request: dict[str, Any]) -> dict[str, Any]:
    """The request, with a file that was sent in part rewound."""
    if hasattr(request.get("content"), "seek"):
        request["content"].seek(0)
    return request
