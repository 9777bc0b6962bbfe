"""The results of a check, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class PromiseCheck:
    """One promise of the protocol, and what is wrong with it if anything is."""

    promise: str
    trouble: str = ""

    @property
    def passed(self) -> bool:
        """Whether the promise was passed."""
        return not self.trouble


@dataclass(frozen=True)
class Report:
    """The results of all promises. True if nothing is wrong."""

    role: str
    findings: tuple[PromiseCheck, ...]

    def __bool__(self) -> bool:
        return all(finding.passed for finding in self.findings)

    @property
    def troubles(self) -> list[str]:
        """What is wrong, in plain words."""
        return [f"{f.promise}: {f.trouble}" for f in self.findings if not f.passed]

    def __str__(self) -> str:
        lines = [
            f"{'ok   ' if f.passed else 'WRONG'} {f.promise}" + (f": {f.trouble}" * (not f.passed))
            for f in self.findings
        ]
        verdict = f"This {self.role} keeps to the protocol."
        if not self:
            verdict = f"This {self.role} has {len(self.troubles)} trouble(s)."
        return "\n".join([*lines, verdict])

    __repr__ = __str__


Check = Callable[[], Iterable[str]]
"""Tries one promise, and tells what is wrong; the rest is not tried after the first trouble."""


def report(role: str, checks: Iterator[tuple[str, Check]]) -> Report:
    """Try every promise; whatever goes wrong in somebody's object is a finding."""
    return Report(role, tuple(PromiseCheck(promise, _tried(trial)) for promise, trial in checks))


def _tried(trial: Check) -> str:
    try:
        return next(iter(trial()), "")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
