"""The mixture fitted as the paper does: Adam on theta, F being the softmax of its columns.

The same model class as ``Mixture`` and the same likelihood, so that the two ways of
climbing it can be compared. Needs PyTorch (the ``torch`` extra).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real, whole
from tellback.extras import from_extra
from tellback.models.entries import Entries
from tellback.models.model import (
    ModelSpec,
    checked_instruction,
    demand_distributions,
    demand_table,
)
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State


@dataclass(frozen=True)
class MixtureByAdam(ModelSpec):
    """Gradient steps on theta after every description.

    Parameters
    ----------
    learning_rate : float
        Adam's; the paper's is 0.001.
    steps : int
        Full-history steps a description. The paper does not give a number.
    """

    learning_rate: float = 0.001
    steps: int = 1

    def __post_init__(self) -> None:
        self._settle(
            learning_rate=real("learning_rate", self.learning_rate, above=0),
            steps=whole("steps", self.steps),
        )

    def begin(self, facts: Facts, rng: np.random.Generator) -> AdamModel:
        """theta = 0: every column of F uniform."""
        return AdamModel(demand_table(self.kind, facts), facts.dim, self.learning_rate, self.steps)


class AdamModel:
    """A live mixture that is fitted by Adam."""

    inexact: ClassVar[str] = "its fit is not the exact maximum of the likelihood"

    def __init__(self, instructions: int, dim: int, learning_rate: float, steps: int) -> None:
        self._torch = from_extra("torch", "torch", "mixture-by-adam")
        self._steps = steps
        self._entries = Entries(instructions, dim)
        self._theta = self._torch.zeros(
            (instructions, dim), dtype=self._torch.float64, requires_grad=True
        )
        self._adam = self._torch.optim.Adam([self._theta], lr=learning_rate)
        self._f = np.full((instructions, dim), 1 / instructions)

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        return self._f.copy()

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y."""
        demand_distributions("mixture-by-adam", responses, self._f.shape[1])
        x = checked_instruction(instruction, len(self._f))
        estimates: Array = responses.matrix @ self._f[x]
        return estimates

    def learn(self, features: Array, description: Instruction) -> None:
        """Count the description and take gradient steps on the whole history."""
        self._entries.add(checked_instruction(description, len(self._f)), features)
        self.climb(self._steps)

    def climb(self, steps: int) -> None:
        """Take that many Adam steps on the mean log-likelihood of all descriptions."""
        torch, entries = self._torch, self._entries
        rows = torch.from_numpy(entries.rows)
        features = torch.from_numpy(entries.features)
        weights = torch.from_numpy(entries.counts / entries.counts.sum())
        for _ in range(steps):
            f = torch.softmax(self._theta, dim=0)
            loss = -(weights * torch.log((f[rows] * features).sum(dim=1))).sum()
            self._adam.zero_grad()
            loss.backward()
            self._adam.step()
        with torch.no_grad():
            self._f = torch.softmax(self._theta, dim=0).numpy()

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g(y, s)."""
        return self._entries.log_likelihood(self._f)

    def state(self) -> State:
        """The history, theta, and Adam's moments."""
        moments = self._adam.state.get(self._theta, {})
        zeros = np.zeros(self._f.shape)
        return {
            **self._entries.state(),
            "theta": self._theta.detach().numpy().copy(),
            "first_moment": moments["exp_avg"].numpy().copy() if moments else zeros,
            "second_moment": moments["exp_avg_sq"].numpy().copy() if moments else zeros,
            "adam_steps": int(moments["step"]) if moments else 0,
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        torch = self._torch
        names = ("theta", "first_moment", "second_moment")
        saved = {name: np.array(state[name], dtype=np.float64) for name in names}
        for name, values in saved.items():
            if values.shape != self._f.shape:
                raise SettingError(
                    f"The saved {name} is of shape {values.shape}, and this model's is "
                    f"{self._f.shape}."
                )
        self._entries.restore(state)
        with torch.no_grad():
            self._theta.copy_(torch.from_numpy(saved["theta"]))
            self._f = torch.softmax(self._theta, dim=0).numpy()
        self._adam.state.clear()
        if state["adam_steps"]:
            self._adam.state[self._theta] = {
                "step": torch.tensor(float(state["adam_steps"])),
                "exp_avg": torch.from_numpy(saved["first_moment"]),
                "exp_avg_sq": torch.from_numpy(saved["second_moment"]),
            }
