"""Importing an object by ``module:name``."""

from __future__ import annotations

import importlib
import inspect
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tellback.conformance.report import raised
from tellback.errors import TellbackError, unknown_name
from tellback.own import adopted_by_methods
from tellback.specs import Spec


def imported(where: str) -> Any:
    """Import what MODULE:NAME names: a spec or a live object, or a function that makes one.

    A class becomes the spec that its methods tell, with its default settings; or an object of
    it, if that can be called and so may be an encoder.
    """
    found = imported_object(where)
    if isinstance(found, type):
        encodes = any("__call__" in vars(one) for one in found.__mro__)
        return _made(found if encodes else adopted_by_methods(found), where)
    return _made(found, where) if inspect.isfunction(found) else found


def imported_object(where: str) -> Any:
    """Import what MODULE:NAME names, as it is.

    Modules in the working folder are found too, as with ``python -m``.
    """
    module_name, colon, name = where.partition(":")
    if not colon or not module_name or not name:
        raise TellbackError(f"Name the object as MODULE:NAME, not {where!r}.")
    file = Path(module_name)
    if file.suffix == ".py" or len(file.parts) > 1:
        go = f"go to its folder (cd {shlex.quote(str(file.parent))}) and " * (len(file.parts) > 1)
        raise TellbackError(f"{module_name} is a file: {go}name it {file.stem}:{name}.")
    module = imported_module(module_name)
    if not hasattr(module, name):
        own = [known for known, thing in vars(module).items() if _is_own(known, thing, module)]
        raise unknown_name(f"object in {module_name} named", name, own)
    return getattr(module, name)


def _is_own(name: str, thing: Any, module: ModuleType) -> bool:
    """Whether a name is worth suggesting: defined in the module or its package, or a spec."""
    home = getattr(thing, "__module__", None) or ""
    defined_there = f"{home}.".startswith(f"{module.__name__}.")
    return not name.startswith("_") and (defined_there or isinstance(thing, Spec))


def import_own(where: str) -> None:
    """Import a module, or with MODULE:NAME make a class in it known as a spec."""
    if ":" not in where:
        imported_module(where)
    elif isinstance(found := imported_object(where), type):
        adopted_by_methods(found)


def imported_module(name: str) -> ModuleType:
    """Import a module, of the working folder too."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever somebody's module raises when it is imported
        why = raised(error)
        if isinstance(error, ModuleNotFoundError) and error.name:
            why = f"there is no module {error.name}, neither in this folder nor installed."
        raise TellbackError(f"{name} cannot be imported: {why}") from error


def _made(maker: Any, where: str) -> Any:
    try:
        return maker()
    except Exception as error:
        raise TellbackError(
            f"{where}() failed ({raised(error)}): name an object, or a class or function that "
            "makes one without arguments."
        ) from error
