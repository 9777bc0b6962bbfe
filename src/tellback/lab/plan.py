"""A plan: studies that are run and reported together."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.errors import SettingError
from tellback.lab.study import Study


@dataclass(frozen=True)
class Plan:
    """Studies with a title.

    Parameters
    ----------
    title : str
        The title of the report.
    studies : tuple of Study
        The studies, with different names.
    """

    title: str
    studies: tuple[Study, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "studies", tuple(self.studies))
        if not self.studies:
            raise SettingError(f"The plan {self.title!r} has no study.")
        names = [study.name for study in self.studies]
        for name in names:
            if names.count(name) > 1:
                raise SettingError(f"The plan {self.title!r} has two studies named {name!r}.")
