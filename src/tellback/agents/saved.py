"""Agents in files: arrays and numbers in NumPy's format, settings as JSON, no pickle."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tellback.errors import SettingError, TellbackError
from tellback.files import written_whole
from tellback.roles import Agent, AgentSpec, Facts, State
from tellback.specs import spec_from_data

FORMAT = 1
HEADER = "tellback"


class Savable(Protocol):
    """An agent whose state can be taken and given back."""

    def state(self) -> State:
        """All that was learned, in arrays and numbers."""
        ...

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        ...


def save(agent: Savable, path: str | Path) -> None:
    """Write an agent's state, and what it was made from, to a file.

    Parameters
    ----------
    agent : an agent with ``state()``
        The agent. If it also has its ``spec`` and ``facts``, ``load`` can make it anew.
    path : path
        Where to; an existing file is replaced in one step.
    """
    state = agent.state()
    if HEADER in state:
        raise SettingError(f"An agent's state cannot have an entry named {HEADER!r}.")
    header: dict[str, Any] = {"format": FORMAT}
    spec, facts = getattr(agent, "spec", None), getattr(agent, "facts", None)
    if isinstance(spec, AgentSpec) and isinstance(facts, Facts):
        header |= {"agent": spec.to_data(), "facts": asdict(facts)}
    arrays = {name: np.asarray(value) for name, value in state.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise SettingError(f"State may hold arrays and numbers only; {name} is {array.dtype}.")
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: str | Path, into: Savable | None = None) -> Agent:
    """Read an agent from a file that ``save`` wrote.

    Parameters
    ----------
    path : path
        The file.
    into : optional
        A live agent to give the saved state to; needed for agents of one's own.

    Returns
    -------
    Agent
        As it was when it was saved.
    """
    header, state = _read(Path(path))
    if into is None:
        if "agent" not in header:
            raise TellbackError(
                f"{path} does not say how to make its agent: load it into a new one with "
                "load(path, into=agent)."
            )
        facts = Facts(**header["facts"])
        made: Any = spec_from_data(AgentSpec, header["agent"]).begin(
            facts, np.random.default_rng(0)
        )
    else:
        made = into
    try:
        made.restore(state)
    except KeyError as error:
        raise TellbackError(f"{path} lacks {error} of the agent's state.") from error
    agent: Agent = made
    return agent


def _read(path: Path) -> tuple[Mapping[str, Any], State]:
    if not path.exists():
        raise TellbackError(f"There is no file {path}.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
        known = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError, OSError, AttributeError, zipfile.BadZipFile) as error:
        raise TellbackError(f"{path} is not a whole file of a tellback agent: {error}") from error
    if not known:
        raise TellbackError(f"{path} is of format {header['format']}, and this reads {FORMAT}.")
    return header, {name: v.item() if v.ndim == 0 else v for name, v in arrays.items()}
