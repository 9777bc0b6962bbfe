"""Libraries that only some parts need: they come with an extra of the package."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from tellback.errors import TellbackError


def from_extra(extra: str, module: str, what: str) -> ModuleType:
    """Import a library, or say with which extra it is installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise TellbackError(
            f"{what} needs {module}: install tellback with its {extra} extra, "
            f"pip install 'tellback[{extra}]'."
        ) from error
