"""Libraries that only some parts need: they come with an extra of the package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module, metadata
from importlib.util import find_spec
from types import ModuleType
from urllib.parse import unquote, urlsplit

from tellback.errors import TellbackError


def from_extra(extra: str, module: str, what: str) -> ModuleType:
    """Import a library, or say with which extra it is installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise _lacking(extra, module, what) from error


def demand_extra(extra: str, modules: Iterable[str], what: str) -> None:
    """Refuse to go on without the libraries of an extra; they are not imported."""
    for module in modules:
        if find_spec(module) is None:
            raise _lacking(extra, module, what)


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation, wherever it came from.

    pip records where it took a package from (PEP 610): a checkout, a wheel, or an index.
    """
    try:
        origin = json.loads(metadata.distribution("tellback").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        origin = {}
    address = urlsplit(origin.get("url", ""))
    source = unquote(address.path) if address.scheme == "file" else "tellback"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{source}[{extra}]'"


def _lacking(extra: str, module: str, what: str) -> TellbackError:
    return TellbackError(
        f"{what} needs {module}: install tellback with its {extra} extra, {install_command(extra)}."
    )
