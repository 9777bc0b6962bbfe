"""Studies that add seeds until a comparison is decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tellback.errors import FieldError, whole
from tellback.lab.sequential import MIN_PAIRS


@dataclass(frozen=True)
class Decide:
    """Add seeds until the comparison of two agents is decided, or a budget is spent.

    This is valid because the intervals of such a study are a confidence sequence, which holds
    after every seed.

    Parameters
    ----------
    between : pair of str
        The names of the two agents.
    at_most : int
        The largest number of reported seeds, ten or more: fewer decide nothing.
    batch : int
        The number of seeds added at a time.
    """

    between: tuple[str, str]
    at_most: int
    batch: int = 10

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        given: Any = self.between
        if not isinstance(given, tuple | list) or len(given) != 2 or given[0] == given[1]:
            raise FieldError("between", f"between must name two agents, not {given!r}.")
        set_field(self, "between", tuple(map(str, given)))
        set_field(self, "at_most", whole("at_most", self.at_most, at_least=MIN_PAIRS))
        set_field(self, "batch", whole("batch", self.batch))
