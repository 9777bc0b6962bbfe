"""Files of packages that are read and never imported."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from tellback.encoders.efficientnet import WEIGHTS as NETWORK
from tellback.encoders.pinned import PinnedFile, PinnedPackage
from tellback.encoders.word_vectors import TOKENIZER, WEIGHTS
from tellback.errors import TellbackError

CONTENT = b"some numbers"
PACKAGE = PinnedPackage("weights_of_a_test", "1.2.3", "pictures", "This test")


def pinned(sha256: str) -> PinnedFile:
    return PinnedFile(PACKAGE, "models/numbers.bin", sha256)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that fails when it is imported."""
    folder = tmp_path / PACKAGE.name
    (folder / "models").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "models" / "numbers.bin").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_the_right_content_is_read_without_an_import(package: Path) -> None:
    assert pinned(hashlib.sha256(CONTENT).hexdigest()).read() == CONTENT
    assert PACKAGE.name not in sys.modules


def test_other_content_is_refused(package: Path) -> None:
    with pytest.raises(TellbackError, match=r"numbers\.bin has the SHA-256 .* 1\.2\.3, 00ff"):
        pinned("00ff").read()


def test_a_missing_file_is_named(package: Path) -> None:
    (package / "models" / "numbers.bin").unlink()
    with pytest.raises(TellbackError, match=r"This test needs .*numbers\.bin, which weights_of"):
        pinned("00ff").read()


@pytest.mark.parametrize("file", [NETWORK, WEIGHTS, TOKENIZER], ids=lambda file: file.path)
def test_without_the_extra_the_error_has_the_command(
    file: PinnedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellback.encoders.pinned.find_spec", lambda name: None)
    extra = file.package.extra
    with pytest.raises(TellbackError, match=rf"needs {file.package.name}.*\[{extra}\]'"):
        file.read()
