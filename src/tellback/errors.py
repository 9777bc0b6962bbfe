"""Errors that name the field, the value, what is allowed and the nearest valid name."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable


class TellbackError(Exception):
    """Anything that is wrong with what tellback was given."""


class SettingError(TellbackError, ValueError):
    """A value that is not allowed."""


class FieldError(SettingError):
    """A value that is not allowed, with the name of the field it was given for."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[FieldError], tuple[str, str]]:
        return type(self), (self.field, str(self))


class UnknownNameError(TellbackError, LookupError):
    """A name that does not exist."""


class ProtocolError(TellbackError, TypeError):
    """An object that does not keep to its role in the protocol."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not among the known ones, with the nearest that is."""
    options = sorted(known)
    hint = _hint(name, options)
    listed = ", ".join(options) if options else "none"
    return UnknownNameError(f"There is no {kind} {name!r}.{hint} Known: {listed}.")


def whole(name: str, value: object, at_least: int = 1) -> int:
    """The value as an int, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise SettingError(f"{name} must be a whole number, not {value!r}.")
    if value < at_least:
        raise SettingError(f"{name} must be at least {at_least}, not {value!r}.")
    return int(value)


def real(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """The value as a finite float within its limits, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SettingError(f"{name} must be a number, not {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    limits = [
        f"above {above:g}" if above is not None else "",
        f"at least {at_least:g}" if at_least is not None else "",
        f"at most {at_most:g}" if at_most is not None else "",
    ]
    allowed = " and ".join(limit for limit in limits if limit) or "any finite number"
    within = (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (at_most is None or number <= at_most)
    )
    if not within:
        raise SettingError(f"{name} must be finite, {allowed}, not {value!r}.")
    return number


def one_of(name: str, value: object, options: Iterable[str]) -> str:
    """The value if it is one of the options, or an error that lists them."""
    known = list(options)
    if isinstance(value, str) and value in known:
        return value
    listed = " or ".join(repr(option) for option in known)
    raise SettingError(f"{name} must be {listed}, not {value!r}.{_hint(str(value), known)}")


def _hint(name: str, options: list[str]) -> str:
    """The nearest of the options, whatever its case, as a question."""
    by_lower = {option.lower(): option for option in reversed(options)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
