"""An agent with a model whose choices come with confidence widths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from tellback.agents.agent import ModelAgent, ModelAgentSpec, part, prefixed
from tellback.agents.explorers import Optimism
from tellback.agents.greedy import Greedy
from tellback.agents.radius import (
    FADING,
    RadiusSpec,
    Repaired,
    checked_radius,
    checked_ridge,
)
from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.models.model import estimates_of
from tellback.proof import register_provable
from tellback.roles import AgentSpec, Choice, Facts, Instruction, State, Task

WIDTHS = "widths."


@dataclass(frozen=True)
class Certified(AgentSpec):
    """Plays as another agent does, and states how far its estimates may be from the truth.

    An ellipsoid holds f* whoever chooses the responses, so that a greedy agent's regret can be
    bounded too: ``Run.certificate`` then has something to sum.

    Parameters
    ----------
    agent : ModelAgentSpec
        The agent.
    k : float, RadiusSpec or the kind of one
        The radius of the ellipsoid: the repaired one by default, which is for maximum likelihood;
        ``SelfNormalized`` for the model ``Ridge``; or a constant, a guess.
    lam : float or "1/t"
        Its ridge: a number and the model's, where the radius is ``SelfNormalized``.
    """

    version: ClassVar[int] = 2  # many fresh responses: the last bits of widths, by BLAS

    agent: ModelAgentSpec = field(default_factory=Greedy)
    k: float | RadiusSpec = field(default_factory=Repaired)
    lam: float | str = FADING

    def __post_init__(self) -> None:
        if not isinstance(self.agent, ModelAgentSpec):
            raise SettingError(
                f"agent must be the spec of an agent with a model, not {self.agent!r}."
            )
        k = checked_radius(self.k)
        self._set_validated(k=k, lam=checked_ridge(self.lam, k))

    def resolved(self, facts: Facts) -> Self:
        """The same with the agent's model named, and the class that the radius is for."""
        agent, k = self.agent.resolved(facts), self.k
        if isinstance(k, RadiusSpec) and agent.model is not None:
            k = k.resolved(agent.model, facts)
        return self.with_settings({"agent": agent, "k": k})

    def build(self, facts: Facts, rng: np.random.Generator) -> CertifiedAgent:
        """Bring the agent and its ellipsoid to life."""
        resolved = self.resolved(facts)
        inner = resolved.agent.build(facts, rng)
        widths = Optimism(facts, resolved.k, resolved.lam, resolved.agent.ties)
        widths.about(inner.model)
        return CertifiedAgent(inner, widths, resolved, facts)


class CertifiedAgent(ModelAgent):
    """A live agent whose choices come with widths.

    The agent chooses and learns, as ever. The explorer beside it is never asked to choose: it says
    how wide the confidence interval of each response is.
    """

    def __init__(
        self,
        agent: ModelAgent,
        widths: Optimism,
        spec: AgentSpec | None = None,
        facts: Facts | None = None,
    ) -> None:
        super().__init__(agent.model, agent.explorer, spec, facts)
        self.agent = agent
        self.widths = widths

    @property
    def bounds(self) -> Optimism:
        """Its ellipsoid."""
        return self.widths

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The agent's choice, with its width and the highest upper bound of any response."""
        choice = self.agent.respond(task, rng)
        estimates = estimates_of(self.model, task)
        widths = self.widths.widths(task.responses)
        highest = float((estimates + widths).max())
        return choice._replace(
            features=task.responses.features(choice.response),  # not what the agent says they are
            estimate=estimates.item(choice.response),
            width=widths.item(choice.response),
            highest=highest,
        )

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Teach the agent and its ellipsoid."""
        self.agent.learn(task, choice, description)
        self.widths.learn(choice.features)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Shrink the agent's widths and those beside it."""
        self.agent.learn_silence(task, choice)
        self.widths.learn(choice.features)

    @property
    def withdraws(self) -> bool:
        """Whether the agent can take back what it has learned, and the ellipsoid too."""
        return super().withdraws and self.widths.withdraws

    def _take_back(self, features: Array, description: Instruction) -> None:
        super()._take_back(features, description)
        self.widths.withdraw(features)

    def state(self) -> State:
        """The agent's and the ellipsoid's."""
        return {**self.agent.state(), **prefixed(WIDTHS, self.widths.state())}

    def _restore_parts(self, state: State) -> None:
        self.agent.restore(state)
        self.widths.restore(part(state, WIDTHS))


register_provable(CertifiedAgent, CertifiedAgent.proof_status)
