"""Requests as they are sent."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from tellback.arrays import Array
from tellback.errors import FieldError
from tellback.roles import Instruction
from tellback.specs import Data, Spec

API = "/api/v1"
TRIES = 6
RETRIED = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

LONGEST_WAIT = 30.0
PIECE = 2**16
"""Bytes of a download that are written at once."""

Features = Sequence[Sequence[float]] | Array
"""A row of numbers for each response."""


def plain(setting: Any) -> Any:
    """A setting as JSON: specs as their data."""
    if isinstance(setting, Spec):
        return setting.to_data()
    return dict(setting) if isinstance(setting, Mapping) else setting


def plain_body(**settings: Any) -> Data:
    """Settings as a body, without those that are not given."""
    return {name: plain(value) for name, value in settings.items() if value is not None}


def candidates_body(
    instruction: Instruction,
    features: Features | None,
    texts: Sequence[str] | None,
    images: Sequence[str] | None,
) -> Data:
    """The body of a request with the possible responses."""
    body: Data = {"instruction": instruction}
    if features is not None:
        # JSON has lists only, and features may be an array of NumPy.
        body["features"] = [[_finite(value) for value in row] for row in features]
    if texts is not None:
        body["texts"] = list(texts)
    if images is not None:
        body["images"] = list(images)
    return body


def _finite(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):  # JSON has no such number
        raise FieldError("features", f"features must be finite numbers, not {number}.")
    return number


def from_the_start(request: dict[str, Any]) -> dict[str, Any]:
    """The request, with a file that was sent in part rewound."""
    if hasattr(request.get("content"), "seek"):
        request["content"].seek(0)
    return request


def wait_seconds(failed: int, retry_after: str | None) -> float:
    """How long to wait after so many failures: as the service asks, or longer and longer."""
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), LONGEST_WAIT)
    return float(min(0.1 * 2.0**failed, LONGEST_WAIT) * random.uniform(0.5, 1.0))
