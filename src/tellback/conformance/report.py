"""The results of a check, in plain words."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_installed = sysconfig.get_paths()
NOT_THEIRS = (
    "<frozen importlib",
    str(Path(__file__).parents[1]),
    *(_installed[name] for name in ("stdlib", "purelib", "platlib")),
)
"""Where the source of tellback is, and that of Python and installed libraries."""


COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""What compilers put into their errors for terminals."""


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
            broken = len(self.troubles)
            verdict = f"{broken} promise{' is' if broken == 1 else 's are'} broken."
        return "\n".join([*lines, verdict])

    __repr__ = __str__


Check = Callable[[], Iterable[str]]
"""Tries one promise, and tells what is wrong; the rest is not tried after the first trouble."""


def report(role: str, checks: Iterator[tuple[str, Check]]) -> Report:
    """Try every promise; whatever goes wrong in somebody's object is a finding.

    An error that was reported before is a consequence of the same fault, and is left out.
    """
    found: list[PromiseCheck] = []
    for promise, trial in checks:
        trouble = tried(trial)
        if not trouble or not any(before.trouble.startswith(trouble) for before in found):
            found.append(PromiseCheck(promise, trouble))
    return Report(role, tuple(found))


def tried(trial: Check) -> str:
    """The first thing that is wrong, or ''."""
    try:
        return next(iter(trial()), "")
    except Exception as error:
        return raised(error)


def raised(error: Exception) -> str:
    """An error in one line, with the last line of somebody's own code that led to it."""
    first = str(error).strip().partition("\n")[0].rstrip()
    said = f"{type(error).__name__}: {COLOURS.sub('', first)}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(NOT_THEIRS)]
    return f"{said} ({own[-1].filename}, line {own[-1].lineno})" if own else said
