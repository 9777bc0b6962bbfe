"""A study file that cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellback.errors import SettingError, UnknownNameError
from tellback.lab import read_plan


def test_a_study_file_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "quick.toml").write_text("")
    with pytest.raises(UnknownNameError, match=r"named 'quik\.toml'.*mean 'quick\.toml'"):
        read_plan(tmp_path / "quik.toml")
    with pytest.raises(SettingError, match="cannot be read: Is a directory"):
        read_plan(tmp_path)
