"""An agent is a model and an explorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from tellback.agents.explorers import Explorer, Optimism
from tellback.agents.unaltered import why_not_ours
from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.models.keywords import Keywords
from tellback.models.mixture import Mixture
from tellback.models.model import LearnsSilence, Model, ModelSpec, SharesSigma, Withdrawing
from tellback.proof import ProofStatus, register_provable
from tellback.responses import Listed
from tellback.roles import AgentSpec, Choice, Facts, Instruction, State, Task
from tellback.saved import InFiles
from tellback.ties import Ties

MODEL, EXPLORER = "model.", "explorer."


class ModelAgent(InFiles):
    """A live agent: its model estimates, its explorer chooses.

    Parameters
    ----------
    model : Model
        Estimates P(x | y, s).
    explorer : Explorer
        Turns estimates into a choice.
    spec, facts : optional
        What the agent was made from; saved with it, so that ``load`` can make it again.
    """

    def __init__(
        self,
        model: Model,
        explorer: Explorer,
        spec: AgentSpec | None = None,
        facts: Facts | None = None,
    ) -> None:
        self.model = model
        self.explorer = explorer
        self.spec = spec
        self.facts = facts
        self.withdrawn = 0  # descriptions taken back, exactly or by going back to a checkpoint

    @property
    def bounds(self) -> Explorer:
        """The explorer that states its widths."""
        return self.explorer

    def proof_status(self) -> ProofStatus:
        """Whether a radius of the theory for this model proves its widths.

        All of the agent must be tellback's own and unaltered (``unaltered.why_not_ours``).
        """
        bounds, model = self.bounds, self.model
        if type(bounds) is not Optimism or bounds.caveat or bounds.model is not model:
            caveat = bounds.caveat or "its widths are for another model, or weighted otherwise"
            return ProofStatus(None, caveat)
        learned = bounds.ellipsoid.count
        if self.withdrawn:
            caveat = f"{self.withdrawn:,} descriptions were taken back, maybe for what they said"
            return ProofStatus(None, caveat, learned)
        proof = bounds.proof()
        if isinstance(proof, str):
            return ProofStatus(None, proof, learned)
        if getattr(model, "described", None) != learned:
            return ProofStatus(None, "its model was taught other descriptions than its ellipsoid")
        if caveat := why_not_ours(self, self.spec, self.facts, learned):
            return ProofStatus(None, caveat, learned)
        return ProofStatus(proof, "", learned)

    @property
    def propensities(self) -> str:
        """How the propensities it states are known: "exact", or given what."""
        return self.explorer.propensities

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """Algorithm 1, lines 5 and 6."""
        if not isinstance(task.responses, Listed):
            raise SettingError(
                f"This agent chooses among listed responses, and {task.responses!r} cannot be "
                "listed: wrap its spec in Proposing(...), which draws candidates."
            )
        return self.explorer.choose(task, self.model, rng)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Algorithm 1, lines 3 and 4, for one more description."""
        self.model.learn(choice.features, description)
        self.explorer.learn(choice.features)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Take in that nobody had anything to say: no instruction fits, and the widths shrink."""
        if isinstance(self.model, LearnsSilence):
            self.model.learn_silence(choice.features)
        elif isinstance(self.model, SharesSigma):
            self.model.ellipsoid.add(choice.features)
        self.explorer.learn(choice.features)

    def withdraw(self, task: Task, choice: Choice, description: Instruction) -> bool:
        """Take back what was learned from a description, exactly.

        False, and nothing changed, if its parts cannot: then the way back is an earlier state.
        """
        if not self.withdraws:
            return False
        before = self.state()
        try:
            self._take_back(choice.features, description)
        except SettingError:
            self._restore_parts(before)
            return False
        self.withdrawn += 1
        return True

    @property
    def withdraws(self) -> bool:
        """Whether its parts can take back what they have learned."""
        return isinstance(self.model, Withdrawing) and getattr(self.explorer, "withdraws", False)

    def _take_back(self, features: Array, description: Instruction) -> None:
        self.model.withdraw(features, description)  # type: ignore[attr-defined]
        self.explorer.withdraw(features)  # type: ignore[attr-defined]

    def state(self) -> State:
        """All that was learned, in arrays and numbers."""
        explorer = prefixed(EXPLORER, self.explorer.state())
        return {**prefixed(MODEL, self.model.state()), **explorer}

    def restore(self, state: State) -> None:
        """Go back to such a state; one that does not fit changes nothing."""
        before = self.state()
        try:
            self._restore_parts(state)
        except Exception:
            self._restore_parts(before)
            raise

    def _restore_parts(self, state: State) -> None:
        self.model.restore(part(state, MODEL))
        self.explorer.restore(part(state, EXPLORER))


register_provable(ModelAgent, ModelAgent.proof_status)


@dataclass(frozen=True)
class ModelAgentSpec(AgentSpec):
    """The base of agents that are a model and an explorer.

    Parameters
    ----------
    model : ModelSpec or None
        None chooses the model by the kind of instructions the world uses.
    ties : "random" or "first"
        How to choose among equally good responses. It decides the paper's first
        experiment: before an instruction has been described, all its estimates are equal.
    """

    abstract: ClassVar[bool] = True

    model: ModelSpec | None = field(default=None, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is not None and not isinstance(self.model, ModelSpec):
            raise SettingError(f"model must be the spec of a model, not {self.model!r}.")

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """Bring model and explorer to life."""
        resolved = self.resolved(facts)
        model = (resolved.model or self.usual_model(facts)).build(facts, rng)
        explorer = resolved.explorer(facts)
        if isinstance(explorer, Optimism):
            explorer.about(model)
            if isinstance(model, SharesSigma):
                explorer.share(model.ellipsoid)
        return ModelAgent(model, explorer, resolved, facts)

    def resolved(self, facts: Facts) -> Self:
        """The same agent with its model named."""
        return self.with_settings({"model": self.model or self.usual_model(facts)})

    def usual_model(self, facts: Facts) -> ModelSpec:
        """The model for a kind of instructions, where the user names none."""
        return Keywords.for_features(facts.dim) if facts.language else Mixture()

    def explorer(self, facts: Facts) -> Explorer:
        """The explorer of this kind of agent."""
        raise NotImplementedError


def prefixed(prefix: str, state: State) -> State:
    """The state of one part of an agent, as it is named in the state of the whole."""
    return {prefix + name: value for name, value in state.items()}


def part(state: State, prefix: str) -> State:
    """The entries of a state that belong to one part of an agent."""
    return {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }
