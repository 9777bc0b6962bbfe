"""Files that list the groups on which settings were chosen."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tellback.errors import SettingError


def groups_in(file: Path) -> tuple[str, ...]:
    """The groups that a file lists, one a line, or a study file as ``tuned_on`` of its worlds."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".toml":
        return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    try:
        worlds = tomllib.loads(text).get("worlds", {})
        listed = [str(group) for world in worlds.values() for group in world.get("tuned_on", ())]
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise SettingError(f"{file} is no study file: {error}.") from error
    if not listed:
        raise SettingError(f"No world of {file} has tuned_on.")
    return tuple(dict.fromkeys(listed))
