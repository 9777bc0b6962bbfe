"""Importing an object by ``module:name``."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import ModuleType
from typing import Any

from tellback.errors import TellbackError, unknown_name


def imported(where: str) -> Any:
    """Import what MODULE:NAME names; a class or function is called to make the object.

    Modules in the working folder are found too, as with ``python -m``.
    """
    module_name, colon, name = where.partition(":")
    if not colon or not module_name or not name:
        raise TellbackError(f"Name the object as MODULE:NAME, not {where!r}.")
    module = imported_module(module_name)
    if not hasattr(module, name):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise unknown_name(f"object in {module_name} named", name, public)
    found = getattr(module, name)
    makes_it = isinstance(found, type) or inspect.isfunction(found)
    return _made(found, where) if makes_it else found


def imported_module(name: str) -> ModuleType:
    """Import a module, of the working folder too."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever somebody's module raises when it is imported
        raise TellbackError(f"{name} cannot be imported: {error!r}") from error


def _made(maker: Any, where: str) -> Any:
    try:
        return maker()
    except Exception as error:
        raise TellbackError(
            f"{where}() failed ({error!r}): name an object, or a class or function that makes "
            "one without arguments."
        ) from error
