"""Libraries that only some parts need: they come with an extra of the package."""

from __future__ import annotations

import json
from importlib import import_module, metadata
from types import ModuleType
from urllib.parse import unquote, urlsplit

from tellback.errors import TellbackError


def from_extra(extra: str, module: str, what: str) -> ModuleType:
    """Import a library, or say with which extra it is installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise TellbackError(
            f"{what} needs {module}: install tellback with its {extra} extra, "
            f"{install_command(extra)}."
        ) from error


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
