"""Notebooks: whether this is one, and a progress bar there."""

from __future__ import annotations

import html
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether the code runs in a notebook. IPython is not imported to find out."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return hasattr(shell, "kernel")


class NotebookBar:
    """Progress bars in the output of a cell, one for each thing that is counted."""

    def __init__(self) -> None:
        self._handles: dict[str, Any] = {}
        self._shown: dict[str, int] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that so much is done of a total."""
        percent = 100 * done // max(1, total)
        if self._shown.get(what) == percent:
            return
        self._shown[what] = percent
        shown = _Bar(what, done, total)
        if what in self._handles:
            self._handles[what].update(shown)
        else:
            from IPython.display import display

            self._handles[what] = display(shown, display_id=True)


class _Bar:
    def __init__(self, what: str, done: int, total: int) -> None:
        self._text = f"{what}: {done:,} of {total:,}"
        self._done, self._total = done, total

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        bar = f"<progress value='{self._done}' max='{self._total}'></progress>"
        return f"<div>{bar} {html.escape(self._text)}</div>"
